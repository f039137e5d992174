"""One message on Discord: sent, edited, removed. It mentions nobody whom Sayso does not, and shows no link."""

import io
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import discord
from discord import ui
from discord.http import handle_message_parameters

from adapters.discord import views
from adapters.discord.drawn import Drawn
from adapters.discord.refusals import (
    ARCHIVED,
    INVALID_FORM,
    UNKNOWN_CHANNEL,
    UNKNOWN_MESSAGE,
    Tried,
    code_of,
)
from adapters.discord.rest import Rest
from adapters.discord.threads import Threads
from core.errors import Refused

T = TypeVar("T")

_NOBODY = discord.AllowedMentions.none()


@dataclass(frozen=True, slots=True, kw_only=True)
class At:
    """Where messages go, and what it is called to post one there."""

    channel: str
    posting: Tried = "post in a thread"

    @property
    def id(self) -> int:
        """Return the channel as the SDK has it."""
        return int(self.channel)


@dataclass(slots=True, kw_only=True)
class Posts:
    """Raises as `Rest` does. A thread that is archived is opened again, where Sayso may."""

    rest: Rest
    threads: Threads

    async def send(self, at: At, piece: Drawn, *, nonce: str, mark: int) -> str:
        """Post a message and return its id; a nonce of the past few minutes gives the one of then."""
        allowed = mentioning(piece)
        view = views.view(piece, mark=mark)

        async def sent(client: discord.Client) -> str:
            channel = client.get_partial_messageable(at.id)
            if isinstance(view, ui.LayoutView):
                posted = await channel.send(view=view, nonce=nonce, allowed_mentions=allowed)
            elif view is not None:
                posted = await channel.send(
                    piece.content,
                    view=view,
                    nonce=nonce,
                    allowed_mentions=allowed,
                    suppress_embeds=True,
                )
            else:
                posted = await channel.send(
                    piece.content, nonce=nonce, allowed_mentions=allowed, suppress_embeds=True
                )
            return str(posted.id)

        return await self._in(at, lambda: self.rest.call(at.posting, sent, on=at.channel))

    async def file(self, at: At, name: str, text: str, *, nonce: str) -> str:
        """Post a text as a file."""

        async def sent(client: discord.Client) -> str:
            file = discord.File(io.BytesIO(text.encode()), filename=name)
            posted = await client.get_partial_messageable(at.id).send(
                file=file, nonce=nonce, allowed_mentions=_NOBODY
            )
            return str(posted.id)

        return await self._in(at, lambda: self.rest.call("post a file", sent, on=at.channel))

    async def edit(
        self,
        at: At,
        message: str,
        piece: Drawn,
        *,
        mark: int | None = None,
        was_words: bool = False,
    ) -> bool:
        """Draw a message anew; return whether it is there. No edit mentions anybody.

        `was_words` says that it may have `content`, which one of components has not. So may one that
        an older version posted: of that Discord says that it cannot become components.
        """
        try:
            return await self._drawn(at, message, piece, mark=mark, was_words=was_words)
        except Refused as error:
            if was_words or not piece.components or code_of(error) != INVALID_FORM:
                raise
        return await self._drawn(at, message, piece, mark=mark, was_words=True)

    async def _drawn(
        self, at: At, message: str, piece: Drawn, *, mark: int | None, was_words: bool
    ) -> bool:
        view = views.view(piece, mark=mark)

        async def edited(client: discord.Client) -> None:
            with handle_message_parameters(
                content=None if piece.components else piece.content,
                embeds=[],
                view=view,
                flags=discord.MessageFlags(suppress_embeds=not piece.components),
                allowed_mentions=_NOBODY,
            ) as parameters:
                body = parameters.payload or {}
                if piece.components and not was_words:
                    del body["content"], body["embeds"]
                await client.http.edit_message(at.id, int(message), params=parameters)

        return await self._there(at, lambda: self.rest.call("edit", edited, on=at.channel))

    async def remove(self, at: At, message: str) -> None:
        """Remove a message, if it is there."""

        async def removed(client: discord.Client) -> None:
            await client.get_partial_messageable(at.id).get_partial_message(int(message)).delete()

        await self._there(at, lambda: self.rest.call("remove", removed, on=at.channel))

    async def _there(self, at: At, call: Callable[[], Awaitable[None]]) -> bool:
        """Call, and return whether there was anything to change."""
        try:
            await self._in(at, call)
        except Refused as error:
            if code_of(error) not in {UNKNOWN_MESSAGE, UNKNOWN_CHANNEL}:
                raise
            return False
        return True

    async def _in(self, at: At, call: Callable[[], Awaitable[T]]) -> T:
        """Call, and once more where the thread had to be opened again for it."""
        try:
            return await call()
        except Refused as error:
            if code_of(error) != ARCHIVED:
                raise
        await self.threads.reopen(at.channel)
        return await call()


def mentioning(piece: Drawn) -> discord.AllowedMentions:
    """Return whom a message may mention: by name whoever Sayso means, and nobody else."""
    users = [discord.Object(int(user)) for user in piece.mentions]
    return discord.AllowedMentions(everyone=False, roles=False, replied_user=False, users=users)
