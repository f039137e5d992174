"""Heads of the audit log in a file that only grows. Implements `core.ports.Heads`."""

import os
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from core.errors import Unavailable

_TAIL = 4096
_FAILED = (
    "The audit log's head could not be published. Check `audit.heads` and the rights of its folder."
)


@dataclass(frozen=True, slots=True)
class HeadsFile:
    """A file with a line for each head."""

    path: Path

    def last(self) -> str:
        """See the port."""
        try:
            with self.path.open("rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL))
                lines = file.read().decode("utf-8", "replace").splitlines()
        except FileNotFoundError:
            return ""
        except OSError as error:
            raise Unavailable(_FAILED, error=repr(error)) from error
        return lines[-1] if lines else ""

    def append(self, line: str) -> None:
        """See the port."""
        try:
            # One write to a file that only grows: of two processes, each writes whole lines.
            with self.path.open("a+b", buffering=0) as file:
                file.write(f"{'' if _is_whole(file) else chr(10)}{line}\n".encode())
                os.fsync(file.fileno())
        except OSError as error:
            raise Unavailable(_FAILED, error=repr(error)) from error


def _is_whole(file: FileIO) -> bool:
    """Whether the last line ends: one that a full disk cut does not, and stays by itself."""
    size = file.seek(0, os.SEEK_END)
    if size == 0:
        return True
    file.seek(size - 1)
    return file.read(1) == b"\n"
