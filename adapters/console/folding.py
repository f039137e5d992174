"""Lines as a terminal can show them: nothing raw, nothing lost, nothing wider than the window."""

from collections.abc import Iterator

from rich.cells import cell_len

from core.display import output

MARK = "\\"
"""Stands in the last column of a line that goes on below; no text of ours reaches that column."""
_TABS = 4
_NARROWEST = 8


def lines(text: str, width: int) -> list[str]:
    """Return text cut into lines of at most `width` cells.

    Unlike wrapping at words, this keeps every space: joined without the marks, and the blanks where
    a wide character did not fit before one, it is the text.
    """
    room = max(width, _NARROWEST) - 1
    shown = output(text).expandtabs(_TABS)
    return [part for line in shown.split("\n") for part in _parts(line, room)]


def _parts(line: str, room: int) -> Iterator[str]:
    rest = line
    while cell_len(rest) > room:
        part = rest[: _cut(rest, room)]
        yield f"{part}{' ' * (room - cell_len(part))}{MARK}"
        rest = rest[len(part) :]
    yield rest


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
