"""Every store on one database, ways to bring a request or a run somewhere, and cuts in transactions."""

import json
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeAlias, TypeVar, cast

import pytest

from adapters.jobs.kinds import Kind, Pace
from adapters.jobs.table import TableEngine
from adapters.storage import jobs, turns
from adapters.storage.artifacts import KeptArtifacts
from adapters.storage.brakes import Brakes
from adapters.storage.conversations import Conversations
from adapters.storage.deliveries import Deliveries
from adapters.storage.drafts import Drafts
from adapters.storage.erasing import Erasing
from adapters.storage.factors import Factors
from adapters.storage.frames import Frames
from adapters.storage.grants import Grants
from adapters.storage.leases import Leases
from adapters.storage.links import Links
from adapters.storage.memories import Memories
from adapters.storage.newest import Newest
from adapters.storage.records import Records
from adapters.storage.reminders import Reminders
from adapters.storage.requests import Requests
from adapters.storage.runs import Runs
from adapters.storage.settling import settle
from adapters.storage.transactions import (
    Database,
    ErasingDatabase,
    Row,
    Transaction,
    Work,
    rows,
    sql,
)
from approvals.models import RUN, Request, Run, Spent, StepEnd, StepState, Whole, job_of
from approvals.proposals import NewRequest
from core import audit, canonical, ids
from core.artifacts import Stored
from core.audit import Entry
from core.canonical import Json, JsonObject
from core.conversations import TURN as TURN_KIND
from core.conversations import Closing, NewTurn, Turn, TurnEnd
from core.conversations import job_of as turn_job
from core.jobs import Hold, Job, NewJob, Replay
from core.outcomes import Reason
from core.signatures import Key
from core.trail import Finished, Guarded, Happening, Looked, Moved, Staged
from core.transcript import Heard, Noted
from tests.builders import CALLS, CONVERSATION, TENANT, a_new_request, a_new_turn
from tests.fakes.keys import FakeKeys

T = TypeVar("T")
TABLES = (
    "conversation", "turn", "received", "entry", "posted", "draft", "transcript", "happening", "frame",
    "memory", "reminder", "plan", "frozen", "request", "standing_grant", "vote", "factor", "denial",
    "run", "grant_use", "step", "artifact", "rate", "audit", "job", "job_lock", "lease", "brake", "called",
    "handover", "link", "linking",
)  # fmt: skip
QUICK = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - made by tempfile
"""Where files lie that nobody asks to survive: in memory, where there is such a place."""
IN_A_FILE = pytest.mark.parametrize("opens", ["sqlite"], indirect=True)
"""For tests of the bytes in a database's file."""
OTHER_CONVERSATION = "c_2"
OTHER_TENANT = "globex"
THEIR_CONVERSATION = "c_theirs"
OWNER = "this process"
KEYS = FakeKeys(made=Key(seed=b"k" * 32))
LEASE = timedelta(days=10_000)
"""No test that is about something else ever sees a lease end."""
WHOLE = Whole(stored=Stored(bytes=100_000, sha256="a" * 64))
SUCCEEDED = StepEnd(state=StepState.SUCCEEDED, exit_code=0, output="done\n")
FAILED = StepEnd(state=StepState.FAILED, exit_code=1, output="no\n")
SILENT = TurnEnd(
    reason=Reason.ANSWERED,
    text="",
    entries=(Heard(speaker="alice", text="append alpha"), Noted(text="answered")),
)
UNKNOWN = StepEnd(state=StepState.UNKNOWN, note="it was stopped while it ran")

LOST: Mapping[str, str] = {
    "queued again": "state = 'queued'",
    "ended": "state = 'done'",
    "taken": "fence = fence + 1",
    "lease over": "lease_until = '2026-03-01T09:30:00.000000Z'",
}
"""Ways in which a process stops holding a job, without a word to it."""

OVER: Mapping[str, str] = {**LOST, "told to end": "cancel_at = submitted_at"}
"""Those, and that somebody wants it to end: nothing more is begun for it then."""

Contents: TypeAlias = Mapping[str, list[tuple[Any, ...]]]


class Closable(Database, Protocol):
    """A database that a test has to close."""

    async def erase(self, work: Work[T]) -> T:
        """See `ErasingDatabase`."""
        ...

    async def aclose(self) -> None:
        """Close it."""
        ...


Connect: TypeAlias = Callable[[], Awaitable[Closable]]
"""Opens one more connection to the same data."""


