"""Discord as a platform: everything of it, put together."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import discord

from adapters.discord import converting
from adapters.discord.catching_up import CatchingUp
from adapters.discord.chat import DiscordChat
from adapters.discord.checks import Checks
from adapters.discord.client import Inflow, Interaction
from adapters.discord.findings import PLATFORM, Us
from adapters.discord.gateway import Gateway, Tempo
from adapters.discord.hearing import Hearing
from adapters.discord.intake import Intake, Patience
from adapters.discord.lanes import Lanes
from adapters.discord.people import DiscordRoster
from adapters.discord.replies import Replies
from adapters.discord.rest import Rest
from adapters.discord.setup import DiscordSetup
from adapters.discord.shards import Shards, Terms
from adapters.platforms.takes import Takes
from adapters.platforms.tasks import Tasks
from core.leases import Leases
from core.platforms import Desk
from core.principals import Identity

DRAINS_WITHIN = 5.0
"""Seconds in which what was taken in has to come to its end on leaving."""
_THREADS = frozenset({10, 11, 12})


@dataclass(slots=True, kw_only=True)
class DiscordPlatform:
    """Implements `core.platforms.Platform`."""

    setup: DiscordSetup
    leases: Leases
    owner: str
    patience: Patience = field(default_factory=Patience)
    tempo: Tempo = field(default_factory=Tempo)
    terms: Terms = field(default_factory=Terms)
    drains_within: float = DRAINS_WITHIN
    tasks: Tasks = field(default_factory=Tasks)
    rest: Rest = field(init=False, repr=False)
    roster: DiscordRoster = field(init=False, repr=False)
    _chat: DiscordChat = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Put together what needs no connection."""
        self.rest = Rest(setup=self.setup)
        self.roster = DiscordRoster(self.rest, groups=self.setup.groups)
        self._chat = DiscordChat(rest=self.rest)

    @property
    def chat(self) -> DiscordChat:
        """See the port."""
        return self._chat

    @asynccontextmanager
    async def connected(self, desk: Desk) -> AsyncIterator[None]:
        """See the port."""
        async with self.rest.opened():
            inflow, user = self._inflow(desk), await self.rest.user()
