"""Socket Mode: each envelope goes to one of the sockets and waits three seconds for its ack."""

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass, field
from uuid import uuid4

from aiohttp import WSMsgType, web

from tests.standins.slack.delivery import Delivery
from tests.standins.slack.wire import Json, copied


@dataclass(kw_only=True, eq=False)
class Socket:
    """One connection of the app."""

    web: web.WebSocketResponse
    transport: asyncio.Transport | None


@dataclass(kw_only=True)
class Sockets:
    """The sockets that are open, oldest first."""

    app: str
    at: str = ""
    """The server's own address, for sockets."""
    ack_within: float = 3.0
    open: list[Socket] = field(default_factory=list[Socket])
    opened: int = 0
    """How many there have been."""
    tickets: set[str] = field(default_factory=set[str])
    waiting: dict[str, "asyncio.Future[Json | None]"] = field(
        default_factory=dict[str, "asyncio.Future[Json | None]"]
    )
    acks: list[Json] = field(default_factory=list[Json])
    """Everything that came back over any socket."""
    turn: int = 0
    sent: list[int] = field(default_factory=list[int])
    """Which socket each envelope went to."""
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    def address(self) -> str:
        """Return where a socket can be opened, once."""
        ticket = uuid4().hex
        self.tickets.add(ticket)
        return f"{self.at}/link?ticket={ticket}"

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Keep one socket open and take its acks in."""
        ticket = request.query.get("ticket", "")
        if ticket not in self.tickets:
            return web.Response(status=401)
        self.tickets.discard(ticket)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        open_now = Socket(web=socket, transport=request.transport)
        await self._add(open_now)
        try:
            async for message in socket:
                if message.type == WSMsgType.TEXT:
                    self._take(json.loads(message.data))
        finally:
            await self._remove(open_now)
        return socket

    async def until_open(self, count: int = 1, *, within: float = 20.0) -> None:
        """Return once so many sockets are open; exactly so many, as `0` for none."""
        async with asyncio.timeout(within), self.changed:
            await self.changed.wait_for(lambda: len(self.open) == count)

    async def until_opened(self, count: int, *, within: float = 20.0) -> None:
        """Return once so many sockets have been open, as after a reconnect."""
        async with asyncio.timeout(within), self.changed:
            await self.changed.wait_for(lambda: self.opened >= count)

    async def send(
        self, kind: str, payload: Json, *, socket: int | None = None, **again: object
    ) -> Delivery:
        """Deliver something to one socket, each in its turn where none is chosen."""
        envelope = str(uuid4())
        delivery = Delivery(envelope=envelope, kind=kind, payload=copied(payload))
        if not self.open:
            return delivery
        self.turn += 1
        number = self.turn % len(self.open) if socket is None else socket
        chosen = self.open[number]
        self.sent.append(number)
        frame: Json = {
            "envelope_id": envelope, "type": kind, "payload": payload,
            "accepts_response_payload": kind != "events_api", **again,
        }  # fmt: skip
        self.waiting[envelope] = asyncio.get_running_loop().create_future()
        with suppress(ConnectionError):  # it went while it was chosen: nobody acknowledges
            await chosen.web.send_json(frame)
            return await self._acked(delivery)
        del self.waiting[envelope]
        return delivery

    async def disconnect(self, reason: str = "refresh_requested", *, socket: int = 0) -> None:
        """Tell a socket that it is to go: `warning`, `refresh_requested`, `link_disabled`."""
        debug = {"host": "applink-fake"}
        await self.open[socket].web.send_json(
            {"type": "disconnect", "reason": reason, "debug_info": debug}
        )

    async def drop(self, socket: int = 0) -> None:
        """Cut a socket without a word."""
        chosen = self.open[socket]
        assert chosen.transport is not None
        chosen.transport.abort()
        await self._remove(chosen)

    async def close(self) -> None:
        """Close every socket."""
        for socket in list(self.open):
            await socket.web.close()

    async def _acked(self, delivery: Delivery) -> Delivery:
        try:
            async with asyncio.timeout(self.ack_within):
                answer = await self.waiting[delivery.envelope]
        except TimeoutError:
            return delivery
        finally:
            del self.waiting[delivery.envelope]
        return delivery.acknowledged(answer)

    def _take(self, frame: Json) -> None:
        self.acks.append(frame)
        waiting = self.waiting.get(str(frame.get("envelope_id")))
        if waiting and not waiting.done():
            waiting.set_result(frame.get("payload"))

    async def _add(self, socket: Socket) -> None:
        info = {"host": "applink-fake", "approximate_connection_time": 18060}
        self.open.append(socket)
        await socket.web.send_json({
            "type": "hello", "num_connections": len(self.open), "debug_info": info,
            "connection_info": {"app_id": self.app},
        })  # fmt: skip
        async with self.changed:
            self.opened += 1
            self.changed.notify_all()

    async def _remove(self, socket: Socket) -> None:
        async with self.changed:
            if socket in self.open:
                self.open.remove(socket)
            self.changed.notify_all()
