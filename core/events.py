"""What people do in chat, with nothing left of the platform it came from."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal, TypeAlias

from core.principals import Identity

OPENS = "opens:"
"""Begins the thread of what was asked outside of any: then comes what tells this one from others."""
Found: TypeAlias = Literal["verify", "happened", "did_not"]
"""Somebody wants to look at an unknown step, or says what became of it."""
LinkDeed: TypeAlias = Literal["offer", "claim", "confirm", "refuse", "end", "show"]
Subject: TypeAlias = Literal["help", "requests", "runs", "grants"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where to answer: a thread in a channel of one workspace."""

    platform: str
    workspace: str
    channel: str
    thread: str | None = None
    """The platform's id of the thread. None on the console, where whoever asked reads the answer.

    One that begins with `OPENS` is yet to be opened, by whoever posts the first message into it.
    """

    @property
    def is_opened(self) -> bool:
        """Whether something can be posted there as it is."""
        return self.thread is None or not self.thread.startswith(OPENS)

    @property
    def resource(self) -> str:
        """Return the name under which the policy knows the channel."""
        return f"channel:{self.platform}/{self.workspace}/{self.channel}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Somebody wants something: in the named conversation, in that of the thread, or in a new one."""

    identity: Identity
    place: Place
    text: str
    conversation: str | None = None
    profile: str | None = None
    """The profile that they chose, if they did."""
    deliveries: tuple[str, ...] = ()
    """Every id under which the platform may deliver this message again, in that workspace."""
    known_only: bool = False
    """Whether it counts only where the thread is a conversation already: nobody called Sayso by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Approve:
    """Somebody pressed Approve. `request` is whatever the button carried, not yet believed."""

    identity: Identity
    request: str
    code: str = field(default="", repr=False)
    """The code of their second factor, where they gave one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Somebody gives arguments of a request other values. Nothing of it is believed yet."""

    identity: Identity
    request: str
    values: tuple[tuple[str, str | None], ...]
    """Names with values as text; None where it is to be what its tool fills in."""
    call: int | None = None
    """Which call of the plan, from 1; where there is only one it needs no number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BeginEdit:
    """Somebody pressed Edit and wants the window. `request` is not yet believed."""

    identity: Identity
    request: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Deny:
    """Somebody pressed Deny and may have said why."""

    identity: Identity
    request: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskAgain:
    """Somebody wants what an ended request showed to be asked once more, as a new plan."""

    identity: Identity
    request: str
    place: Place | None = None
    """Where they want it, where that is known."""
    deliveries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposeGrant:
    """Somebody wants exactly what a request showed to run without a card for a while."""

    identity: Identity
    request: str
    """Not yet believed."""
    uses: int
    lasts: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokeGrant:
    """Somebody wants a standing grant to end. `grant` is whatever they named, not yet believed."""

    identity: Identity
    grant: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoRun:
    """Somebody wants what a run did to be undone, as a new plan."""

    identity: Identity
    run: str
    """A run's id or its request's, not yet believed."""
    place: Place | None = None
    """As of `AskAgain`."""
    deliveries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Somebody wants it to end: one conversation, what they may stop here, or everything."""

    identity: Identity
    conversation: str | None = None
    everything: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRun:
    """Somebody pressed Stop below a run. `request` is whatever the button carried, not yet believed."""

    identity: Identity
    request: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StopHere:
    """Somebody wants what runs or waits in a thread to end."""

    identity: Identity
    place: Place
    known_only: bool = False
    """As of `Ask`: in any other thread it is somebody else's word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolveRun:
    """Somebody pressed a button below a run with an unknown step. `request` is not yet believed."""

    identity: Identity
    request: str
    found: Found


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """Somebody wants to see all of a request. `request` is not yet believed."""

    identity: Identity
    request: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkWish:
    """Somebody wants an account to be theirs, or not any more."""

    identity: Identity
    what: LinkDeed
    given: str = ""
    """The code, the id that a button carried, or the platform; not yet believed."""
    place: Place | None = None
    known_only: bool = False
    """As of `Ask`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """Somebody wants to read what there is."""

    identity: Identity
    place: Place
    at: Subject
    known_only: bool = False
    """As of `Ask`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WantOutput:
    """Somebody wants all that a step printed, in the thread of its run. `run` is not yet believed."""

    identity: Identity
    place: Place
    run: str
    index: int
    known_only: bool = False
    """As of `Ask`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeUp:
    """Somebody pressed a suggestion: they ask what it says. `turn` is not yet believed."""

    identity: Identity
    place: Place
    turn: str
    number: int
    """Which of its suggestions, from 0."""
    deliveries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """Somebody gave a message of theirs other words, or took it back."""

    identity: Identity
    place: Place
    delivery: str
    """The id under which the message came in."""
    text: str
    """What it says now; empty where it is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Invited:
    """Somebody brought Sayso into a channel."""

    identity: Identity
    place: Place
