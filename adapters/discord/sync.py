"""Registers the slash commands with Discord, only where it has others: for `sayso sync discord`."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from adapters.discord.declared import differs
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


async def synced(rest: Rest, payload: Sequence[JsonObject]) -> bool:
    """Register the commands where what is registered differs; return whether it did.

    Discord lets an app make only so many commands a day, so nothing is registered twice.
    """
    app = application(await rest.application())
    if not differs(payload, await rest.commands(app.id)):
        return False
    await rest.register(app.id, payload)
    return True
