"""Discord as a platform: everything of it, put together."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from adapters.discord import converting
from adapters.discord.asked import Asked
from adapters.discord.catching_up import CatchingUp
from adapters.discord.chat import DiscordChat
from adapters.discord.checks import Checks
from adapters.discord.client import Inflow
from adapters.discord.findings import PLATFORM
from adapters.discord.gateway import Gateway, Tempo
from adapters.discord.hearing import PAUSES, Hearing
from adapters.discord.intake import Intake, Patience
from adapters.discord.lanes import Lanes
from adapters.discord.people import DiscordRoster
from adapters.discord.replies import Replies
from adapters.discord.rest import Rest
from adapters.discord.setup import DiscordSetup
from adapters.discord.shards import Shards, Terms
from adapters.discord.sync import Synced, synced
from adapters.discord.tree import Interaction
from adapters.discord.whoever import Parents, Whoever
from adapters.platforms.takes import Takes
from adapters.platforms.tasks import Tasks
from core.leases import Leases
from core.platforms import Desk
from core.principals import Identity

DRAINS_WITHIN = 5.0
"""Seconds in which what was taken in has to come to its end on leaving."""


@dataclass(slots=True, kw_only=True)
class DiscordPlatform:
    """Implements `core.platforms.Platform`."""

    setup: DiscordSetup
    leases: Leases
    owner: str
    patience: Patience = field(default_factory=Patience)
    tempo: Tempo = field(default_factory=Tempo)
    terms: Terms = field(default_factory=Terms)
    pauses: tuple[float, ...] = PAUSES
    """Between the tries to store a message."""
    drains_within: float = DRAINS_WITHIN
    tasks: Tasks = field(default_factory=Tasks)
    rest: Rest = field(init=False, repr=False)
    roster: DiscordRoster = field(init=False, repr=False)
    _chat: DiscordChat = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Put together what needs no connection."""
        self.rest = Rest(setup=self.setup)
        self.roster = DiscordRoster(Asked(self.rest), groups=self.setup.groups)
        self._chat = DiscordChat(rest=self.rest, tasks=self.tasks)

    @property
    def chat(self) -> DiscordChat:
        """See the port."""
        return self._chat

    @asynccontextmanager
    async def connected(self, desk: Desk) -> AsyncIterator[None]:
        """See the port."""
        async with self.rest.opened():
            user = await self.rest.user()
            inflow = self._inflow(desk, user)
            async with self._shards(inflow, user).held():
                try:
                    yield
                finally:
                    inflow.intake.is_leaving = True
                    inflow.hearing.leaves()
                    await self.tasks.drain(self.drains_within)

    async def check(self) -> tuple[str, ...]:
        """See the port."""
        async with self.rest.opened():
            return await Checks(rest=Asked(self.rest), setup=self.setup).faults()

    async def sync(self) -> Synced:
        """Register the commands where Discord has others; raise `SaysoError` where that fails."""
        async with self.rest.opened():
            return await synced(Asked(self.rest))

    def _shards(self, inflow: Inflow, user: str) -> Shards:
        return Shards(
            leases=self.leases,
            owner=self.owner,
            gateway=Gateway(setup=self.setup, rest=self.rest, tempo=self.tempo),
            inflow=inflow,
            name=f"{PLATFORM}:{user}",
            terms=self.terms,
        )

    def _inflow(self, desk: Desk, user: str) -> Inflow:
        takes = Takes(tasks=self.tasks)
        us = Whoever(setup=self.setup, user=user)
        hearing = Hearing(
            desk=desk,
            us=us,
            tasks=self.tasks,
            takes=takes,
            lanes=Lanes(tasks=self.tasks),
            replies=Replies(chat=self._chat, show_typing=self._chat.typing),
            pauses=self.pauses,
            parent=Parents(rest=self.rest).of,
        )
        intake = Intake(desk=desk, us=us, tasks=self.tasks, takes=takes, patience=self.patience)
        return Inflow(
            intake=intake,
            hearing=hearing,
            tasks=self.tasks,
            people_seen=self._people_seen,
            guild_seen=us.saw,
            catching_up=CatchingUp(hearing=hearing, guilds=self.setup.guilds),
        )

    def _people_seen(self, interaction: Interaction) -> None:
        """Have the roster know the roles with which somebody did something, as old as that is."""
        roles = converting.roles(interaction)
        if roles is None or interaction.guild_id is None:
            return
        who = Identity(
            platform=PLATFORM,
            workspace=str(interaction.guild_id),
            user=str(interaction.user.id),
        )
        age = max(0.0, time.time() - interaction.created_at.timestamp())
        self.roster.seen(who, roles, age=age)
