"""What a message is about, as far as its words name it: choices of parameters, identifiers, hosts."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias, cast

from pydantic import BaseModel

from core.tools import Toolbox
from core.words import fold

MOST = 32
"""Entities that one message may name; whatever it names after them is not looked at."""
_WORD = re.compile(r"[^\s,;!?()\[\]{}<>\"'`]+")
_HOST = re.compile(r"(?:[a-z0-9_-]{1,63}\.)+[a-z][a-z0-9-]{1,62}(?::\d{1,5})?", re.ASCII)
_NUMBERED = re.compile(r"([a-z][a-z_]*)[-_#:/]?(\d[a-z0-9._-]*)", re.ASCII)
_NUMBER = re.compile(r"#?(\d{3,40})", re.ASCII)
_LONGEST = 100

Choices: TypeAlias = Mapping[str, frozenset[str]]
"""The values that parameters of these names may have, folded."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Entity:
    """One thing that was named: of which kind, and which one."""

    kind: str
    value: str


def choices(tools: Toolbox) -> Choices:
    """Return the words that a parameter of some tool has to be one of."""
    found: dict[str, frozenset[str]] = {}
    for tool in tools:
        for name, words in _choices(tool.parameters):
            found[name] = found.get(name, frozenset()) | words
    return found


def named(text: str, known: Choices) -> frozenset[Entity]:
    """Return what a text names; the same thing written in another way is the same.

    Numbers of one or two digits are amounts more often than names, so they are none.
    """
    found = set[Entity]()
    before = ""
    for match in _WORD.finditer(fold(text)):
        word = match[0].rstrip(".:")
        if len(word) <= _LONGEST and len(found) < MOST:
            found.update(_entities(word, before, known))
        before = word
    return frozenset(found)


def _entities(word: str, before: str, known: Choices) -> Iterator[Entity]:
    kinds = [kind for kind, values in known.items() if word in values]
    if kinds:
        yield from (Entity(kind=kind, value=word) for kind in kinds)
    elif _HOST.fullmatch(word):
        yield Entity(kind="host", value=word)
    elif numbered := _NUMBERED.fullmatch(word):
        yield Entity(kind=numbered[1], value=numbered[2])
    elif number := _NUMBER.fullmatch(word):
        yield Entity(kind=before if before.isalpha() else "number", value=number[1])


@lru_cache(maxsize=512)
def _choices(parameters: type[BaseModel]) -> tuple[tuple[str, frozenset[str]], ...]:
    properties: dict[str, Any] = parameters.model_json_schema(by_alias=True).get("properties", {})
    found = ((name, frozenset(_words(schema))) for name, schema in properties.items())
    return tuple((name, words) for name, words in found if words)


def _words(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the words of a closed choice; one of a single value is a `const`."""
    values: object = schema.get("enum", [schema.get("const")])
    for value in cast("list[object]", values):
        if isinstance(value, str):
            yield fold(value)
