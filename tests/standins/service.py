"""A service in HTTP on this machine that notes what it is asked, and answers byte by byte what it was told."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TypeAlias

Writer: TypeAlias = asyncio.StreamWriter
Play: TypeAlias = Callable[[Writer], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request as it came over the wire."""

    line: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        """Return the one header of this name, in whatever case; None where there is none."""
        found = [value for key, value in self.headers if key.lower() == name.lower()]
        assert len(found) < 2, found
        return found[0] if found else None


@dataclass(slots=True, kw_only=True)
class Service:
    """What was asked of it, and what it answers."""

    server: asyncio.Server = field(init=False)
    port: int = 0
    connections: int = 0
    asked: list[Asked] = field(default_factory=list[Asked])
    answer: Play
    came: asyncio.Event = field(default_factory=asyncio.Event)
    """Is set once a request has come whole."""
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """Is set once whoever asked has closed the connection."""

    @property
    def host(self) -> str:
        """Return where it is."""
        return f"127.0.0.1:{self.port}"

    def url(self, path: str = "/") -> str:
        """Return an address of it."""
        return f"http://{self.host}{path}"

    async def serve(self, reader: asyncio.StreamReader, writer: Writer) -> None:
        """Answer whoever comes."""
        self.connections += 1
        try:
            self.asked.append(await _read(reader))
            self.came.set()
            await self._answered(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            self.left.set()
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _answered(self, reader: asyncio.StreamReader, writer: Writer) -> None:
        answering = asyncio.ensure_future(self.answer(writer))
        gone = asyncio.ensure_future(reader.read())
        try:
            await asyncio.wait({answering, gone}, return_when=asyncio.FIRST_COMPLETED)
            if gone.done():
                self.left.set()
        finally:
            for task in (answering, gone):
                task.cancel()
            await asyncio.gather(answering, gone, return_exceptions=True)


async def _read(reader: asyncio.StreamReader) -> Asked:
    line, *rest = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")[:-2]
    pairs = tuple((name, value.strip()) for name, _, value in (one.partition(":") for one in rest))
    length = next((int(value) for name, value in pairs if name.lower() == "content-length"), 0)
    return Asked(line=line, headers=pairs, body=await reader.readexactly(length))


def says(*pieces: bytes) -> Play:
    """Return what writes these bytes."""

    async def play(writer: Writer) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()

    return play


def replies(status: int = 200, body: bytes = b"", **headers: str) -> Play:
    """Return what answers in one whole message."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"HTTP/1.1 {status} Status", f"Content-Length: {len(body)}"]
    head = "\r\n".join([*lines, *(f"{name}: {value}" for name, value in named.items())])
    return says(head.encode() + b"\r\n\r\n" + body)


async def silence(_: Writer) -> None:
    """Answer nothing until whoever asked is gone."""
    await asyncio.Event().wait()


@asynccontextmanager
async def service(answer: Play, *, tls: ssl.SSLContext | None = None) -> AsyncGenerator[Service]:
    """Serve while this lasts; at the end nothing of it is left."""
    here = Service(answer=answer)
    tasks = set[asyncio.Task[None]]()

    def accepted(reader: asyncio.StreamReader, writer: Writer) -> None:
        task = asyncio.ensure_future(here.serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    here.server = await asyncio.start_server(accepted, "127.0.0.1", 0, ssl=tls)
    here.port = here.server.sockets[0].getsockname()[1]
    try:
        yield here
    finally:
        here.server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
