"""What an engine of this process is made of: kinds of jobs, and its pace."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from adapters.storage.transactions import Transaction
from core.jobs import Handler, Job, JobState, Loss

Clean: TypeAlias = Callable[[Job], Awaitable[None]]
"""Ends whatever a dead holder left running, before anything is called unknown."""
Settle: TypeAlias = Callable[[datetime, Job, Loss], Transaction[JobState]]
"""Inside the transaction that ends a job which nobody holds: say, and write, what became of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What a kind of job does, and what becomes of one whose holder is gone."""

    handler: Handler
    clean: Clean
    settle: Settle
    is_kept: bool = False
    """Whether it is put back for as long as it takes, since what it is about ends at a time of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How often an engine looks, how long a lease lasts, and how much is in hand at once."""

    lease: timedelta = timedelta(seconds=12)
    """With a beat to notice it and a poll to tell, a death elsewhere is told within 15 seconds."""
    beat: float = 1.0
    """Seconds between two renewals; also how late a delayed job or a death may be noticed."""
    poll: float = 0.1
    """Seconds between two looks for what others wrote."""
    most: int = 1000

    @property
    def margin(self) -> float:
        """Return for how many seconds after its claim a job is certainly still ours."""
        return self.lease.total_seconds() * 0.8
