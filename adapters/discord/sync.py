"""Registers the slash commands with Discord, only where it has others: for `sayso sync discord`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from adapters.discord.declared import COMMANDS, differs, payload
from adapters.discord.permissions import invitation
from adapters.discord.servers import application
from core.canonical import JsonObject


class Rest(Protocol):
    """Asks Discord's REST interface; raises the errors of `adapters.discord.refusals`."""

    async def application(self) -> Mapping[str, object]:
        """Return the app that the token belongs to."""
        ...

    async def commands(self, application: str) -> Sequence[Mapping[str, object]]:
        """Return the commands that are registered for every server."""
        ...

    async def register(self, application: str, commands: Sequence[JsonObject]) -> None:
        """Register these for every server, and no others any more."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Synced:
    """What came of it."""

    changed: bool
    """Whether Discord had others."""
    commands: tuple[str, ...]
    invite: str
    """Where whoever runs a server invites the bot, with what it needs."""


async def synced(rest: Rest) -> Synced:
    """Register the commands where what is registered differs.

    Discord lets an app make only so many commands a day, so nothing is registered twice.
    """
    app = application(await rest.application())
    wanted = payload()
    changed = differs(wanted, await rest.commands(app.id))
    if changed:
        await rest.register(app.id, wanted)
    names = tuple(one.name for one in COMMANDS)
    return Synced(changed=changed, commands=names, invite=invitation(app.id))
