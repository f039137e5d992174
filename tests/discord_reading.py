"""What Discord reads out of its Markdown, as its clients do: rules tried in order at each character."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias

_BEGINS_LINE = {
    "heading": re.compile(r" *(?:#{1,3})[ \t]+(?=\S)"),
    "small": re.compile(r" *-#[ \t]+(?=\S)"),
    "item": re.compile(r"[ \t]*(?:[*+-]|\d+[.)])(?:[ \t]+|$)"),
    "quote": re.compile(r" *>(?:>>)?(?:[ \t]|$)", re.MULTILINE),
}
_ANYWHERE = {
    "block": re.compile(r"```(?:[a-z0-9_+\-.#]+?\n)?\n*([^\n][\s\S]*?)\n*```", re.IGNORECASE),
    "escape": re.compile(r"\\([^0-9A-Za-z\s])"),
    "code": re.compile(r"(`+)([\s\S]*?[^`])\1(?!`)"),
    "pressed": re.compile(r"<(\w+://[^ >\n]+)>"),
    "user": re.compile(r"<@!?\d+>"),
    "role": re.compile(r"<@&\d+>"),
    "channel": re.compile(r"<#\d+>"),
    "command": re.compile(r"</[^>\n]*:\d+>"),
    "time": re.compile(r"<t:(-?\d+)(?::[tTdDfFR])?>"),
    "emoji": re.compile(r"<a?:\w+:\d+>|:[\w+~-]+:"),
    "place": re.compile(r"<id:\w+>"),
    "number": re.compile(r"<\+?\d+>|<[^\s<>]+@[^\s<>]+>"),
    "everyone": re.compile(r"@(?:everyone|here)"),
    "masked": re.compile(r"\[[^\]\n]*\]\([^)\n]*\)"),
    "address": re.compile(r"(?:https?|steam|discord)://\S"),
    "invite": re.compile(r"discord(?:app)?\.(?:gg|com|gift|new)", re.IGNORECASE),
    "spoiler": re.compile(r"\|\|"),
    "closes": re.compile(r"#+(?=[ \t]*$)", re.MULTILINE),  # a heading, to be strict any line
}
_AROUND = {
    "bold": re.compile(r"\*\*((?:\\[\s\S]|[^\\])+?)\*\*(?!\*)"),
    "under": re.compile(r"__((?:\\[\s\S]|[^\\])+?)__(?!_)"),
    "italic": re.compile(
        r"\*(?=\S)((?:\*\*|\\[\s\S]|\s+(?:\\[\s\S]|[^\s*\\]|\*\*)|[^\s*\\])+?)\*(?!\*)"
        r"|\b_((?:__|\\[\s\S]|[^\\_])+?)_\b"
    ),
    "strike": re.compile(r"~~([\s\S]+?)~~(?!_)"),
}
"""A style ends at the first mark that ends it, even where that stands in code or in an address."""
Read: TypeAlias = tuple[str, str]


@dataclass
class _At:
    source: str
    at: int = 0

    def begins(self) -> bool:
        """Return whether a line begins here, in a quote too."""
        return self.at == 0 or self.source[self.at - 1] == "\n"


def meanings(source: str) -> Iterator[Read]:
    """Yield each piece with what it means: `text` is text, all else is not what it looks like."""
    now, began = _At(source), True
    while now.at < len(source):
        began = began or now.begins()
        kind, found = _found(now, at_begin=began)
        if found is None:
            yield "text", source[now.at]
            now.at, began = now.at + 1, False
            continue
        now.at = found.end()
        began = kind == "quote"
        yield kind, _seen(kind, found)
        if kind in _AROUND:
            yield from meanings(next(filter(None, found.groups())))


def _found(now: _At, *, at_begin: bool) -> tuple[str, re.Match[str] | None]:
    for kind, rule in {**(_BEGINS_LINE if at_begin else {}), **_ANYWHERE}.items():
        found = rule.match(now.source, now.at)
        if found is not None:
            return kind, found
    return _styled(now)


def _styled(now: _At) -> tuple[str, re.Match[str] | None]:
    """Return the longest of those that begin here, and of two the one that is named later."""
    best: tuple[str, re.Match[str] | None] = "text", None
    for kind, rule in _AROUND.items():
        found = rule.match(now.source, now.at)
        if found and (best[1] is None or len(found[0]) >= len(best[1][0])):
            best = kind, found
    return best


def _seen(kind: str, found: re.Match[str]) -> str:
    if kind in _BEGINS_LINE.keys() - {"item"} or kind in {*_AROUND, "user", "closes"}:
        return ""
    if kind == "time":
        return f"{datetime.fromtimestamp(int(found[1]), UTC):%Y-%m-%d %H:%M:%S} UTC"
    if kind == "code":
        return found[2].strip() if "`" in found[2] else found[2]
    return found[1] if kind in {"escape", "block", "pressed"} else found[0]


def kinds(source: str) -> set[str]:
    """Return everything in this that is not just text."""
    return {kind for kind, _ in meanings(source)} - {"text", "escape"}


def plain(source: str) -> str:
    """Return what is read of this."""
    return "".join(piece for _, piece in meanings(source))
