"""What a run prints, in its thread while it runs: now and then an edit of one message, never in its way.

Only the process that runs it knows the output, and nothing of this is kept. How the run ends is
shown by a job, which waits for the last edit that is still under way here.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import Enum, auto
from typing import Protocol

from approvals import progress
from approvals.models import Run, RunState
from approvals.store import RunStore
from core import declared
from core.declared import Declared
from core.deliveries import TERMINAL, Chat, Deliveries, Progress
from core.errors import Refused, Unavailable
from core.events import Place
from core.jobs import Hold, LeaseLost
from core.ports import Tail

log = logging.getLogger("sayso.live")


class Timer(Protocol):
    """Seconds that pass, so that tests can choose them."""

    def now(self) -> float:
        """Return seconds since some moment."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class LoopTimer:
    """The seconds of the event loop."""

    def now(self) -> float:
        """See the port."""
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        """See the port."""
        await asyncio.sleep(seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tempo:
    """How often a message is edited, in seconds."""

    interval: float = 1.0
    """At least so much lies between two edits."""
    most: int = 48
    """So many edits fit into `per`. Slack allows 50; its end is drawn by one more."""
    per: float = 60.0
    silence: float = 10.0
    """After which it is told for how long a run goes on already."""
    patience: float = 10.0
    """For how long a platform may take over one edit: less than its end is kept for this process."""


class Then(Enum):
    """What is to be done after a try to draw."""

    MORE = auto()
    """Draw again when there is something new."""
    LATER = auto()
    """Draw again, but not soon."""
    OVER = auto()


async def tried(what: str, work: Awaitable[Then]) -> Then:
    """Try to draw something; what fails is logged and dropped, since nothing of it is worth a failure."""
    try:
        return await work
    except (LeaseLost, Refused) as error:
        log.warning("%s: %s", what, error.shown)
    except Unavailable as error:
        log.warning("%s: %s", what, error.shown)
        return Then.LATER
    except Exception:
        log.exception("%s", what)
    return Then.OVER


def _what(run: str) -> str:
    return f"progress of {run}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """Shows runs of this process while they go on."""

    deliveries: Deliveries
    runs: RunStore
    chats: Mapping[str, Chat]
    shows: Callable[[Place], bool] = lambda _: True
    """Whether this process can show something at a place."""
    tempo: Tempo = field(default_factory=Tempo)
    timer: Timer = field(default_factory=LoopTimer)
    _edits: dict[str, "asyncio.Task[Then]"] = field(default_factory=dict[str, "asyncio.Task[Then]"])
    """The edit of each run's message that is under way."""

    @asynccontextmanager
    async def showing(
        self, run: Run, hold: Hold, *, usual: str | None = None
    ) -> AsyncGenerator["Showing"]:
        """Show a run inside the block, for as long as it is not over and this process holds it.

        `usual` is how long such runs take, in words.
        """
        shown = Showing(live=self, run=run, hold=hold, usual=usual, began=self.timer.now())
        shown.drawing = asyncio.create_task(shown.draw(), name=f"progress of {run.id}")
        try:
            yield shown
        finally:
            shown.over()
            await asyncio.wait({shown.drawing})
            await shown.forgotten()

    async def quiet(self, run: str) -> None:
        """Return once no edit is under way that could arrive after one that begins now."""
        edit = self._edits.get(run)
        if edit:
            await asyncio.wait({edit})

    async def edit(self, place: Place, posted: str, message: Progress) -> "Then":
        """Edit a message; whoever is cancelled meanwhile leaves the edit to come to its own end."""
        edit = asyncio.create_task(tried(_what(message.run), self._edit(place, posted, message)))
        self._edits[message.run] = edit
        edit.add_done_callback(lambda _: self._edits.pop(message.run))
        await asyncio.wait({edit})
        return edit.result()

    async def _edit(self, place: Place, posted: str, message: Progress) -> "Then":
        try:
            async with asyncio.timeout(self.tempo.patience):
                await self.chats[place.platform].edit(place, posted, message)
        except TimeoutError as error:
            raise Unavailable(f"{place.platform} did not answer.") from error
        return Then.MORE


@dataclass(slots=True, kw_only=True)
class Showing:
    """One run that is shown. Implements `approvals.execution.Watch`."""

    live: Live
    run: Run
    hold: Hold
    usual: str | None
    began: float
    drawing: "asyncio.Task[None] | None" = None
    _tail: Tail | None = None
    _try: str = ""
    """Which try it is at, where a step may be tried more than once."""
    _declared: Declared | None = None
    """How far the step said that it was when it was last drawn."""
    _drawn_at: tuple[Place, str] | None = None
    """The message in which it was drawn."""
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _edits: deque[float] = field(default_factory=deque[float])
    """When the newest edits began."""

    def moved(self) -> None:
        """See the port."""
        self._tail, self._try, self._declared = None, "", None
        self._news.set()

    def tries(self, number: int, most: int) -> None:
        """See the port."""
        self._tail, self._try, self._declared = None, f"try {number} of {most}", None
        self._news.set()

    def hear(self, tail: Tail) -> None:
        """See the port."""
        self._tail = tail
        self._news.set()

    def over(self) -> None:
        """See the port."""
        if self.drawing:
            self.drawing.cancel()

    async def forgotten(self) -> None:
        """Have a terminal show it no longer: its end may be drawn at another one, whose message it is."""
        if self._drawn_at and self._drawn_at[0].platform == TERMINAL:
            await self.live.edit(*self._drawn_at, replace(progress.shown(self.run), buttons=()))

    async def draw(self) -> None:
        """Edit the message whenever there is something new, and now and then where there is not."""
        timer, tempo = self.live.timer, self.live.tempo
        await timer.sleep(tempo.interval)  # no run is shown that soon
        while True:
            await self._news_or(tempo.silence)
            await timer.sleep(self._wait())
            self._news.clear()
            then = await tried(_what(self.run.id), self._drawn())
            if then is Then.OVER:
                return
            if then is Then.LATER:
                await timer.sleep(tempo.silence)
                self._news.set()

    async def _drawn(self) -> "Then":
        """Draw it as it is now."""
        live = self.live
        entry = await live.deliveries.progress(self.run.tenant, self.run.id)
        run = await live.runs.run(self.run.tenant, self.run.id)
        if entry is None or entry.place.platform not in live.chats or not live.shows(entry.place):
            return Then.OVER
        if run is None or run.state is not RunState.RUNNING:
            return Then.OVER
        if entry.posted is None:
            self._news.set()
            return Then.MORE
        took = timedelta(seconds=live.timer.now() - self.began)
        message = progress.live(
            run,
            self._lines(),
            took,
            attempt=self._try,
            declared=self._declared,
            usual=self.usual,
        )
        self.hold.check()
        self._drawn_at = (entry.place, entry.posted)
        return await live.edit(entry.place, entry.posted, message)

    def _lines(self) -> tuple[str, ...]:
        """Return the last lines, and keep how far the step says that it is: more lines may hide it."""
        said, lines = declared.apart(self._tail() if self._tail else ())
        self._declared = said or self._declared
        return lines

    def _wait(self) -> float:
        """Return how long to wait before the next edit, and count it."""
        now, tempo, edits = self.live.timer.now(), self.live.tempo, self._edits
        at = max(now, edits[-1] + tempo.interval) if edits else now
        if len(edits) == tempo.most:
            at = max(at, edits.popleft() + tempo.per)
        edits.append(at)
        return at - now

    async def _news_or(self, seconds: float) -> None:
        news = asyncio.ensure_future(self._news.wait())
        pause = asyncio.ensure_future(self.live.timer.sleep(seconds))
        try:
            await asyncio.wait({news, pause}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            news.cancel()
            pause.cancel()
