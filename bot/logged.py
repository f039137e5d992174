"""What a process tells beside its output: on standard error, for as long as somebody reads that."""

import io
import logging
import os
import select
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import TextIO

_PART = 4_096
"""So many bytes a pipe takes at once, where it takes any."""


class Unhurried:
    """A stream whose reader nobody waits for: what finds no room is left out, and that is told later."""

    def __init__(self, stream: TextIO) -> None:
        self._end = stream.fileno()
        self._encoding = stream.encoding
        self._missed = 0
        self._is_cut = False
        """Whether a line was begun for which there was no room to its end."""

    def write(self, text: str) -> None:
        """Write as much as there is room for now."""
        before = "\n" if self._is_cut else ""
        if self._missed:
            before += f"WARNING left out of this log, which nobody read: {self._missed}\n"
        with suppress(OSError):  # whoever read it is gone
            whole = self._written(f"{before}{text}".encode(self._encoding, "backslashreplace"))
            self._missed = 0 if whole else self._missed + 1

    def flush(self) -> None:
        """Do nothing: nothing is kept back."""

    def _written(self, data: bytes) -> bool:
        left, room = data, select.poll()
        with _unwaiting(self._end) as end, suppress(BlockingIOError):
            room.register(end, select.POLLOUT)
            while left and room.poll(0):
                left = left[os.write(end, left[:_PART]) :]
        if left != data:
            self._is_cut = bool(left)
        return not left


@contextmanager
def _unwaiting(end: int) -> Generator[int]:
    """Give an end that takes only as much as there is room for: a terminal waits for room for all."""
    own = None
    if os.isatty(end):
        with suppress(OSError):  # then it is as it is
            flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
            own = os.open(f"/dev/fd/{end}", flags)
    try:
        yield end if own is None else own
    finally:
        if own is not None:
            os.close(own)


def begin() -> None:
    """Log on standard error from now on; have both streams take whatever somebody typed."""
    streams: tuple[TextIO | None, ...] = (sys.stdout, sys.stderr)  # None where one was closed
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    error = streams[1]
    logging.basicConfig(
        handlers=[logging.StreamHandler(Unhurried(error)) if error else logging.NullHandler()],
        level=logging.WARNING,
        format="%(levelname)s %(message)s",
    )


def note(text: str) -> None:
    """Write a line there that is for whoever waits in front of it."""
    error: TextIO | None = sys.stderr  # pyright: ignore[reportAssignmentType] - None without one
    if error:
        Unhurried(error).write(f"{text}\n")
