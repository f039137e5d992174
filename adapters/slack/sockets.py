"""Socket Mode: two sockets, so that one is open while Slack has the other opened anew."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from aiohttp import WSMessage
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest

from adapters.slack.tasks import Tasks, log
from adapters.slack.web import Web, silent
from core.errors import SaysoError, Unavailable

LONGEST_BACKOFF = 60.0
Handle: TypeAlias = Callable[
    [AsyncBaseSocketModeClient, SocketModeRequest], Coroutine[Any, Any, None]
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Seconds. Slack drops what it does not reach; the SDK notices after four missing pings."""

    ping: float = 10.0
    opens: float = 10.0
    """In which a socket has to be open and greeted."""
    look: float = 10.0
    """Between two looks at whether each socket is alive: one that is not twice is replaced."""
    close: float = 2.0


@dataclass(slots=True)
class Line:
    """One socket, and how it fared."""

    client: SocketModeClient
    misses: int = 0
    """How often in a row it was found dead."""
    failures: int = 0
    """How often in a row it could not be replaced."""
    rests_until: float = 0.0


@dataclass(slots=True, kw_only=True)
class Sockets:
    """Keeps sockets open and hands over everything that comes through them."""

    web: Web
    handle: Handle
    tasks: Tasks
    count: int = 2
    pace: Pace = field(default_factory=Pace)
    now: Callable[[], float] = time.monotonic
    lines: list[Line] = field(default_factory=list[Line])

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Take in what comes, inside the block; raises `Invalid` or `Unavailable` before it."""
        watch: asyncio.Task[None] | None = None
        try:
            for _ in range(self.count):
                self.lines.append(Line(await self.open()))
            watch = asyncio.create_task(self._watch())
            yield
        finally:
            if watch is not None:
                watch.cancel()
                await asyncio.gather(watch, return_exceptions=True)
            lines, self.lines = self.lines, []
            await asyncio.gather(*(self.close(line.client) for line in lines))

    async def open(self) -> SocketModeClient:
        """Return an open socket; raises as `Web.socket_address` does, and `Unavailable`."""
        address = await self.web.socket_address()
        client = SocketModeClient(
            self.web.setup.app_token or "",
            logger=silent(),
            web_client=self.web.client,
            ping_interval=self.pace.ping,
        )
        client.proxy = self.web.client.proxy
        client.wss_uri = address  # the SDK would ask for one and, if refused, ask for ever
        client.socket_mode_request_listeners.append(self._take)
        greeted = asyncio.Event()
        client.on_message_listeners.append(_hears_hello(greeted))
        failure: Unavailable | None = None
        try:
            async with asyncio.timeout(self.pace.opens):
                await client.connect()  # type: ignore[no-untyped-call] # the SDK left it untyped
                await greeted.wait()
        except TimeoutError:
            failure = Unavailable("Slack's Socket Mode could not be reached: no socket opened.")
        finally:
            if not greeted.is_set():
                await self.close(client)
        if failure:
            raise failure
        return client

    async def close(self, client: SocketModeClient) -> None:
        """Close a socket and all that the SDK runs for it, however it feels about that."""
        client.closed = True
        client.auto_reconnect_enabled = False
        parts = (client.message_processor, client.current_session_monitor, client.message_receiver)
        running = [part for part in parts if part is not None]
        for part in running:
            part.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        with suppress(TimeoutError, OSError):
            async with asyncio.timeout(self.pace.close):
                if client.current_session is not None:
                    await client.current_session.close()
        await client.aiohttp_client_session.close()

    async def _take(self, client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        """Have what comes in finish before we leave: the SDK holds on to none of it."""
        await self.tasks.start(self.handle(client, request))

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self.pace.look)
            for line in self.lines:
                await self._look(line)

    async def _look(self, line: Line) -> None:
        line.misses = 0 if await _is_alive(line.client) else line.misses + 1
        if line.misses < 2 or self.now() < line.rests_until:  # noqa: PLR2004 - the SDK tries first
            return
        log.warning("slack: a socket is dead and is replaced")
        try:
            fresh = await self.open()
        except SaysoError as error:
            log.warning("slack: %s", error.logged)
            line.failures += 1
            line.rests_until = self.now() + min(self.pace.look * 2**line.failures, LONGEST_BACKOFF)
            return
        dead, line.client = line.client, fresh
        line.misses = line.failures = 0
        await self.close(dead)


async def _is_alive(client: SocketModeClient) -> bool:
    """Whether a socket is open, answers, and has somebody who reads it."""
    parts = (client.message_processor, client.current_session_monitor, client.message_receiver)
    return await client.is_connected() and all(part and not part.done() for part in parts)


def _hears_hello(greeted: asyncio.Event) -> Callable[[WSMessage], Awaitable[None]]:
    async def listener(message: WSMessage) -> None:
        if not greeted.is_set() and json.loads(message.data).get("type") == "hello":
            greeted.set()

    return listener