@dataclass(frozen=True)
class Stores:
    """All stores on one database."""

    database: Database
    owner: str = OWNER
    """Who claims the jobs of what is spent here."""

    @property
    def requests(self) -> Requests:
        """Return the requests."""
        return Requests(self.database)

    @property
    def grants(self) -> Grants:
        """Return the standing grants."""
        return Grants(self.database)

    @property
    def brakes(self) -> Brakes:
        """Return what holds tenants and conversations back."""
        return Brakes(self.database)

    @property
    def runs(self) -> Runs:
        """Return the runs."""
        return Runs(self.database)

    @property
    def newest(self) -> Newest:
        """Return what people may look at."""
        return Newest(self.database)

    @property
    def conversations(self) -> Conversations:
        """Return the conversations."""
        return Conversations(self.database)

    @property
    def frames(self) -> Frames:
        """Return the tasks of the conversations."""
        return Frames(self.database)

    @property
    def deliveries(self) -> Deliveries:
        """Return what is to be delivered."""
        return Deliveries(self.database)

    @property
    def drafts(self) -> Drafts:
        """Return the answers that are shown while they are written."""
        return Drafts(self.database)

    @property
    def reminders(self) -> Reminders:
        """Return the reminders."""
        return Reminders(self.database)

    @property
    def factors(self) -> Factors:
        """Return the second factors, all encrypted with one key."""
        return Factors(self.database, KEYS)

    @property
    def links(self) -> Links:
        """Return where links are."""
        return Links(self.database)

    @property
    def leases(self) -> Leases:
        """Return the leases, whose holders all live."""
        return Leases(self.database, frozenset[str]().__contains__)

    @property
    def kept(self) -> KeptArtifacts:
        """Return what is known of whole outputs, each kept for a day."""
        return KeptArtifacts(database=self.database, lasts=timedelta(days=1))

    @property
    def records(self) -> Records:
        """Return what an operator reads."""
        return Records(self.database)


def memories(stores: Stores) -> Memories:
    """Return what is remembered."""
    return Memories(stores.database)


def erasing(stores: Stores) -> Erasing:
    """Return what erases conversations."""
    return Erasing(cast("ErasingDatabase", stores.database))


async def begin_conversations(stores: Stores) -> None:
    """Open two conversations of the tenant and one of another."""
    for turn, tenant, conversation in (
        ("t_1", TENANT, CONVERSATION),
        ("t_2", TENANT, OTHER_CONVERSATION),
        ("t_theirs", OTHER_TENANT, THEIR_CONVERSATION),
    ):
        await heard(stores, a_new_turn(turn, tenant=tenant, opens=conversation))


async def answering(stores: Stores, new: NewTurn, end: TurnEnd = SILENT) -> Closing:
    """Receive a message and claim its turn, which is the first of its conversation that waits."""
    received = await stores.conversations.receive(new)
    return await closing(stores, received.turn, end)


async def closing(stores: Stores, turn: Turn, end: TurnEnd = SILENT) -> Closing:
    """Claim a turn that waits."""
    name = turn_job(turn.id)
    (job,) = await stores.database.transact(
        lambda now: jobs.claim(now, stores.owner, LEASE, [TURN_KIND], most=1, only=name)
    )
    return Closing(turn=turn, job=job, end=end)


async def hold_calls(stores: Stores) -> None:
    """Have this process hold the job under which `tests.builders.a_caller` calls."""
    name, _ = CALLS
    new = NewJob(id=name, kind="calls", tenant=TENANT, payload={}, replay=Replay.SAFE)
    await stores.database.transact(lambda now: jobs.submit(now, new))
    await stores.database.transact(
        lambda now: jobs.claim(now, stores.owner, LEASE, ["calls"], most=1, only=name)
    )


async def kept_plan(stores: Stores, tenant: str, plan: str, sha256: str, body: str) -> None:
    """Have a plan lie there, whatever its id says."""
    await stores.database.transact(
        lambda _: rows(
            "INSERT INTO plan (tenant, id, sha256, body) VALUES (:tenant, :id, :sha256, :body)",
            tenant=tenant, id=plan, sha256=sha256, body=body,
        )
    )  # fmt: skip


async def heard(stores: Stores, new: NewTurn) -> None:
    """Receive a message and answer nothing."""
    await stores.conversations.end(await answering(stores, new))


async def opened(stores: Stores, new: NewRequest | None = None) -> Request:
    """Return an open request."""
    request = await stores.requests.open(new or a_new_request())
    assert isinstance(request, Request)
    return request


async def granted(stores: Stores, new: NewRequest | None = None, *voters: str) -> Request:
    """Return a request that these people agreed to."""
    request = await opened(stores, new)
    for voter in voters or ("bob",):
        voted = await stores.requests.vote(request.tenant, request.id, principal=voter)
        request = voted.request
    return request


async def claimed(stores: Stores, request: Request) -> Job:
    """Return the claim that somebody holds to a request's own job; made here where nobody does.

    No vote has queued one for a request that is not granted, and the job of one that has ended has
    ended with it. Then it is queued and claimed all the same, so that it is never for want of a
    claim that such a request is not spent.
    """
    return await stores.database.transact(lambda now: _claimed(now, stores.owner, request))


