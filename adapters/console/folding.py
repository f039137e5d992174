"""Lines as a terminal can show them: nothing raw, nothing lost, nothing wider than the window."""

import io
from collections.abc import Iterator

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text as Line

from core.display import output

MARK = "\\"
"""Ends a line that goes on below. No line of a plan ends so by itself: it ends with JSON or a time."""
BEFORE = 2
"""Cells of a mark or the gutter, with the blank behind it."""
_TABS = 4
_NARROWEST = 8


def lines(text: str, width: int) -> list[str]:
    """Return text cut into lines of at most `width` cells.

    Unlike wrapping at words, this keeps every space. What goes on below a mark is indented as its
    line began, so that nothing in the middle of a line can pass for the beginning of one.
    """
    room = max(width, _NARROWEST) - 1
    shown = output(text).expandtabs(_TABS)
    return [part for line in shown.split("\n") for part in _parts(line, room)]


def _parts(line: str, room: int) -> Iterator[str]:
    indent = " " * min(len(line) - len(line.lstrip(" ")), room // 2)
    rest, before = line, ""
    while cell_len(before + rest) > room:
        part = rest[: _cut(rest, room - len(before))]
        yield f"{before}{part}{MARK}"
        rest, before = rest[len(part) :], indent
    yield f"{before}{rest}"


def _cut(text: str, room: int) -> int:
    """Return how many characters go into a line: up to a blank, where one is near the end."""
    cells, most = 0, 0
    for character in text:
        cells += cell_len(character)
        if cells > room:
            break
        most += 1
    blank = text.rfind(" ", 0, most) + 1
    return blank if most - blank < room // 4 and text[:blank].strip() else most


def hanging(text: str, width: int, style: str) -> list[Line]:
    """Return a paragraph of which only the first line begins at the left."""
    first = wrapped(text, width)[0]
    rest = text[len(first) :].lstrip()
    more = wrapped(rest, width - BEFORE) if rest else []
    lines = [first, *(Line("  ") + line for line in more)]
    for line in lines:
        line.stylize(style)
    return lines


def wrapped(text: str, width: int) -> list[Line]:
    """Return prose cut at its words."""
    console = Console(file=io.StringIO(), width=width, _environ={})
    lines = Line(text, overflow="fold").wrap(console, width)
    for line in lines:
        line.rstrip()
    return [*lines]
