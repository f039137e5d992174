"""What is said in a conversation: appended, and with that left for delivery where it has a thread."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from adapters.storage import jobs
from adapters.storage.transactions import SYSTEM, Row, Transaction, rows, sql, text_of
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
    seq = yield from _add(now, conversation, kind, author, text, about=about)
    if author == SYSTEM:
        yield from _post(now, conversation, seq)


def call(
    now: datetime, conversation: str, text: str, about: str, people: Iterable[str]
) -> Transaction[None]:
    """Append what Sayso itself notes of a request, and have these people called where it is posted."""
    seq = yield from _add(now, conversation, "note", SYSTEM, text, about=about)
    for person in dict.fromkeys(people):
        yield sql(
            "INSERT INTO called (conversation, seq, principal) VALUES (:conversation, :seq, :who)",
            conversation=conversation, seq=seq, who=person,
        )  # fmt: skip
    yield from _post(now, conversation, seq)


def append_later(
    now: datetime, conversation: str, kind: str, text: str, *, about: str, delay: timedelta
) -> Transaction[None]:
    """Append where there is a thread, and post it there after a while, unless it is withdrawn before."""
    if (yield from _thread_of(conversation)) is not None:
        seq = yield from _add(now, conversation, kind, SYSTEM, text, about=about)
        yield from _post(now, conversation, seq, delay)


def redraw(
    now: datetime,
    conversation: str,
    about: str,
    *,
    what: str = "request",
    by: str | None = None,
) -> Transaction[None]:
    """Have the card of a request, or what shows a run, be as that is now, where it was posted.

    `by` names the process that is to do it, while that lives and comes soon, unless the thread is a
    terminal: then it is for the one that has it.
    """
    payload: dict[str, str | int] = {what: about}
    new = yield from _delivery(conversation, EDIT, ids.edit_id(about), payload)
    if new:
        yield from jobs.submit(now, replace(new, reserved_for=new.reserved_for or by))


def _add(
    now: datetime, conversation: str, kind: str, author: str, text: str, *, about: str | None
) -> Transaction[int]:
    added = yield from rows(
        "INSERT INTO entry (conversation, seq, at, kind, author, text, about)"
        " SELECT :conversation, coalesce(max(seq), 0) + 1, :at, :kind, :author, :text, :about"
        " FROM entry WHERE conversation = :conversation RETURNING seq",
        conversation=conversation, at=text_of(now), kind=kind, author=author, text=text, about=about,
    )  # fmt: skip
    seq: int = added[0]["seq"]
    return seq


def _post(
    now: datetime, conversation: str, seq: int, delay: timedelta = timedelta()
) -> Transaction[None]:
    new = yield from _delivery(conversation, POST, post_of(conversation, seq), {"seq": seq})
    if new:
        yield from jobs.submit(now, replace(new, delay=delay))


def _thread_of(conversation: str) -> Transaction[Row | None]:
    """Return a conversation that has a thread."""
    found = yield from rows(
        "SELECT * FROM conversation WHERE id = :id AND thread IS NOT NULL", id=conversation
    )
    return found[0] if found else None


def _delivery(
    conversation: str, kind: str, name: str, what: dict[str, str | int]
) -> Transaction[NewJob | None]:
    """Return a delivery behind all earlier ones of the conversation; None where there is no thread."""
    thread = yield from _thread_of(conversation)
    if thread is None:
        return None
    return NewJob(
        id=name,
        kind=kind,
        tenant=thread["tenant"],
        payload={"conversation": conversation, **what},
        replay=Replay.SAFE,
        lane=lane_of(conversation),
        reserved_for=reader_of(place_of(thread)),
    )
