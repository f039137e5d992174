"""The jobs table as an engine: claims, leases with fencing, stopping, and what dead processes left."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial

from adapters.jobs import ends
from adapters.jobs.gone import Taker
from adapters.jobs.held import Held, awake
from adapters.jobs.kinds import Kind, Pace
from adapters.jobs.loops import beside, every, first, until_it_works, went_well
from adapters.storage import jobs
from adapters.storage.transactions import Database
from core.errors import SaysoError, Unavailable
from core.jobs import Claim, JobState, LeaseLost, Replay

MOST_TRIES = 1500
"""About a day of trying again; then what does not answer counts as failed."""
_PATIENCE = 7.0
"""Seconds in which what was told to end may come to its end, before whoever waits gives up."""
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

    def holds(self, kind: str) -> bool:
        """Whether a job of this kind is being done in this process, so that its end would cut it."""
        return any(held.job.kind == kind and not held.is_ending for held in self._held)

    def look(self) -> None:
        """See the port."""
        self._look.set()

    async def serve(self, stop: asyncio.Event) -> None:
        """Claim and run whatever is due until `stop`; then let what runs come to its end.

        Where it is cancelled, so are the handlers: what may be done again is put back at once, the
        rest is taken as from a dead process.
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
            await self._to_their_end(claimed, _after(stop, _PATIENCE))
        return True

    async def see_through(self, job: str, stop: asyncio.Event) -> None:
        """See the port. Where its holder dies meanwhile, it is taken here."""
        async with self._minding(job, stop):
            since: float | None = None
            while next_one := await self._database.transact(lambda now: jobs.next_to(now, job)):
                claimed = await self._claim(most=1, only=next_one)
                # What only stands before it does not keep whoever stops from leaving.
                leaving = _after(stop, _PATIENCE if next_one == job else 0)
                await self._to_their_end(claimed, leaving)
                if not claimed:
                    since = await self._given_up(job, stop, since)
                    await asyncio.sleep(self._pace.poll)

    async def _given_up(self, job: str, stop: asyncio.Event, since: float | None) -> float | None:
        """Return since when nothing more is to be expected, if it is; raise when that was long ago.

        That is where our own handler is through and could not write down the end, or where what was
        told to end does not.
        """
        left = await self._database.transact(lambda _: jobs.is_held_by(self._owner, job))
        if not left and not stop.is_set():
            return None
        since = since or awake()
        lease = self._pace.lease.total_seconds()
        if awake() > since + (_PATIENCE if stop.is_set() else lease + _PATIENCE):
            raise Unavailable(
                "How it ended could not be written down. Look at `sayso runs` and `sayso requests` "
                "before you try again."
            )
        return since

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
            end = await self._outcome(held)
            if end is not None:
                await self._finish(held, end)
        finally:
            del self._held[held]
            self._look.set()

    async def _outcome(self, held: Held) -> JobState | None:
        """Have the job handled; return None where how it ended is not ours to say any more.

        QUEUED is for what could not be done now.
        """
        job = held.job
        try:
            held.check()
            await self._kinds[job.kind].handler(held)
        except LeaseLost as error:
            log.warning("job %s: %s", job.id, error.shown)
            return None
        except Unavailable as error:
            log.warning("job %s: %s", job.id, error.shown)
            held.after = error.after or timedelta()
            goes_on = self._kinds[job.kind].is_kept or job.tries < MOST_TRIES
            return JobState.QUEUED if goes_on else JobState.FAILED
        except SaysoError as error:
            log.warning("job %s: %s", job.id, error.shown)
            return JobState.FAILED
        except Exception:
            log.exception("job %s", job.id)
            return JobState.FAILED
        return JobState.CANCELLED if held.is_stopping else JobState.DONE

    async def _finish(self, held: Held, state: JobState) -> None:
        """Write the end, trying again while the lease lasts: a blip must not make it unknown."""
        held.is_ending = True
        job, until, kind = held.job, held.deadline, self._kinds[held.job.kind]

        async def end() -> None:
            if not await self._database.transact(
                lambda now: ends.ended(now, job, state, kind, after=held.after)
            ):
                log.warning("job %s: it ended as %s, but somebody else has it", job.id, state)

        await until_it_works(f"ending job {job.id}", end, lambda: awake() < until)

    @asynccontextmanager
    async def _minding(self, job: str, stop: asyncio.Event) -> AsyncGenerator[None]:
        async with beside(*self._beats(), self._tell(job, stop)):
            yield

    async def _to_their_end(
        self, helds: Collection[Held], leaves: Coroutine[None, None, None]
    ) -> None:
        """Wait until their handlers are through, and cut them where `leaves` comes to its end before."""
        ending = asyncio.ensure_future(self._end_of(helds))
        leaving = asyncio.ensure_future(leaves)
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
        """Cancel those of them whose handlers still work; return when all are gone.

        What may be done again is put back at once; the rest is for whoever finds us gone.
        """
        left = [held for held in helds if held in self._held]
        cut = [held for held in left if not held.is_ending]
        for held in cut:
            self._held[held].cancel()
        await self._end_of(left)
        for held in cut:
            if held.job.replay is Replay.SAFE:
                back = self._database.transact(partial(ends.put_back, held.job))
                await went_well(f"putting job {held.job.id} back", back)

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
            lambda: self._database.transact(lambda now: ends.told(now, job, self._kinds)),
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


async def _after(stop: asyncio.Event, seconds: float) -> None:
    await stop.wait()
    await asyncio.sleep(seconds)
