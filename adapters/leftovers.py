"""Ends what a run's dead process left behind, before anybody calls its step unknown."""

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
    """Kills by the step's id, which every process of a step carries in its environment."""

    database: Database

    async def clean(self, job: Job) -> None:
        """Kill whatever still runs for the step at which the job's process died."""
        step = await self.database.transact(lambda _: runs.running_step(job))
        for _ in range(_TRIES):
            if step is None or not processes.kill_step(step):
                return
            await asyncio.sleep(0.02)
