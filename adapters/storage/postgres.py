"""PostgreSQL: one database, any number of machines; whoever writes has it to himself, as in SQLite."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

import asyncpg

from adapters.storage.postgres_attempts import ALONE, ERASING, Attempt
from adapters.storage.postgres_schema import Connection, migrate
from adapters.storage.postgres_words import AGAIN, FAILURES, raise_in_words, raise_unanswered
from adapters.storage.transactions import Work
from core.ports import Clock

T = TypeVar("T")
Pool: TypeAlias = "asyncpg.Pool[asyncpg.Record]"

CONNECTIONS = 8
_SNAPSHOT = "SELECT pg_current_snapshot()::text"
_LONGEST = 30.0
"""Seconds that one statement may take."""
_TEXTS = 1000
"""Statements that each connection keeps prepared."""
_PAUSE = 0.05


@dataclass(slots=True, kw_only=True)
class PostgresDatabase:
    """Implements `adapters.storage.transactions.ErasingDatabase`.

    Where there is a clock, it decides instead of the database's: on one machine alone.
    """

    pool: Pool
    patience: float
    clock: Clock | None
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _snapshot: str = ""
    _changes: int = 0

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        password: str | None = None,
        most: int = CONNECTIONS,
        patience: float = 5.0,
        clock: Clock | None = None,
    ) -> "PostgresDatabase":
        """Connect and bring it up to date; wait up to `patience` seconds for it, and for its lock."""
        try:
            pool = await asyncpg.create_pool(
                url,
                password=password,
                min_size=1,
                max_size=most,
                timeout=patience,
                command_timeout=_LONGEST + patience,
                statement_cache_size=_TEXTS,
                reset=_as_it_is,
                server_settings=_settings(patience),
            )
        except FAILURES as error:
            raise_in_words(error)
        database = cls(pool=pool, patience=patience, clock=clock)
        try:
            async with database._connected() as connection:
                await migrate(connection)
        except BaseException:
            await pool.close()
            raise
        return database

    async def transact(self, work: Work[T]) -> T:
        """Run it on one connection; begin again where that is lost before it was to commit.

        A caller that is cancelled leaves it whole: committed or not begun.
        """
        return await self._carried_out(Attempt(work=work, begin=ALONE, clock=self.clock))

    async def erase(self, work: Work[T]) -> T:
        """See the port. What was removed is free to be written over; files keep it until it is."""
        attempt = Attempt(work=work, begin=ERASING, clock=self.clock)
        result = await self._carried_out(attempt)
        if attempt.changed:
            async with self._connected() as connection:
                await connection.execute(f"VACUUM {', '.join(sorted(attempt.changed))}")
        return result

    async def changes(self) -> int:
        """Return a number that is another whenever anybody has written: so is what can be seen then."""
        async with self._connected() as connection:
            snapshot: str = await connection.fetchval(_SNAPSHOT)
        if snapshot != self._snapshot:
            self._snapshot = snapshot
            self._changes += 1
        return self._changes

    async def aclose(self) -> None:
        """Close all connections, after whatever is still running."""
        await self.pool.close()

    async def _carried_out(self, attempt: Attempt[T]) -> T:
        deadline = time.monotonic() + self.patience
        while True:
            try:
                # One of ours at a time waits for the lock: where this process stands still, others wait
                # until the server ends that one, and not until it has ended many in turn.
                async with self._turn, self.pool.acquire() as connection:
                    return await attempt.on(connection)
            except AGAIN as error:
                if attempt.is_sent:
                    raise_unanswered(error)
                if time.monotonic() > deadline:
                    raise_in_words(error)
            except FAILURES as error:
                raise_in_words(error)
            await asyncio.sleep(_PAUSE)

    @asynccontextmanager
    async def _connected(self) -> AsyncGenerator[Connection]:
        try:
            async with self.pool.acquire() as connection:
                yield connection
        except FAILURES as error:
            raise_in_words(error)


def _settings(patience: float) -> dict[str, str]:
    return {
        "application_name": "sayso",
        "timezone": "UTC",
        "jit": "off",
        "lock_timeout": f"{patience * 1000:.0f}",
        "statement_timeout": f"{_LONGEST * 1000:.0f}",
        # Whoever stands still in a transaction keeps all others from writing, who wait longer than that.
        "idle_in_transaction_session_timeout": f"{patience * 500:.0f}",
    }


async def _as_it_is(_: "asyncpg.Connection[asyncpg.Record]") -> None:
    """Leave a connection as it is: nothing is set on it for longer than a transaction."""
