"""The gateway: sockets over which sessions are told of what happens, and take up again.

https://docs.discord.com/developers/events/gateway
"""

import asyncio
import json
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from aiohttp import WSMsgType, web

from tests.standins.discord import directory
from tests.standins.discord.changes import Changes
from tests.standins.discord.sessions import Session
from tests.standins.discord.wire import Json, copied
from tests.standins.discord.world import CONTENT, MEMBERS, PRESENCES, World

DISPATCH, HEARTBEAT, IDENTIFY, RESUME, RECONNECT, MEMBERS_PLEASE = 0, 1, 2, 6, 7, 8
INVALID, HELLO, ACK = 9, 10, 11
BAD_TOKEN, NOT_IDENTIFIED, TWICE, BAD_SHARD, DISALLOWED = 4004, 4003, 4005, 4010, 4014


@dataclass(kw_only=True, eq=False)
class Socket:
    """One connection of the app."""

    web: web.WebSocketResponse
    transport: asyncio.Transport | None
    packed: Callable[[bytes], bytes] | None
    """Packs what is sent, where that was asked for."""
    session: Session | None = None
    sender: "asyncio.Task[None] | None" = None

    async def send(self, op: int, data: object = None) -> None:
        """Send something that is no event."""
        await self.write({"op": op, "d": data, "s": None, "t": None})

    async def write(self, frame: Json) -> None:
        """Send a frame, packed where that was asked for."""
        raw = json.dumps(frame).encode()
        if self.packed is None:
            await self.web.send_str(raw.decode())
        else:
            await self.web.send_bytes(self.packed(raw))

    async def tell(self, first: int) -> None:
        """Send the session's events from a number on, as long as the connection lasts."""
        assert self.session is not None
        at = first
        with suppress(ConnectionError):
            while True:
                self.session.more.clear()
                for frame in self.session.frames[at:]:
                    at += 1
                    await self.write(frame)
                await self.session.more.wait()


