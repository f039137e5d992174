"""A whole conversation, read in one transaction, so that its parts belong together."""

from adapters.storage import turns
from adapters.storage.entries import place_of
from adapters.storage.transactions import Row, Transaction, each, rows, time_of
from core import canonical
from core.conversations import Said
from core.exports import Export, Happened
from core.stored_entries import entry_of


def export(conversation: str) -> Transaction[Export | None]:
    """Return all of a conversation, or None where there is none of that id."""
    found = yield from rows("SELECT * FROM conversation WHERE id = :id", id=conversation)
    if not found:
        return None
    row = found[0]
    sent = yield from _of(conversation, "transcript", "seq")
    read = yield from _of(conversation, "entry", "seq")
    came = yield from _of(conversation, "turn", "received_at, id")
    answered = yield from each(turns.must_read, row["tenant"], [one["id"] for one in came])
    happened = yield from _of(conversation, "happening", "at, turn, seq")
    requests = yield from _of(conversation, "request", "opened_at, id")
    runs = yield from _of(conversation, "run", "started_at, id")
    return Export(
        conversation=conversation,
        tenant=row["tenant"],
        place=place_of(row),
        opened_at=time_of(row["opened_at"]),
        erased_at=time_of(row["erased_at"]) if row["erased_at"] else None,
        transcript=tuple(entry_of(one["kind"], one["body"]) for one in sent),
        entries=tuple(said_of(one) for one in read),
        turns=tuple(answered),
        happenings=tuple(_happened(one) for one in happened),
        requests=tuple(one["id"] for one in requests),
        runs=tuple(one["id"] for one in runs),
    )


def said_of(row: Row) -> Said:
    """Return one entry as people read it."""
    return Said(at=time_of(row["at"]), kind=row["kind"], author=row["author"], text=row["text"])


def _happened(row: Row) -> Happened:
    return Happened(
        turn=row["turn"],
        claim=row["claim"],
        at=time_of(row["at"]),
        kind=row["kind"],
        body=canonical.parse(row["body"]),
    )


def _of(conversation: str, table: str, order: str) -> Transaction[list[Row]]:
    return rows(
        f"SELECT * FROM {table} WHERE conversation = :conversation ORDER BY {order}",  # noqa: S608 - constants
        conversation=conversation,
    )
