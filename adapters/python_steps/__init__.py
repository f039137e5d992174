"""Calls functions of installed packages as steps of runbooks, each in a process of its own."""
