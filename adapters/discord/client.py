"""discord.py's client for one shard: every callback converts what came and hands it over."""

import asyncio
import sys
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import discord
from discord.gateway import KeepAliveHandler

from adapters.discord import converting
from adapters.discord.answering import Answer
from adapters.discord.buttons import Button
from adapters.discord.catching_up import CatchingUp
from adapters.discord.endpoints import proxy
from adapters.discord.hearing import Hearing
from adapters.discord.intake import Intake
from adapters.discord.joining import added
from adapters.discord.parsing import forgive
from adapters.discord.setup import DiscordSetup
from adapters.discord.tree import Interaction, Tree, commands
from adapters.platforms.tasks import Tasks, failed, log

REMEMBERED = 1000
"""So many messages are held: of one that is taken back, Discord does not say whose it was."""
MOST_CUTS, WITHIN = 10, 60.0
"""A connection that is cut more often than this, within so many seconds, is given up for a while."""
_TAKEN = "taken"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """A part of all servers, by Discord's own numbering."""

    number: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Inflow:
    """What a client hands everything to."""

    intake: Intake
    hearing: Hearing
    tasks: Tasks
    people_seen: Callable[[Interaction], None]
    """Is told of whoever does something, and so of the roles they have."""
    guild_seen: Callable[[discord.Guild], None]
    """Is told of every server that is there."""
    catching_up: CatchingUp


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """How a client keeps its connection."""

    before_identify: Callable[["Client"], Awaitable[None]]
    """Waits until another session may begin; whatever it raises ends the client."""
    heartbeat_timeout: float = 60.0
    """Seconds of silence after which a connection is dead: Discord wants a sign of life every 41."""
    settles: float = 2.0
    """Seconds without another server after which all of them are there."""


