"""Reminders that somebody set for themselves: a text that comes back to its conversation at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from core.conversations import NewTurn
from core.events import Place
from core.tools import Caller

DUE = "due"
"""The kind of job that waits for the time of a reminder."""
_MARK = "reminder "


def job_of(reminder: str) -> str:
    """Return the id of the job that waits for a reminder's time."""
    return f"{DUE}:{reminder}"


def schedule_of(reminder: str) -> str:
    """Return what stands as the schedule of the turn that a reminder starts.

    It holds a blank, so it is no name of a schedule in the settings.
    """
    return f"{_MARK}{reminder}"


def is_of_one(schedule: str | None) -> bool:
    """Whether what stands as the schedule of a turn is a reminder."""
    return (schedule or "").startswith(_MARK)


class ReminderState(StrEnum):
    """Where a reminder is."""

    PENDING = "pending"
    TOLD = "told"
    CANCELLED = "cancelled"
    DROPPED = "dropped"
    """Nobody was told: whoever set it may no longer ask here, or it failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewReminder:
    """A reminder that is to be set."""

    id: str
    caller: Caller
    """Whose it is, and in which turn it is set."""
    text: str
    due: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminder:
    """A reminder as it is now."""

    id: str
    tenant: str
    owner: str
    conversation: str
    place: Place
    text: str
    set_at: datetime
    due: datetime
    state: ReminderState


class Reminders(Protocol):
    """Where reminders are kept. Every method is one transaction."""

    async def add(self, new: NewReminder, *, most: int) -> Reminder:
        """Keep a reminder and queue the job that waits for it; return the one that has its id already.

        Raises `Refused` where its owner has `most` pending ones, and in a turn that a reminder
        started: it could go on for ever with nobody there. Raises `LeaseLost` where the caller's
        claim is not held any more.
        """
        ...

    async def pending(self, tenant: str, owner: str, conversation: str) -> Sequence[Reminder]:
        """Return what somebody has pending in a conversation, the next one first."""
        ...

    async def cancel(self, caller: Caller, reminder: str) -> bool:
        """Cancel the caller's own reminder; False where they have none of that id that was not told.

        The same one again stays cancelled.
        Raises `LeaseLost` as `add` does.
        """
        ...

    async def get(self, tenant: str, reminder: str) -> Reminder | None:
        """Return a reminder."""
        ...

    async def tell(self, reminder: Reminder, note: str, turn: NewTurn | None = None) -> None:
        """Append a note to its conversation and post it, unless it is no longer pending.

        With it comes the turn that looks at it, if there is one; where that cannot be received, the
        audit log says why.
        """
        ...

    async def drop(self, reminder: Reminder) -> None:
        """End it without a word, unless it is no longer pending."""
        ...
