"""Elements of Slack's rich text. Every text in them is literal: it mentions nobody and links nowhere."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Literal, TypeAlias

from adapters.platforms.literal import shown, timed
from core.canonical import Json, JsonObject

Style: TypeAlias = Literal["bold", "italic", "strike", "code"]
LONGEST_ADDRESS = 3_000
_LINKED = re.compile(r"(?:https?://|mailto:)[!-~]+")
_USER = re.compile(r"[UW][A-Z0-9]{1,20}")
_ESCAPED = {"&": 4, "<": 3, ">": 3}
_BEYOND = 11
"""What a sign outside of the basic plane may cost more than one: it may be stored as `\\ud83d\\ude00`."""


def text(words: str, *styles: Style) -> JsonObject:
    """Return words as they are, with what nobody could see spelled out."""
    style: JsonObject = dict.fromkeys(styles, True)
    return {"type": "text", "text": shown(words), **({"style": style} if style else {})}


def dated(words: str, *styles: Style) -> Iterator[JsonObject]:
    """Yield words, with each time in them as the reader's own clock has it."""
    for piece, at in timed(words):
        yield text(piece, *styles) if at is None else date(at, piece)


def date(moment: datetime, fallback: str) -> JsonObject:
    """Return a time in the reader's zone; `fallback` is what is read where that cannot be drawn."""
    return {
        "type": "date",
        "timestamp": int(moment.timestamp()),
        "format": "{date_num} {time_secs}",
        "fallback": fallback,
    }


def address(url: str) -> JsonObject:
    """Return where a link goes, readable: pressed only where it is a web page or a mail address."""
    if len(url) <= LONGEST_ADDRESS and _LINKED.fullmatch(url):
        return {"type": "link", "url": url}
    return text(url)


def user(name: str) -> JsonObject | None:
    """Return a mention, which only Sayso itself makes; None where this cannot be somebody's id."""
    return {"type": "user", "user_id": name} if _USER.fullmatch(name) else None


def section(elements: Sequence[JsonObject]) -> JsonObject:
    """Return a paragraph."""
    return {"type": "rich_text_section", "elements": list(elements)}


def preformatted(elements: Sequence[JsonObject]) -> JsonObject:
    """Return text that keeps its spaces."""
    return {"type": "rich_text_preformatted", "elements": list(elements)}


def quote(elements: Sequence[JsonObject]) -> JsonObject:
    """Return what somebody else says, with a bar at its side."""
    return {"type": "rich_text_quote", "elements": list(elements)}


def block(elements: Sequence[JsonObject]) -> JsonObject:
    """Return elements as a block of a message."""
    return {"type": "rich_text", "elements": list(elements)}


def plain(words: str, limit: int) -> JsonObject:
    """Return a text object that Slack reads nothing into, at most `limit` characters of it."""
    whole = shown(words)
    short = whole if len(whole) <= limit else f"{whole[: limit - 1]}…"
    return {"type": "plain_text", "text": short, "emoji": False}


def header(words: str) -> JsonObject:
    """Return a title, which nothing but software may have."""
    return {"type": "header", "text": plain(words, 150)}


def actions(elements: Sequence[JsonObject]) -> JsonObject:
    """Return buttons in a row."""
    return {"type": "actions", "elements": list(elements)}


def weight(value: Json) -> int:
    """Return how much of a message this takes, at least as much as Slack counts.

    Slack names no number and does not say how it counts: messages of 13,200 characters pass, with
    `&`, `<` and `>` escaped, and less where there is much structure. So structure counts as well.
    """
    if isinstance(value, str):
        return length(value) + 2
    if isinstance(value, Mapping):
        return sum(len(key) + 4 + weight(item) for key, item in value.items()) + 2
    if isinstance(value, Sequence):
        return sum(weight(item) + 1 for item in value) + 2
    return 10


def length(words: str) -> int:
    """Return how many characters these may count for."""
    escaped = sum(more * words.count(character) for character, more in _ESCAPED.items())
    beyond = len(words.encode("utf-16-le", "surrogatepass")) // 2 - len(words)
    return len(words) + escaped + _BEYOND * beyond


def reach(words: str, room: int) -> int:
    """Return how many characters from the beginning fit into this room."""
    if length(words) <= room:
        return len(words)
    fits, beyond = 0, min(len(words), max(room, 0) + 1)  # none counts for less than one
    while beyond - fits > 1:
        middle = (fits + beyond) // 2
        if length(words[:middle]) <= room:
            fits = middle
        else:
            beyond = middle
    return fits
