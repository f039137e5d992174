"""Everything that a terminal shows, as values: what is drawn is decided before how."""

from dataclasses import dataclass
from typing import TypeAlias

from core.cards import Card
from core.conversations import Said
from core.deliveries import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """What became of a card that stands further up."""

    card: Card
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What software says to whoever typed."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """Why something was not done, and of which kind the error is."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """What somebody typed, where the terminal did not show it itself."""

    who: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """What was said before."""

    said: tuple[Said, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """What the next part of a longer text is about."""

    text: str


Shown: TypeAlias = Message | Changed | Told | Failed | Typed | Recalled | Heading
