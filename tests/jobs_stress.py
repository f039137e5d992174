"""Workers that are killed and paused at random, and a judge of what they did meanwhile.

Every effect is one line of a file that all append to, so their order is the order of the lines. A
worker looks at its lease, writes its intent in one transaction with the question whether it still
holds the job, looks again and acts. Between that last look and the effect nothing can guard it, so
there the chaos pauses nobody.
"""

import asyncio
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from secrets import SystemRandom

from adapters.jobs.kinds import Kind, Pace, Settle
from adapters.jobs.table import TableEngine
from adapters.processes import is_dead, me
from adapters.storage import jobs
from adapters.storage.postgres import PostgresDatabase
from adapters.storage.sqlite import SqliteDatabase
from adapters.storage.transactions import Database, Transaction, changed, rows, sql
from core.jobs import Hold, Job, JobState, LeaseLost, Loss, NewJob, Replay
from tests.stores import Closable

PACE = Pace(lease=timedelta(seconds=1.5), beat=0.3, poll=0.05)
PAUSE = 2.2
WORKERS = 3
REPOSITORY = Path(__file__).parents[1]
INTENTS = "CREATE TABLE intent (job TEXT, fence INTEGER, what TEXT, PRIMARY KEY (job, fence, what))"
_chance = SystemRandom()


class SystemClock:
    """Implements `core.ports.Clock`."""

    def now(self) -> datetime:
        """Return the time."""
        return datetime.now(UTC)


class Worker:
    """The handler of every job."""

    def __init__(self, database: Database, folder: Path) -> None:
        self._database = database
        self._effects = os.open(folder / "effects", os.O_APPEND | os.O_WRONLY)
        self._instant = os.open(folder / "instant", os.O_RDONLY)

    async def __call__(self, hold: Hold) -> None:
        """Have two effects, the second only if the job is still ours."""
        await self._act(hold, "begin")
        await asyncio.sleep(float(str(hold.job.payload["seconds"])))
        await self._act(hold, "end")

    async def _act(self, hold: Hold, what: str) -> None:
        hold.check()
        if not await self._database.transact(lambda now: _intend(now, hold.job, what)):
            raise LeaseLost("Somebody else has it.")
        with _locked(self._instant, fcntl.LOCK_SH):
            hold.check()
            line = f"{what} {hold.job.lane} {hold.job.id} {hold.job.fence}\n"
            os.write(self._effects, line.encode())


def _intend(now: datetime, job: Job, what: str) -> Transaction[bool]:
    if (yield from jobs.must_hold(now, job.claim)):
        return False  # told to end
    yield sql(
        "INSERT INTO intent VALUES (:job, :fence, :what)",
        job=job.id, fence=job.fence, what=what,
    )  # fmt: skip
    return True


def _settle_never(_: datetime, job: Job, __: Loss) -> Transaction[JobState]:
    begun = yield from changed("SELECT 1 FROM intent WHERE job = :job", job=job.id)
    return JobState.UNKNOWN if begun else JobState.QUEUED


@contextmanager
def _locked(file: int, how: int) -> Generator[None]:
    fcntl.flock(file, how)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


async def opened(where: str) -> Closable:
    """Open a database of PostgreSQL, or a file."""
    if where.startswith("postgresql:"):
        return await PostgresDatabase.open(where)
    return await SqliteDatabase.open(Path(where), SystemClock(), patience=20)


async def work(folder: Path, where: str) -> None:
    """Serve until killed."""
    database = await opened(where)
    worker = Worker(database, folder)

    def kind(settle: Settle) -> Kind:
        return Kind(handler=worker, clean=_nothing, settle=settle)

    kinds = {"safe": kind(jobs.settle_safe), "never": kind(_settle_never)}
    engine = TableEngine(database, kinds, owner=me(), is_dead=is_dead, pace=PACE)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await engine.serve(asyncio.Event())


async def _nothing(_: Job) -> None:
    pass


@dataclass
class Verdict:
    """What the lines say."""

    states: Counter[str]
    begun: Counter[str] = field(default_factory=Counter[str])
    overlaps: int = 0
    """Effects of a claim after another one of its lane had begun."""
    disorders: int = 0
    """Jobs that began after a later one of their lane."""
    lost: int = 0
    """Jobs that count as done without having come to their end."""
    unbegun: Counter[str] = field(default_factory=Counter[str])
    """The states of those that never began to act."""
    kills: int = 0
    pauses: int = 0
    seconds: float = 0.0

    @property
    def never_twice(self) -> int:
        """Return how many jobs that may run only once began twice."""
        return sum(times > 1 for job, times in self.begun.items() if _replay(job) is Replay.NEVER)

    @property
    def reruns(self) -> int:
        """Return how many beginnings were not the first of their job."""
        return sum(self.begun.values()) - len(self.begun)


