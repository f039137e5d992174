"""A conversation as data from which it is rebuilt: what its model was sent, and what people read."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from core import canonical
from core.canonical import JsonObject
from core.conversations import Said, Turn
from core.errors import Refused
from core.events import Place
from core.transcript import Called, Entry, Heard, Noted, Result, Returned, Spoke, ToolCall

SCHEMA = "sayso.conversation/1"

_NO_EXPORT = "This is not an exported conversation. Write one with: sayso conversation ID --export"


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """All of one conversation, each part in its own order; requests and runs are named by id."""

    conversation: str
    tenant: str
    place: Place
    opened_at: datetime
    erased_at: datetime | None
    transcript: tuple[Entry, ...]
    entries: tuple[Said, ...]
    turns: tuple[Turn, ...]
    requests: tuple[str, ...]
    runs: tuple[str, ...]


def kind_of(entry: Entry) -> str:
    """Return the word under which an entry is kept."""
    return type(entry).__name__.lower()


def body_of(entry: Entry) -> str:
    """Return the text in which an entry is kept: equal entries have equal bytes (I10)."""
    return canonical.encode(asdict(entry))


def entry_of(kind: str, text: str) -> Entry:
    """Return the entry that was kept as this text."""
    body: Any = json.loads(text)
    match kind:
        case "heard":
            return Heard(**body)
        case "called":
            calls = tuple(ToolCall(**call) for call in body.pop("calls"))
            return Called(calls=calls, **body)
        case "returned":
            return Returned(results=tuple(Result(**result) for result in body["results"]))
        case "spoke":
            return Spoke(**body)
        case "noted":
            return Noted(**body)
        case _:
            raise Refused(_NO_EXPORT)


def transcript(entries: Sequence[Entry]) -> list[JsonObject]:
    """Return a transcript as plain values; `rebuilt` reads them back."""
    return [{"kind": kind_of(one), "body": canonical.parse(body_of(one))} for one in entries]


def rebuilt(text: str) -> tuple[Entry, ...]:
    """Return the transcript of an exported conversation, each entry to the same bytes (C86).

    Raises `Refused` for a text that no export has.
    """
    values: Any = canonical.parse(text)
    try:
        if values["schema"] != SCHEMA:
            raise Refused(_NO_EXPORT)
        return tuple(
            entry_of(one["kind"], canonical.encode(one["body"])) for one in values["transcript"]
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise Refused(_NO_EXPORT) from error
