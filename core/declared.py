"""How far a command says that it is, in lines of its output such as `sayso: 40% copying`.

Such a line is the whole line: nothing before the name, one blank, a whole number from 0 to 100, the
sign, and then, behind one more blank, words if it likes.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_LINE = re.compile(r"sayso: (100|[1-9]?[0-9])%(?: (\S.*))?")
_CELLS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What one such line says. The words are output of a program, like any other."""

    percent: int
    words: str

    @property
    def bar(self) -> str:
        """Return it as one line in which people see how far that is."""
        full = self.percent * _CELLS // 100
        drawn = f"[{'#' * full}{'.' * (_CELLS - full)}] {self.percent}%"
        return f"{drawn} {self.words}" if self.words else drawn


def read(line: str) -> Declared | None:
    """Return what a line declares; None for any other line."""
    found = _LINE.fullmatch(line)
    return Declared(percent=int(found[1]), words=found[2] or "") if found else None


def apart(lines: Iterable[str]) -> tuple[Declared | None, tuple[str, ...]]:
    """Return what was declared last, and the lines that declare nothing."""
    last, others = None, list[str]()
    for line in lines:
        declared = read(line)
        if declared is None:
            others.append(line)
        last = declared or last
    return last, tuple(others)
