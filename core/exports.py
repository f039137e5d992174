"""A conversation as data from which it is rebuilt: what its model was sent, and what people read."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core import canonical
from core.canonical import Json, JsonObject
from core.conversations import Said, Turn
from core.errors import Refused
from core.events import Place
from core.stored_entries import Unreadable, body_of, entry_of, kind_of
from core.transcript import Entry

SCHEMA = "sayso.conversation/1"

_NO_EXPORT = "This is not an exported conversation. Write one with: sayso conversation ID --export"


@dataclass(frozen=True, slots=True, kw_only=True)
class Happened:
    """One happening, with the turn and the claim of its job under which it was kept."""

    turn: str
    claim: int
    at: datetime
    kind: str
    body: Json


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
    happenings: tuple[Happened, ...]
    """What happened in the turns while they ran, in order."""
    requests: tuple[str, ...]
    runs: tuple[str, ...]


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
    except (KeyError, TypeError, Unreadable) as error:
        raise Refused(_NO_EXPORT) from error
