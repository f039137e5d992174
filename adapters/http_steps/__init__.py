"""HTTP requests of runbooks."""
