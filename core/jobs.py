"""Jobs: work that outlives the process that asked for it. Payloads are ids, never content."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Protocol, TypeAlias

from core.canonical import JsonObject
from core.errors import Unavailable

Claim: TypeAlias = tuple[str, int]
"""A job's id and the fence of one claim to it."""


class Replay(StrEnum):
    """What may be done with a job whose process died."""

    SAFE = "safe"
    """Nothing that it does changes the outside: it is queued again, a few times."""
    NEVER = "never"
    """It may have acted: it is queued again only where it provably had not begun."""


class JobState(StrEnum):
    """Where a job is."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


class Loss(StrEnum):
    """Why nobody holds a job any more, or ever will."""

    DIED = "died"
    """Its process is gone, or let the lease end."""
    FAILED = "failed"
    """Its handler failed in a way that nobody foresaw; it is not tried again."""
    STOPPED = "stopped"
    """Somebody told it to end, and nobody is left who would hear of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """A job to be queued."""

    id: str
    kind: str
    tenant: str
    payload: JsonObject
    replay: Replay
    lane: str | None = None
    """Jobs of one lane run one after another, in the order in which they were submitted."""
    locks: tuple[str, ...] = ()
    """Jobs of one tenant that share a lock never run at the same time; a job takes all of its own
    at once, when it is claimed, and has them until it has ended.
    """
    dedupe: str | None = None
    """A second job with this key is never queued, however the first one ended."""
    delay: timedelta = timedelta()
    reserved_for: str | None = None
    """The process that is about to run it by itself: for some seconds, while that lives, nobody
    else claims it.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job that was claimed. `fence` tells this claim from every other."""

    id: str
    kind: str
    tenant: str
    payload: JsonObject
    replay: Replay
    lane: str | None
    fence: int
    attempt: int
    tries: int = 0
    """How often it was put back because something outside did not answer."""

    @property
    def was_begun(self) -> bool:
        """Return whether somebody claimed it before, and may have done all or part of it."""
        return self.fence > 1

    @property
    def claim(self) -> Claim:
        """Return what tells this claim from every other one to any job."""
        return self.id, self.fence


class LeaseLost(Unavailable):
    """The process no longer holds the job, so it must not act for it any more."""


class Hold(Protocol):
    """A claimed job in the hands of its handler."""

    @property
    def job(self) -> Job:
        """Return the job."""
        ...

    def check(self) -> None:
        """Raise `LeaseLost` where somebody else may hold the job by now; call before each effect."""
        ...

    @property
    def is_stopping(self) -> bool:
        """Return whether somebody wants the job to end."""
        ...

    async def stopped(self) -> None:
        """Return once somebody wants the job to end, or somebody else has it."""
        ...


Handler: TypeAlias = Callable[[Hold], Awaitable[None]]
"""Does a job. Raises `Unavailable` where nothing has happened and it should be tried again later,
`LeaseLost` where how it ended is not its to say, anything else where it failed for good.
"""


class Queue(Protocol):
    """Takes jobs in."""

    async def submit(self, new: NewJob) -> str:
        """Queue a job, or return the id of the one that has its dedupe key already."""
        ...


class Engine(Protocol):
    """Runs jobs in this process."""

    @property
    def owner(self) -> str:
        """Return the name of this process, for jobs that it reserves for itself."""
        ...

    async def run(self, job: str, stop: asyncio.Event) -> bool:
        """Run this one job here and wait for its end; False where it was not to be had just now."""
        ...

    async def see_through(self, job: str, stop: asyncio.Event) -> None:
        """Return once a job has ended: here, as soon as it is to be had, unless it runs elsewhere.

        What nobody runs and stands before it in its lane is run here first. `stop` tells it to end.
        """
        ...

    def look(self) -> None:
        """Look for work at once: called after a submit in this process, it saves a poll."""
        ...

    async def serve(self, stop: asyncio.Event) -> None:
        """Run whatever is due until `stop`; then let what runs come to its end."""
        ...
