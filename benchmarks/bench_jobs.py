"""The jobs table beside the least that a durable queue has to do, hand-written, in the same run.

The floor of a start: two durable transactions (synchronous=FULL), the job's row and its claim, and a
task. Of a gap: two, the end and the next claim. Of a stop: one, and another process that looks for
changes as often. Of a job end to end: two, its row and its end (the engine takes a third to claim).
With TMPDIR on a memory file system it is the code that is measured, and not the disk.
"""

import asyncio
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from adapters.jobs.kinds import Kind, Pace
from adapters.jobs.table import TableEngine
from adapters.processes import is_dead, me
from adapters.storage import jobs
from adapters.storage.sqlite import SqliteDatabase
from benchmarks.measure import DurableFloor, median_ms, row
from core.jobs import Hold, Job, NewJob, Replay
from tests.jobs_stress import SystemClock

TIMES = 100
STOPS = 30
JOBS, LANES = 2000, 100
POLL = Pace().poll


def a_job(name: str, lane: str | None = None) -> NewJob:
    return NewJob(
        id=name, kind="work", tenant="acme", payload={"id": name}, replay=Replay.SAFE, lane=lane
    )


def engine_on(database: SqliteDatabase, handler: Callable[[Hold], Awaitable[None]]) -> TableEngine:
    async def clean(_: Job) -> None:
        pass

    kind = Kind(handler=handler, clean=clean, settle=jobs.settle_safe)
    return TableEngine(database, {"work": kind}, owner=me(), is_dead=is_dead, pace=Pace())


class Floor(DurableFloor):
    """What a queue has to do at least."""

    async def start(self, number: int) -> float:
        await at_any_moment(number)
        begin = time.perf_counter()
        await self.transactions(2)
        await asyncio.create_task(asyncio.sleep(0))
        return (time.perf_counter() - begin) * 1000


