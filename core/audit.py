"""The audit log as a hash chain: pure, so that anybody can check a copy of it."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from core import canonical
from core.errors import Refused

GENESIS = "0" * 64
_MOMENT = "%Y-%m-%dT%H:%M:%S.%fZ"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One row as it lies in the table. `body` is canonical JSON with the acting principal inside."""

    seq: int
    at: str
    tenant: str
    kind: str
    body: str
    prev: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Intact:
    """Every entry follows from the one before it."""

    entries: int
    head: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """The chain does not hold from this entry on."""

    first_bad: int
    why: str


def moment(time: datetime) -> str:
    """Return a time as it stands in an entry: UTC text of one width, so that texts sort as times."""
    return f"{time.astimezone(UTC).isoformat(timespec='microseconds')[: -len('+00:00')]}Z"


def time_of(text: str) -> datetime:
    """Return the time that an entry tells; raise `ValueError` for a text that `moment` never gives."""
    found = datetime.strptime(text, _MOMENT).replace(tzinfo=UTC)
    if moment(found) != text:
        raise ValueError("not a time as an entry has it")
    return found


def seal(*, seq: int, at: str, tenant: str, kind: str, body: str, prev: str) -> str:
    """Return the hash of an entry: SHA-256 over a zero byte and each field with its length before it."""
    hasher = hashlib.sha256(b"\0")
    for field in (prev, str(seq), at, tenant, kind, body):
        data = field.encode("utf-8", "surrogatepass")
        hasher.update(len(data).to_bytes(8, "big"))
        hasher.update(data)
    return hasher.hexdigest()


NOTHING = Intact(entries=0, head=GENESIS)
"""A log in which nothing is yet."""


def verify(
    entries: Iterable[Entry], *, head: str | None = None, since: Intact = NOTHING
) -> Intact | Broken:
    """Check every entry in order, where these come after what was found intact.

    `head`, noted earlier, shows a tail that was cut off.
    """
    prev, seq, heads = since.head, since.entries, {since.head}
    for entry in entries:
        why = fault(entry, seq + 1, prev)
        if why:
            return Broken(first_bad=seq + 1, why=why)
        prev, seq = entry.hash, entry.seq
        heads.add(prev)
    if head is not None and head not in heads:
        return Broken(
            first_bad=seq + 1, why="the log does not contain that head: its end is missing"
        )
    return Intact(entries=seq, head=prev)


def fault(entry: Entry, seq: int, prev: str) -> str | None:
    """Say what is wrong with an entry at this place; whatever lies in the table, this never raises."""
    fields = (entry.at, entry.tenant, entry.kind, entry.body, entry.prev, entry.hash)
    if type(entry.seq) is not int or not all(type(field) is str for field in fields):
        return "a field has the wrong type"
    if entry.seq != seq:
        return f"entry {seq} is missing"
    if entry.prev != prev:
        return "it does not follow from the entry before it"
    sealed = seal(
        seq=seq, at=entry.at, tenant=entry.tenant, kind=entry.kind, body=entry.body, prev=prev
    )
    if entry.hash != sealed:
        return "its content does not match its hash"
    return None if _is_canonical(entry.body) else "its body is not canonical JSON"


def _is_canonical(body: str) -> bool:
    try:
        return canonical.encode(canonical.parse(body)) == body
    except Refused:
        return False
