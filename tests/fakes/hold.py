"""A claimed job in the hands of a test."""

import asyncio
from dataclasses import dataclass, field

from core.jobs import Job, LeaseLost


@dataclass(eq=False)
class FakeHold:
    """Implements `core.jobs.Hold`."""

    job: Job
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    is_lost: bool = False
    """Whether somebody else may hold the job by now."""
    checks: int = 0
    """How often it was asked before an effect."""

    def check(self) -> None:
        """See the port."""
        self.checks += 1
        if self.is_lost:
            raise LeaseLost("A test took the job away.")

    @property
    def is_stopping(self) -> bool:
        """See the port."""
        return self.stop.is_set()

    async def stopped(self) -> None:
        """See the port."""
        await self.stop.wait()