@dataclass(kw_only=True)
class Gateway:
    """The sockets that are open and the sessions that there are, oldest first."""

    world: World
    token: str
    changes: Changes
    at: str = ""
    """The server's own address, for sockets."""
    heartbeat: float = 41.25
    """Seconds between the heartbeats that the app is asked for."""
    acks: bool = True
    """Whether heartbeats are acknowledged."""
    down: bool = False
    """Whether nobody gets in."""
    sockets: list[Socket] = field(default_factory=list[Socket])
    sessions: list[Session] = field(default_factory=list[Session])
    identified: list[Json] = field(default_factory=list[Json])
    resumed: list[Json] = field(default_factory=list[Json])
    """What came with each IDENTIFY and each RESUME."""
    opened: int = 0
    heartbeats: int = 0
    lost: list[tuple[str, Json]] = field(default_factory=list[tuple[str, Json]])
    """What nobody was told of."""

    @property
    def url(self) -> str:
        """Return where it is."""
        return f"{self.at}/gw/"

    @property
    def connected(self) -> list[Session]:
        """Return the sessions that are told of things now."""
        return [each for each in self.sessions if each.connected]

    def tell(self, name: str, data: Json) -> None:
        """Tell every session of an event, connected or to take up again."""
        told = [each.offer(name, data) for each in self.sessions]
        if not any(told):
            self.lost.append((name, copied(data)))

    def interact(self, data: Json) -> int:
        """Tell those who are connected now of an interaction; return how many these are.

        Two instances of one bot both get it, and the second to answer reads 40060.
        """
        told = [each.offer("INTERACTION_CREATE", data) for each in self.connected]
        if not any(told):
            self.lost.append(("INTERACTION_CREATE", copied(data)))
        return sum(told)

    async def until_connected(self, count: int = 1, *, within: float = 20.0) -> None:
        """Return once exactly so many sessions are told of things, as `0` for none."""
        await self.changes.until(lambda: len(self.connected) == count, within)

    async def until_identified(self, count: int = 1, *, within: float = 20.0) -> None:
        """Return once so many sessions have begun and one of them is connected."""
        await self.changes.until(
            lambda: len(self.identified) >= count and bool(self.connected), within
        )

    async def until_resumed(self, count: int = 1, *, within: float = 20.0) -> None:
        """Return once so many sessions were taken up again."""
        await self.changes.until(lambda: len(self.resumed) >= count and self.connected, within)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Keep one socket open."""
        packing = request.query.get("compress")
        if self.down or packing not in (None, "zlib-stream"):
            return web.Response(status=503)
        taken = web.WebSocketResponse(max_msg_size=0, compress=False)
        await taken.prepare(request)
        packed = _packing() if packing else None
        socket = Socket(web=taken, transport=request.transport, packed=packed)
        self.sockets.append(socket)
        self.opened += 1
        try:
            await socket.send(HELLO, {"heartbeat_interval": int(self.heartbeat * 1000)})
            async for message in taken:
                if message.type == WSMsgType.TEXT:
                    await self._take(socket, json.loads(message.data))
        finally:
            await self._left(socket)
        return taken

    async def reconnect(self) -> None:
        """Tell every socket to connect again: op 7."""
        for socket in list(self.sockets):
            await socket.send(RECONNECT)

    async def invalidate(self, *, resumable: bool = False) -> None:
        """Tell every session that it is none any more, or that it may take up again: op 9."""
        for socket in list(self.sockets):
            if not resumable and socket.session in self.sessions:
                self.sessions.remove(socket.session)
            await socket.send(INVALID, resumable)

    async def drop(self) -> None:
        """Cut every socket without a word; the sessions can be taken up again."""
        for socket in list(self.sockets):
            if socket.transport:
                socket.transport.abort()
            await self._left(socket)

    async def kick(self, code: int) -> None:
        """Close every socket with a code."""
        for socket in list(self.sockets):
            await socket.web.close(code=code)

    def forget(self) -> None:
        """Forget every session: who wants to take up again has to identify anew."""
        for each in self.sessions:
            each.connected = False
        self.sessions.clear()

    async def close(self) -> None:
        """Close every socket."""
        for socket in list(self.sockets):
            if socket.sender:
                socket.sender.cancel()
            await socket.web.close()

    async def _take(self, socket: Socket, frame: Json) -> None:
        data: Json = frame["d"] if isinstance(frame.get("d"), dict) else {}
        match frame["op"]:
            case 1:
                self.heartbeats += 1
                if self.acks:
                    await socket.send(ACK)
            case 2:
                await self._identify(socket, data)
            case 6:
                await self._resume(socket, data)
            case _ if socket.session is None:
                await socket.web.close(code=NOT_IDENTIFIED)
            case 8:
                self._members(socket.session, data)
            case _:
                pass
        self.changes.wake()

    async def _identify(self, socket: Socket, data: Json) -> None:
        self.identified.append(data)
        intents, shard = int(data.get("intents") or 0), data.get("shard") or [0, 1]
        privileged = intents & (CONTENT | MEMBERS | PRESENCES)
        closes = (
            (TWICE, socket.session is not None),
            (BAD_TOKEN, data.get("token") != self.token),
            (BAD_SHARD, not 0 <= shard[0] < shard[1]),
            (DISALLOWED, bool(privileged & ~self.world.privileged)),
        )
        for code, applies in closes:
            if applies:
                await socket.web.close(code=code)
                return
        session = Session(world=self.world, shard=(shard[0], shard[1]), intents=intents)
        self.sessions.append(session)
        self._begin(session)
        self._connect(socket, session, 0)

    def _begin(self, session: Session) -> None:
        """Tell a new session who it is, and of every server of its shard."""
        number, count = session.shard
        there = [each for each in self.world.joined if (int(each) >> 22) % count == number]
        application = directory.application(self.world)
        session.put("READY", {
            "v": 10, "user": self.world.users[self.world.bot], "session_id": session.id,
            "guilds": [{"id": each, "unavailable": True} for each in there],
            "resume_gateway_url": self.url, "shard": list(session.shard),
            "application": {"id": self.world.app, "flags": application["flags"]},
        })  # fmt: skip
        for each in there:
            session.offer("GUILD_CREATE", {**created(self.world, each), "guild_id": each})

    async def _resume(self, socket: Socket, data: Json) -> None:
        self.resumed.append(data)
        found = next((e for e in self.sessions if e.id == data.get("session_id")), None)
        if data.get("token") != self.token:
            await socket.web.close(code=BAD_TOKEN)
        elif found is None or int(data.get("seq") or 0) > len(found.frames):
            await socket.send(INVALID, data=False)
        else:
            found.put("RESUMED", {"_trace": []})
            self._connect(socket, found, int(data.get("seq") or 0))

    def _connect(self, socket: Socket, session: Session, first: int) -> None:
        for other in self.sockets:
            if other.session is session and other.sender:
                other.sender.cancel()
                other.session = None
        socket.session, session.connected = session, True
        socket.sender = asyncio.create_task(socket.tell(first))

    def _members(self, session: Session, data: Json) -> None:
        """Answer a request for members: with the bot alone, or whom it named."""
        guild = str(data.get("guild_id"))
        members = self.world.guilds[guild].members
        wanted = set(map(str, data.get("user_ids") or ())) or {self.world.bot}
        session.put("GUILD_MEMBERS_CHUNK", {
            "guild_id": guild, "members": [members[e] for e in sorted(wanted & members.keys())],
            "chunk_index": 0, "chunk_count": 1, "nonce": data.get("nonce"), "not_found": [],
        })  # fmt: skip

    async def _left(self, socket: Socket) -> None:
        if socket not in self.sockets:
            return
        self.sockets.remove(socket)
        if socket.sender:
            socket.sender.cancel()
        if socket.session:
            socket.session.connected = False
        self.changes.wake()


def _packing() -> Callable[[bytes], bytes]:
    """Return what packs frame after frame into one stream."""
    stream = zlib.compressobj()
    return lambda raw: stream.compress(raw) + stream.flush(zlib.Z_SYNC_FLUSH)


def created(world: World, guild: str) -> Json:
    """Return a server with all that is in it, as a session comes to know it."""
    found = world.guilds[guild]
    channels = [
        copied(each)
        for each in world.channels.values()
        if each.get("guild_id") == guild and "thread_metadata" not in each
    ]
    return copied(found.now) | {
        "joined_at": "2024-01-01T00:00:00+00:00", "large": False, "unavailable": False,
        "member_count": len(found.members), "members": [copied(found.members[world.bot])],
        "channels": channels, "threads": world.threads(guild), "presences": [],
        "voice_states": [], "stage_instances": [], "guild_scheduled_events": [],
        "soundboard_sounds": [],
    }  # fmt: skip
