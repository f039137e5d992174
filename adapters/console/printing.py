"""What is printed, by a thread: whoever reads slowly, or not at all, holds up nobody but who prints."""

import asyncio
import os
import select
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TextIO, TypeAlias

_AHEAD = 65_536
"""So many characters may wait to be written before whoever prints more waits too."""
_BEHIND = 2_048
"""From so many on, somebody does not read: what is drawn only for a moment is not worth it then."""

Write: TypeAlias = Callable[[str], object]
"""Writes a text, however long that takes; raises `OSError` where nobody will ever read it."""


class Printer:
    """Prints in order and never in the event loop.

    Nothing is lost while somebody reads. Once nobody does, what is printed is dropped.
    """

    def __init__(self, write: Write, *, ahead: int = _AHEAD) -> None:
        self._write = write
        self._ahead = ahead
        self._loop = asyncio.get_running_loop()
        self._turns = asyncio.Lock()
        self._texts = deque[str]()
        self._writing = 0
        self._left = 0
        """How many characters are not written yet, with those that are being written."""
        self._moved = asyncio.Event()
        self._unread = asyncio.Event()

    @property
    def is_behind(self) -> bool:
        """Whether somebody has not read for a while."""
        return self._left > _BEHIND

    async def print(self, text: str) -> None:
        """Print as soon as there is room."""
        async with self.turn():
            self.put(text)

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None]:
        """Wait for room, in order of arrival; what is put inside the block follows what was printed."""
        async with self._turns:
            await self._until(lambda: self._left <= self._ahead)
            yield

    def put(self, text: str) -> None:
        """Print without waiting for room: for what is little."""
        if text and not self._unread.is_set():
            self._texts.append(text)
            self._left += len(text)
            self._go_on()

    async def drained(self) -> None:
        """Return once all of it is written, or nobody reads any more."""
        await self._until(lambda: not self._left)

    async def unread(self) -> None:
        """Return once nobody reads any more."""
        await self._unread.wait()

    async def _until(self, is_so: Callable[[], bool]) -> None:
        while not (self._unread.is_set() or is_so()):
            self._moved.clear()
            await self._moved.wait()

    def _go_on(self) -> None:
        if self._texts and not self._writing:
            text = "".join(self._texts)
            self._texts.clear()
            self._writing = len(text)
            # A thread that nobody waits for: writing may take for ever, also when everything ends.
            threading.Thread(target=self._work, args=(text,), daemon=True).start()

    def _work(self, text: str) -> None:
        is_read = False
        try:
            self._write(text)
            is_read = True
        except OSError:
            pass  # whoever read it is gone, or what it was written to is full
        finally:
            with suppress(RuntimeError):  # all is over
                self._loop.call_soon_threadsafe(self._wrote, is_read)

    def _wrote(self, is_read: bool) -> None:  # noqa: FBT001 - called by the loop
        self._left -= self._writing
        self._writing = 0
        if is_read:
            self._go_on()
        else:
            self._texts.clear()
            self._left = 0
            self._unread.set()
        self._moved.set()


def onto(stream: TextIO | None) -> Write:
    """Return what writes to a stream past its buffer, whose lock an exit would wait for.

    Where there is no stream, nothing is written.
    """
    if stream is None:
        return len
    end, encoding = stream.fileno(), stream.encoding

    def write(text: str) -> None:
        left = text.encode(encoding, "backslashreplace")
        while left:
            try:
                left = left[os.write(end, left) :]
            except BlockingIOError:  # somebody who shares it wants it so
                room = select.poll()
                room.register(end, select.POLLOUT)
                room.poll()

    return write


class Handed:
    """A terminal as an editor knows one; what it draws is printed in turn with everything else."""

    def __init__(self, terminal: TextIO, printer: Printer) -> None:
        self._terminal = terminal
        self._printer = printer

    @property
    def encoding(self) -> str:
        """Return that of the terminal."""
        return self._terminal.encoding

    def fileno(self) -> int:
        """Return that of the terminal, which knows how large the window is."""
        return self._terminal.fileno()

    def isatty(self) -> bool:
        """Whether it is one."""
        return self._terminal.isatty()

    def write(self, text: str) -> None:
        """Print; a character that the terminal does not know takes the room that it was given."""
        self._printer.put(text.encode(self.encoding, "replace").decode(self.encoding))

    def flush(self) -> None:
        """Do nothing: nothing is kept back."""
