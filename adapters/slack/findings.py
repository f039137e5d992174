"""What one payload of Slack's is read as, and what has to be known to read it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from core.platforms import Event
from core.principals import Identity

Kind: TypeAlias = Literal["event", "command", "action", "view"]
Modal: TypeAlias = Literal["deny", "review", "edit", "approve_code"]
Why: TypeAlias = Literal[
    "it is for another workspace or app",
    "it is of a kind that Sayso does not read",
    "it cannot be understood",
    "software wrote it",
    "nobody spoke to Sayso",
    "it is an edit that changes no word",
    "there is no text in it",
    "it is about somebody else",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bot:
    """Who Sayso is in the one workspace in which it is installed."""

    team: str
    user: str
    bot_id: str
    app: str
    """Empty where Slack does not say; what comes in was then proved to be for this app before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """How to reach whoever did it, and nobody else."""

    channel: str
    """Empty where it was done outside of any, as in the App Home."""
    user: str
    thread: str | None = None
    response_url: str | None = None
    trigger: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Somebody did something that the desk takes."""

    event: Event
    route: Route
    kind: Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenModal:
    """Somebody pressed what opens a modal. `request` is not yet believed."""

    what: Modal
    request: str
    identity: Identity
    route: Route


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeOpened:
    """Somebody looks at the Home tab."""

    identity: Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptsWanted:
    """Somebody opened the conversation with Sayso, in which nothing may stand yet."""

    channel: str
    thread: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleChanged:
    """Somebody's account or a user group is no longer what it was."""

    event: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """What somebody typed means nothing; this says what would."""

    text: str
    route: Route


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignored:
    """Nothing comes of it. Why is one of a few sentences, so it holds nothing that anybody wrote."""

    why: Why


Finding: TypeAlias = (
    Act | OpenModal | HomeOpened | PromptsWanted | PeopleChanged | Sentence | Ignored
)
