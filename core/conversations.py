"""Conversations: who said what, in order, and the turns in which Sayso answered."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from core.events import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message that is being answered."""

    id: str
    tenant: str
    conversation: str
    principal: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One entry of a conversation: asked, answered, card (as JSON), report or note."""

    at: datetime
    kind: str
    author: str
    text: str


class Conversations(Protocol):
    """Where conversations are kept. Every method is one transaction."""

    async def begin_turn(self, turn: Turn, place: Place, text: str, *, opens: bool) -> None:
        """Keep a message and the turn that answers it; with `opens`, in a new conversation.

        Raises `Refused`, always in the same words, where there is no such conversation or it
        belongs to another tenant or another place.
        """
        ...

    async def end_turn(self, turn: Turn, *, reason: str, text: str) -> None:
        """Keep how a turn ended and what was answered."""
        ...

    async def keep_plan(self, tenant: str, plan: str, sha256: str, body: str) -> None:
        """Keep a plan that nobody is asked about, for export."""
        ...
