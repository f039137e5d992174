"""What a model says, in its thread while it says it: now and then an edit of one message.

Never in the way of a turn: what fails here is logged and dropped. All that was shown is over before
the end of the turn is written, and the first thing that the turn has to say takes the message's place.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

from bot.live import LoopTimer, Tempo, Then, Timer, tried
from core.conversations import Turn
from core.deliveries import TERMINAL, Chat, Deliveries, Drafted, Drafts, draft_of
from core.display import sound
from core.errors import Unavailable
from core.events import Place
from core.jobs import Hold
from core.ports import Listener
from core.redaction import Redactor

MOST = 12_000
"""Characters that are shown of an answer before it is whole."""
MORE = "\n\n[More is being written.]"
SOON = 1.0
"""Seconds before anything is shown: most answers are whole by then."""
TEMPO = Tempo(interval=2.0, most=30, patience=5.0)
"""Of all answers together: Slack allows 50 edits a minute, and runs and what is whole need some."""
TEMPOS: Mapping[str, Tempo] = {"discord": Tempo(interval=1.0, most=240, patience=5.0)}
"""Where a platform bears more: Discord allows five edits in five seconds in each channel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafting:
    """Shows answers of this process while they are written."""

    drafts: Drafts
    deliveries: Deliveries
    chats: Mapping[str, Chat]
    redactor: Redactor
    tempos: Mapping[str, Tempo] = field(default_factory=lambda: TEMPOS)
    """By platform; `TEMPO` for any other."""
    timer: Timer = field(default_factory=LoopTimer)
    _calls: dict[str, deque[float]] = field(default_factory=dict[str, deque[float]])
    """When the newest calls to each platform were to begin."""

    @asynccontextmanager
    async def showing(self, turn: Turn, hold: Hold) -> AsyncGenerator["Writing | None"]:
        """Give what shows the answer to a turn inside the block; None where nobody could see it.

        Once the block is over, no call is under way any more.
        """
        place = turn.place
        if place.platform == TERMINAL or place.platform not in self.chats or place.thread is None:
            yield None
            return
        writing = Writing(drafting=self, turn=turn, hold=hold)
        try:
            yield writing
        finally:
            await writing.over()

    def tempo(self, platform: str) -> Tempo:
        """Return how often a platform may be called."""
        return self.tempos.get(platform, TEMPO)

    def slot(self, platform: str, at: float) -> float:
        """Take and return the first moment from `at` on at which one more call is not too many."""
        tempo, calls = self.tempo(platform), self._calls.setdefault(platform, deque())
        if len(calls) == tempo.most:
            at = max(at, calls.popleft() + tempo.per)
        calls.append(at)
        return at


@dataclass(slots=True)
class _Said:
    """What was said since the answer was begun anew."""

    pieces: list[str] = field(default_factory=list[str])
    size: int = 0


@dataclass(slots=True, kw_only=True)
class Writing:
    """One answer while it is being written. Implements `core.ports.Draft`."""

    drafting: Drafting
    turn: Turn
    hold: Hold
    drawing: "asyncio.Task[None] | None" = None
    _call: "asyncio.Task[Then] | None" = None
    """Comes to its own end, whoever is cancelled meanwhile."""
    _said: _Said = field(default_factory=_Said)
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _shown: str = ""
    _drafted: Drafted | None = None
    _again: bool = False
    """Whether the message may be there although nobody was told its id."""

    @property
    def tempo(self) -> Tempo:
        """Return how often it may be shown."""
        return self.drafting.tempo(self.turn.place.platform)

    def anew(self) -> Listener:
        """See the port."""
        self._said = _Said()  # whoever still says something says it into what is not looked at
        if self.drawing is None:
            self.drawing = asyncio.create_task(self._draw(), name=f"draft of {self.turn.id}")
        return partial(self._hear, self._said)

    def _hear(self, said: _Said, piece: str) -> None:
        if piece and said.size <= MOST:
            said.pieces.append(piece)
            said.size += len(piece)
            self._news.set()

    async def over(self) -> None:
        """Show nothing more, and return once nothing is under way."""
        if self.drawing:
            self.drawing.cancel()
            await asyncio.wait({self.drawing})
        if self._call:
            await asyncio.wait({self._call})

    async def _draw(self) -> None:
        """Show it whenever there is more of it."""
        timer, tempo = self.drafting.timer, self.tempo
        await timer.sleep(SOON)
        while True:
            await self._news.wait()
            self._news.clear()
            text = self._text()
            if text and text != self._shown:
                then = await self._called(text)
                if then is Then.OVER:
                    return
                if then is Then.LATER:
                    self._news.set()
                    await timer.sleep(tempo.silence)
            await timer.sleep(tempo.interval)

    def _text(self) -> str:
        """Return what may be shown by now; what could be the beginning of a secret is not."""
        whole = sound("".join(self._said.pieces))
        shown = self.drafting.redactor.so_far(whole[:MOST]).strip()
        return f"{shown}{MORE}" if shown and len(whole) > MOST else shown

    async def _called(self, text: str) -> Then:
        """Show a text once that is not too often."""
        timer = self.drafting.timer
        slot = self.drafting.slot(self.turn.place.platform, timer.now())
        await timer.sleep(slot - timer.now())
        draft = tried(f"draft of {self.turn.id}", self._show(text))
        self._call = asyncio.create_task(draft)
        await asyncio.wait({self._call})
        return self._call.result()

    async def _show(self, text: str) -> Then:
        place = await self._place()
        if place is None:
            return Then.OVER
        if not place.is_opened:
            self._news.set()
            return Then.MORE
        self.hold.check()
        drafted = self._drafted or await self._begun()
        message = await self._drawn(place, text, drafted)
        if message != drafted.message:
            await self.drafting.drafts.drafted(self.turn, self.hold.job, message)
            self._drafted = Drafted(key=drafted.key, message=message)
        self._shown = text
        return Then.MORE

    async def _place(self) -> Place | None:
        """Return where it is shown; a thread may have been opened only since."""
        if self.turn.place.is_opened:
            return self.turn.place
        return await self.drafting.deliveries.place(self.turn.tenant, self.turn.conversation)

    async def _begun(self) -> Drafted:
        """Keep that there is a message, before there is one: whoever comes next looks for it."""
        before = await self.drafting.drafts.begin(self.turn, self.hold.job)
        self._again = before is not None
        self._drafted = before or Drafted(key=draft_of(self.turn.id), message=None)
        return self._drafted

    async def _drawn(self, place: Place, text: str, drafted: Drafted) -> str:
        again, self._again = self._again, True
        try:
            async with asyncio.timeout(self.tempo.patience):
                chat = self.drafting.chats[place.platform]
                return await chat.draft(place, text, drafted=drafted, again=again)
        except TimeoutError as error:
            raise Unavailable(f"{place.platform} did not answer.") from error
