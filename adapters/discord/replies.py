"""What is said to whoever wrote a message. Discord has no answer to it that others do not see."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from adapters.discord.findings import PLATFORM
from adapters.discord.seen import Where
from adapters.platforms.takes import Outcome
from adapters.platforms.tasks import failed
from core.deliveries import Chat, Text
from core.errors import Refused, SaysoError, Unavailable
from core.events import OPENS, Place
from core.platforms import Told

TRIES = 3


@dataclass(slots=True, kw_only=True)
class Replies:
    """Says it where they wrote, or to them directly where that is refused; the same once only."""

    chat: Chat
    show_typing: Callable[[Place], Awaitable[None]]
    """Shows at a place that Sayso is about to write; it never fails."""
    pause: float = 2.0
    """Seconds between two tries."""

    async def told(
        self, at: Where, user: str, outcome: Outcome, *, key: str, again: bool = False
    ) -> None:
        """Tell what came of it, if there is anything to tell; `again` where it may be there already."""
        text = _text(outcome)
        if text is None:
            return
        if not await self._posted(_here(at), text, key, again=again):
            direct = _place(at.guild, user, None)
            await self._posted(direct, text, f"{key}:direct", again=again)

    async def greets(self, place: Place, outcome: Told, *, key: str) -> None:
        """Say it to everybody in a channel, where there is something to say."""
        text = _text(outcome)
        if text is not None:
            await self._posted(_place(place.workspace, place.channel, OPENS), text, key)

    async def typing(self, place: Place) -> None:
        """Show in a thread that is there that Sayso is about to write."""
        if place.is_opened:
            await self.show_typing(place)

    async def _posted(self, place: Place, text: Text, key: str, *, again: bool = False) -> bool:
        """Return whether it was posted, or may have been; where it was not, another place may do."""
        for tries in range(TRIES):
            try:
                await self.chat.post(place, text, key=key, again=again or tries > 0)
            except Refused as error:
                failed(error)
                return False
            except Unavailable as error:
                failed(error)
                after = error.after.total_seconds() if error.after else 0.0
                await asyncio.sleep(max(self.pause, after))
            else:
                return True
        return True


def _text(outcome: Outcome) -> Text | None:
    if isinstance(outcome, SaysoError):
        before = "Not now. " if isinstance(outcome, Unavailable) else ""
        return Text(text=f"{before}{outcome.shown}", is_note=True)
    if not (outcome.text or outcome.buttons):
        return None
    return Text(text=outcome.text, buttons=outcome.buttons, is_note=True)


def _here(at: Where) -> Place:
    """Return where something was written; outside of threads, that is the channel itself."""
    is_channel = at.guild is not None and at.parent is None
    return _place(at.guild, at.parent or at.channel, OPENS if is_channel else at.channel)


def _place(guild: str | None, channel: str, thread: str | None) -> Place:
    return Place(platform=PLATFORM, workspace=guild or "", channel=channel, thread=thread)
