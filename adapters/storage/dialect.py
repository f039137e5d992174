"""The statements of transactions, as PostgreSQL wants them: written once, in the words of SQLite."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from adapters.storage.transactions import Row, Rows, Statement, Value

_MOST_TEXTS = 2000
_TOKEN = re.compile(r"'(?:[^']|'')*'|(?<!:):([a-z]\w*)")
_OF_ITS_OWN = (
    (re.compile(r"\bjson_each\((:\w+)\)"), r"json_array_elements_text(\1::json)"),
    (re.compile(r"\bjson_array_length\((:\w+)\)"), r"json_array_length(\1::json)"),
    (re.compile(r"\bjson_extract\(([\w.]+), '\$\.(\w+)'\)"), r"(\1::json ->> '\2')"),
    (re.compile(r"\bcast\((\w+) AS BLOB\)"), r"convert_to(\1, 'UTF8')"),
    (re.compile(r"\binstr\("), "strpos("),
    (re.compile(r"\bsubstr\([^():]*(?::\w+)"), r"\g<0>::int"),
)
"""What SQLite says in words that PostgreSQL does not know. A statement says nothing else of its own."""


_NUL = "\0"
_MARK = "\U0010ffff"
"""Stands before what it is not: PostgreSQL keeps no NUL, and what was printed may hold some."""


def numbered(statement: Statement) -> tuple[str, list[Value]]:
    """Return the text with numbered parameters, and their values in that order.

    Each has the type of its value, since nothing else may tell it. Nothing at all is written out: it
    has whatever type stands there.
    """
    kinds = tuple((name, _kind(value)) for name, value in statement.values.items())
    text, names = _numbered(statement.sql, kinds)
    return text, [_kept(statement.values[name]) for name in names]


def given(found: Sequence[Any]) -> Rows:
    """Return rows as they were written."""
    return [
        _whole(row) if any(_is_marked(value) for value in row.values()) else row for row in found
    ]


def _whole(row: Row) -> Row:
    return {name: _unmarked(value) if _is_marked(value) else value for name, value in row.items()}


def _kept(value: Value) -> Value:
    if isinstance(value, str) and (_NUL in value or _MARK in value):
        return value.replace(_MARK, f"{_MARK}1").replace(_NUL, f"{_MARK}0")
    return value


def _is_marked(value: object) -> bool:
    return isinstance(value, str) and _MARK in value


def _unmarked(value: str) -> str:
    return value.replace(f"{_MARK}0", _NUL).replace(f"{_MARK}1", _MARK)


def _kind(value: Value) -> str:
    if value is None:
        return ""
    return "text" if isinstance(value, str) else "bigint"


@lru_cache(_MOST_TEXTS)
def _numbered(sql: str, kinds: tuple[tuple[str, str], ...]) -> tuple[str, tuple[str, ...]]:
    for pattern, words in _OF_ITS_OWN:
        sql = pattern.sub(words, sql)
    kind_of, places = dict(kinds), dict[str, int]()

    def written(token: re.Match[str]) -> str:
        name = token[1]
        if name is None:
            return token[0]
        kind = kind_of[name]
        return f"${places.setdefault(name, len(places) + 1)}::{kind}" if kind else "NULL"

    return _TOKEN.sub(written, sql), tuple(places)