def _claimed(now: datetime, owner: str, request: Request) -> Transaction[Job]:
    name = job_of(request.id)
    found = yield from _own_job(request)
    if not found:
        yield from jobs.submit(now, _a_job(name, request))
    elif found[0]["state"] == "running":
        return jobs.job_of(found[0])
    elif found[0]["state"] != "queued":
        yield sql(
            "UPDATE job SET state = 'queued', cancel_at = NULL, ended_at = NULL WHERE id = :id",
            id=name,
        )
    (job,) = yield from jobs.claim(now, owner, LEASE, [RUN], most=1, only=name)
    return job


def _own_job(request: Request) -> Transaction[list[Row]]:
    return rows("SELECT * FROM job WHERE id = :id", id=job_of(request.id))


def _a_job(name: str, request: Request) -> NewJob:
    payload = {"request": request.id}
    return NewJob(id=name, kind=RUN, tenant=request.tenant, payload=payload, replay=Replay.NEVER)


@asynccontextmanager
async def holding(stores: Stores, request: Request) -> AsyncGenerator[Job]:
    """Have a claim as `claimed` does; a job that no vote had queued is gone afterwards."""
    was_queued = await stores.database.transact(lambda _: _own_job(request))
    job = await claimed(stores, request)
    try:
        yield job
    finally:
        if not was_queued:
            unused = (
                "DELETE FROM job WHERE id = :id AND NOT EXISTS (SELECT 1 FROM run WHERE job = :id)"
            )
            await stores.database.transact(lambda _: rows(unused, id=job.id))


async def spend(
    stores: Stores, request: Request, run: str = "r_1", *, of: Request | None = None
) -> Spent | None:
    """Spend a request under the claim of its job, or of that of the request that it pretends to be."""
    async with holding(stores, of or request) as job:
        return await stores.requests.spend(request, job=job, run=run)


async def at_rest(stores: Stores) -> None:
    """Check that nothing is lost: whatever is granted or runs has a job that somebody will end."""
    lost = await stores.database.transact(
        lambda _: rows(
            "SELECT id FROM request WHERE state = 'granted' AND NOT EXISTS (SELECT 1 FROM job"
            " WHERE job.id = :run || ':' || request.id AND job.state IN ('queued', 'running'))"
            " UNION ALL SELECT id FROM run WHERE state = 'running' AND NOT EXISTS"
            " (SELECT 1 FROM job WHERE job.id = run.job AND job.state IN ('queued', 'running'))"
            " UNION ALL SELECT id FROM turn WHERE ended_at IS NULL AND NOT EXISTS"
            " (SELECT 1 FROM job WHERE job.id = :turn || ':' || turn.id"
            " AND job.state IN ('queued', 'running'))",
            run=RUN, turn=TURN_KIND,
        )
    )  # fmt: skip
    assert not lost, [row["id"] for row in lost]


async def notice(stores: Stores, *dead: str, by: str = "another process") -> None:
    """Have a process notice that these have died, as every process does from time to time."""
    kinds = {
        RUN: Kind(handler=_never, clean=_nothing, settle=settle),
        TURN_KIND: Kind(handler=_never, clean=_nothing, settle=turns.settle),
    }
    engine = TableEngine(
        stores.database, kinds, owner=by, is_dead=dead.__contains__, pace=Pace(lease=LEASE)
    )
    await engine.notice()


async def _nothing(_: Job) -> None:
    """Kill nothing: these have no processes."""


async def _never(_: Hold) -> None:
    raise AssertionError("what only notices runs nothing")


async def running(stores: Stores, new: NewRequest | None = None, *voters: str) -> Run:
    """Return a run none of whose steps has begun."""
    request = await granted(stores, new, *voters)
    spent = await spend(stores, request, ids.run_id())
    assert spent is not None
    return spent.run


async def stepped(stores: Stores, run: Run, *ends: StepEnd) -> Run:
    """Begin and end steps of a run, from its first pending one on."""
    first = next(step.index for step in run.steps if step.state is StepState.PENDING)
    for index, end in enumerate(ends, first):
        assert await stores.runs.begin_step(run, index)
        run = await stores.runs.end_step(run, index, end)
    return run


async def now(stores: Stores, request: Request) -> Request:
    """Return a request as it is now."""
    found = await stores.requests.get(request.tenant, request.id)
    assert found is not None
    return found


async def log_of(stores: Stores) -> list[Entry]:
    """Return the audit log, which holds together."""
    entries = await stores.records.audit()
    assert isinstance(audit.verify(entries), audit.Intact)
    return entries


_HAPPENINGS: Mapping[str, Callable[..., Happening]] = {
    one.__name__.lower(): one for one in (Staged, Moved, Looked, Guarded, Finished)
}


