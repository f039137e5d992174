"""Changes a long text in pieces, so that nobody else has to wait for the whole of it."""

import asyncio
from collections.abc import Callable, Iterator

PIECE = 16 * 1024
"""Characters that are changed at once, where nothing in them hangs together for longer."""


def pieces(text: str, change: Callable[[str], str], *, reach: int) -> Iterator[str]:
    """Yield what a change makes of a text, piece by piece; together they are what it makes of all of it.

    `reach` is how many characters behind a place may decide what becomes of those before it. What
    hangs together, such as a secret, is in one piece however long it is. With the change and the
    reach of a `Redactor` no secret escapes at an end of a piece.
    """
    start = 0
    while start < len(text):
        end, changed = _first(text, start, change, reach)
        yield changed
        start = end


async def changed(text: str, change: Callable[[str], str], *, reach: int) -> str:
    """Return what a change makes of a text, and let others on between its pieces."""
    found = list[str]()
    for piece in pieces(text, change, reach=reach):
        found.append(piece)
        await asyncio.sleep(0)
    return "".join(found)


def _first(text: str, start: int, change: Callable[[str], str], reach: int) -> tuple[int, str]:
    """Return where a piece ends that begins here, and what becomes of it."""
    size = PIECE
    while start + size < len(text):
        end = _line_end(text, start + size // 2, start + size)
        piece, beyond = text[start:end], text[end : end + reach]
        one = change(piece)
        if one + change(beyond) == change(piece + beyond):
            return end, one
        # Something goes on across that place; twice as far costs no more than all tries before.
        size *= 2
    return len(text), change(text[start:])


def _line_end(text: str, start: int, end: int) -> int:
    """Return where the last line ends between two places; the second one where none does."""
    return text.rfind("\n", start, end) + 1 or end
