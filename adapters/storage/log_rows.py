"""The audit log as rows: how it is read, whatever somebody made of it."""

from adapters.storage.transactions import Row, Transaction, rows
from core.audit import Entry

_TEXTS = ("at", "tenant", "kind", "body", "prev", "hash")
# As bytes: whatever lies in the table has to be read, to be told where it is wrong.
_COLUMNS = ", ".join(["seq", *(f"cast({name} AS BLOB) AS {name}" for name in _TEXTS)])


def since(seq: int) -> Transaction[list[Entry]]:
    """Return every entry after this one, oldest first."""
    found = yield from rows(
        f"SELECT {_COLUMNS} FROM audit WHERE seq > :seq ORDER BY seq",  # noqa: S608 - constants
        seq=seq,
    )
    return [_entry(row) for row in found]


def newest() -> Transaction[Entry | None]:
    """Return the newest entry, None where there is none yet."""
    found = yield from rows(f"SELECT {_COLUMNS} FROM audit ORDER BY seq DESC LIMIT 1")  # noqa: S608 - constants
    return _entry(found[0]) if found else None


def naming(tenant: str, *names: str) -> Transaction[list[Entry]]:
    """Return the entries of a tenant in which one of these texts stands anywhere, oldest first."""
    held = " OR ".join(f"instr(body, :name{number}) > 0" for number in range(len(names)))
    found = yield from rows(
        f"SELECT {_COLUMNS} FROM audit WHERE tenant = :tenant AND ({held}) ORDER BY seq",  # noqa: S608 - constants
        tenant=tenant,
        **{f"name{number}": name for number, name in enumerate(names)},
    )
    return [_entry(row) for row in found]


def _entry(row: Row) -> Entry:
    return Entry(seq=row["seq"], **{name: _text(row[name]) for name in _TEXTS})


def _text(value: bytes) -> str:
    """Return the text, or one that no entry can hold where the bytes are none."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return "\0"
