"""The two ends of this process that an MCP host holds: standard input and output, one message a line."""

import asyncio
import os
import stat
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from io import FileIO

from core.errors import Refused

LONGEST = 4 * 1024 * 1024
"""Bytes of one message; a host that sends more is not heard any further."""
_NO_HOST = (
    "There is no MCP host at the other end. Have one start this: its command is `sayso`, with the "
    "arguments `mcp serve`."
)


@dataclass(frozen=True, slots=True)
class Lines:
    """What the host says, line by line, until it says nothing more."""

    reader: asyncio.StreamReader

    def __aiter__(self) -> AsyncIterator[str]:
        """Return itself."""
        return self

    async def __anext__(self) -> str:
        """Return one line."""
        try:
            line = await self.reader.readline()
        except ValueError:
            line = b""  # longer than any message may be
        if not line:
            raise StopAsyncIteration
        return line.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Answers:
    """What the host is told."""

    writer: asyncio.StreamWriter

    async def write(self, text: str) -> None:
        """Send a text."""
        self.writer.write(text.encode())

    async def flush(self) -> None:
        """Wait until the host has room for more."""
        await self.writer.drain()


@asynccontextmanager
async def standard(stop: asyncio.Event) -> AsyncGenerator[tuple[Lines, Answers]]:
    """Give both ends; after `stop` nothing more is heard.

    Whatever else is printed meanwhile, or later, goes to standard error.
    """
    if not all(map(_is_pipe, (0, 1))):
        raise Refused(_NO_HOST)
    loop = asyncio.get_running_loop()
    given, told = os.dup(0), os.dup(1)
    _divert()
    reader = asyncio.StreamReader(limit=LONGEST)
    heard, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), FileIO(given)
    )
    telling, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, FileIO(told, "w")
    )
    ending = asyncio.create_task(_ended(stop, heard))
    try:
        yield Lines(reader), Answers(asyncio.StreamWriter(telling, protocol, None, loop))
    finally:
        ending.cancel()
        heard.close()
        telling.close()


async def _ended(stop: asyncio.Event, heard: asyncio.ReadTransport) -> None:
    await stop.wait()
    heard.close()


def _is_pipe(end: int) -> bool:
    mode = os.fstat(end).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _divert() -> None:
    sys.stdout.flush()
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    os.dup2(2, 1)
