"""Sessions of the gateway: who is told of what, and what was told, to be told again."""

import asyncio
from dataclasses import dataclass, field
from uuid import uuid4

from tests.standins.discord.wire import Json, copied
from tests.standins.discord.world import CONTENT, MEMBERS, World

GUILDS, GUILD_MESSAGES, DIRECT_MESSAGES = 1 << 0, 1 << 9, 1 << 12
NEEDS = {
    "GUILD_CREATE": GUILDS, "GUILD_UPDATE": GUILDS, "GUILD_DELETE": GUILDS,
    "GUILD_ROLE_CREATE": GUILDS, "GUILD_ROLE_UPDATE": GUILDS, "GUILD_ROLE_DELETE": GUILDS,
    "CHANNEL_CREATE": GUILDS, "CHANNEL_UPDATE": GUILDS, "CHANNEL_DELETE": GUILDS,
    "THREAD_CREATE": GUILDS, "THREAD_UPDATE": GUILDS, "THREAD_DELETE": GUILDS,
    "THREAD_MEMBERS_UPDATE": GUILDS, "GUILD_MEMBER_ADD": MEMBERS, "GUILD_MEMBER_UPDATE": MEMBERS,
    "GUILD_MEMBER_REMOVE": MEMBERS,
}  # fmt: skip
"""The intent that an event needs. https://docs.discord.com/developers/events/gateway"""
MESSAGES = frozenset({"MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE"})
IN_CHANNEL = MESSAGES | {"THREAD_CREATE", "THREAD_UPDATE", "THREAD_MEMBERS_UPDATE"}


@dataclass(kw_only=True, eq=False)
class Session:
    """One that identified itself: what it was sent, and whether it is connected."""

    world: World
    shard: tuple[int, int]
    intents: int
    id: str = field(default_factory=lambda: uuid4().hex)
    frames: list[Json] = field(default_factory=list[Json])
    """Everything that it was to be told, each with its number: the first is 1."""
    connected: bool = True
    more: asyncio.Event = field(default_factory=asyncio.Event)

    def put(self, name: str, data: Json) -> None:
        """Have it told of an event."""
        number = len(self.frames) + 1
        self.frames.append({"op": 0, "t": name, "s": number, "d": copied(data)})
        self.more.set()

    def offer(self, name: str, data: Json) -> bool:
        """Have it told of an event if that is for its shard and its intents; return whether."""
        if not self._of_shard(data) or not self._wants(name, data) or not self._sees(name, data):
            return False
        if name in ("MESSAGE_CREATE", "MESSAGE_UPDATE") and not self._reads(data):
            data = self.world.blanked(data)
        self.put(name, data)
        return True

    def told(self, name: str) -> list[Json]:
        """Return what it was told of one kind of events."""
        return [each["d"] for each in self.frames if each["t"] == name]

    def _of_shard(self, data: Json) -> bool:
        number, count = self.shard
        return (int(data.get("guild_id") or 0) >> 22) % count == number

    def _wants(self, name: str, data: Json) -> bool:
        if name in MESSAGES:
            needed = GUILD_MESSAGES if data.get("guild_id") else DIRECT_MESSAGES
        elif name == "GUILD_MEMBER_UPDATE" and data["user"]["id"] == self.world.bot:
            needed = 0
        else:
            needed = NEEDS.get(name, 0)
        return self.intents & needed == needed

    def _sees(self, name: str, data: Json) -> bool:
        channel = str(data.get("channel_id") or data.get("id") or "")
        if name not in IN_CHANNEL or channel not in self.world.channels:
            return True
        return self.world.may(channel, "view_channel")

    def _reads(self, message: Json) -> bool:
        return self.world.reads(message, has_intent=bool(self.intents & CONTENT))
