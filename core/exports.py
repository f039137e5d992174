"""A conversation as data from which it is rebuilt: what its model was sent, and what people read."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NoReturn

from core import canonical
from core.canonical import Json, JsonObject
from core.conversations import Said, Turn
from core.errors import Refused
from core.events import Place
from core.transcript import (
    Called,
    Compacted,
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
    values,
)

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


def kind_of(entry: Entry) -> str:
    """Return the word under which an entry is kept."""
    return type(entry).__name__.lower()


def body_of(entry: Entry) -> str:
    """Return the text in which an entry is kept: equal entries have equal bytes (I10)."""
    return canonical.encode(values(entry))


def entry_of(kind: str, text: str) -> Entry:
    """Return the entry that was kept as this text."""
    body: Any = json.loads(text)
    return _BUILT.get(kind, _unknown)(body)


def _called(body: Any) -> Entry:  # noqa: ANN401 - as it was stored
    return Called(**body | {"calls": tuple(ToolCall(**call) for call in body["calls"])})


def _returned(body: Any) -> Entry:  # noqa: ANN401 - as it was stored
    return Returned(results=tuple(Result(**result) for result in body["results"]))


def _stated(body: Any) -> Entry:  # noqa: ANN401 - as it was stored
    return Stated(**body | {"form": Form(body["form"]), "trust": Trust(body["trust"])})


def _compacted(body: Any) -> Entry:  # noqa: ANN401 - as it was stored
    return Compacted(**body | {"told": tuple(body["told"]), "waiting": tuple(body["waiting"])})


def _unknown(_: object) -> NoReturn:
    raise Refused(_NO_EXPORT)


_BUILT: Mapping[str, Callable[[Any], Entry]] = {
    "heard": lambda body: Heard(**body),
    "called": _called,
    "returned": _returned,
    "spoke": lambda body: Spoke(**body),
    "noted": lambda body: Noted(**body),
    "stated": _stated,
    "compacted": _compacted,
}


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
