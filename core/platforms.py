"""What a platform and Sayso need of one another, whichever platform it is.

An adapter reads what somebody did into an event of `core.events`, hands it to the desk, and shows
that person what came of it. What everybody is to see comes later, through `core.deliveries.Chat`.
"""

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from core.cards import Button
from core.deliveries import Asking, Chat
from core.events import (
    Approve,
    Ask,
    AskAgain,
    BeginEdit,
    Deny,
    Edit,
    Edited,
    Invited,
    LinkWish,
    Lookup,
    ProposeGrant,
    ResolveRun,
    Review,
    RevokeGrant,
    Stop,
    StopHere,
    StopRun,
    TakeUp,
    UndoRun,
    WantOutput,
)
from core.forms import Form
from core.principals import Identity
from core.roster import Roster
from core.rulings import Ruling

Event: TypeAlias = (
    Ask
    | Approve
    | Deny
    | Edit
    | BeginEdit
    | AskAgain
    | ProposeGrant
    | RevokeGrant
    | LinkWish
    | UndoRun
    | Stop
    | StopHere
    | StopRun
    | ResolveRun
    | Review
    | Lookup
    | WantOutput
    | TakeUp
    | Edited
    | Invited
    | Ruling
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What somebody is told about what they did, and nobody else. Software wrote all of it."""

    text: str = ""
    """Empty where there is nothing to say: what came of it is posted for everybody."""
    buttons: tuple[Button, ...] = ()
    card: Asking | None = None
    """The card that they wanted to see all of."""
    form: Form | None = None
    """The window in which they may edit what they wanted to."""
    is_nobodys: bool = False
    """Whether nothing is known of where it was said, so that nothing came of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """What waits for somebody, and what runs that they may know of, newest first."""

    greeting: str
    waits: tuple[Asking, ...]
    runs: tuple[str, ...]
    """A line each."""


class Desk(Protocol):
    """Where whatever people do on any platform comes in."""

    async def take(self, event: Event) -> Told:
        """Do what somebody wants, and return what they alone are told.

        Once this returns, what has to outlive the process is stored (I9); the same message under any
        of its ids is taken once. Raises `SaysoError` with a sentence for that person: `Unavailable`
        where nothing was stored and the same may work later.
        """
        ...

    async def home(self, identity: Identity) -> Home:
        """Return what waits for somebody and what runs; raise as `take` does."""
        ...


class Platform(Protocol):
    """A platform, ready to be connected to."""

    @property
    def chat(self) -> Chat:
        """Return where messages are posted and edited: usable without being connected."""
        ...

    @property
    def roster(self) -> Roster:
        """Return who says whether people are still what they are listed as."""
        ...

    def connected(self, desk: Desk) -> AbstractAsyncContextManager[None]:
        """Take in what people do, inside the block, once it is connected.

        Raises `Invalid` where it never can be, as with a wrong token, in one sentence that names
        what to correct; `Unavailable` where it could not just now. On leaving, nothing new is taken
        in, and what was taken in comes to its end.
        """
        ...

    async def check(self) -> tuple[str, ...]:
        """Return what is wrong with how it is set up, a sentence each: tokens, rights, connections."""
        ...
