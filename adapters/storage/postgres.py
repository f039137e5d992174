"""PostgreSQL: one database, any number of machines; whoever writes has it to himself, as in SQLite."""

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias, TypeVar

import asyncpg

from adapters.storage.dialect import given, numbered
from adapters.storage.postgres_schema import Connection, migrate
from adapters.storage.postgres_words import in_words
from adapters.storage.transactions import Transaction, Work
from core.ports import Clock

T = TypeVar("T")
Pool: TypeAlias = "asyncpg.Pool[asyncpg.Record]"

_ALONE = "BEGIN; SELECT pg_advisory_xact_lock(1398028659, 1)"
_ERASING = f"{_ALONE}; SET LOCAL sayso.erasing = 'on'"
_TIME = "SELECT clock_timestamp()"
_SNAPSHOT = "SELECT pg_current_snapshot()::text"
_CHANGED = re.compile(r"(?:UPDATE|DELETE FROM) (\w+)")
_LONGEST = 30.0
"""Seconds that one statement may take."""
_TEXTS = 1000
"""Statements that each connection keeps prepared."""


@dataclass(slots=True, kw_only=True)
class PostgresDatabase:
    """Implements `adapters.storage.transactions.ErasingDatabase`.

    Where there is a clock, it decides instead of the database's: on one machine alone.
    """

    pool: Pool
    clock: Clock | None = None
    _snapshot: str = ""
    _changes: int = 0

    @classmethod
    async def open(
        cls, url: str, *, size: int = 8, patience: float = 5.0, clock: Clock | None = None
    ) -> "PostgresDatabase":
        """Connect and bring it up to date; wait up to `patience` seconds for it, and for its lock."""
        try:
            pool = await asyncpg.create_pool(
                url,
                min_size=1,
                max_size=size,
                timeout=patience,
                command_timeout=_LONGEST + patience,
                statement_cache_size=_TEXTS,
                reset=_reset,
                server_settings=_settings(patience),
            )
        except Exception as error:
            raise in_words(error) from error
        database = cls(pool=pool, clock=clock)
        try:
            async with database._connected() as connection:
                await migrate(connection)
        except BaseException:
            await pool.close()
            raise
        return database

    async def transact(self, work: Work[T]) -> T:
        """Run it on one connection, alone among all that write.

        A caller that is cancelled leaves it whole: committed or not begun.
        """
        async with self._connected() as connection:
            return await self._run(connection, work, _ALONE, set())

    async def erase(self, work: Work[T]) -> T:
        """See the port. What was removed is free to be written over; files keep it until it is."""
        changed = set[str]()
        async with self._connected() as connection:
            result = await self._run(connection, work, _ERASING, changed)
            if changed:
                await connection.execute(f"VACUUM {', '.join(sorted(changed))}")
            return result

    async def changes(self) -> int:
        """Return a number that changes whenever anybody has written: what can be seen is another then."""
        async with self._connected() as connection:
            snapshot: str = await connection.fetchval(_SNAPSHOT)
        if snapshot != self._snapshot:
            self._snapshot = snapshot
            self._changes += 1
        return self._changes

    async def aclose(self) -> None:
        """Close all connections, after whatever is still running."""
        await self.pool.close()

    @asynccontextmanager
    async def _connected(self) -> AsyncGenerator[Connection]:
        try:
            async with self.pool.acquire() as connection:
                yield connection
        except Exception as error:
            raise in_words(error) from error

    async def _run(self, connection: Connection, work: Work[T], begin: str, changed: set[str]) -> T:
        try:
            await connection.execute(begin)
            result = await _driven(connection, work(await self._now(connection)), changed)
        except BaseException:
            if not connection.is_closed():
                await connection.execute("ROLLBACK")
            raise
        await _whole(asyncio.ensure_future(connection.execute("COMMIT")))
        return result

    async def _now(self, connection: Connection) -> datetime:
        if self.clock:
            return self.clock.now()
        now: datetime = await connection.fetchval(_TIME)
        return now


def _settings(patience: float) -> dict[str, str]:
    return {
        "application_name": "sayso",
        "timezone": "UTC",
        "lock_timeout": f"{patience * 1000:.0f}",
        "statement_timeout": f"{_LONGEST * 1000:.0f}",
        # Whoever stands still in a transaction keeps all others from writing.
        "idle_in_transaction_session_timeout": f"{patience * 1000:.0f}",
        "jit": "off",
    }


async def _reset(_: "asyncpg.Connection[asyncpg.Record]") -> None:
    """Leave a connection as it is: nothing is set on it beyond a transaction."""


async def _driven(connection: Connection, transaction: Transaction[T], changed: set[str]) -> T:
    try:
        statement = next(transaction)
        while True:
            text, values = numbered(statement)
            changed.update(_CHANGED.findall(text))
            found = await connection.fetch(text, *values)
            statement = transaction.send(given(found))
    except StopIteration as end:
        result: T = end.value
        return result


async def _whole(commit: "asyncio.Future[str]") -> None:
    """Wait for it to its end, also where whoever waits is cancelled."""
    try:
        await asyncio.shield(commit)
    except asyncio.CancelledError:
        await asyncio.wait([commit])
        raise
