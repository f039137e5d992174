"""Values out of JSON that anybody may have made: each is what it has to be, or empty. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias, cast

from core.display import sound

Payload: TypeAlias = Mapping[str, object]

_NOTHING: Payload = {}
_PLAIN = re.compile(r"[!-~]{1,255}")
_ADDRESS = re.compile(r"https?://[!-~]{1,1000}")
_TS = re.compile(r"[0-9]{1,20}\.[0-9]{1,20}")


def at(payload: Payload, *path: str) -> object:
    """Return what stands at a path; None where nothing does."""
    found: object = payload
    for name in path:
        found = of(found).get(name)
    return found


def of(value: object) -> Payload:
    """Return an object as it is; an empty one for anything else."""
    return cast("Payload", value) if isinstance(value, Mapping) else _NOTHING


def items(value: object) -> Sequence[object]:
    """Return a list as it is; an empty one for anything else."""
    return cast("Sequence[object]", value) if isinstance(value, list) else ()


def text(payload: Payload, *path: str) -> str:
    """Return a text that every store takes."""
    found = at(payload, *path)
    return sound(found) if isinstance(found, str) else ""


def name(payload: Payload, *path: str) -> str:
    """Return an id: a word in ASCII, as every id of Slack's is."""
    return _matching(_PLAIN, at(payload, *path))


def ts(payload: Payload, *path: str) -> str:
    """Return the id of a message, which is a time in digits."""
    return _matching(_TS, at(payload, *path))


def address(payload: Payload, *path: str) -> str | None:
    """Return where something may be sent, or None."""
    return _matching(_ADDRESS, at(payload, *path)) or None


def _matching(pattern: re.Pattern[str], found: object) -> str:
    return found if isinstance(found, str) and pattern.fullmatch(found) else ""
