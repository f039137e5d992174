"""The one kind of button there is on Discord: whatever it means stands in its custom id."""

import re
from typing import Any, Protocol, runtime_checkable

import discord

from adapters.discord.pressed import TEMPLATE


@runtime_checkable
class Presses(Protocol):
    """A client that says what happens once a button is pressed."""

    async def pressed(self, interaction: discord.Interaction[Any]) -> None:
        """Take in a press, of which nothing is believed yet."""
        ...


class Button(discord.ui.DynamicItem[discord.ui.Button[Any]], template=TEMPLATE):
    """Answers under any message of Sayso, also of an earlier process, once it is registered.

    Register it once, with `Client.add_dynamic_items`. A view that holds it holds no other item that
    can be pressed, and is stopped before it is sent: see `adapters.discord.views`.
    """

    @classmethod
    async def from_custom_id(
        cls, _: discord.Interaction[Any], item: discord.ui.Item[Any], __: re.Match[str], /
    ) -> "Button":
        """Make it of what was pressed."""
        if not isinstance(item, discord.ui.Button):
            raise TypeError(f"a {type(item).__name__} is no button")
        return cls(item)

    async def callback(self, interaction: discord.Interaction[Any]) -> None:
        """Hand the press to the client."""
        client = interaction.client
        if isinstance(client, Presses):
            await client.pressed(interaction)
