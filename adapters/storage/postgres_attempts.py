"""One transaction on one connection of PostgreSQL, from the lock of who writes to the commit."""

import asyncio
import re
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, TypeVar

from adapters.storage.dialect import given, numbered
from adapters.storage.postgres_schema import Connection
from adapters.storage.postgres_words import LOST
from adapters.storage.transactions import Work
from core.ports import Clock

T = TypeVar("T")

ALONE = "BEGIN; SELECT pg_advisory_xact_lock(1398028659, 1)"
"""Whoever writes has the database to himself until the commit."""
ERASING = f"{ALONE}; SET LOCAL sayso.erasing = 'on'"
_TIME = "SELECT clock_timestamp()"
_CHANGES = re.compile(r"(?:UPDATE|DELETE FROM) (\w+)")


@dataclass(slots=True, kw_only=True)
class Attempt(Generic[T]):
    """A transaction that may have to begin again where its connection is lost."""

    work: Work[T]
    begin: str
    clock: Clock | None
    changed: set[str] = field(default_factory=set[str])
    """Tables whose rows it changed or removed."""
    is_sent: bool = False
    """Whether its COMMIT was sent: from then on only the answer tells what came of it."""

    async def on(self, connection: Connection) -> T:
        """Run it all or nothing."""
        try:
            await connection.execute(self.begin)
            result = await self._driven(connection)
            self.is_sent = True
            await _to_the_end(asyncio.ensure_future(connection.execute("COMMIT")))
        except LOST:
            with suppress(*LOST):  # the pool may have noticed before us, and taken it back
                connection.terminate()
            raise
        except BaseException:
            with suppress(*LOST):
                await connection.execute("ROLLBACK")
            raise
        return result

    async def _driven(self, connection: Connection) -> T:
        transaction = self.work(await self._now(connection))
        try:
            statement = next(transaction)
            while True:
                text, values = numbered(statement)
                self.changed.update(_CHANGES.findall(text))
                statement = transaction.send(given(await connection.fetch(text, *values)))
        except StopIteration as end:
            result: T = end.value
            return result

    async def _now(self, connection: Connection) -> datetime:
        if self.clock:
            return self.clock.now()
        now: datetime = await connection.fetchval(_TIME)
        return now


async def _to_the_end(commit: "asyncio.Future[str]") -> None:
    """Wait for it, also where whoever waits is cancelled meanwhile."""
    try:
        await asyncio.shield(commit)
    except asyncio.CancelledError:
        await asyncio.wait([commit])
        commit.exception()  # nobody waits for it any more
        raise
