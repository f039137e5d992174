"""Runs the commands of runbooks, kept from everything else as far as the configuration says."""
