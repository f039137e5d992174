"""Taking jobs from holders that are gone: at once where they died on this machine, else by their lease."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from adapters.jobs.kinds import Kind
from adapters.jobs.loops import went_well
from adapters.storage import jobs
from adapters.storage.transactions import Database, Row, Transaction
from core.jobs import Claim, Job, JobState, Loss

log = logging.getLogger("sayso.jobs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Taker:
    """Takes what nobody holds any more, and has its kind say what became of it."""

    database: Database
    kinds: Mapping[str, Kind]
    owner: str
    is_dead: Callable[[str], bool]
    lease: timedelta

    async def take(self, is_mine: Callable[[Claim], bool]) -> None:
        """Take all there is, except what is in hand here: its lease ended, but nobody else has it."""
        await self._free_reservations()
        rows = await self.database.transact(jobs.running)
        dead = {owner for owner in {row["owner"] for row in rows} if self.is_dead(owner)}
        for row in rows:
            job, holder = jobs.job_of(row), row["owner"]
            kind = self.kinds.get(job.kind)  # None: a newer version's; it will take it itself
            if kind and not is_mine(job.claim) and (row["is_over"] or holder in dead):
                taking = self._take(job, kind, holder if holder in dead else None)
                await went_well(f"taking job {job.id}", taking)

    async def _free_reservations(self) -> None:
        for row in await self.database.transact(jobs.reserved):
            if row["is_over"] or self.is_dead(row["owner"]):
                await self.database.transact(partial(_freed, row))

    async def _take(self, job: Job, kind: Kind, dead: str | None) -> None:
        # Fenced first: a holder that is only slow must not have its work ended under its hands.
        seized = await self.database.transact(
            lambda now: jobs.seize(now, self.owner, self.lease, job, dead)
        )
        if seized is None:
            return
        await kind.clean(seized)
        state = await self.database.transact(lambda now: _settled(now, seized, kind))
        log.warning("job %s: its process is gone, so it is %s", job.id, state)


def _freed(row: Row, now: datetime) -> Transaction[list[Row]]:
    del now
    return jobs.free(row["id"], row["owner"])


def _settled(now: datetime, job: Job, kind: Kind) -> Transaction[JobState]:
    loss = Loss.STOPPED if (yield from jobs.is_to_end(job)) else Loss.DIED
    state = yield from kind.settle(now, job, loss)
    yield from jobs.release(now, job, state)
    return state
