"""What people write: taken in the order in which it was written, and tried again while it cannot be stored.

Discord delivers a message once and waits for no acknowledgement, so nobody but us would try again.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from adapters.discord.findings import Act, AskCode, AskWhy, Ignored, Sentence, Us
from adapters.discord.inbound import read
from adapters.discord.lanes import Lanes, Work
from adapters.discord.replies import Replies
from adapters.discord.seen import Added, Removed, Rewritten, Where, Written
from adapters.platforms.takes import Outcome, Takes, outcome_of
from adapters.platforms.tasks import Tasks, failed, log
from core.errors import SaysoError, Unavailable
from core.events import Ask, Edited, Invited, LinkWish, Lookup, Place, Stop, StopHere
from core.platforms import Desk, Event, Told
from core.rulings import Lift, Pause, Resume

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
    holds: float = 10.0
    """Seconds for which what comes in waits at most for what was written before it."""
    _held: list[tuple[str | None, Work]] | None = None
    _heard: set[str] = field(default_factory=set[str])
    """What waits: it is here, and need not be fetched."""
    _until: asyncio.TimerHandle | None = None
    _typing: set[Place] = field(default_factory=set[Place])
    """Where it is just being shown that Sayso is about to write."""

    def heard(self, seen: Heard, *, is_known: bool = True) -> None:
        """Take a message, or that one changed. `is_known` says whether it is if this is in a thread."""
        if self.leaving.is_set():
            return
        if not is_known:
            # In a thread the most is meant for Sayso: what is not even there is nobody's business.
            there = _moved(seen, where(seen).channel)
            if self._work(there) is not None:
                lane = None if self._stops(there) else ""
                self._add(seen, lambda: self._placed_and_taken(seen), lane=lane)
            return
        work = self._work(seen)
        if work is not None:
            self._add(seen, work, lane=None if self._stops(seen) else "")

    def _stops(self, seen: Heard) -> bool:
        found = read(seen, self.us())
        return isinstance(found, Act) and isinstance(found.event, Stop | StopHere)

    def _work(self, seen: Heard) -> Work | None:
        """Return what is to be done about a message; None where that is nothing."""
        match read(seen, self.us()):
            case Ignored(why=why):
                log.debug("discord: ignored, for %s", why)
            case Act(event=event):
                return lambda: self._taken(seen, event)
            case Sentence(text=text):
                return lambda: self._told(seen, Told(text=text))
            case AskWhy() | AskCode():
                log.debug("discord: no message asks for a form")
        return None

    def caught_up(self, seen: Written) -> None:
        """Take a message that was written while nobody was connected, if it asks for something.

        It may have been taken and answered by whoever was connected then.
        """
        is_here = self.leaving.is_set() or _key(seen) in self._heard
        match read(seen, self.us()):
            case Act(event=Ask() as event) if not is_here:
                self.lanes.add(seen.where.channel, lambda: self._taken(seen, event, again=True))
            case _:
                log.debug("discord: nothing that is asked")

    def leaves(self) -> None:
        """Take nothing any more."""
        self.leaving.set()
        self.release()

    def hold(self) -> None:
        """Let what comes in wait for what was written before it, though not for long."""
        if self.leaving.is_set():
            return
        if self._held is None:
            self._held = []
        self._until = self._later(self.holds)

    def release(self) -> None:
        """Take what had to wait."""
        held, self._held = self._held or [], None
        if self._until is not None:
            self._until.cancel()
        self._heard.clear()
        for lane, work in held:
            self._begin(lane, work)

    def added(self, seen: Added, when: str) -> None:
        """Greet a server into which Sayso was brought, once for each time."""
        found = read(seen, self.us())
        if self.leaving.is_set() or not isinstance(found, Act):
            return
        self.takes.of(f"added:{seen.guild}:{when}", lambda: self._greeted(found.event, when))

    async def _placed_and_taken(self, seen: Heard) -> None:
        """Find out where it was written, then take it: in its turn, which it has waited for."""
        try:
            parent = await self._parent(where(seen).channel)
        except SaysoError as error:
            failed(error)
            await self._told(seen, _LATE)
            return
        moved = _moved(seen, parent)
        work = self._work(moved)
        if work is not None and self._stops(moved):
            self.tasks.start(work())
        elif work is not None:
            await work()

    async def _parent(self, channel: str) -> str | None:
        for pause in self.pauses:
            try:
                return await self.parent(channel)
            except Unavailable as error:
                if await self._leaves_within(pause):
                    raise
                failed(error)
        return await self.parent(channel)

    def _add(self, seen: Heard, work: Work, *, lane: str | None = "") -> None:
        """Do it in its turn; in the lane None that is at once, as stopping never waits."""
        lane = where(seen).channel if lane == "" else lane
        if self._held is None:
            self._begin(lane, work)
            return
        self._heard.add(_key(seen))
        self._held.append((lane, work))

    def _begin(self, lane: str | None, work: Work) -> None:
        if lane is None:
            self.tasks.start(work())
        else:
            self.lanes.add(lane, work)

    def _later(self, seconds: float) -> asyncio.TimerHandle:
        if self._until is not None:
            self._until.cancel()
        return asyncio.get_running_loop().call_later(seconds, self.release)

    async def _taken(self, seen: Heard, event: Event, *, again: bool = False) -> None:
        """Take it once, however often it comes."""
        await self.takes.of(_key(seen), lambda: self._taken_and_told(seen, event, again=again))

    async def _taken_and_told(self, seen: Heard, event: Event, *, again: bool) -> Outcome:
        outcome = await self._stored(seen, event)
        if isinstance(event, Ask) and not (again or isinstance(outcome, SaysoError)):
            self._shows_typing(event.place)
        if isinstance(outcome, Unavailable) and _is_others(seen, event):
            return outcome
        # In a lane of its own: Discord takes a message a second, and what comes next has to be stored.
        self.lanes.add(
            f"told:{where(seen).channel}", lambda: self._told(seen, outcome, again=again)
        )
        if isinstance(outcome, Unavailable) and not self.leaving.is_set():
            return Told()  # whoever wrote it was told to do so again: it is over
        return outcome

    def _shows_typing(self, place: Place) -> None:
        if place not in self._typing:
            self._typing.add(place)
            self.tasks.start(self._typed(place))

    async def _typed(self, place: Place) -> None:
        try:
            await self.replies.typing(place)
        finally:
            self._typing.discard(place)

    async def _stored(self, seen: Heard, event: Event) -> Outcome:
        """Have it taken, and try again for a while where that may end otherwise."""
        outcome = await outcome_of(self.desk.take(event))
        for pause in self.pauses:
            if not _may_change(outcome, where(seen)) or await self._leaves_within(pause):
                return outcome
            outcome = await outcome_of(self.desk.take(event))
        return outcome

    async def _leaves_within(self, pause: float) -> bool:
        try:
            async with asyncio.timeout(pause):
                return await self.leaving.wait()
        except TimeoutError:
            return False

    async def _told(self, seen: Heard, outcome: Outcome, *, again: bool = False) -> None:
        author = None if isinstance(seen, Removed) else _author(seen)
        if isinstance(outcome, Unavailable) and self.leaving.is_set():
            return  # it is fetched by whoever is connected next
        if author is not None:
            key = f"told:{_key(seen)}"
            await self.replies.told(where(seen), author, outcome, key=key, again=again)

    async def _greeted(self, event: Event, when: str) -> Outcome:
        outcome = await outcome_of(self.desk.take(event))
        if isinstance(outcome, SaysoError):
            failed(outcome)
        elif isinstance(event, Invited):
            await self.replies.greets(
                event.place, outcome, key=f"added:{event.place.workspace}:{when}"
            )
        return outcome


def _may_change(outcome: Outcome, at: Where) -> bool:
    """Whether it could not be stored, or was said in a thread of which is not yet known whose it is."""
    if isinstance(outcome, SaysoError):
        return isinstance(outcome, Unavailable)
    return outcome.is_nobodys and at.is_new


def _is_others(seen: Heard, event: Event) -> bool:
    """Whether nobody may have spoken to Sayso, as far as anybody knows who cannot look it up."""
    is_uncalled = isinstance(event, Edited) or (
        isinstance(event, Ask | StopHere | Lookup | LinkWish | Pause | Resume | Lift)
        and event.known_only
    )
    return is_uncalled and not where(seen).is_ours


def where(seen: Heard) -> Where:
    """Return where a message is."""
    return seen.now.where if isinstance(seen, Rewritten) else seen.where


def _author(seen: Written | Rewritten) -> str:
    return seen.now.author.user if isinstance(seen, Rewritten) else seen.author.user


def _moved(seen: Heard, parent: str | None) -> Heard:
    """Return it as in a thread of that channel."""
    at = replace(where(seen), parent=parent)
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
