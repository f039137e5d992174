"""Brings a PostgreSQL database up to date, whoever else does so at the same time."""

from importlib.resources import files
from typing import TypeAlias

import asyncpg

from core.errors import Invalid

Connection: TypeAlias = "asyncpg.pool.PoolConnectionProxy[asyncpg.Record]"

_MIGRATIONS = files("adapters.storage") / "postgres_migrations"
_ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(1398028659, 2)"
_NUMBER = "SELECT number FROM schema_version"


async def migrate(connection: Connection) -> None:
    """Apply what is missing, all or nothing; raise `Invalid` where a newer Sayso was here."""
    known = sorted(file.name for file in _MIGRATIONS.iterdir() if file.name.endswith(".sql"))
    number = await _number(connection)
    if number < len(known):
        async with connection.transaction():
            await connection.execute(_ONE_AT_A_TIME)
            number = await _number(connection)
            for name in known[number:]:
                await connection.execute((_MIGRATIONS / name).read_text(encoding="utf-8"))
            number = max(number, len(known))
            await connection.execute(f"UPDATE schema_version SET number = {number}")  # noqa: S608 - a number
    if number > len(known):
        raise Invalid("The database was written by a newer Sayso. Update this one.")


async def _number(connection: Connection) -> int:
    if await connection.fetchval("SELECT to_regclass('schema_version')") is None:
        return 0
    number: int = await connection.fetchval(_NUMBER)
    return number