class Work:
    """Counts, and tells whoever waits."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.count = 0
        self.began_at: list[float] = []
        self.ended_at: list[float] = []

    async def __call__(self, _: Hold) -> None:
        self.began_at.append(time.perf_counter())
        self.count += 1
        self.begun.set()
        self.ended_at.append(time.perf_counter())


async def submit(database: SqliteDatabase, new: NewJob) -> None:
    await database.transact(lambda now: jobs.submit(now, new))


@asynccontextmanager
async def served(engine: TableEngine) -> AsyncGenerator[None]:
    stop = asyncio.Event()
    serving = asyncio.create_task(engine.serve(stop))
    yield
    stop.set()
    await serving


async def at_any_moment(number: int) -> None:
    """Wait until nothing is under way, at another moment of a poll each time."""
    await asyncio.sleep(0.15 + number % 10 / 100)


async def starts(home: Path, floor: Floor) -> None:
    work = Work()
    database = await SqliteDatabase.open(home / "starts.db", SystemClock())
    other = await SqliteDatabase.open(home / "starts.db", SystemClock())
    engine = engine_on(database, work)

    async def start(number: int, where: SqliteDatabase) -> float:
        await at_any_moment(number)
        work.begun.clear()
        begin = time.perf_counter()
        await submit(where, a_job(f"{number} {where is other}"))
        if where is database:
            engine.look()
        await work.begun.wait()
        return (time.perf_counter() - begin) * 1000

    async with served(engine):
        here, there, floors = list[float](), list[float](), list[float]()
        for number in range(STOPS):
            here.append(await start(number, database))
            there.append(await start(number, other))
            floors.append(await floor.start(number))
        least = statistics.median(floors)
        row("submit to start, same process", statistics.median(here), least)
        half = f"of it, half a poll of {POLL * 1000:.0f} ms"
        row("submit to start, another process", statistics.median(there), least, half)
        await gaps(database, work, floor)
    await database.aclose()
    await other.aclose()


async def gaps(database: SqliteDatabase, work: Work, floor: Floor) -> None:
    two = await median_ms(lambda: floor.transactions(2), TIMES)
    last = work.count + TIMES
    for number in range(TIMES):
        await submit(database, a_job(f"lane {number}", "lane"))
    while work.count < last:
        await asyncio.sleep(0.01)
    pairs = zip(work.began_at[-50:], work.ended_at[-51:-1], strict=True)
    found = statistics.median([(began - ended) * 1000 for began, ended in pairs])
    two = (two + await median_ms(lambda: floor.transactions(2), TIMES)) / 2
    row("gap between two jobs of one lane", found, two)


class Child:
    """Another process, and what it says."""

    def __init__(self, path: Path) -> None:
        command = [sys.executable, "-m", "benchmarks.bench_jobs", str(path)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)

    async def said(self, word: str) -> float:
        """Wait for a word and return when it was said."""
        assert self.process.stdout is not None
        heard, at = (await asyncio.to_thread(self.process.stdout.readline)).split()
        assert heard == word, heard
        return float(at)

    async def turn_floor(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("floor\n")
        self.process.stdin.flush()
        await self.said("floor")


async def stops(home: Path) -> None:
    path = home / "stops.db"
    database, floor = await SqliteDatabase.open(path, SystemClock()), Floor(path)
    child = Child(path)
    await child.said("ready")

    async def told(number: int) -> float:
        new = a_job(str(number))
        await submit(database, new)
        await child.said("begun")
        await at_any_moment(number)
        start = time.monotonic()
        await database.transact(lambda now: jobs.cancel(now, new.id))
        return (await child.said("told") - start) * 1000

    async def seen(number: int) -> float:
        await at_any_moment(number)
        start = time.monotonic()
        await floor.transactions(1)
        return (await child.said("seen") - start) * 1000

    found = [await told(number) for number in range(STOPS)]
    await child.turn_floor()
    least = statistics.median([await seen(number) for number in range(STOPS)])
    child.process.kill()
    child.process.wait()
    worst = f"worst {max(found):.0f} ms"
    row("stop to told, another process", statistics.median(found), least, worst)
    await database.aclose()


async def throughput(home: Path, floor: Floor) -> None:
    work = Work()
    database = await SqliteDatabase.open(home / "many.db", SystemClock())

    async def all_jobs() -> None:
        async with served(engine_on(database, work)):
            for number in range(JOBS):
                await submit(database, a_job(str(number), f"lane {number % LANES}"))
            while work.count < JOBS:
                await asyncio.sleep(0.01)

    two = await median_ms(lambda: floor.transactions(2), TIMES * 3)
    cpu = time.process_time()
    spent = await median_ms(all_jobs, 1) / JOBS
    cpu = (time.process_time() - cpu) * 1000 / JOBS
    two = (two + await median_ms(lambda: floor.transactions(2), TIMES * 3)) / 2
    rate = f"{1000 / spent:.0f} jobs/s, {cpu:.2f} ms CPU each"
    row(f"a job end to end, {LANES} lanes", spent, two, rate)
    await database.aclose()


async def child(path: Path) -> None:
    """Hold jobs and say when they are told to end; then only look for changes, as a floor."""

    def say(word: str) -> None:
        print(word, time.monotonic(), flush=True)

    async def handler(hold: Hold) -> None:
        say("begun")
        await hold.stopped()
        say("told")

    database = await SqliteDatabase.open(path, SystemClock())
    async with served(engine_on(database, handler)):
        say("ready")
        await asyncio.to_thread(sys.stdin.readline)
    plain = sqlite3.connect(path, isolation_level=None)
    seen = plain.execute("PRAGMA data_version").fetchone()
    say("floor")
    while True:
        time.sleep(POLL)
        if seen != (seen := plain.execute("PRAGMA data_version").fetchone()):
            plain.execute("SELECT count(*) FROM kept").fetchone()
            say("seen")


async def measured(home: Path) -> None:
    floor = Floor(home / "floor.db")
    await starts(home, floor)
    await stops(home)
    await throughput(home, floor)


def main() -> None:
    if len(sys.argv) > 1:
        asyncio.run(child(Path(sys.argv[1])))
        return
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measured(Path(folder)))


if __name__ == "__main__":
    main()
