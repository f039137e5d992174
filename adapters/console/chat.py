"""The terminal as a platform: what is delivered is drawn once, in order."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from adapters.console.shown import Changed, Shown
from core.deliveries import Asking, Drafted, Message, Progress, Text
from core.events import Place

SETTLE = 0.3
"""Seconds in which a card that changes again is not shown in between."""

Show: TypeAlias = Callable[[Shown], Awaitable[None]]
"""Draws something for the terminal as it is at that moment, and prints it."""


@dataclass(slots=True, kw_only=True)
class TerminalChat:
    """Implements `core.deliveries.Chat` for one terminal.

    A terminal cannot edit what has scrolled by: of an edited card, one line tells what became of it.
    Nothing that is posted overtakes such a line.
    """

    show: Show
    goes_on: Callable[[Progress], None]
    """Is told where a run is: that is worth a line only as long as it goes on."""
    settle: float = SETTLE
    paused: asyncio.Lock = field(default_factory=asyncio.Lock)
    """While somebody has this, nothing is shown."""
    requests: set[str] = field(default_factory=set[str])
    """Those whose cards were shown."""
    _posted: set[str | None] = field(default_factory=set[str | None])
    """Those of which a line tells what becomes of them."""
    _ids: dict[str, str] = field(default_factory=dict[str, str])
    _told: dict[str, str] = field(default_factory=dict[str, str])
    """What was shown last of each card, by the message's id."""
    _changed: dict[str, Asking] = field(default_factory=dict[str, Asking])
    _later: "asyncio.Task[None] | None" = None

    async def post(
        self,
        place: Place,
        message: Message,
        *,
        key: str,
        again: bool = False,
        drafted: Drafted | None = None,
    ) -> str:
        """See the port."""
        del place, again, drafted
        if isinstance(message, Progress):
            self.goes_on(message)
            return key
        await self.flush()
        if isinstance(message, Text) and message.same_as in self._posted:
            return key  # a line that names the card tells the same
        async with self.paused:
            if key not in self._ids:
                await self.show(message)
                self._ids[key] = f"m{len(self._ids) + 1}"
                if isinstance(message, Asking):
                    self._told[self._ids[key]] = message.status
                    self.know(message)
                    self._posted |= {button.request for button in message.card.buttons}
        return self._ids[key]

    async def draft(self, place: Place, text: str, *, drafted: Drafted, again: bool = False) -> str:
        """Show nothing yet: what has scrolled by could not be edited."""
        del place, text, again
        return drafted.key

    async def edit(self, place: Place, posted: str, message: Message) -> None:
        """See the port."""
        del place
        if isinstance(message, Progress):
            self.goes_on(message)
        if isinstance(message, Asking):
            self._changed[posted] = message
            if self._later is None:
                self._later = asyncio.create_task(self._flush_later())

    def know(self, shown: Asking) -> None:
        """Remember that a card was shown here."""
        self.requests |= {button.request for button in shown.card.buttons}

    async def flush(self) -> None:
        """Show what became of the cards that were edited."""
        async with self.paused:
            while self._changed:
                posted = next(iter(self._changed))
                message = self._changed.pop(posted)
                if self._told.get(posted) != message.status:
                    self._told[posted] = message.status
                    await self.show(Changed(card=message.card, status=message.status))

    async def _flush_later(self) -> None:
        await asyncio.sleep(self.settle)
        self._later = None
        await self.flush()
