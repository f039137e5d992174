"""Engines that say who runs what, and when."""
