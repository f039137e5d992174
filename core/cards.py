"""A card as every platform can draw it. One renderer decides the content; platforms only draw."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from pydantic import TypeAdapter

from core import canonical

Verb: TypeAlias = Literal[
    "approve",
    "approve_code",
    "edit",
    "deny",
    "review",
    "again",
    "verify",
    "happened",
    "did_not",
    "stop",
    "undo",
    "revoke",
    "link_yes",
    "link_no",
]
APPROVING: frozenset[Verb] = frozenset({"approve", "approve_code"})
"""What approves where it is pressed: at once, or with a code that is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A label and what the software knows, in ASCII."""

    label: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """A choice. The request's id is the only thing that travels through the platform."""

    label: str
    verb: Verb
    request: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """Sections in the order in which they are drawn; a platform changes neither order nor words."""

    title: str
    plan: tuple[str, ...]
    """What will run, a line each, to be drawn as preformatted text."""
    facts: tuple[Fact, ...]
    warnings: tuple[str, ...]
    estimate: str
    preview: tuple[str, ...]
    """What a dry run printed: output of a program, not a fact."""
    unchecked: tuple[str, ...]
    """What the agent says about it: quoted line by line under a heading that says nobody checked it."""
    buttons: tuple[Button, ...]


def encode(card: Card) -> str:
    """Return a card as canonical JSON, the form in which it is stored and digested."""
    return canonical.encode(_CARD.dump_python(card, mode="json"))


def decode(text: str) -> Card:
    """Return the card that `encode` wrote."""
    return _CARD.validate_json(text)


_CARD = TypeAdapter(Card)