class Client(discord.Client):
    """Holds no card, no view and no member; whatever fails in a callback is written down by us."""

    def __init__(self, setup: DiscordSetup, shard: Shard, inflow: Inflow, habits: Habits) -> None:
        super().__init__(
            intents=intents(setup),
            shard_id=shard.number,
            shard_count=shard.of,
            allowed_mentions=discord.AllowedMentions.none(),
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            max_messages=REMEMBERED,
            heartbeat_timeout=habits.heartbeat_timeout,
            guild_ready_timeout=habits.settles,
            proxy=proxy(),
        )
        self.greeted = asyncio.Event()
        """Set once there is a session: from then on everything comes in."""
        self.given_up = asyncio.Event()
        """Set once it is cut so often that it is better begun anew."""
        self._inflow, self._habits = inflow, habits
        self._there: set[int] = set()
        """The servers that Sayso was in when the session began, or was brought into since."""
        self._cuts: deque[float] = deque(maxlen=MOST_CUTS)
        forgive(self._connection.parsers)
        self.tree = Tree(self)
        for command in commands(self.pressed):
            self.tree.add_command(command)

    async def setup_hook(self) -> None:
        """Let every button of ours be answered, also those that an older process has posted."""
        self.add_dynamic_items(Button)

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Begin a session only where Discord still allows one."""
        del shard_id
        if not initial:
            await self._habits.before_identify(self)

    def dispatch(self, event: str, /, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - discord.py's
        """Have something done about an event, unless it is closed: there is no loop to do it in then."""
        if not self.is_closed():
            super().dispatch(event, *args, **kwargs)

    async def close(self) -> None:
        """Close it, with what discord.py would otherwise leave running."""
        settling = self._connection._ready_task  # noqa: SLF001 - nothing else ends it
        if settling is not None:
            settling.cancel()
        for thread in threading.enumerate():
            # One whose connection ended before its session began is known to nobody any more.
            if isinstance(thread, KeepAliveHandler) and thread.ws._connection is self._connection:  # noqa: SLF001
                await thread.ws.close(code=1000)
        await super().close()

    async def on_connect(self) -> None:
        """Know that a session has begun, whose first messages wait for those from before."""
        self._there = {guild.id for guild in self.guilds}
        self._inflow.catching_up.begins(self)
        self._inflow.tasks.start(self._inflow.catching_up.look_alone(self))
        self.greeted.set()

    async def on_ready(self) -> None:
        """Know that all servers are there that will come."""
        self._inflow.catching_up.is_there(self)

    async def on_disconnect(self) -> None:
        """Give up on a connection that ends again and again: it is begun anew, more slowly."""
        now = self.loop.time()
        self._cuts.append(now)
        if len(self._cuts) == MOST_CUTS and now - self._cuts[0] < WITHIN:
            log.warning("discord: the connection was cut %d times in a row", MOST_CUTS)
            self.given_up.set()

    async def pressed(self, interaction: Interaction) -> None:
        """Take a command, a button or a form once, whichever of discord.py's ways it came."""
        if _TAKEN in interaction.extras:
            return
        interaction.extras[_TAKEN] = True
        seen = converting.interacted(interaction)
        if seen is not None:
            self._inflow.people_seen(interaction)
        answers = Answer(interaction=interaction)
        self._inflow.tasks.start(self._inflow.intake.interacted(seen, answers))

    async def on_interaction(self, interaction: Interaction) -> None:
        """Take forms, which discord.py drops after a restart, and whatever else it does not know."""
        await self.pressed(interaction)

    async def on_message(self, message: discord.Message) -> None:
        """Take a message."""
        self._inflow.catching_up.saw(self.shard_id or 0, message)
        seen = converting.written(message)
        if seen is not None:
            self._inflow.hearing.heard(seen, is_known=converting.is_known(message.channel))

    async def on_raw_message_edit(self, event: discord.RawMessageUpdateEvent) -> None:
        """Take that a message has other words."""
        seen = converting.rewritten(event)
        if seen is not None:
            is_known = converting.is_known(event.message.channel)
            self._inflow.hearing.heard(seen, is_known=is_known)

    async def on_raw_message_delete(self, event: discord.RawMessageDeleteEvent) -> None:
        """Take that a message is gone, where it is known whose it was."""
        self._gone([event.cached_message] if event.cached_message else [])

    async def on_raw_bulk_message_delete(self, event: discord.RawBulkMessageDeleteEvent) -> None:
        """Take that several are gone at once."""
        self._gone(event.cached_messages)

    async def on_guild_available(self, guild: discord.Guild) -> None:
        """Look at what was written in a server while nobody was connected, or it was out of order.

        While a session begins, discord.py says the same of one that Sayso was brought into then.
        """
        if guild.id not in self._there:
            await self.on_guild_join(guild)
            return
        self._inflow.guild_seen(guild)
        self._inflow.tasks.start(self._inflow.catching_up.look(self, guild))

    async def on_guild_unavailable(self, guild: discord.Guild) -> None:
        """Know since when a server is out of order."""
        self._inflow.catching_up.is_away(guild)

    async def on_guild_join(self, guild: discord.Guild) -> None:
        """Greet a server into which Sayso was brought."""
        self._there.add(guild.id)
        self._inflow.guild_seen(guild)
        joined = await added(guild)
        if joined is not None:
            self._inflow.hearing.added(joined, str(guild.me.joined_at))

    async def on_guild_remove(self, guild: discord.Guild) -> None:
        """Know that being there again would be new."""
        self._there.discard(guild.id)

    async def on_error(self, event_method: str, /, *_: Any, **__: Any) -> None:  # noqa: ANN401 - discord.py's
        """Write down what failed in one of these, and nothing of what it was about."""
        error = sys.exc_info()[1]
        log.error("discord: %s failed", event_method)
        if error is not None:
            failed(error)

    def _gone(self, messages: list[discord.Message]) -> None:
        for message in messages:
            seen = converting.removed(message)
            if seen is not None:
                self._inflow.hearing.heard(seen, is_known=converting.is_known(message.channel))


def intents(setup: DiscordSetup) -> discord.Intents:
    """Return what is to be delivered: nothing of who is there and who is online."""
    wanted = discord.Intents.none()
    wanted.guilds = wanted.guild_messages = wanted.dm_messages = True
    wanted.message_content = not setup.mentions_only
    return wanted
