"""The slash commands as discord.py wants them, made of what is declared."""

from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeAlias

import discord
from discord import app_commands

from adapters.discord.declared import COMMANDS, Declared
from adapters.platforms.tasks import log

Interaction: TypeAlias = discord.Interaction[Any]
Command: TypeAlias = "app_commands.Command[Any, Any, None]"
Taken: TypeAlias = Callable[[Interaction], Awaitable[None]]
_SERVER = app_commands.AppInstallationType(guild=True, user=False)
_ANYWHERE = app_commands.AppCommandContext(guild=True, dm_channel=True, private_channel=False)


class Tree(app_commands.CommandTree[Any]):
    """The commands that are declared. What it cannot read, `Client.on_interaction` takes."""

    async def on_error(
        self, interaction: Interaction, error: app_commands.AppCommandError, /
    ) -> None:
        """Say nothing of what somebody typed."""
        del interaction
        log.warning(
            "discord: a command came otherwise than it is declared: %s", type(error).__name__
        )


def commands(taken: Taken) -> Iterator[Command]:
    """Return the commands, which all do the same: hand over what was typed."""
    for declared in COMMANDS:
        yield _command(declared, taken)


def _command(declared: Declared, taken: Taken) -> Command:
    """Return a command as discord.py wants it, whose field is named as it is declared."""

    async def with_words(interaction: Interaction, words: str) -> None:
        del words  # they are read where everything is: from what Discord delivered
        await taken(interaction)

    async def without(interaction: Interaction, words: str = "") -> None:
        del words
        await taken(interaction)

    option = declared.option
    callback = with_words if option.is_required else without
    named = app_commands.rename(words=option.name)(callback)
    return app_commands.Command(
        name=declared.name,
        description=declared.description,
        callback=app_commands.describe(words=option.description)(named),
        allowed_contexts=_ANYWHERE,
        allowed_installs=_SERVER,
    )
