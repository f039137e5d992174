"""What people write: taken in the order in which it was written, and tried again while it cannot be stored.

Discord delivers a message once and waits for no acknowledgement, so nobody but us would try again.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from adapters.discord.findings import Act, Ignored, Sentence, Us
from adapters.discord.inbound import read
from adapters.discord.lanes import Lanes
from adapters.discord.replies import Replies
from adapters.discord.seen import Added, Removed, Rewritten, Where, Written
from adapters.platforms.takes import Outcome, Takes, outcome_of
from adapters.platforms.tasks import Tasks, failed, log
from core.errors import SaysoError, Unavailable
from core.events import Ask, Invited, Place, Stop, StopHere
from core.platforms import Desk, Event, Told

Heard: TypeAlias = Written | Rewritten | Removed
PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
"""Seconds between the tries to store one message; then whoever wrote it is told."""
_LATE = Unavailable("Sayso could not look at this message. Send it again.")


@dataclass(slots=True, kw_only=True)
class Hearing:
    """Hands messages to the desk. Whoever has to be told something is answered where they wrote."""

    desk: Desk
    us: Callable[[], Us]
    tasks: Tasks
    takes: Takes
    lanes: Lanes
    replies: Replies
    parent: Callable[[str], Awaitable[str | None]]
    """Says in which channel a thread is that nothing is known of; None where it is no thread."""
    pauses: tuple[float, ...] = PAUSES
    leaving: asyncio.Event = field(default_factory=asyncio.Event)
    """Once set, nothing is taken any more: whoever is connected next fetches it."""

    def heard(self, seen: Heard, *, is_known: bool = True, only_asks: bool = False) -> None:
        """Take a message, or that one changed. `is_known` says whether it is if this is in a thread."""
        if self.leaving.is_set():
            return
        if not is_known:
            self._add(seen, lambda: self._found_and_taken(seen, only_asks=only_asks))
            return
        match read(seen, self.us()):
            case Ignored(why=why):
                log.debug("discord: ignored, for %s", why)
            case Act(event=Stop() | StopHere() as event) if not only_asks:
                self.tasks.start(self._taken(seen, event))  # stopping never waits its turn
            case Act(event=event) if isinstance(event, Ask) or not only_asks:
                self._add(seen, lambda: self._taken(seen, event))
            case Sentence(text=text) if not only_asks:
                self._add(seen, lambda: self._told(seen, Told(text=text)))
            case _:
                log.debug("discord: nothing that is asked again")

    def added(self, seen: Added, when: str) -> None:
        """Greet a server into which Sayso was brought, once for each time."""
        found = read(seen, self.us())
        if self.leaving.is_set() or not isinstance(found, Act):
            return
        self.takes.of(f"added:{seen.guild}:{when}", lambda: self._greeted(found.event, when))

    async def _found_and_taken(self, seen: Heard, *, only_asks: bool) -> None:
        """Find out where it was written, then take it."""
        at = where(seen)
        parent = None
        try:
            parent = await self.parent(at.channel)
        except SaysoError as error:
            failed(error)
            await self._told(seen, _LATE)
            return
        whole = _moved(seen, replace(at, parent=parent))
        self.heard(whole, only_asks=only_asks)

    def _add(self, seen: Heard, work: Callable[[], Awaitable[None]]) -> None:
        async def done() -> None:
            await work()

        self.lanes.add(where(seen).channel, done)

    async def _taken(self, seen: Heard, event: Event) -> None:
        """Take it once; what was redelivered has been told of before."""
        key = _key(seen)
        is_new = not self.takes.knows(key)
        outcome = await asyncio.shield(self.takes.of(key, lambda: self._stored(event)))
        if not is_new:
            return
        if isinstance(event, Ask) and not isinstance(outcome, SaysoError):
            await self.replies.typing(event.place)
        await self._told(seen, outcome)

    async def _stored(self, event: Event) -> Outcome:
        """Have it taken, and try again for a while where it could not be stored."""
        outcome = await outcome_of(self.desk.take(event))
        for pause in self.pauses:
            if not isinstance(outcome, Unavailable) or await self._leaves_within(pause):
                return outcome
            outcome = await outcome_of(self.desk.take(event))
        return outcome

    async def _leaves_within(self, pause: float) -> bool:
        try:
            async with asyncio.timeout(pause):
                return await self.leaving.wait()
        except TimeoutError:
            return False

    async def _told(self, seen: Heard, outcome: Outcome) -> None:
        author = seen.now.author if isinstance(seen, Rewritten) else seen.author
        if isinstance(outcome, Unavailable) and self.leaving.is_set():
            return  # it is fetched by whoever is connected next
        if author is not None and not isinstance(seen, Removed):
            await self.replies.told(where(seen), author.user, outcome, key=f"told:{_key(seen)}")

    async def _greeted(self, event: Event, when: str) -> Outcome:
        outcome = await outcome_of(self.desk.take(event))
        if isinstance(outcome, SaysoError):
            failed(outcome)
        elif isinstance(event, Invited):
            await self.replies.greets(event.place, outcome, key=f"added:{event.place.workspace}:{when}")
        return outcome


def where(seen: Heard) -> Where:
    """Return where a message is."""
    return seen.now.where if isinstance(seen, Rewritten) else seen.where


def _moved(seen: Heard, at: Where) -> Heard:
    if isinstance(seen, Rewritten):
        return replace(seen, now=replace(seen.now, where=at))
    return replace(seen, where=at)


def _key(seen: Heard) -> str:
    match seen:
        case Written():
            return f"msg:{seen.id}"
        case Rewritten():
            return f"edit:{seen.now.id}:{seen.edited}"
        case Removed():
            return f"gone:{seen.id}"
