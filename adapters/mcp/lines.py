"""Messages of the Model Context Protocol on a pair of pipes, one a line, each of bounded length."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from io import FileIO

LONGEST = 4 * 1024 * 1024
"""Bytes of one message; whoever sends more is not heard any further."""
MOST = 20_000
"""Values of one message. To read a million of them takes seconds, in which nothing else goes on."""


@dataclass(frozen=True, slots=True)
class Lines:
    """What the other side says, line by line, until it says nothing more."""

    reader: asyncio.StreamReader
    transport: asyncio.ReadTransport

    def __aiter__(self) -> AsyncIterator[str]:
        """Return itself."""
        return self

    async def __anext__(self) -> str:
        """Return one line."""
        try:
            line = await self.reader.readline()
        except ValueError:
            line = b""  # longer than any message may be
        if not line or _holds_too_much(line):
            raise StopAsyncIteration
        return line.decode("utf-8", "replace")

    def close(self) -> None:
        """Hear nothing more."""
        self.transport.close()


@dataclass(frozen=True, slots=True)
class Answers:
    """What the other side is told."""

    writer: asyncio.StreamWriter

    async def write(self, text: str) -> None:
        """Send a text."""
        self.writer.write(text.encode())

    async def flush(self) -> None:
        """Wait until there is room for more."""
        await self.writer.drain()

    def close(self) -> None:
        """Say nothing more."""
        self.writer.transport.close()


async def heard_from(end: int) -> Lines:
    """Return what is said at the other end of a pipe, which is ours from now on."""
    reader = asyncio.StreamReader(limit=LONGEST)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), FileIO(end)
    )
    return Lines(reader, transport)


async def told_to(end: int) -> Answers:
    """Return what tells the other end of a pipe, which is ours from now on."""
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, FileIO(end, "w")
    )
    return Answers(asyncio.StreamWriter(transport, protocol, None, loop))


def _holds_too_much(line: bytes) -> bool:
    """Whether a message holds more values than any may, told without reading it as JSON."""
    plain = line.replace(b"\\\\", b"").replace(b'\\"', b"")
    if plain.count(b'"') > 2 * MOST:
        return True
    outside = b"".join(plain.split(b'"')[::2])
    return sum(map(outside.count, (b",", b"[", b"{"))) > MOST
