"""What stands on a terminal once everything that came was obeyed: as much of one as is needed."""

import re

_PARTS = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])|\x1b.|[\r\n\b]|[^\x1b\r\n\b]+")


class Screen:
    """A terminal that never scrolls away what it has shown."""

    def __init__(self) -> None:
        self.rows: list[str] = [""]
        self.row = self.column = 0

    def obey(self, text: str) -> "Screen":
        """Take everything that came."""
        for part in _PARTS.finditer(text):
            if part[2]:
                self._move(part[2], int(part[1]) if part[1].isdecimal() else None)
            elif part[0] == "\r":
                self.column = 0
            elif part[0] == "\n":
                self._down(1)
            elif part[0] == "\b":
                self.column = max(0, self.column - 1)
            elif not part[0].startswith("\x1b"):
                self._write(part[0])
        return self

    @property
    def lines(self) -> list[str]:
        """Return what stands there, without what is blank at the end of a line or below."""
        lines = [row.rstrip() for row in self.rows]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def _move(self, command: str, number: int | None) -> None:
        steps = number or 1
        match command:
            case "A":
                self.row = max(0, self.row - steps)
            case "B":
                self._down(steps)
            case "C":
                self.column += steps
            case "D":
                self.column = max(0, self.column - steps)
            case "J":
                self.rows[self.row] = self.rows[self.row][: self.column]
                del self.rows[self.row + 1 :]
            case "K":
                self.rows[self.row] = self.rows[self.row][: self.column]
            case _:
                assert command in "mhl", command

    def _down(self, steps: int) -> None:
        self.row += steps
        self.rows += [""] * (self.row + 1 - len(self.rows))

    def _write(self, text: str) -> None:
        before = self.rows[self.row].ljust(self.column)
        after = before[self.column + len(text) :]
        self.rows[self.row] = f"{before[: self.column]}{text}{after}"
        self.column += len(text)
