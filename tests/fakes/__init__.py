"""One module a port."""
