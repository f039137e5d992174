"""The jobs table as an engine: claims, leases with fencing, stopping, and what dead processes left."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Mapping
from contextlib import asynccontextmanager
from datetime import datetime

from adapters.jobs.gone import Taker
from adapters.jobs.held import Held, awake
from adapters.jobs.kinds import Kind, Pace
from adapters.jobs.loops import beside, every, first, until_it_works, went_well
from adapters.storage import jobs
from adapters.storage.transactions import Database, Transaction
from core.errors import SaysoError
from core.jobs import Claim, Job, JobState, LeaseLost, Loss

log = logging.getLogger("sayso.jobs")


class TableEngine:
    """Implements `core.jobs.Engine`: runs jobs in this process, beside any number of others."""

    def __init__(
        self,
        database: Database,
        kinds: Mapping[str, Kind],
        *,
        owner: str,
        is_dead: Callable[[str], bool],
        pace: Pace,
    ) -> None:
        self._database = database
        self._kinds = kinds
        self._owner = owner
        self._pace = pace
        self._taker = Taker(
            database=database, kinds=kinds, owner=owner, is_dead=is_dead, lease=pace.lease
        )
        self._held: dict[Held, asyncio.Task[None]] = {}
        self._look = asyncio.Event()
        self._seen = -1

    @property
    def owner(self) -> str:
        """See the port."""
        return self._owner

    def look(self) -> None:
        """See the port."""
        self._look.set()

    async def serve(self, stop: asyncio.Event) -> None:
        """Claim and run whatever is due until `stop`; then let what runs come to its end.

        Where it is cancelled, so are the handlers; what they held is taken as from a dead process.
        """
        async with beside(*self._beats()):
            try:
                while not stop.is_set():
                    self._look.clear()
                    await went_well("claiming jobs", self._claim_more())
                    await first(self._look, stop, seconds=self._pace.beat)
                await self._end_of(self._held)
            finally:
                await self._abandon(self._held)

    async def run(self, job: str, stop: asyncio.Event) -> bool:
        """Run this one job here, and no other; False where it was not to be had just now."""
        claimed = await self._claim(most=1, only=job)
        if not claimed:
            return False
        async with self._minding(job, stop):
            await self._to_their_end(claimed)
        return True

    async def see_through(self, job: str, stop: asyncio.Event) -> None:
        """See the port. Where its holder dies meanwhile, it is taken here."""
        async with self._minding(job, stop):
            while next_one := await self._database.transact(lambda now: jobs.next_to(now, job)):
                claimed = await self._claim(most=1, only=next_one)
                if not claimed:
                    await asyncio.sleep(self._pace.poll)
                # What only stands before it does not keep whoever stops from leaving.
                await self._to_their_end(claimed, None if next_one == job else stop)

    async def notice(self) -> None:
        """Take jobs from holders that are gone: at once where they died here, else by their lease."""
        await self._taker.take(lambda claim: any(held.job.claim == claim for held in self._held))

    async def _claim_more(self) -> None:
        most = max(0, min(50, self._pace.most - len(self._held)))
        claimed = await self._claim(most=most)
        if claimed and len(claimed) == most:
            self._look.set()

    async def _claim(self, *, most: int, only: str | None = None) -> list[Held]:
        pace, deadline = self._pace, awake() + self._pace.margin
        claimed = await self._database.transact(
            lambda now: jobs.claim(now, self._owner, pace.lease, self._kinds, most=most, only=only)
        )
        taken = [Held(job, deadline) for job in claimed]
        for held in taken:
            name = f"job {held.job.kind} {held.job.id}"
            self._held[held] = asyncio.create_task(self._run(held), name=name)
        return taken

    async def _run(self, held: Held) -> None:
        try:
            state = await self._outcome(held)
            if state is not None:
                await self._finish(held, state)
        finally:
            del self._held[held]
            self._look.set()

    async def _outcome(self, held: Held) -> JobState | None:
        """Have the job handled; return None where how it ended is not ours to say any more."""
        try:
            held.check()
            await self._kinds[held.job.kind].handler(held)
        except LeaseLost as error:
            log.warning("job %s: %s", held.job.id, error.shown)
            return None
        except SaysoError as error:
            log.warning("job %s: %s", held.job.id, error.shown)
            return JobState.FAILED
        except Exception:
            log.exception("job %s", held.job.id)
            return JobState.FAILED
        return JobState.CANCELLED if held.is_stopping else JobState.DONE

    async def _finish(self, held: Held, state: JobState) -> None:
        """Write the end, trying again while the lease lasts: a blip must not make it unknown."""
        held.is_ending = True
        job, until = held.job, held.deadline

        kind = self._kinds[job.kind]

        async def end() -> None:
            if not await self._database.transact(lambda now: _ended(now, job, state, kind)):
                log.warning("job %s: it ended as %s, but somebody else has it", job.id, state)

        await until_it_works(f"ending job {job.id}", end, lambda: awake() < until)

    @asynccontextmanager
    async def _minding(self, job: str, stop: asyncio.Event) -> AsyncGenerator[None]:
        async with beside(*self._beats(), self._tell(job, stop)):
            yield

    async def _to_their_end(
        self, helds: Collection[Held], leaves: asyncio.Event | None = None
    ) -> None:
        """Wait until their handlers are through, and cut them where this one `leaves` before."""
        ending = asyncio.ensure_future(self._end_of(helds))
        leaving = asyncio.ensure_future((leaves or asyncio.Event()).wait())
        try:
            await asyncio.wait({ending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ending.cancel()
            leaving.cancel()
            await self._abandon(helds)

    async def _end_of(self, helds: Collection[Held]) -> None:
        tasks = [self._held[held] for held in helds if held in self._held]
        if tasks:
            await asyncio.wait(tasks)

    async def _abandon(self, helds: Collection[Held]) -> None:
        """Cancel those of them whose handlers still work; return when all are gone."""
        left = [held for held in helds if held in self._held]
        for held in left:
            if not held.is_ending:
                self._held[held].cancel()
        await self._end_of(left)

    def _beats(self) -> tuple[Coroutine[None, None, None], ...]:
        """Prolong leases and notice the dead every beat; hear of stops and new work at every poll.

        They do not wait for one another: ending what a dead process left may take longer than a lease.
        """
        beat, poll = self._pace.beat, self._pace.poll
        return (
            every(beat, "renewing leases", self._renew, after=beat),
            every(poll, "looking for changes", self._watch),
            every(beat, "noticing the dead", self.notice),
        )

    async def _tell(self, job: str, stop: asyncio.Event) -> None:
        """Once `stop` is set, tell the job to end, wherever it runs."""
        await stop.wait()
        self._hear({held.job.claim for held in self._held if held.job.id == job})
        await until_it_works(
            f"stopping job {job}",
            lambda: self._database.transact(lambda now: _told(now, job, self._kinds)),
            lambda: True,
        )

    async def _watch(self) -> None:
        changes = await self._database.changes()
        if changes == self._seen:
            return
        self._look.set()
        if self._held:
            told = await self._database.transact(lambda _: jobs.to_be_stopped(self._owner))
            self._hear(told)
        self._seen = changes

    def _hear(self, told: Collection[Claim]) -> None:
        for held in self._held:
            if held.job.claim in told:
                held.stop.set()

    async def _renew(self) -> None:
        renewing = list(self._held)
        if not renewing:
            return
        ids, deadline = {held.job.id for held in renewing}, awake() + self._pace.margin
        still = await self._database.transact(
            lambda now: jobs.renew(now, self._owner, self._pace.lease, ids)
        )
        for held in renewing:
            if held.job.claim in still:
                held.deadline = deadline
            else:
                held.lose()
        self._hear({claim for claim, is_to_end in still.items() if is_to_end})


def _ended(now: datetime, job: Job, state: JobState, kind: Kind) -> Transaction[bool]:
    """End a job that is still ours, unless its handler did; return whether it was not taken from us."""
    if not (yield from jobs.finish(now, job, state)):
        return (yield from jobs.has_ended(job))
    if state is JobState.FAILED:  # it may have left half of its work
        yield from kind.settle(now, job, Loss.FAILED)
    return True


def _told(now: datetime, job: str, kinds: Mapping[str, Kind]) -> Transaction[None]:
    """Tell a job to end; where nobody has it, end what belongs to it here and now."""
    told = yield from jobs.cancel(now, job)
    kind = kinds.get(told.job.kind) if told and told.was_queued else None
    if told and kind:  # None: a newer version's
        yield from kind.settle(now, told.job, Loss.STOPPED)
