"""A log in a file: away from a terminal on which a conversation goes on, and never in its way."""

import logging
import os
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from bot import logged

_MOST = 100
"""So much of what cannot be written to the file is kept until the end."""
_UNKEPT = "WARNING this could not be written to {}:"


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file that only grows. What cannot be written to it is kept here, and fails nobody."""

    path: Path
    unkept: deque[str] = field(default_factory=lambda: deque(maxlen=_MOST))

    def write(self, text: str) -> None:
        """Write to its end, where that can be done; nobody waits for a pipe."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        data = text.encode("utf-8", "backslashreplace")
        written = 0
        with suppress(OSError):
            file = os.open(self.path, flags, 0o666)
            try:
                written = os.write(file, data)
            finally:
                os.close(file)
        if written != len(data):
            self.unkept.append(text)

    def flush(self) -> None:
        """Do nothing: nothing is kept back that could be written."""


@contextmanager
def logging_into(path: Path) -> Generator[None]:
    """Log into a file inside the block; what it could not take is told on standard error behind it."""
    root, file = logging.getLogger(), LogFile(path)
    before = [*root.handlers]
    kept = logging.StreamHandler(file)
    kept.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    root.handlers[:] = [kept]
    try:
        yield
    finally:
        root.handlers[:] = before
        if file.unkept:
            logged.note(_UNKEPT.format(path.name))
        for text in file.unkept:
            logged.note(text.rstrip("\n"))
