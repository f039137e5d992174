"""What a model knows of a conversation, as rows that are only ever added to."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from adapters.storage.transactions import Row, Transaction, rows, sql
from core import canonical
from core.conversations import History, Turn
from core.transcript import (
    Called,
    Entry,
    Form,
    Heard,
    Noted,
    Result,
    Returned,
    Spoke,
    Stated,
    ToolCall,
    Trust,
)


def extend(conversation: str, entries: Sequence[Entry]) -> Transaction[None]:
    """Append what a turn added; only the end of a turn calls this."""
    found = yield from rows(
        "SELECT coalesce(max(seq), 0) AS last FROM transcript WHERE conversation = :conversation",
        conversation=conversation,
    )
    for seq, entry in enumerate(entries, found[0]["last"] + 1):
        kind = type(entry).__name__.lower()
        yield sql(
            "INSERT INTO transcript (conversation, seq, kind, body, entry)"
            " VALUES (:conversation, :seq, :kind, :body, :entry)",
            conversation=conversation, seq=seq, kind=kind,
            body=canonical.encode(asdict(entry)),
            entry=entry.entry if isinstance(entry, Noted) else None,
        )  # fmt: skip


def history(turn: Turn) -> Transaction[History]:
    """Return what the model was sent in earlier turns, and what software has to tell since."""
    known = yield from rows(
        "SELECT kind, body FROM transcript JOIN conversation"
        " ON conversation.id = transcript.conversation"
        " WHERE conversation = :conversation AND tenant = :tenant ORDER BY seq",
        conversation=turn.conversation, tenant=turn.tenant,
    )  # fmt: skip
    news = yield from rows(
        "SELECT seq, text FROM entry JOIN conversation ON conversation.id = entry.conversation"
        " WHERE conversation = :conversation AND tenant = :tenant AND kind IN ('report', 'note')"
        " AND seq > (SELECT coalesce(max(entry), 0) FROM transcript"
        " WHERE conversation = :conversation) ORDER BY seq",
        conversation=turn.conversation, tenant=turn.tenant,
    )  # fmt: skip
    return History(
        entries=tuple(_entry(row) for row in known),
        news=tuple(Noted(text=row["text"], entry=row["seq"]) for row in news),
    )


def _entry(row: Row) -> Entry:
    body: Any = json.loads(row["body"])
    match row["kind"]:
        case "called":
            calls = tuple(ToolCall(**call) for call in body.pop("calls"))
            return Called(calls=calls, **body)
        case "returned":
            return Returned(results=tuple(Result(**result) for result in body["results"]))
        case "stated":
            form, trust = Form(body.pop("form")), Trust(body.pop("trust"))
            return Stated(form=form, trust=trust, **body)
        case kind:
            return _PLAIN[kind](**body)


_PLAIN: Mapping[str, type[Heard | Spoke | Noted]] = {"heard": Heard, "spoke": Spoke, "noted": Noted}
