"""Transactions written once for every database: generators that yield SQL and receive rows.

A driver runs the whole generator inside one transaction: SQLite in one hop to its thread, another
database by awaiting each statement. Nothing in a transaction touches anything but the database.
"""

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Protocol, TypeAlias, TypeVar

from core import audit, canonical
from core.canonical import Json

T = TypeVar("T")
SYSTEM = "sayso"
"""Who acts where no person does; nobody can be called like that."""
Value: TypeAlias = str | int | None
Row: TypeAlias = Mapping[str, Any]
Rows: TypeAlias = list[Row]


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL with named parameters (`:name`)."""

    sql: str
    values: Mapping[str, Value]


Transaction: TypeAlias = Generator[Statement, Rows, T]
Work: TypeAlias = Callable[[datetime], Transaction[T]]
"""Given the time that decides (taken after the lock), does its work."""


class Database(Protocol):
    """Runs transactions."""

    async def transact(self, work: Work[T]) -> T:
        """Run it all or nothing; raise `Unavailable` where the database cannot."""
        ...

    async def changes(self) -> int:
        """Return a number that changes whenever another connection has written."""
        ...


class ErasingDatabase(Database, Protocol):
    """A database in which content can be erased."""

    async def erase(self, work: Work[T]) -> T:
        """Run a transaction that may change what else is only ever added to, but for the audit log.

        Then clear the bytes of what it removed out of the files; raise `Unavailable` where it was
        committed and that failed.
        """
        ...


def sql(text: str, /, **values: Value) -> Statement:
    """Return a statement."""
    return Statement(text, values)


def rows(text: str, /, **values: Value) -> Transaction[Rows]:
    """Run one statement and return its rows."""
    found = yield sql(text, **values)
    return found


def changed(text: str, /, **values: Value) -> Transaction[bool]:
    """Run one conditional statement (`… RETURNING`); return whether it did anything."""
    found = yield sql(text, **values)
    return bool(found)


def each(
    read: Callable[[str, str], Transaction[T]], tenant: str, ids: Iterable[str]
) -> Transaction[list[T]]:
    """Read every one of these, in order."""
    found = list[T]()
    for one in ids:
        found.append((yield from read(tenant, one)))
    return found


def text_of(time: datetime) -> str:
    """Return a time as it is stored: UTC text of one width."""
    return audit.moment(time)


def time_of(text: str) -> datetime:
    """Return a stored time."""
    return datetime.fromisoformat(text)


def log(
    now: datetime, tenant: str, kind: str, principal: str, **facts: Json
) -> Transaction[audit.Entry]:
    """Append to the audit chain inside the transaction that it tells about (I11)."""
    last = yield sql("SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1")
    seq, prev = (last[0]["seq"] + 1, last[0]["hash"]) if last else (1, audit.GENESIS)
    body = canonical.encode({"principal": principal, **facts})
    at = text_of(now)
    sealed = audit.seal(seq=seq, at=at, tenant=tenant, kind=kind, body=body, prev=prev)
    entry = audit.Entry(seq=seq, at=at, tenant=tenant, kind=kind, body=body, prev=prev, hash=sealed)
    yield sql(
        "INSERT INTO audit (seq, at, tenant, kind, body, prev, hash)"
        " VALUES (:seq, :at, :tenant, :kind, :body, :prev, :hash)",
        **asdict(entry),
    )
    return entry
