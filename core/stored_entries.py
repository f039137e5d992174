"""Entries of a transcript as text that is kept, and read back to the same bytes (I10). Pure."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from core import canonical
from core.errors import Invalid
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


class Unreadable(Invalid):
    """Something was kept as an entry that this version knows nothing of."""


def kind_of(entry: Entry) -> str:
    """Return the word under which an entry is kept."""
    return type(entry).__name__.lower()


def body_of(entry: Entry) -> str:
    """Return the text in which an entry is kept: equal entries have equal bytes (I10)."""
    return canonical.encode(values(entry))


def entry_of(kind: str, text: str) -> Entry:
    """Return the entry that was kept as this text; raise `Unreadable` where it is none."""
    try:
        return _BUILT[kind](json.loads(text))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise Unreadable(
            "What is kept of this conversation cannot be read by this version of Sayso. Use the one "
            "that wrote it, or start a new conversation.",
            kind=kind,
        ) from error


def _called(body: Any) -> Entry:  # noqa: ANN401 - as it was stored
    return Called(**body | {"calls": tuple(ToolCall(**call) for call in body["calls"])})


def _returned(body: Any) -> Entry:  # noqa: ANN401 - as it was stored
    return Returned(results=tuple(Result(**result) for result in body["results"]))


def _stated(body: Any) -> Entry:  # noqa: ANN401 - as it was stored
    return Stated(**body | {"form": Form(body["form"]), "trust": Trust(body["trust"])})


def _compacted(body: Any) -> Entry:  # noqa: ANN401 - as it was stored
    return Compacted(**body | {"told": tuple(body["told"]), "waiting": tuple(body["waiting"])})


_BUILT: Mapping[str, Callable[[Any], Entry]] = {
    "heard": lambda body: Heard(**body),
    "called": _called,
    "returned": _returned,
    "spoke": lambda body: Spoke(**body),
    "noted": lambda body: Noted(**body),
    "stated": _stated,
    "compacted": _compacted,
}
