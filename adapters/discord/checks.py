"""Looks at how Sayso is set up on Discord, as far as Discord tells: for `sayso check`."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from adapters.discord import faults
from adapters.discord.declared import differs, payload
from adapters.discord.members import member
from adapters.discord.permissions import Holder
from adapters.discord.refusals import code_of
from adapters.discord.servers import (
    ODD,
    Application,
    Server,
    application,
    channels,
    server,
    servers,
)
from adapters.discord.setup import DiscordSetup
from core.errors import SaysoError, Unavailable

_NOT_IN = frozenset({10004, 50001})
"""Unknown server, no access to it."""


class Rest(Protocol):
    """Asks Discord's REST interface; raises the errors of `adapters.discord.refusals`."""

    async def user(self) -> str:
        """Return the user id that Sayso has."""
        ...

    async def application(self) -> Mapping[str, object]:
        """Return the app that the token belongs to."""
        ...

    async def guilds(self) -> Sequence[Mapping[str, object]]:
        """Return the servers that Sayso is in, or the first of them: without their roles."""
        ...

    async def guild(self, guild: str) -> Mapping[str, object]:
        """Return a server with its roles."""
        ...

    async def channels(self, guild: str) -> Sequence[Mapping[str, object]]:
        """Return the channels of a server that Sayso can see."""
        ...

    async def member(self, guild: str, user: str) -> Mapping[str, object]:
        """Return a member of a server."""
        ...

    async def commands(self, application: str) -> Sequence[Mapping[str, object]]:
        """Return the commands that are registered for every server."""
        ...


@dataclass(slots=True, kw_only=True)
class Checks:
    """One look at everything."""

    rest: Rest
    setup: DiscordSetup
    wall: Callable[[], float] = time.time
    _known: dict[str, Server] = field(default_factory=dict[str, Server])
    _has_failed: bool = False

    async def faults(self) -> tuple[str, ...]:
        """Return what is wrong, a sentence each. Without a token that counts, nothing else is asked."""
        try:
            app = application(await self.rest.application())
        except SaysoError as error:
            return (error.shown,)
        found = [*self._of(app), *await self._commands(app)]
        for guild in sorted(self.setup.guilds):
            found += await self._in(guild, app)
        known = None if self._has_failed else tuple(self._known.values())
        found += faults.of_groups(self.setup.groups, self.setup.guilds, known)
        return tuple(dict.fromkeys(found))

    def _of(self, app: Application) -> list[str]:
        is_deaf = not (self.setup.mentions_only or app.reads_everything)
        told = {
            faults.INTENT: is_deaf,
            faults.ENDPOINT: app.has_endpoint,
            faults.CODE_GRANT: app.wants_code_grant,
            faults.NO_SERVER: not self.setup.guilds,
        }
        return [sentence for sentence, holds in told.items() if holds]

    async def _commands(self, app: Application) -> list[str]:
        try:
            registered = await self.rest.commands(app.id)
        except SaysoError as error:
            return [error.shown]
        return [faults.COMMANDS] if differs(payload(), registered) else []

    async def _in(self, guild: str, app: Application) -> list[str]:
        try:
            here = server(await self.rest.guild(guild))
            self._known[guild] = here
            me = await self._me(here)
            seen = channels(await self.rest.channels(guild))
        except SaysoError as error:
            if code_of(error) in _NOT_IN:
                return [faults.outside(guild, app, await self._others())]
            self._has_failed = self._has_failed or guild not in self._known
            return [error.shown]
        return list(faults.inside(here, me, seen, app))

    async def _me(self, here: Server) -> Holder:
        user = await self.rest.user()
        told = member(await self.rest.member(here.id, user), user)
        if told is None:
            raise Unavailable(ODD)
        return here.holder(user, told, self.wall())

    async def _others(self) -> list[Server]:
        """Return servers that it is in without being asked to; none where that cannot be told."""
        try:
            found = servers(await self.rest.guilds())
        except SaysoError:
            return []  # it would only have helped to find a wrong id
        return [one for one in found if one.id not in self.setup.guilds]