def judge(lines: Iterable[str], states: dict[str, str]) -> Verdict:
    """Read the effects in the order in which they happened."""
    verdict = Verdict(Counter(states.values()))
    at, ended = dict[str, tuple[str, str]](), set[str]()
    for line in lines:
        what, lane, job, fence = line.split()
        if what == "end":
            ended.add(job)
            verdict.overlaps += at.get(lane) != (job, fence)
            continue
        verdict.begun[job] += 1
        verdict.disorders += lane in at and int(job) < int(at[lane][0])
        at[lane] = job, fence
    verdict.unbegun = Counter(state for job, state in states.items() if job not in verdict.begun)
    verdict.lost = sum(state == JobState.DONE and job not in ended for job, state in states.items())
    return verdict


class Chaos:
    """Worker processes, killed and paused at random."""

    def __init__(self, folder: Path, where: str) -> None:
        self._folder, self._where = folder, where
        self._instant = os.open(folder / "instant", os.O_RDONLY)
        self._workers = [self._started() for _ in range(WORKERS)]
        self.kills = self.pauses = 0

    async def strike(self) -> None:
        """After a moment, kill one worker and start another in its place, or pause one beyond its lease."""
        await asyncio.sleep(_chance.uniform(0.4, 1.2))
        number = _chance.randrange(WORKERS)
        seen_both = self.kills and self.pauses
        if _chance.random() < 0.5 if seen_both else not self.kills:
            self._end(self._workers[number])
            self._workers[number] = self._started()
            self.kills += 1
            return
        paused = self._workers[number]
        with _locked(self._instant, fcntl.LOCK_EX):
            paused.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, paused.pid, os.WSTOPPED)  # noqa: ASYNC222 - it stops at once
        await asyncio.sleep(PAUSE)
        paused.send_signal(signal.SIGCONT)
        self.pauses += 1

    def end(self) -> None:
        """Kill all that are left."""
        for worker in self._workers:
            self._end(worker)
        os.close(self._instant)

    def _started(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "tests.jobs_stress", str(self._folder), self._where]
        with (self._folder / "errors").open("ab") as errors:
            started = subprocess.Popen(
                command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=errors
            )
        assert started.stdout is not None
        assert started.stdout.readline() == b"ready\n", (self._folder / "errors").read_text()
        return started

    @staticmethod
    def _end(worker: subprocess.Popen[bytes]) -> None:
        with worker:
            worker.kill()


async def stress(
    folder: Path, *, lanes: int, count: int, job: float, most: float, where: str = ""
) -> Verdict:
    """Have all jobs run through the chaos, each for about so many seconds; give up after `most`."""
    where = where or str(folder / "sayso.db")
    for name in ("effects", "instant"):
        (folder / name).touch()
    database = await opened(where)
    await database.transact(lambda _: rows(INTENTS))
    await database.transact(lambda now: _submit(now, lanes, count, job))
    start, chaos = time.monotonic(), Chaos(folder, where)
    try:
        # A kill and a pause before the first look: on a busy machine all may be over after it.
        for _ in range(2):
            await chaos.strike()
        while await database.transact(_live) and time.monotonic() < start + most:
            await chaos.strike()
        states = await database.transact(_states)
    finally:
        chaos.end()
        await database.aclose()
    verdict = judge((folder / "effects").read_text().splitlines(), states)
    verdict.kills, verdict.pauses = chaos.kills, chaos.pauses
    verdict.seconds = time.monotonic() - start
    return verdict


def _replay(job: str) -> Replay:
    return Replay.NEVER if int(job) % 3 == 0 else Replay.SAFE


def _submit(now: datetime, lanes: int, count: int, job: float) -> Transaction[None]:
    for number in range(count):
        name = str(number)
        seconds = str(_chance.uniform(0.5, 1.5) * job)
        yield from jobs.submit(
            now,
            NewJob(
                id=name,
                kind=_replay(name),
                tenant="acme",
                payload={"seconds": seconds},
                replay=_replay(name),
                lane=f"lane-{number % lanes}",
            ),
        )


def _live(_: datetime) -> Transaction[bool]:
    return changed("SELECT 1 FROM job WHERE state IN ('queued', 'running') LIMIT 1")


def _states(_: datetime) -> Transaction[dict[str, str]]:
    found = yield from rows("SELECT id, state FROM job")
    return {row["id"]: row["state"] for row in found}


if __name__ == "__main__":
    asyncio.run(work(Path(sys.argv[1]), sys.argv[2]))
