"""Who Sayso is on Discord, and where a thread is that the gateway said nothing of."""

from dataclasses import dataclass, field

import discord

from adapters.discord.findings import Us
from adapters.discord.rest import Rest
from adapters.discord.setup import DiscordSetup

_THREADS = frozenset({10, 11, 12})
"""The kinds of channel that are threads."""
_REMEMBERED = 1000


@dataclass(slots=True, kw_only=True)
class Whoever:
    """Knows Sayso's own account, and its role in each server, which people mention instead of it."""

    setup: DiscordSetup
    user: str
    _roles: frozenset[str] = frozenset()

    def __call__(self) -> Us:
        """Return it as it is now."""
        return Us(
            user=self.user,
            roles=self._roles,
            guilds=self.setup.guilds,
            guilds_of=self.setup.guilds_of,
            mentions_only=self.setup.mentions_only,
        )

    def saw(self, guild: discord.Guild) -> None:
        """Know the role that Discord made for Sayso in a server."""
        own = guild.self_role
        if own is not None:
            self._roles |= {str(own.id)}


@dataclass(slots=True, kw_only=True)
class Parents:
    """Says in which channel a thread is, as one that was archived until somebody wrote in it."""

    rest: Rest
    _known: dict[str, str | None] = field(default_factory=dict[str, "str | None"])

    async def of(self, channel: str) -> str | None:
        """Return it; None where it is no thread. Raises as `Rest.call` does."""
        if channel not in self._known:
            if len(self._known) >= _REMEMBERED:
                del self._known[next(iter(self._known))]
            self._known[channel] = await self._asked(channel)
        return self._known[channel]

    async def _asked(self, channel: str) -> str | None:
        told = await self.rest.call(
            "read a channel", lambda client: client.http.get_channel(int(channel)), on=channel
        )
        parent = told.get("parent_id")
        return str(parent) if told.get("type") in _THREADS and parent else None
