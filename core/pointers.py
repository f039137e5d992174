"""JSON Pointer (RFC 6901): where one value stands in a JSON document. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from core.canonical import Json

Pointer: TypeAlias = tuple[str, ...]
_WHOLE = re.compile(r"(?:/(?:[^~/]|~[01])*)*")
_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")


def parse(text: str) -> Pointer:
    """Return the names on the way to the value; raise `ValueError` that tells how to write one."""
    if not _WHOLE.fullmatch(text):
        raise ValueError(
            "write where a value stands as in /items/0/name, with ~1 for / and ~0 for ~"
        )
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:])


def at(value: Json, pointer: Pointer) -> tuple[Json, ...]:
    """Return the value that stands there, alone; nothing where none does."""
    for name in pointer:
        match value:
            case Mapping() if name in value:
                value = value[name]
            case Sequence() if not isinstance(value, str) and _is_index(name, len(value)):
                value = value[int(name)]
            case _:
                return ()
    return (value,)


def _is_index(name: str, length: int) -> bool:
    return bool(_INDEX.fullmatch(name)) and int(name) < length
