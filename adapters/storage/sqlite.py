"""SQLite: one file, one machine, any number of processes; one thread hop for a whole transaction."""

import asyncio
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from importlib.resources import files
from pathlib import Path
from typing import TypeVar

from adapters.storage.together import Together
from adapters.storage.transactions import Work
from core.errors import Invalid, Unavailable
from core.ports import Clock

T = TypeVar("T")

_MIGRATIONS = files("adapters.storage") / "migrations"
_FULL = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}
_FOR_EVER = {"audit"}
_APPEND_ONLY = _FOR_EVER | {"entry", "transcript", "happening"}
_BYTES_LEFT = (
    "It is erased, but the bytes may still lie in the database's files, which another process uses "
    "or which have no room. Do it once more, at best while nothing else runs."
)
_OLDEST = (3, 37, 0)
"""STRICT tables."""


class SqliteDatabase:
    """Implements `adapters.storage.transactions.ErasingDatabase`."""

    def __init__(
        self, connection: sqlite3.Connection, thread: ThreadPoolExecutor, clock: Clock
    ) -> None:
        """Take a connection that lives on this thread; `open` makes both."""
        self._connection = connection
        self._thread = thread
        self._together = Together(connection=connection, clock=clock)

    @classmethod
    async def open(cls, path: Path, clock: Clock, *, patience: float = 5.0) -> "SqliteDatabase":
        """Open or make the file and bring it up to date; wait up to `patience` seconds for a lock."""
        thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="sqlite")
        try:
            connection = await _in(thread, lambda: _connect(path, patience))
        except BaseException:
            thread.shutdown(wait=False)
            raise
        return cls(connection, thread, clock)

    async def transact(self, work: Work[T]) -> T:
        """Run it in one hop, under one commit with what else waits.

        A caller that is cancelled leaves it whole: committed or not begun.
        """
        asked = self._together.ask(work)
        try:
            return await _in(self._thread, lambda: self._together.answer(asked))
        except asyncio.CancelledError:
            self._together.forget(asked)
            raise

    async def erase(self, work: Work[T]) -> T:
        """See the port. Every file is rewritten, so this takes as long as the database is large."""
        return await _in(self._thread, lambda: self._erase(work))

    async def changes(self) -> int:
        """Return a number that changes whenever any connection, this one too, has written."""
        return await _in(self._thread, self._changes)

    async def aclose(self) -> None:
        """Close the file, after whatever is still running."""
        await _in(self._thread, self._connection.close)
        self._thread.shutdown()

    def _changes(self) -> int:
        # The first does not count what this connection writes; each only grows, so their sum does.
        return _number(self._connection, "data_version") + self._connection.total_changes

    def _erase(self, work: Work[T]) -> T:
        database = self._connection
        database.set_authorizer(_but_for_the_log)
        try:
            result = self._together.run(work)
        finally:
            database.set_authorizer(_append_only)
        _clear(database)
        return result


def _connect(path: Path, patience: float) -> sqlite3.Connection:
    if sqlite3.sqlite_version_info < _OLDEST:
        raise Invalid(
            f"This Python has SQLite {sqlite3.sqlite_version}; Sayso needs 3.37 or newer."
        )
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)  # a file that exists keeps the rights that its owner gave it
    connection = sqlite3.connect(path, timeout=patience, isolation_level=None)
    try:
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        # What is removed is overwritten. Also for the file that an erasure writes anew: without this,
        # the free space of its pages is whatever lay in memory.
        connection.execute("PRAGMA secure_delete = ON")
        _migrate(connection, patience)
        connection.set_authorizer(_append_only)
    except BaseException:
        connection.close()
        raise
    return connection


def _migrate(connection: sqlite3.Connection, patience: float) -> None:
    """Apply what is missing; several processes may do so at once."""
    known = sorted(file.name for file in _MIGRATIONS.iterdir() if file.name.endswith(".sql"))
    if _number(connection, "user_version") < len(known):
        _use_wal(connection, patience)
        connection.execute("BEGIN IMMEDIATE")
        try:
            for number, name in enumerate(
                known[_number(connection, "user_version") :],
                _number(connection, "user_version") + 1,
            ):
                _apply(connection, (_MIGRATIONS / name).read_text(encoding="utf-8"))
                connection.execute(f"PRAGMA user_version = {number}")
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
    if _number(connection, "user_version") > len(known):
        raise Invalid("The database was written by a newer Sayso. Update this one.")


def _use_wal(connection: sqlite3.Connection, patience: float) -> None:
    """Set the journal of a new file; SQLite itself does not wait here for others who do the same."""
    deadline = time.monotonic() + patience
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _apply(connection: sqlite3.Connection, script: str) -> None:
    # executescript() would commit first, so each statement is run on its own.
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    with closing(connection.execute(f"PRAGMA {pragma}")) as cursor:
        number: int = cursor.fetchone()[0]
    return number


def _clear(connection: sqlite3.Connection) -> None:
    """Write the file anew without what lies in free space, and empty the journal beside it."""
    try:
        connection.execute("VACUUM")
        busy: int = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    except sqlite3.OperationalError as error:
        raise Unavailable(_BYTES_LEFT, error=str(error)) from error
    if busy:
        raise Unavailable(_BYTES_LEFT, error="the journal is in use")


def _but_for_the_log(action: int, table: str | None, *_: str | None) -> int:
    """Keep the audit log as it is, whatever else is erased."""
    return _forbid(_FOR_EVER, action, table)


def _append_only(action: int, table: str | None, *_: str | None) -> int:
    """Keep this process from ever changing what the audit log and conversations already say."""
    return _forbid(_APPEND_ONLY, action, table)


def _forbid(tables: set[str], action: int, table: str | None) -> int:
    changes = action in {sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE}
    return sqlite3.SQLITE_DENY if changes and table in tables else sqlite3.SQLITE_OK


async def _in(thread: ThreadPoolExecutor, function: Callable[[], T]) -> T:
    try:
        return await asyncio.get_running_loop().run_in_executor(thread, function)
    except (sqlite3.OperationalError, OSError) as error:
        raise Unavailable(_in_words(error), error=str(error)) from error
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError):
            raise
        raise Unavailable(_in_words(error), error=str(error)) from error


def _in_words(error: Exception) -> str:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return "The database is busy with another process, so this was not written. Try again."
    if code in _FULL:
        return (
            "The database could not be written: the disk is full or failing. What was to be written "
            "now was not. Make room, and look at `sayso requests` and `sayso runs` before you try again."
        )
    if code in {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}:
        return "The database file is damaged or is not a database. Restore it from a backup."
    return "The database cannot be opened or written. Check its folder, its owner and its rights."
