"""Several transactions under one commit: where many wait, the disk is waited for once for all of them."""

import sqlite3
from collections import deque
from dataclasses import dataclass, field
from typing import Any, TypeVar

from adapters.storage.transactions import Work
from core.ports import Clock

T = TypeVar("T")
MOST = 50
"""So many go together: other processes wait for the lock meanwhile."""


@dataclass(slots=True, eq=False)
class Asked:
    """A transaction that somebody waits for, and once it was committed, what came of it."""

    work: Work[Any]
    value: Any = None
    error: BaseException | None = None
    is_over: bool = False
    is_forgotten: bool = False


@dataclass(slots=True, kw_only=True)
class Together:
    """Runs what waits in the order in which it came, each all or nothing.

    Nobody is told anything before the commit, not even a refusal: it may rest on what another one
    of them wrote. Where the commit fails, it failed for all.
    """

    connection: sqlite3.Connection
    clock: Clock
    _waiting: deque[Asked] = field(default_factory=deque[Asked])

    def ask(self, work: Work[Any]) -> Asked:
        """Have a transaction wait for its turn."""
        asked = Asked(work)
        self._waiting.append(asked)
        return asked

    def forget(self, asked: Asked) -> None:
        """Have one that was not begun never begin: nobody waits for it any more."""
        asked.is_forgotten = True

    def answer(self, asked: Asked) -> Any:  # noqa: ANN401 - what the work returns
        """Return what came of one, after running it with all that wait; on the database's thread."""
        while not asked.is_over:  # those before it may be forgotten ones
            self._run(self._taken())
        if asked.error is not None:
            raise asked.error
        return asked.value

    def run(self, work: Work[T]) -> T:
        """Run one by itself; on the database's thread."""
        asked = Asked(work)
        self._run([asked])
        value: T = self.answer(asked)
        return value

    def _taken(self) -> list[Asked]:
        return [self._waiting.popleft() for _ in range(min(MOST, len(self._waiting)))]

    def _run(self, batch: list[Asked]) -> None:
        database = self.connection
        try:
            database.execute("BEGIN IMMEDIATE")
            for asked in batch:
                if not asked.is_forgotten:
                    self._do(asked, alone=len(batch) == 1)
            database.execute("COMMIT")
        except BaseException as error:  # noqa: BLE001 - it is raised to everybody who waits
            for asked in batch:
                asked.error = error
        finally:
            # Not only after an exception of ours: a COMMIT that failed (disk full) leaves it open.
            if database.in_transaction:
                database.execute("ROLLBACK")
            for asked in batch:
                asked.is_over = True

    def _do(self, asked: Asked, *, alone: bool) -> None:
        """Run one; what fails alone undoes itself and nothing else."""
        if alone:
            asked.value = self._driven(asked.work)
            return
        self.connection.execute("SAVEPOINT one")
        try:
            asked.value = self._driven(asked.work)
        except Exception as error:
            if not self.connection.in_transaction:
                raise  # SQLite undid all of it
            asked.error = error
            self.connection.execute("ROLLBACK TO one")
        self.connection.execute("RELEASE one")

    def _driven(self, work: Work[T]) -> T:
        try:
            transaction = work(self.clock.now())
            statement = next(transaction)
            while True:
                found = self.connection.execute(statement.sql, statement.values).fetchall()
                statement = transaction.send(found)
        except StopIteration as end:
            result: T = end.value
            return result
