"""A platform that exists only as the messages that were posted there."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field

from core.deliveries import Drafted, Message, Text
from core.errors import SaysoError
from core.events import Place


@dataclass(kw_only=True)
class FakeChat:
    """Implements `core.deliveries.Chat`."""

    fails: list[SaysoError] = field(default_factory=list[SaysoError])
    """What the next tries raise, one each."""
    forgets: int = 0
    """So many of the next posts arrive, but whoever posted them is never told."""
    shown: dict[str, tuple[Place, Message]] = field(
        default_factory=dict[str, tuple[Place, Message]]
    )
    """Every message as it is drawn now, by its id, in the order in which they were posted."""
    posted: list[Message] = field(default_factory=list[Message])
    """Every message as it was drawn first."""
    keys: dict[str, str] = field(default_factory=dict[str, str])
    """The id of what was posted under each key."""
    edits: list[tuple[Place, str, Message]] = field(
        default_factory=list[tuple[Place, str, Message]]
    )
    drafts: list[str] = field(default_factory=list[str])
    """Every text that was shown while it was being written, in order."""
    begun: list[bool] = field(default_factory=list[bool])
    """Of each of those, also in vain, whether it was said that somebody tried before."""
    gate: asyncio.Event | None = None
    """Edits and drafts do not arrive before this is set, where there is one; what is given up never does."""
    hanging: int = 0
    """How many edits are under way and have not arrived."""
    tries: int = 0
    """How often anybody came, also in vain."""

    @property
    def messages(self) -> list[Message]:
        """Return what is to be read there, in order."""
        return [message for _, message in self.shown.values()]

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
        del again  # it knows every key
        self._try()
        if key not in self.keys:
            self.keys[key] = self._there(drafted) or f"m{len(self.keys) + 1}"
            self.shown[self.keys[key]] = (place, message)
            self.posted.append(message)
        if self.forgets:
            self.forgets -= 1
            await asyncio.Event().wait()
        return self.keys[key]

    async def edit(self, place: Place, posted: str, message: Message) -> None:
        """See the port."""
        self._try()
        if self.gate:
            self.hanging += 1
            try:
                await self.gate.wait()
            finally:
                self.hanging -= 1
        self.edits.append((place, posted, message))
        if posted in self.shown:
            self.shown[posted] = (place, message)

    async def draft(self, place: Place, text: str, *, drafted: Drafted, again: bool = False) -> str:
        """See the port."""
        self.begun.append(again)
        self._try()
        if self.gate:
            self.hanging += 1
            try:
                await self.gate.wait()
            finally:
                self.hanging -= 1
        self.drafts.append(text)
        name = self._there(drafted) or self.keys.setdefault(drafted.key, f"m{len(self.keys) + 1}")
        self.shown[name] = (place, Text(text=text))
        return name

    def _there(self, drafted: Drafted | None) -> str | None:
        """Return the message of a draft, where that is still there."""
        name = (drafted.message or self.keys.get(drafted.key)) if drafted else None
        return name if name in self.shown else None

    def fail(self, errors: Iterable[SaysoError]) -> None:
        """Have the next tries fail, one each."""
        self.fails.extend(errors)

    def _try(self) -> None:
        self.tries += 1
        if self.fails:
            raise self.fails.pop(0)
