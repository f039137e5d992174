"""The jobs table as a queue. Implements `core.jobs.Queue`."""

from dataclasses import dataclass

from adapters.storage import jobs
from adapters.storage.transactions import Database
from core.jobs import NewJob


@dataclass(frozen=True, slots=True)
class TableQueue:
    """One database's jobs table."""

    database: Database

    async def submit(self, new: NewJob) -> str:
        """See the port."""
        return await self.database.transact(lambda now: jobs.submit(now, new))
