"""Somebody at a real pseudo-terminal, and what they see on it."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.sayso import SECONDS, environment
from tests.screen import Screen

_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x07]*\x07|[=>])")


@dataclass
class Typist:
    """A process with a terminal of its own, and the other end of that terminal."""

    process: subprocess.Popen[bytes]
    end: int
    raw: bytes = b""
    """Everything that came, as it came."""
    read: int = field(default=0)
    """Up to where of `seen` somebody has read."""

    @property
    def seen(self) -> str:
        """Return what came, without what moves the cursor or colours; what is erased ends a line."""
        came = self.raw.decode("utf-8", "replace").replace("\x1b[J", "\n")
        return _ESCAPES.sub("", came).replace("\r", "")

    @property
    def screen(self) -> list[str]:
        """Return what stands on the terminal now, line by line."""
        return Screen().obey(self.raw.decode("utf-8", "replace")).lines

    def sees(self, text: str, seconds: float = SECONDS) -> None:
        """Wait for a text that was not read yet, and read up to its end."""
        deadline = time.monotonic() + seconds
        while text not in self.seen[self.read :]:
            assert time.monotonic() < deadline, f"waited for {text!r} in {self.seen[self.read :]}"
            assert self._more() or text in self.seen[self.read :], f"it ended: {self.seen}"
        self.read += self.seen[self.read :].index(text) + len(text)

    def finds(self, pattern: str, seconds: float = SECONDS) -> str:
        """Wait for what a pattern's group matches in what was not read yet; read up to its end."""
        deadline = time.monotonic() + seconds
        while not (found := re.search(pattern, self.seen[self.read :])):
            assert time.monotonic() < deadline, f"waited for {pattern} in {self.seen[self.read :]}"
            self._more()
        self.read += found.end()
        return found[1]

    def types(self, line: str, *expected: str) -> None:
        """Type a line, and see each of these texts, in this order."""
        os.write(self.end, f"{line}\r".encode())
        for text in expected:
            self.sees(text)

    def presses(self, key: str, *expected: str) -> None:
        """Press a key, and see each of these texts."""
        os.write(self.end, key.encode())
        for text in expected:
            self.sees(text)

    def leaves(self) -> int:
        """Wait for the end of the process and return its exit code."""
        deadline = time.monotonic() + SECONDS
        while self._more() or self.process.poll() is None:
            assert time.monotonic() < deadline, self.seen
        return self.process.wait()

    def _more(self) -> bool:
        if not select.select([self.end], [], [], 0.05)[0]:
            return True
        try:
            came = os.read(self.end, 65536)
        except OSError:  # Linux says so where nobody has the other end any more
            return False
        self.raw += came
        return bool(came)


def _take_terminal() -> None:
    """Make the terminal the one whose Ctrl-C is for this process."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@contextmanager
def typing(
    *arguments: str,
    folder: Path,
    columns: int = 80,
    env: Mapping[str, str] | None = None,
) -> Generator[Typist]:
    """Start Sayso at a terminal of so many columns; nothing of it outlives the block."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "bot", *arguments],
        cwd=folder,
        env=environment({"TERM": "xterm-256color", **(env or {})}),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=_take_terminal,  # noqa: PLW1509 - no threads here
    )
    os.close(theirs)
    try:
        yield Typist(process, ours)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            process.wait()
        os.close(ours)
