"""A terminal that exists only as what was typed and shown there."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from core.conversations import Said
from core.deliveries import Asking
from core.errors import SaysoError
from core.terminal import Line
from tests.fakes.chat import FakeChat


@dataclass
class FakeTerminal:
    """Implements `core.terminal.Terminal`."""

    lines: list[Line] = field(default_factory=list[Line])
    """What is typed, in order; then the input ends."""
    chat: FakeChat = field(default_factory=FakeChat)
    shown: list[str] = field(default_factory=list[str])
    """What was told, and the kinds and sentences of failures."""
    recalled: list[Said] = field(default_factory=list[Said])
    cards: list[Asking] = field(default_factory=list[Asking])
    """Those that somebody wanted to see."""
    going_on: list[str] = field(default_factory=list[str])
    names: list[str] = field(default_factory=list[str])
    """Who was to type each line."""
    first: Callable[[], Awaitable[object]] | None = None
    """What is waited for before each line is typed."""
    reader_left: asyncio.Event = field(default_factory=asyncio.Event)
    """Is set once nobody reads any more."""
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def read(self, who: str) -> Line:
        """See the port."""
        if self.first:
            await self.first()
        self.names.append(who)
        return self.lines.pop(0) if self.lines else Line()

    def has_shown(self, request: str) -> bool:
        """See the port."""
        posted = [one for one in self.chat.posted if isinstance(one, Asking)]
        shown = [one.card for one in (*posted, *self.cards)]
        return any(button.request == request for card in shown for button in card.buttons)

    def answering(self) -> AbstractAsyncContextManager[object]:
        """See the port."""
        return self._lock

    def cut(self, line: Line) -> None:
        """See the port."""
        self.lines.insert(0, line)

    async def show(self, card: Asking) -> None:
        """See the port."""
        self.cards.append(card)

    async def recall(self, said: Sequence[Said]) -> None:
        """See the port."""
        self.recalled += said

    async def quote(self, who: str, text: str) -> None:
        """See the port."""
        self.shown.append(f"{who}> {text}")

    async def head(self, text: str) -> None:
        """See the port."""
        self.shown.append(f"# {text}")

    async def tell(self, text: str) -> None:
        """See the port."""
        self.shown.append(text)

    async def fail(self, error: SaysoError) -> None:
        """See the port."""
        self.shown.append(f"{error.kind}: {error.shown}")

    async def busy(self, what: str | None) -> None:
        """See the port."""
        if what:
            self.going_on.append(what)

    async def settled(self) -> None:
        """See the port."""

    async def unread(self) -> None:
        """See the port."""
        await self.reader_left.wait()
