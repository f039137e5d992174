"""Somebody at a terminal: who that is, what they typed, and what the terminal must be able to do."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from core.conversations import Said
from core.deliveries import Asking, Chat
from core.errors import SaysoError
from core.events import (
    Approve,
    Ask,
    AskAgain,
    Deny,
    Edit,
    Found,
    LinkWish,
    Place,
    ProposeGrant,
    RevokeGrant,
    Stop,
    UndoRun,
    WantOutput,
)
from core.principals import Identity
from core.rulings import Ruling

Subject: TypeAlias = Literal["help", "history", "requests", "runs", "grants"]
Verb: TypeAlias = Literal["approve", "deny", "again"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """Who types, and in which thread."""

    identity: Identity
    place: Place
    conversation: str | None = None
    """That of the thread, once something was said in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bare:
    """A decision that names no request: it stands only where exactly one waits."""

    verb: Verb
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolve:
    """Somebody looks at an unknown step, or says what became of it.

    Where neither run nor step is named, it stands only where exactly one step is unknown.
    """

    found: Found
    run: str | None = None
    index: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """Somebody wants to read what there is."""

    at: Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Show:
    """Somebody wants to see the card of a request; of the one that waits, where none is named."""

    request: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Become:
    """Somebody else sits down at the same keyboard."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Begin:
    """What comes now is another conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leave:
    """Whoever types is through."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistyped:
    """A line that means nothing here, and the sentence about it, which repeats none of it."""

    sentence: str


Event: TypeAlias = (
    Ask
    | Approve
    | Deny
    | Edit
    | AskAgain
    | UndoRun
    | WantOutput
    | LinkWish
    | Stop
    | ProposeGrant
    | RevokeGrant
)
Typed: TypeAlias = Event | Ruling | Bare | Resolve | Look | Show | Become | Begin | Leave | Mistyped


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What was read from the keyboard: a line, an interruption (Ctrl-C), or the end."""

    text: str | None = None
    interrupted: bool = False
    told: bool = False
    """Whether the process is told to end: then nobody is asked anything any more."""


class Terminal(Protocol):
    """What somebody types at and reads from. Whatever it shows, nothing of it is passed on raw."""

    @property
    def chat(self) -> Chat:
        """Return the terminal as a platform: deliveries are shown on it."""
        ...

    async def read(self, who: str) -> Line:
        """Return the next line of whoever sits here; `text` is None at the end of the input."""
        ...

    def has_shown(self, request: str) -> bool:
        """Whether the card of a request was drawn here: only such a one is decided without its id."""
        ...

    def answering(self) -> AbstractAsyncContextManager[object]:
        """Keep what is delivered back inside the block: what somebody typed is answered first."""
        ...

    def cut(self, line: Line) -> None:
        """Have whoever reads get this at once, whatever is being typed."""
        ...

    async def show(self, card: Asking) -> None:
        """Show a card to whoever wants to see it: from now on it was shown here."""
        ...

    async def recall(self, said: Sequence[Said]) -> None:
        """Show what was said before."""
        ...

    async def quote(self, who: str, text: str) -> None:
        """Show what somebody typed, where nobody saw it being typed."""
        ...

    async def head(self, text: str) -> None:
        """Show what the next part is about."""
        ...

    async def tell(self, text: str) -> None:
        """Show what software says to whoever typed, and to nobody else."""
        ...

    async def fail(self, error: SaysoError) -> None:
        """Show why something was not done: a sentence, marked by what one may do next."""
        ...

    async def busy(self, what: str | None) -> None:
        """Show that something goes on, until it is told that nothing does."""
        ...

    async def settled(self) -> None:
        """Return once everything that was delivered is shown and can be read."""
        ...

    async def unread(self) -> None:
        """Return once nobody reads any more what is shown; it is dropped from then on."""
        ...
