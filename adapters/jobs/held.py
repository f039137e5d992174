"""A job in the hands of this process, and the clock that tells until when it certainly is.

A process that was paused (a suspended machine, SIGSTOP) wakes up beyond its lease without knowing.
So each hold has a deadline on a clock that runs on while the machine sleeps, well before the lease
ends, and whoever is about to act looks at it first.
"""

import asyncio
import time
from dataclasses import dataclass, field
from datetime import timedelta

from core.jobs import Job, LeaseLost


def awake() -> float:
    """Return seconds on a clock that goes on while the machine is suspended, where there is one."""
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime(clock)


@dataclass(slots=True, eq=False)
class Held:
    """Implements `core.jobs.Hold`."""

    job: Job
    deadline: float
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    is_ending: bool = False
    """The handler is through; all that is left is to write how it ended."""
    after: timedelta = timedelta()
    """For how long it is left alone, where what it needs said so."""

    def check(self) -> None:
        """See the port."""
        if awake() >= self.deadline:
            raise LeaseLost("This process no longer holds the job, so it does not act for it.")

    @property
    def is_stopping(self) -> bool:
        """See the port."""
        return self.stop.is_set()

    async def stopped(self) -> None:
        """See the port."""
        await self.stop.wait()

    def lose(self) -> None:
        """Have it refuse to act from now on."""
        self.deadline = 0.0
        self.stop.set()
