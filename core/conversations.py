"""Conversations: who said what, in order, and the turns in which Sayso answers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from core.errors import Refused
from core.events import Place
from core.frame import Frame
from core.jobs import Job
from core.mailbox import Message
from core.outcomes import Reason
from core.plans import Plan
from core.profiles import DEFAULT
from core.rates import NoRoom, Rate
from core.trail import Happening
from core.transcript import Entry, Noted
from core.wishes import Wish

TURN = "turn"
"""The kind of job that answers a message."""
MOST_WAITING = 20
"""Messages that may wait in one conversation."""


def job_of(turn: str) -> str:
    """Return the id of the job that answers a turn."""
    return f"{TURN}:{turn}"


def lane_of(conversation: str) -> str:
    """Return the lane in which the turns of a conversation run, one at a time (I8)."""
    return f"{TURN}:{conversation}"


class NotHere(Refused):
    """The named conversation is none of this place; nobody learns whether it is one of another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """That somebody said something somewhere, before it is looked at."""

    tenant: str
    principal: str
    place: Place
    deliveries: tuple[str, ...] = ()
    """Every id under which the same may come in again."""
    rate: Rate | None = None
    """What it is counted by, if it is; the same message is counted once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTurn(Arrival):
    """A message that came in, ready to be stored."""

    id: str
    conversation: str | None = None
    """The one that was named; None for that of the thread, or a new one."""
    opens: str
    """The id of a new conversation, where it takes one."""
    wish: Wish
    profile: str = DEFAULT
    """What a new conversation gets; one that there is already keeps its own."""
    chosen: bool = False
    """Whether somebody chose the profile: then it has to be the conversation's."""
    runner: str | None = None
    """The process that is about to answer it by itself."""
    schedule: str | None = None
    """The schedule that asks, if one does: then nothing that it asked for before may still wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A message and, once `reason` is set, how its turn ended."""

    id: str
    tenant: str
    conversation: str
    principal: str
    place: Place
    wish: Wish
    profile: str = DEFAULT
    schedule: str | None = None
    """The schedule that asked, if it was one."""
    reason: Reason | None = None
    text: str = ""
    suggestions: tuple[str, ...] = ()
    request: str | None = None
    """The request that it opened, or found open."""
    killed: int = 0
    """How many commands a stop cut."""
    absorbed_by: str | None = None
    """The turn that answered this message too, where one took it in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A message that is stored, and how many wait or are answered before it.

    For one that was received before, `ahead` is 0: it is no longer news.
    """

    turn: Turn
    ahead: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnd:
    """How a turn ends."""

    reason: Reason
    text: str
    suggestions: tuple[str, ...] = ()
    killed: int = 0
    entries: tuple[Entry, ...] = ()
    """What the model's transcript goes on with: what it was told and heard, did and said."""
    absorbed: tuple[str, ...] = ()
    """The turns of messages that it heard besides its own. Where it ends as it should, they end with
    it, those that still wait; otherwise each is answered by itself."""
    frame: Frame | None = None
    """The task as it is now; None where the one that is kept stays as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """A turn, how it is to end, and the claim under which somebody may say so."""

    turn: Turn
    job: Job
    end: TurnEnd


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """How far somebody has read a conversation, so that they go on from there."""

    epoch: int = 0
    """Of another epoch nothing that was read is part of the conversation any more."""
    last: int = 0


START = Mark()


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What a model knows of a conversation, and what it has yet to be told of it."""

    entries: tuple[Entry, ...]
    """Append-only: those of the next turn begin with these (I10), unless a compaction comes first."""
    news: tuple[Noted, ...]
    """What happened since, by the word of software; the next turn begins with it."""
    mark: Mark = field(default=START, compare=False)
    """Where the entries end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A turn that has not ended; `runs` where somebody answers it, or did until they died."""

    turn: Turn
    runs: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One entry of a conversation: asked, answered, card (as JSON), progress, report or note."""

    at: datetime
    kind: str
    author: str
    text: str


class Conversations(Protocol):
    """Where they are kept. Every method is one transaction."""

    async def arrived_before(self, arrival: Arrival) -> Turn | NoRoom | None:
        """Return the turn of a message that was received before; else whether its rate has no room.

        Counts nothing: that is for whoever keeps the message, or refuses it.
        """
        ...

    async def receive(self, new: NewTurn) -> Received:
        """Keep and count a message and queue its turn; return the one that was received before (I9).

        Raises `TooFast` where its rate has no room. Raises `Refused`, always in the same words, where
        there is no such conversation or it belongs to another tenant or another place; where too many wait already; and where what
        its schedule asked for before still waits.
        """
        ...

    async def turn(self, tenant: str, turn: str) -> Turn | None:
        """Return a turn as it is now."""
        ...

    async def history(self, turn: Turn, after: Mark = START) -> History:
        """Return what the model of a turn is to know of what came before it.

        The entries are those behind the mark; all from the newest compaction on where the
        conversation has come to another epoch than the mark's.
        """
        ...

    async def news(self, turn: Turn) -> tuple[Noted, ...]:
        """Return what software has to tell in a turn that needs nothing else of the conversation."""
        ...

    async def happened(self, turn: Turn, job: Job, happened: Sequence[Happening]) -> None:
        """Keep what happened in a turn, in order; raise `LeaseLost` where it is not held so."""
        ...

    async def end(self, closing: Closing) -> bool:
        """Keep what was asked and answered, and end the turn with its job; return whether it has ended.

        Where somebody stopped it, it ends as stopped and the answer is dropped. False where it was
        cut but nobody stopped it. Raises `LeaseLost` where this claim may no longer say so.
        """
        ...

    async def at(self, tenant: str, place: Place) -> str | None:
        """Return the conversation of a thread; None where nothing was asked in it yet."""
        ...

    async def waiting(self, tenant: str, conversation: str | None) -> Sequence[Waiting]:
        """Return the turns of a conversation, or of all, that have not ended, in order of arrival."""
        ...

    async def arrived(self, turn: Turn) -> Sequence[Message]:
        """Return what people said that waits behind a turn, in order of arrival.

        Only words: no wish, no plan, nothing that seemed to hold a secret, nothing of a schedule's.
        """
        ...

    async def stop(self, turn: Turn, *, principal: str) -> None:
        """Tell a turn to end; one that nobody answers yet ends at once."""
        ...

    async def keep_plan(self, turn: Turn, job: Job, plan: Plan) -> None:
        """Keep a plan of a turn that nobody is asked about, for export.

        Raises `LeaseLost` where the turn is not held so.
        """
        ...
