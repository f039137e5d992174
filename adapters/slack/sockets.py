"""Socket Mode: two sockets, each replaced by a new one before it ends, so that nothing is missed."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from aiohttp import WSMessage
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest

from adapters.platforms.tasks import Tasks, failed
from adapters.slack.web import Web, silent
from core.errors import Unavailable

LONGEST_BACKOFF = 60.0
Handle: TypeAlias = Callable[
    [AsyncBaseSocketModeClient, SocketModeRequest], Coroutine[Any, Any, None]
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Seconds."""

    ping: float = 10.0
    """Between two pings; a socket is dead once four have gone unanswered."""
    opens: float = 10.0
    """In which a socket has to be open and greeted."""
    look: float = 10.0
    """Between two looks at whether a socket is alive."""
    retire: float = 5.0
    """For which a socket that was replaced may still bring what was on its way."""
    close: float = 2.0


class Client(SocketModeClient):
    """The SDK's client, which only says that it needs another socket.

    By itself it would close the one it has first, with whatever has just come in through it, and
    would try one address again and again though it is good for one socket.
    """

    def __init__(self, web: Web, ping: float) -> None:
        super().__init__(
            web.setup.app_token or "",
            logger=silent(),
            web_client=web.client,
            ping_interval=ping,
        )
        self.proxy = web.client.proxy
        self.is_ending = asyncio.Event()

    async def connect_to_new_endpoint(self, force: bool = False) -> None:  # noqa: FBT001, FBT002 - the SDK's
        """Say that this socket ends: Slack wants it to, or it is dead."""
        del force
        self.is_ending.set()

    async def is_alive(self) -> bool:
        """Whether it is open, answers, and has somebody who reads it."""
        parts = (self.message_processor, self.current_session_monitor, self.message_receiver)
        running = all(part and not part.done() for part in parts)
        return running and not self.is_ending.is_set() and await self.is_connected()


@dataclass(slots=True, kw_only=True)
class Sockets:
    """Keeps sockets open and hands over everything that comes through them."""

    web: Web
    handle: Handle
    tasks: Tasks
    count: int = 2
    pace: Pace = field(default_factory=Pace)
    _open: set[Client] = field(default_factory=set[Client])
    """All there are, also those that were replaced and still bring something."""
    _retiring: set["asyncio.Task[None]"] = field(default_factory=set["asyncio.Task[None]"])

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Take in what comes, inside the block; raises `Invalid` or `Unavailable` before it."""
        keeping: list[asyncio.Task[None]] = []
        try:
            for _ in range(self.count):
                keeping.append(asyncio.create_task(self._keep(await self.open())))  # noqa: PERF401
            yield
        finally:
            running = [*keeping, *self._retiring]
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
            await asyncio.gather(*(self.close(client) for client in list(self._open)))

    async def open(self) -> Client:
        """Return an open socket; raises as `Web.socket_address` does, and `Unavailable`."""
        address = await self.web.socket_address()
        client = Client(self.web, self.pace.ping)
        self._open.add(client)
        client.wss_uri = address
        client.socket_mode_request_listeners.append(self._take)
        greeted = asyncio.Event()
        client.on_message_listeners.append(_hears_hello(greeted))
        with suppress(TimeoutError):
            try:
                async with asyncio.timeout(self.pace.opens):
                    await client.connect()  # type: ignore[no-untyped-call] # the SDK left it untyped
                    await greeted.wait()
            finally:
                if not greeted.is_set():
                    await self.close(client)
        if not greeted.is_set():
            raise Unavailable("Slack's Socket Mode could not be reached: no socket opened.")
        return client

    async def close(self, client: Client) -> None:
        """Close a socket and all that the SDK runs for it, however it feels about that."""
        self._open.discard(client)
        client.closed = True
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

    async def _keep(self, client: Client) -> None:
        """Look at a socket for ever, and at whatever comes in its place."""
        failures = 0
        while True:
            await self._pause(client, failures)
            if await client.is_alive():
                continue
            try:
                fresh = await self.open()
            except Exception as error:  # noqa: BLE001 - whatever it is, the next try may work
                failures += 1
                failed(error)
                continue
            retiring = asyncio.create_task(self._retire(client))
            self._retiring.add(retiring)
            retiring.add_done_callback(self._retiring.discard)
            client, failures = fresh, 0

    async def _pause(self, client: Client, failures: int) -> None:
        if failures:
            await asyncio.sleep(min(self.pace.look * 2**failures, LONGEST_BACKOFF))
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(self.pace.look):
                await client.is_ending.wait()

    async def _retire(self, client: Client) -> None:
        """Close a socket once what was on its way to it is here."""
        if await client.is_connected():
            await asyncio.sleep(self.pace.retire)
        await self.close(client)


def _hears_hello(greeted: asyncio.Event) -> Callable[[WSMessage], Awaitable[None]]:
    async def listener(message: WSMessage) -> None:
        if not greeted.is_set() and json.loads(message.data).get("type") == "hello":
            greeted.set()

    return listener
