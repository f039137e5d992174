"""Durable state: transactions written once as generators of SQL, run by one driver a database."""
