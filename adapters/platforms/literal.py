"""Words as they are shown to people: what nobody could see spelled out, and the times in them found."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from core.display import output

_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC")
_COLOURED = re.compile("(?<=[\u203c-\u2bff\u3030-\u3299\U0001f000-\U0001faff])\ufe0f")
"""Asks for the coloured form of a sign that is seen anyway."""
_SEEN = re.compile(r"[\n\t -~]*")


def shown(words: str) -> str:
    """Return words with what nobody could see spelled out, and so often longer."""
    return words if _SEEN.fullmatch(words) else output(_COLOURED.sub("", words))


def timed(words: str) -> Iterator[tuple[str, datetime | None]]:
    """Yield words in pieces, each with the moment that it is, if it is one."""
    at = 0
    for found in _TIME.finditer(words):
        moment = _moment(found[0])
        if moment is None:
            continue
        if found.start() > at:
            yield words[at : found.start()], None
        yield found[0], moment
        at = found.end()
    if words[at:]:
        yield words[at:], None


def _moment(words: str) -> datetime | None:
    try:
        return datetime.strptime(words, "%Y-%m-%d %H:%M:%S UTC").replace(tzinfo=UTC)
    except ValueError:
        return None
