"""What Sayso says, on its way to the thread of a conversation. Each delivery is a job."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeAlias

from core.cards import Button, Card
from core.conversations import Turn
from core.events import Place
from core.jobs import Job
from core.principals import Identity

POST = "post"
"""The kind of job that posts one entry of a conversation."""
OPEN = "open"
"""The kind of job that opens the thread of a conversation that began outside of any."""
EDIT = "edit"
"""The kind of job that draws a card, or the progress of a run, anew where it was posted."""

TERMINAL = "console"
"""The platform of everybody who types on this machine."""


def lane_of(conversation: str) -> str:
    """Return the lane in which everything for one thread is delivered, in order."""
    return f"deliver:{conversation}"


def post_of(conversation: str, seq: int) -> str:
    """Return the id of the job that posts an entry, which is also the key of what is posted."""
    return f"{POST}:{conversation}:{seq}"


def draft_of(turn: str) -> str:
    """Return the key under which an answer is shown while it is being written."""
    return f"draft:{turn}"


def reader_of(place: Place) -> str | None:
    """Return the process that alone can show something at a place: a terminal belongs to one.

    The thread of a terminal is `owner:number`, with the owner as of `core.jobs.Engine`.
    """
    if place.platform != TERMINAL or place.thread is None:
        return None
    return place.thread.rpartition(":")[0] or None


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Words. Each suggestion is a text that a person may send instead, drawn as a button."""

    text: str
    suggestions: tuple[str, ...] = ()
    turn: str | None = None
    """The turn that suggests: a button carries its id, and which of its suggestions it is."""
    buttons: tuple[Button, ...] = ()
    is_report: bool = False
    """Whether software wrote all of it about a run. Only such a text may be drawn as a report."""
    is_note: bool = False
    """Whether Sayso itself says it, about what happened."""
    same_as: str | None = None
    """The request whose card says the same once it is drawn anew."""
    wanted: tuple[Identity, ...] = ()
    """As of `Asking`: a note reminds them."""
    label: str = "May approve"
    """Why they are called."""
    document: str | None = None
    """What belongs to a note as a file, where there are such."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """A card, and in one line where its request is; nothing to decide is left once that has ended."""

    card: Card
    status: str
    wanted: tuple[Identity, ...] = ()
    """Whose yes would count now: Sayso itself brings it to their mind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Where a run is. Nothing to press is left once that has ended."""

    run: str
    title: str
    status: str
    began_at: datetime
    bar: str = ""
    """How far what runs now says that it is: output of a program, as the tail is."""
    tail: tuple[str, ...] = ()
    """The last lines of what runs now: output of a program, to be drawn as preformatted text."""
    buttons: tuple[Button, ...] = ()

    @property
    def printed(self) -> tuple[str, ...]:
        """Return how far it is, if it says so, and below that the last lines."""
        return (self.bar, *self.tail) if self.bar else self.tail


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What was asked outside of any thread, to stand above the one that answers it."""

    author: str
    text: str
    asker: Identity | None = None
    """As whom the place knows them: mentioned by Sayso itself, so that they hear of what is answered."""


Message: TypeAlias = Text | Asking | Progress | Opening


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafted:
    """A message in which an answer was shown while it was being written."""

    key: str
    message: str | None
    """The platform's id of it; None where nobody was told whether it was posted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One entry that is to be posted."""

    place: Place
    kind: str
    """As of `core.conversations.Said`."""
    text: str
    about: str | None
    posted: str | None
    """The platform's id of the message, where it was posted before."""
    asker: str
    """Who asked last in its conversation."""
    drafted: Drafted | None = None
    """The message whose place it takes: it is the first that its turn has to say."""
    calls: tuple[str, ...] = ()
    """Whom a note calls, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """A card as it was posted: where, and the platform's id of the message."""

    place: Place
    message: str


class Chat(Protocol):
    """A platform on which messages can be posted and edited."""

    async def post(
        self,
        place: Place,
        message: Message,
        *,
        key: str,
        again: bool = False,
        drafted: Drafted | None = None,
    ) -> str:
        """Post a message and return its id on the platform; for a key that was posted before, that one.

        `again` says that somebody tried before and may not have been told that it was posted. The id
        of an `Opening` is the thread below it; its place is one that is not opened. It takes the place of what was `drafted`, where that
        is still there. Raises `Unavailable` where trying again may help, and `Refused` where it cannot.
        """
        ...

    async def draft(self, place: Place, text: str, *, drafted: Drafted, again: bool = False) -> str:
        """Show how far an answer is that is being written, in the message of before if any.

        Return that message's id; raises as `post` does. `again` is said as there, of a draft.
        """
        ...

    async def edit(self, place: Place, posted: str, message: Message) -> None:
        """Replace a message; raises as `post` does. A message that is gone needs no edit."""
        ...


class Drafts(Protocol):
    """Where it is kept which answers are shown while they are written. Every method is one transaction.

    Each is kept until something that its turn has to say took its place. Raises `LeaseLost` where
    the turn is not held so.
    """

    async def begin(self, turn: Turn, job: Job) -> Drafted | None:
        """Keep that a turn's answer is about to be shown; return the message if it was before."""
        ...

    async def drafted(self, turn: Turn, job: Job, message: str) -> None:
        """Keep in which message it is shown."""
        ...


class Deliveries(Protocol):
    """Where what is to be delivered is kept. Every method is one transaction."""

    async def entry(self, tenant: str, conversation: str, seq: int) -> Delivery | None:
        """Return an entry and where it belongs; None where there is none such."""
        ...

    async def place(self, tenant: str, conversation: str) -> Place | None:
        """Return where a conversation is; None where there is none such."""
        ...

    async def opening(self, tenant: str, conversation: str) -> Opening | None:
        """Return what a conversation began with; None where that was erased."""
        ...

    async def opened(self, tenant: str, conversation: str, thread: str) -> bool:
        """Keep which thread was opened for a conversation; False where that is another one's.

        Once this was kept, it stays: then it is true for the same thread only.
        """
        ...

    async def posted(self, tenant: str, conversation: str, seq: int, message: str) -> None:
        """Keep that an entry was posted, and as which message."""
        ...

    async def card(self, tenant: str, request: str) -> Posted | None:
        """Return where a request's card was posted last; None where it never was."""
        ...

    async def progress(self, tenant: str, run: str) -> Delivery | None:
        """Return the entry that shows where a run is; None where nothing shows it."""
        ...
