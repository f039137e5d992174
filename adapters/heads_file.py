"""Heads of the audit log in a file that only grows. Implements `core.ports.Heads`."""

import fcntl
import os
import re
import stat
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from core.errors import Unavailable

_TAIL = 4096
_YEAR = re.compile(rb"[0-9]{0,4}-?")
"""What a file of heads begins with: the time of the first one, or what a full disk left of it."""
_FAILED = (
    "The audit log's head could not be published. Check `audit.heads` and the rights of its folder."
)
_NO_FILE = "The audit log's head could not be published in `audit.heads`: {}"
_FOREIGN = "it holds something else than heads. Name a new file."
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFLNK: "a link",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


@dataclass(frozen=True, slots=True)
class HeadsFile:
    """A file with a line for each head."""

    path: Path

    def fault(self) -> str | None:
        """See the port."""
        try:
            return _fault(self.path.lstat().st_mode) or self._foreign()
        except OSError:
            return None  # one that is not there yet is made; for the rest, writing tells

    def _foreign(self) -> str | None:
        """Say that it is a file of something else, such as our own database: nothing is added there."""
        file = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            begins = os.read(file, 5)
        finally:
            os.close(file)
        return None if _YEAR.fullmatch(begins) else _FOREIGN

    def last(self) -> str:
        """See the port."""
        try:
            with self._opened(os.O_RDONLY) as file:
                lines = _tail(file).decode("utf-8", "replace").splitlines()
        except FileNotFoundError:
            return ""
        except OSError as error:
            raise Unavailable(_FAILED, error=repr(error)) from error
        return lines[-1] if lines else ""

    def append(self, line: str) -> None:
        """See the port."""
        try:
            with self._opened(os.O_RDWR | os.O_APPEND | os.O_CREAT) as file:
                # One at a time: the end of what somebody else is writing is not the end of a line.
                fcntl.flock(file, fcntl.LOCK_EX)
                # A line that a full disk cut stays by itself.
                is_whole = _tail(file)[-1:] in {b"", b"\n"}
                data = f"{'' if is_whole else chr(10)}{line}\n".encode()
                written = os.write(file, data)
                os.fsync(file)
        except OSError as error:
            raise Unavailable(_FAILED, error=repr(error)) from error
        if written != len(data):
            raise Unavailable(_FAILED, written=written)

    @contextmanager
    def _opened(self, flags: int) -> Generator[int]:
        """Open it where it is a file: nobody waits for a pipe, starts a device or follows a link."""
        with_care = flags | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC
        _must_be_file(self.fault())
        file = os.open(self.path, with_care, 0o644)
        try:
            _must_be_file(_fault(os.fstat(file).st_mode))
            yield file
        finally:
            os.close(file)


def _tail(file: int) -> bytes:
    """Return the end of a file, and nothing of what others add meanwhile."""
    size = os.fstat(file).st_size
    begin = max(0, size - _TAIL)
    return os.pread(file, size - begin, begin)


def _fault(mode: int) -> str | None:
    if stat.S_ISREG(mode):
        return None
    kind = _KINDS.get(stat.S_IFMT(mode), "a device")
    return f"it is {kind}, and heads are noted only in a file. Name a new one."


def _must_be_file(fault: str | None) -> None:
    if fault:
        raise Unavailable(_NO_FILE.format(fault))
