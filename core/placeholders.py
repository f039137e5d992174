"""Placeholders: where the value of a parameter comes to stand in what an operator wrote. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.canonical import Json, JsonObject, encode
from core.errors import Incorrect

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_ALONE = re.compile(r"\{([^{}]*)\}")


def names(text: str) -> list[str]:
    """Return the names inside braces; `{{` and `}}` stand for a brace.

    Raises `ValueError` for a brace that is open.
    """
    found: list[str] = []
    for match in _PLACEHOLDER.finditer(text):
        if match[0] in {"{", "}"}:
            raise ValueError("a brace is open; write {{ or }} for one that is meant")
        if match[0] not in {"{{", "}}"}:
            found.append(match[1])
    return found


def fill(text: str, arguments: JsonObject) -> str:
    """Return a text with each placeholder replaced; raise `Incorrect` where an argument is missing."""

    def value(match: re.Match[str]) -> str:
        if match[0] in {"{{", "}}"}:
            return match[0][0]
        return _word(argument(match[1], arguments))

    return _PLACEHOLDER.sub(value, text)


def fill_value(value: Json, arguments: JsonObject) -> Json:
    """Return a JSON value with the placeholders in its texts replaced; names in it stay as they are.

    A text that is one placeholder and nothing else becomes that argument, of whichever type it is.
    """
    match value:
        case str():
            alone = _ALONE.fullmatch(value)
            return argument(alone[1], arguments) if alone else fill(value, arguments)
        case Mapping():
            return fill_object(value, arguments)
        case Sequence():
            return [fill_value(one, arguments) for one in value]
        case _:
            return value


def fill_object(value: JsonObject, arguments: JsonObject) -> dict[str, Any]:
    """Return an object of JSON with the placeholders in its values replaced."""
    return {name: fill_value(one, arguments) for name, one in value.items()}


def texts_in(value: Json) -> Iterator[str]:
    """Yield every text of a JSON value in which a placeholder may stand."""
    match value:
        case str():
            yield value
        case Mapping():
            for one in value.values():
                yield from texts_in(one)
        case Sequence():
            for one in value:
                yield from texts_in(one)
        case _:
            pass


def argument(name: str, arguments: JsonObject) -> Json:
    """Return an argument; raise `Incorrect` where it is missing."""
    if name not in arguments:
        raise Incorrect(f"`{name}` is required and has no default. Call it again with it.")
    return arguments[name]


def _word(value: Json) -> str:
    return value if isinstance(value, str) else encode(value)
