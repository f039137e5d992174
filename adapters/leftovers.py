"""Ends what a dead process left behind, before anybody says what became of its work."""

import asyncio
from dataclasses import dataclass

from adapters import processes
from adapters.storage import runs
from adapters.storage.transactions import Database
from core.jobs import Job

_TRIES = 100
"""A process that cannot be killed must not keep everybody else from being told."""


@dataclass(frozen=True, slots=True)
class Leftovers:
    """Kills by the name that every process of a command carries in its environment."""

    database: Database

    async def of_run(self, job: Job) -> None:
        """Kill whatever still runs for the step at which a run's process died, or looks for it."""
        step = await self.database.transact(lambda _: runs.running_step(job))
        for name in (step, str(job.payload["request"])):
            if name:
                await _kill(name)

    async def of_turn(self, job: Job) -> None:
        """Kill whatever a turn was looking at when its process died."""
        await _kill(str(job.payload["turn"]))


async def nothing(_: Job) -> None:
    """Kill nothing: for jobs that start no processes."""


async def _kill(name: str) -> None:
    for _ in range(_TRIES):
        if not processes.kill_step(name):
            return
        await asyncio.sleep(0.02)
