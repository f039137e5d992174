"""What was written while nobody was connected: fetched at the beginning of each session.

Discord keeps messages for whoever asks, and tells nobody of them twice. Buttons and commands of that
time are lost, as whoever pressed or typed has seen.
"""

import time
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import aiohttp
import discord

from adapters.discord import converting
from adapters.discord.hearing import Hearing
from adapters.platforms.tasks import failed, log

AT_A_START = 15 * 60.0
"""Of so many seconds before the first session, it is looked for what was asked."""
OVERLAP = 60.0
"""Seconds before the last message that was seen, of which another may not have come."""
_PAGE, _PAGES, _ALL_PAGES = 100, 10, 100
"""Messages in one answer; answers about one channel, and about all of them."""
_NOWHERE = 0
"""Stands among servers for direct messages."""
_ALONE = 50
"""So many people that wrote to Sayso alone are remembered: Discord lists no such channels."""
_EPOCH = 1_420_070_400_000
GuildChannel: TypeAlias = (
    discord.TextChannel | discord.VoiceChannel | discord.StageChannel | discord.Thread
)
Channel: TypeAlias = GuildChannel | discord.PartialMessageable


@dataclass(slots=True, kw_only=True)
class CatchingUp:
    """Hands over what was asked meanwhile, the oldest first in each channel."""

    hearing: Hearing
    guilds: Collection[str]
    at_a_start: float = AT_A_START
    _since: dict[int, int] = field(default_factory=dict[int, int])
    """By shard, the newest message that was seen."""
    _unread: dict[int, int] = field(default_factory=dict[int, int])
    """By server, where to begin to look: as of the session's beginning, or that of an outage."""
    _alone: dict[int, None] = field(default_factory=dict[int, None])
    """The channels of direct messages in which something was written, the last one last."""
    _awaited: set[int] = field(default_factory=set[int])
    """The servers that have not been looked through yet."""

    def saw(self, shard: int, message: discord.Message) -> None:
        """Know that everything before a message has come, or will be looked for."""
        self._since[shard] = max(message.id, self._since.get(shard, 0))
        if isinstance(message.channel, discord.DMChannel):
            self._alone.pop(message.channel.id, None)
            self._alone[message.channel.id] = None
            while len(self._alone) > _ALONE:
                del self._alone[next(iter(self._alone))]

    def forget(self, shard: int) -> None:
        """Know nothing of a shard that somebody else held meanwhile."""
        self._since.pop(shard, None)
        self._unread.clear()

    def begins(self, client: discord.Client) -> None:
        """Have what comes in wait until each server of ours was looked through."""
        ours = self._ours(client)
        since = self._since_when(client.shard_id or 0)
        for guild in (*ours, _NOWHERE):
            self._look_from(guild, since)
        self._awaited |= ours
        if self._awaited:
            self.hearing.hold()

    def is_there(self, client: discord.Client) -> None:
        """Wait for no server any more that is missing: those are out of order at Discord's end."""
        self._no_longer(self._ours(client) & {g.id for g in client.guilds if g.unavailable})

    def is_away(self, guild: discord.Guild) -> None:
        """Know since when a server is out of order: nothing older is looked at once it is back."""
        self._look_from(guild.id, _snowflake(time.time() - OVERLAP))

    async def look_alone(self, client: discord.Client) -> None:
        """Look through the direct messages of whoever wrote some while this process was there."""
        async with self._looked(client, _NOWHERE) as since:
            for channel in list(self._alone):
                kind = discord.ChannelType.private
                await self._of(client, client.get_partial_messageable(channel, type=kind), since)

    async def look(self, client: discord.Client, guild: discord.Guild) -> None:
        """Look through every channel of a server in which something was written since."""
        try:
            if str(guild.id) in self.guilds:
                async with self._looked(client, guild.id) as since:
                    await self._through(client, guild, since)
        finally:
            self._no_longer({guild.id})

    def _look_from(self, guild: int, since: int) -> None:
        self._unread[guild] = min(since, self._unread.get(guild, since))

    @asynccontextmanager
    async def _looked(self, client: discord.Client, guild: int) -> AsyncGenerator[int]:
        """Give where to begin to look; where the connection ends meanwhile, the next look begins there."""
        since = self._unread.pop(guild, self._since_when(client.shard_id or 0))
        try:
            yield since
        finally:
            if client.is_closed():
                self._look_from(guild, since)

    def _ours(self, client: discord.Client) -> set[int]:
        return {guild.id for guild in client.guilds if str(guild.id) in self.guilds}

    def _no_longer(self, guilds: set[int]) -> None:
        was_awaited = bool(self._awaited)
        self._awaited -= guilds
        if was_awaited and not self._awaited:
            self.hearing.release()

    async def _through(self, client: discord.Client, guild: discord.Guild, since: int) -> None:
        pages = _ALL_PAGES
        for channel in _newest_first(guild, since):
            if pages <= 0:
                log.warning("discord: too much was written meanwhile to look through all of it")
                return
            pages -= await self._of(client, channel, since)

    def _since_when(self, shard: int) -> int:
        known = self._since.get(shard)
        if known is None:
            return _snowflake(time.time() - self.at_a_start)
        return max(0, known - _ids(OVERLAP))

    async def _of(self, client: discord.Client, channel: Channel, since: int) -> int:
        """Hand over what was written in one channel; return how many answers that took."""
        count = 0
        try:
            async for message in _written(client, channel, since):
                count += 1
                self._hand_over(client, channel, message)
        except (discord.DiscordException, aiohttp.ClientError, OSError, RuntimeError) as error:
            failed(error)
        return 1 + count // _PAGE

    def _hand_over(self, client: discord.Client, channel: Channel, given: Any) -> None:  # noqa: ANN401 - Discord's
        """Hand over one message; of what cannot be read, nothing but that."""
        state = client._connection  # noqa: SLF001 - as discord.py reads it itself
        try:
            seen = converting.written(discord.Message(state=state, channel=channel, data=given))
        except Exception as error:  # noqa: BLE001 - whatever it is, the next message can be read
            failed(error)
            return
        if seen is not None:
            self.hearing.caught_up(seen)


async def _written(client: discord.Client, channel: Channel, since: int) -> AsyncIterator[Any]:
    """Yield what was written after an id, the oldest first, as Discord delivers it."""
    for _ in range(_PAGES):
        page = await client.http.logs_from(channel.id, _PAGE, after=since)
        for given in sorted(page, key=lambda one: int(one["id"])):
            since = int(given["id"])
            yield given
        if len(page) < _PAGE:
            return


def _newest_first(guild: discord.Guild, since: int) -> list[GuildChannel]:
    found = [one for one in _channels(guild) if (one.last_message_id or 0) > since]
    return sorted(found, key=lambda one: one.last_message_id or 0, reverse=True)


def _channels(guild: discord.Guild) -> Iterator[GuildChannel]:
    """Return where something may have been written that Sayso may read."""
    every: list[GuildChannel] = [
        *guild.text_channels,
        *guild.voice_channels,
        *guild.stage_channels,
        *guild.threads,
    ]
    for channel in every:
        if _may_read(channel, guild.me):
            yield channel


def _may_read(channel: GuildChannel, me: discord.Member) -> bool:
    if isinstance(channel, discord.Thread) and channel.parent is None:
        return True  # nothing says what may be done there, so Discord has to
    return channel.permissions_for(me).read_message_history


def _snowflake(seconds: float) -> int:
    """Return the smallest id of whatever was made at that time or later."""
    return max(0, int(seconds * 1000) - _EPOCH) << 22


def _ids(seconds: float) -> int:
    return int(seconds * 1000) << 22
