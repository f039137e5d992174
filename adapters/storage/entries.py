"""What is said in a conversation: appended, and with that left for delivery where it has a thread."""

from datetime import datetime

from adapters.storage import jobs
from adapters.storage.transactions import SYSTEM, Row, Transaction, rows, text_of
from core import ids
from core.deliveries import EDIT, POST, lane_of, post_of, reader_of
from core.events import Place
from core.jobs import NewJob, Replay


def place_of(row: Row) -> Place:
    """Return the place of a conversation whose columns are among those of a row."""
    return Place(
        platform=row["platform"],
        workspace=row["workspace"],
        channel=row["channel"],
        thread=row["thread"],
    )


def append(
    now: datetime, conversation: str, kind: str, author: str, text: str, *, about: str | None = None
) -> Transaction[None]:
    """Append to a conversation; what Sayso itself says is also posted to its thread.

    `about` is the id of the turn, request or run that it tells of.
    """
    added = yield from rows(
        "INSERT INTO entry (conversation, seq, at, kind, author, text, about)"
        " SELECT :conversation, coalesce(max(seq), 0) + 1, :at, :kind, :author, :text, :about"
        " FROM entry WHERE conversation = :conversation RETURNING seq",
        conversation=conversation, at=text_of(now), kind=kind, author=author, text=text, about=about,
    )  # fmt: skip
    if author == SYSTEM:
        seq: int = added[0]["seq"]
        yield from _deliver(now, conversation, POST, post_of(conversation, seq), {"seq": seq})


def redraw(now: datetime, conversation: str, request: str) -> Transaction[None]:
    """Have a request's card, where it was posted, show what has become of the request."""
    yield from _deliver(now, conversation, EDIT, ids.edit_id(request), {"request": request})


def _deliver(
    now: datetime, conversation: str, kind: str, name: str, what: dict[str, str | int]
) -> Transaction[None]:
    """Queue a delivery behind all earlier ones of the conversation."""
    found = yield from rows(
        "SELECT * FROM conversation WHERE id = :id AND thread IS NOT NULL", id=conversation
    )
    if found:
        new = NewJob(
            id=name,
            kind=kind,
            tenant=found[0]["tenant"],
            payload={"conversation": conversation, **what},
            replay=Replay.SAFE,
            lane=lane_of(conversation),
            reserved_for=reader_of(place_of(found[0])),
        )
        yield from jobs.submit(now, new)
