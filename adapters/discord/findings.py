"""What one thing that somebody did is read as, and what has to be known to read it."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal, TypeAlias

from core.platforms import Event
from core.principals import Identity

PLATFORM = "discord"

Why: TypeAlias = Literal[
    "it is of a server that is nobody's here",
    "it is of a kind that Sayso does not read",
    "it cannot be understood",
    "software wrote it",
    "nobody spoke to Sayso",
    "it is an edit that changes no word",
    "there is no text in it",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Us:
    """Who Sayso is on Discord, and what it is for."""

    user: str
    roles: frozenset[str] = frozenset()
    """The roles that are Sayso's own, which people mention instead of it."""
    guilds: frozenset[str]
    """The servers that belong to a tenant."""
    guilds_of: Callable[[str], Collection[str]]
    """The servers in which a user id is listed: a direct message names none."""
    mentions_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Somebody did something that the desk takes."""

    event: Event


@dataclass(frozen=True, slots=True, kw_only=True)
class AskWhy:
    """Somebody pressed Deny: a form asks for the reason. `request` is not yet believed."""

    request: str
    identity: Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class AskCode:
    """Somebody pressed Approve: a form asks for a code of theirs. `request` is not yet believed."""

    request: str
    identity: Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """What somebody did means nothing; this says what would."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignored:
    """Nothing comes of it. Why is one of a few sentences, so it holds nothing that anybody wrote."""

    why: Why


Finding: TypeAlias = Act | AskWhy | AskCode | Sentence | Ignored
