"""Engines on one database, as in several processes; handlers and databases that do what a test says."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar

from adapters.jobs.kinds import Clean, Kind, Pace, Settle
from adapters.jobs.table import TableEngine
from adapters.storage import jobs
from adapters.storage.transactions import Database, Row, Transaction, Work, rows
from core.canonical import JsonObject
from core.errors import Unavailable
from core.jobs import Handler, Hold, Job, JobState, LeaseLost, NewJob, Replay
from tests.fakes.clock import FrozenClock
from tests.stores import Connect

T = TypeVar("T")
TENANT = "acme"
LEASE = timedelta(seconds=15)
QUICK = Pace(lease=LEASE, beat=0.02, poll=0.01)
NEVER = 3600.0
"""Seconds for what a test must not depend on."""
PATIENCE = 10.0


def a_job(
    id_: str,
    lane: str | None = None,
    *,
    kind: str = "work",
    payload: JsonObject | None = None,
    replay: Replay = Replay.SAFE,
    locks: tuple[str, ...] = (),
    tenant: str = TENANT,
    dedupe: str | None = None,
    delay: timedelta = timedelta(),
    reserved_for: str | None = None,
) -> NewJob:
    """Return a job."""
    return NewJob(
        id=id_,
        kind=kind,
        tenant=tenant,
        payload={"about": id_} if payload is None else payload,
        replay=replay,
        lane=lane,
        locks=locks,
        dedupe=dedupe,
        delay=delay,
        reserved_for=reserved_for,
    )


class Hands:
    """A handler that tells what it began, and works until a test lets it go on."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.cancelled: list[str] = []
        self.holds: asyncio.Queue[Hold] = asyncio.Queue()
        self._gates: dict[str, asyncio.Event] = {}
        self._errors: dict[str, Exception] = {}

    async def __call__(self, hold: Hold) -> None:
        """Wait to be let go, or raise what the test wants raised."""
        self.begun.append(hold.job.id)
        self.holds.put_nowait(hold)
        try:
            await self._gate(hold.job.id).wait()
        except asyncio.CancelledError:
            self.cancelled.append(hold.job.id)
            raise
        if error := self._errors.get(hold.job.id):
            raise error

    def let_go(self, *names: str) -> None:
        """Let these come to their end, now or as soon as they begin."""
        for name in names:
            self._gate(name).set()

    def have_raise(self, name: str, error: Exception) -> None:
        """Let it come to a bad end."""
        self._errors[name] = error
        self.let_go(name)

    async def next(self) -> Hold:
        """Return the next job that was begun."""
        return await asyncio.wait_for(self.holds.get(), PATIENCE)

    def _gate(self, name: str) -> asyncio.Event:
        return self._gates.setdefault(name, asyncio.Event())


def holds(now: datetime, job: Job) -> Transaction[bool]:
    """Return whether this claim may still act: not lost, not past its lease, not told to end."""
    try:
        return not (yield from jobs.must_hold(now, job.claim))
    except LeaseLost:
        return False


@dataclass
class Moody:
    """A database that fails, or stands still like a process that was stopped, when a test says so."""

    database: Database
    fails: bool = False
    transactions: int = 0
    looks: int = 0
    moving: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.moving.set()

    async def transact(self, work: Work[T]) -> T:
        """Count and run it, in a good mood."""
        self.transactions += 1
        await self._mood()
        return await self.database.transact(work)

    async def changes(self) -> int:
        """Count the look."""
        self.looks += 1
        await self._mood()
        return await self.database.changes()

    async def _mood(self) -> None:
        await self.moving.wait()
        if self.fails:
            raise Unavailable("The database is in a bad mood.")


@dataclass
class Cluster:
    """One table of jobs, and engines on it."""

    connect: Connect
    clock: FrozenClock
    database: Database
    dead: set[str] = field(default_factory=set[str])
    """Owners whose process counts as dead."""

    async def engine(
        self,
        handler: Handler,
        *kinds: str,
        owner: str = "a",
        pace: Pace = QUICK,
        settle: Settle = jobs.settle_safe,
        clean: Clean | None = None,
    ) -> "Engine":
        """Return an engine with a connection of its own, for these kinds or for `work`."""
        kind = Kind(handler=handler, settle=settle, clean=clean or _nothing)
        moody = Moody(await self.connect())
        table = TableEngine(
            moody,
            dict.fromkeys(kinds or ("work",), kind),
            owner=owner,
            is_dead=self.dead.__contains__,
            pace=pace,
        )
        return Engine(table, moody)

    async def submit(self, *new: NewJob) -> list[str]:
        """Queue these in one transaction, from another process than any engine's."""
        return await self.database.transact(lambda now: _submit(now, new))

    async def cancel(self, job: str) -> bool | None:
        """Cancel, from another process; return whether that ended it, None where nobody was told."""
        told = await self.database.transact(lambda now: jobs.cancel(now, job))
        return told.was_queued if told else None

    async def row(self, job: str) -> Row:
        """Return a job as it is stored."""
        return (await self.query("SELECT * FROM job WHERE id = :id", id=job))[0]

    async def query(self, sql: str, **values: str) -> list[Row]:
        """Return rows."""
        return await self.database.transact(lambda _: rows(sql, **values))

    async def states(self) -> dict[str, str]:
        """Return every job's state."""
        return {row["id"]: row["state"] for row in await self.query("SELECT id, state FROM job")}

    async def state(self, job: str) -> str:
        """Return one job's state."""
        return (await self.states())[job]

    async def until(self, job: str, *states: JobState) -> None:
        """Wait until a job is in one of these states."""

        async def is_there() -> bool:
            return await self.state(job) in states

        await soon(is_there)

    async def is_held(self, job: Job) -> bool:
        """Ask what a holder asks inside the transaction of its effect."""
        return await self.database.transact(lambda now: holds(now, job))


@dataclass
class Engine:
    """An engine and the database that it looks at."""

    table: TableEngine
    database: Moody

    @asynccontextmanager
    async def serving(self) -> AsyncGenerator[asyncio.Task[None]]:
        """Serve inside the block; then stop, and wait for the end of what runs."""
        stop = asyncio.Event()
        task = asyncio.create_task(self.table.serve(stop))
        try:
            yield task
        finally:
            stop.set()
            await asyncio.wait_for(asyncio.wait([task]), PATIENCE)
        if not task.cancelled():
            task.result()

    async def die(self, serving: "asyncio.Task[None]") -> None:
        """End like a killed process: whatever it holds, it writes nothing any more."""
        self.database.fails = True
        serving.cancel()
        await asyncio.wait([serving])
        self.database.fails = False

    async def polls(self, count: int) -> None:
        """Wait until it has looked for changes so many times more."""
        least = self.database.looks + count

        async def looked() -> bool:
            return self.database.looks >= least

        await soon(looked)


async def soon(happened: Callable[[], Awaitable[bool]]) -> None:
    """Wait until something has happened."""
    async with asyncio.timeout(PATIENCE):
        while True:
            if await happened():
                return
            await asyncio.sleep(0.005)


def _submit(now: datetime, new: Sequence[NewJob]) -> Transaction[list[str]]:
    if not new:
        return []
    first = yield from jobs.submit(now, new[0])
    return [first, *(yield from _submit(now, new[1:]))]


async def _nothing(_: Job) -> None:
    pass