async def happened_in(stores: Stores, turn: str) -> list[Happening]:
    """Return what happened in a turn, in order, as its rows say."""
    found = await stores.database.transact(
        lambda _: rows(
            "SELECT kind, body FROM happening WHERE turn = :turn ORDER BY seq", turn=turn
        )
    )
    return [_HAPPENINGS[row["kind"]](**json.loads(row["body"])) for row in found]


async def jobs_of(stores: Stores, *kinds: str) -> list[Row]:
    """Return all jobs of these kinds, in the order in which they were submitted."""
    found = await stores.database.transact(lambda _: rows("SELECT * FROM job ORDER BY seq"))
    return [row for row in found if row["kind"] in kinds]


async def lose(stores: Stores, job: Job, how: str) -> None:
    """Have a claim be lost, over or told to end, in one of the `OVER` ways."""
    await stores.database.transact(
        lambda _: rows(f"UPDATE job SET {OVER[how]} WHERE id = :id", id=job.id)
    )


async def said_in(stores: Stores, conversation: str, kind: str) -> list[str]:
    """Return what was said of one kind."""
    return [s.text for s in await stores.records.said(conversation) if s.kind == kind]


async def everything(database: Database) -> Contents:
    """Return all rows of all tables."""

    def read(_: datetime) -> Transaction[Contents]:
        contents: dict[str, list[tuple[Any, ...]]] = {}
        for table in TABLES:
            found: list[Row] = yield from rows(f"SELECT * FROM {table}")
            contents[table] = sorted((tuple(row) for row in found), key=repr)
        return contents

    return await database.transact(read)


class CutHere(Exception):
    """The process died here, as far as the transaction can tell."""


@dataclass
class CutDatabase:
    """A database whose transactions die before a chosen statement, or before they commit."""

    database: Database
    at: int
    passed: int = 0
    died: bool = False

    async def transact(self, work: Work[T]) -> T:
        """Run it until the cut."""
        return await self.database.transact(lambda now: self._until_cut(work(now)))

    async def erase(self, work: Work[T]) -> T:
        """Erase until the cut."""
        whole = cast("ErasingDatabase", self.database)
        return await whole.erase(lambda now: self._until_cut(work(now)))

    async def changes(self) -> int:
        """Look, uncut."""
        return await self.database.changes()

    def _until_cut(self, transaction: Transaction[T]) -> Transaction[T]:
        try:
            statement = next(transaction)
            while True:
                self._pass()
                found = yield statement
                statement = transaction.send(found)
        except StopIteration as end:
            self._pass()
            result: T = end.value
            return result

    def _pass(self) -> None:
        if self.passed == self.at:
            self.died = True
            raise CutHere
        self.passed += 1


@dataclass(frozen=True)
class ForgetfulDatabase:
    """A database that skips the statements that hold a text, as if they had found nothing."""

    database: Database
    text: str

    async def transact(self, work: Work[T]) -> T:
        """Run all the others."""
        return await self.database.transact(lambda now: self._without(work(now)))

    async def changes(self) -> int:
        """Look."""
        return await self.database.changes()

    def _without(self, transaction: Transaction[T]) -> Transaction[T]:
        try:
            statement = next(transaction)
            while True:
                found: list[Row] = []
                if self.text not in statement.sql:
                    found = yield statement
                statement = transaction.send(found)
        except StopIteration as end:
            result: T = end.value
            return result


Act: TypeAlias = Callable[[Stores], Awaitable[object]]
Prepare: TypeAlias = Callable[[Stores], Awaitable[Act]]


async def whole_or_nothing(stores: Stores, act: Act) -> int:
    """Cut it before each of its statements and its commit, then let it pass; return how many cuts.

    After each cut all tables must hold what they held before.
    """
    before = await everything(stores.database)
    cuts = 0
    while True:
        cut = Stores(CutDatabase(stores.database, cuts), stores.owner)
        try:
            await act(cut)
        except CutHere:
            assert await everything(stores.database) == before, f"cut before statement {cuts}"
            cuts += 1
        else:
            return cuts


async def logged_by(stores: Stores, act: Act) -> list[Entry]:
    """Cut it everywhere, let it pass, and return the audit entries that it added."""
    before = await log_of(stores)
    assert await whole_or_nothing(stores, act) > 1
    after = await log_of(stores)
    assert after[: len(before)] == before
    return after[len(before) :]


def facts_of(entry: Entry) -> JsonObject:
    """Return what an audit entry says."""
    body = canonical.parse(entry.body)
    assert isinstance(body, Mapping)
    return body


def principal_of(entry: Entry) -> Json:
    """Return who did what an audit entry tells about."""
    return facts_of(entry)["principal"]
