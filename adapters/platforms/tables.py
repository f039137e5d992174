"""Tables for where none can be drawn: lines of equal columns."""

import re
from collections.abc import Iterable, Iterator, Sequence

_CELLS = re.compile(r"(?<!\\)\|")
_WIDEST = 40


def lines(rows: Sequence[Sequence[str]], source: Sequence[str]) -> Iterable[str]:
    """Return a table with its columns one below the other; as it was written, where it has more.

    A parser leaves out what stands in more cells than the head has.
    """
    most = max(len(_CELLS.split(line.strip().removeprefix("|"))) for line in [*source, ""])
    is_ragged = most > len(rows[0]) + 1
    return source if is_ragged else _aligned(rows)


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=False)]
    fits = [width if width <= _WIDEST else 0 for width in widths]
    for index, row in enumerate(rows):
        cells = (cell.ljust(width) for cell, width in zip(row, fits, strict=False))
        yield " | ".join(cells).rstrip()
        if index == 0:
            yield "-+-".join("-" * (width or _WIDEST) for width in fits)
