"""Spans of time as people write them in a file: 500ms, 60s, 30m, 24h, 7d, 1h30m."""

import re
from datetime import timedelta
from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema

_PART = re.compile(r"([0-9]{1,6})(ms|s|m|h|d)", re.ASCII)
_LONGEST = 30
_MOST = timedelta(days=366)
_UNITS = {
    "ms": timedelta(milliseconds=1),
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
}


def parse(text: object) -> timedelta:
    """Return the span; raise `ValueError` that tells how to write one."""
    if isinstance(text, timedelta):
        return text
    written = text if isinstance(text, str) and len(text) <= _LONGEST else ""
    span = sum((int(n) * _UNITS[unit] for n, unit in _PART.findall(written)), timedelta())
    if _PART.sub("", written) or not timedelta() < span <= _MOST:
        raise ValueError("write a span of time such as 60s, 30m, 24h or 1h30m, at most a year")
    return span


def words(span: timedelta) -> str:
    """Return a span exactly, the way a file writes it."""
    left, parts = max(span, timedelta()), list[str]()
    for unit in ("d", "h", "m", "s", "ms"):
        count, left = divmod(left, _UNITS[unit])
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"


def milliseconds(span: timedelta) -> int:
    """Return a span as plans hold it."""
    return int(span / timedelta(milliseconds=1))


_WRITTEN = {
    "type": "string",
    "pattern": "^([0-9]{1,6}(ms|s|m|h|d))+$",
    "maxLength": _LONGEST,
    "examples": ["60s", "30m", "24h"],
}

Duration = Annotated[timedelta, BeforeValidator(parse), WithJsonSchema(_WRITTEN)]
