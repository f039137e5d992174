"""Opens threads, opens them again, and finds where one person alone reads."""

from dataclasses import dataclass
from typing import Literal

import discord

from adapters.discord.naming import NAMELESS
from adapters.discord.refusals import (
    LOCKED,
    THREAD_EXISTS,
    WORDS_NOT_ALLOWED,
    Tried,
    code_of,
    failed,
)
from adapters.discord.rest import Rest
from adapters.platforms.tasks import failed as log_failure
from core.errors import Refused, SaysoError

_IDLE: Literal[1440] = 1440
"""Minutes without a word after which Discord archives a thread: a day."""


@dataclass(slots=True, kw_only=True)
class Threads:
    """Raises as `Rest` does."""

    rest: Rest

    async def open(self, channel: str, message: str, name: str) -> str:
        """Open a thread from a message, or find the one that there is, and return its id."""
        try:
            return await self._open(channel, message, name)
        except Refused as error:
            if code_of(error) not in WORDS_NOT_ALLOWED or name == NAMELESS:
                raise
        return await self._open(channel, message, NAMELESS)

    async def _open(self, channel: str, message: str, name: str) -> str:
        async def opened(client: discord.Client) -> str:
            thread = await client.http.start_thread_with_message(
                int(channel), int(message), name=name, auto_archive_duration=_IDLE
            )
            return str(thread["id"])

        try:
            return await self.rest.call("open a thread", opened, on=channel)
        except Refused as error:
            if code_of(error) != THREAD_EXISTS:
                raise
        return message  # a thread has the id of the message that it was opened from

    async def add(self, thread: str, user: str) -> None:
        """Bring somebody into a thread, so that they hear of it; where that fails, they find it."""

        async def added(client: discord.Client) -> None:
            await client.http.add_user_to_thread(int(thread), int(user))

        try:
            await self.rest.call("add somebody to a thread", added, on=thread)
        except SaysoError as error:
            log_failure(error)

    async def reopen(self, thread: str) -> None:
        """Take a thread out of the archive; refuse where it is locked."""
        found = await self._read(thread)
        if isinstance(found, discord.Thread) and found.locked:
            raise _refusal("open a thread again", LOCKED)

        async def reopened(client: discord.Client) -> None:
            await client.http.edit_channel(int(thread), archived=False)

        await self.rest.call("open a thread again", reopened, on=thread)

    async def direct(self, user: str) -> str:
        """Return the channel in which one person alone reads."""

        async def made(client: discord.Client) -> str:  # the client remembers those that it knows
            return str((await client.create_dm(discord.Object(int(user)))).id)

        return await self.rest.call("write to one person", made, on=user)

    async def _read(self, thread: str) -> object:
        async def read(client: discord.Client) -> object:
            return await client.fetch_channel(int(thread))

        return await self.rest.call("read a channel", read, on=thread)


def _refusal(tried: Tried, code: int) -> SaysoError:
    return failed(tried, status=403, code=code)
