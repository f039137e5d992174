"""The jobs table: every transition is one statement, and every write of a holder carries its fence."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from adapters.storage.transactions import Row, Transaction, changed, rows, sql, text_of
from core import canonical
from core.jobs import Claim, Job, JobState, LeaseLost, Loss, NewJob, Replay

RESERVED = timedelta(seconds=15)
"""For how long a job is kept for a process of which nobody can tell whether it lives."""
MOST_REQUEUES = 3
"""How often a safe job is queued again before it counts as failed."""

_AT_ONCE = ""
"""Before any time, so that what is not delayed waits for no clock that was set back."""
_LONGEST_PAUSE = timedelta(minutes=1)
"""That a job waits which is tried again; one that would wait longer waits for such a clock."""

_COLUMNS = "id, kind, tenant, payload, replay, lane, fence, attempt, tries"


def submit(now: datetime, new: NewJob) -> Transaction[str]:
    """Queue a job, or return the id of the one that has its dedupe key already."""
    queued = yield from rows(
        "INSERT INTO job (id, kind, tenant, payload, replay, lane, dedupe, state, run_at, attempt,"
        " fence, owner, lease_until, submitted_at) VALUES (:id, :kind, :tenant, :payload, :replay,"
        " :lane, :dedupe, 'queued', :run_at, 0, 0, :owner, :until, :now) ON CONFLICT (dedupe) DO NOTHING RETURNING id",
        id=new.id, kind=new.kind, tenant=new.tenant, payload=canonical.encode(new.payload),
        replay=new.replay, lane=new.lane, dedupe=new.dedupe, run_at=text_of(now + new.delay) if new.delay else _AT_ONCE,
        owner=new.reserved_for, until=text_of(now + RESERVED) if new.reserved_for else None,
        now=text_of(now),
    )  # fmt: skip
    if queued and new.locks:
        yield sql(
            "INSERT INTO job_lock (job, lock) SELECT DISTINCT :job, value FROM json_each(:locks)",
            job=new.id, locks=json.dumps(new.locks),
        )  # fmt: skip
    if not queued:
        queued = yield from rows("SELECT id FROM job WHERE dedupe = :dedupe", dedupe=new.dedupe)
    found: str = queued[0]["id"]
    return found


def claim(
    now: datetime,
    owner: str,
    lease: timedelta,
    kinds: Collection[str],
    *,
    most: int,
    only: str | None,
) -> Transaction[list[Job]]:
    """Take what is due of these kinds: the head of every lane in which nothing runs, oldest first.

    A job comes with all its locks or not at all: it waits for whoever runs with one of them, and for
    every earlier job with one of them that this claim could have.
    """
    found = yield from rows(  # what is due is found once, not once more for each job that is queued
        f"WITH due AS MATERIALIZED (SELECT j.seq FROM job j WHERE {_claimable('j')}"  # noqa: S608 - constants
        " AND (j.lane IS NULL OR (NOT EXISTS"
        " (SELECT 1 FROM job r WHERE r.lane = j.lane AND r.state = 'running')"
        " AND NOT EXISTS (SELECT 1 FROM job p WHERE p.lane = j.lane AND p.state = 'queued'"
        " AND p.seq < j.seq AND (p.run_at <= :now OR p.tries > 0))))"
        " AND (NOT EXISTS (SELECT 1 FROM job_lock WHERE job = j.id) OR NOT EXISTS"
        " (SELECT 1 FROM job_lock own JOIN job_lock other ON other.lock = own.lock"
        " JOIN job h ON h.id = other.job AND h.tenant = j.tenant WHERE own.job = j.id"
        f" AND (h.state = 'running' OR (h.seq < j.seq AND {_claimable('h')})))) ORDER BY j.seq LIMIT :most)"
        " UPDATE job SET state = 'running', owner = :owner, fence = fence + 1, attempt = attempt + 1,"
        " lease_until = :until WHERE state = 'queued' AND seq IN (SELECT seq FROM due)"
        f" RETURNING {_COLUMNS}",
        owner=owner, until=text_of(now + lease), now=text_of(now), most=most, only=only,
        late=text_of(now + _LONGEST_PAUSE), kinds=json.dumps(list(kinds)),
    )  # fmt: skip
    return [job_of(row) for row in found]


def _claimable(job: str) -> str:
    """Return the condition that holds for what a claim could have, if nobody were in its way."""
    condition = (
        "@.state = 'queued' AND (@.run_at <= :now OR @.tries > 0 AND @.run_at > :late)"
        " AND (:only IS NULL OR @.id = :only)"
        " AND (@.owner IS NULL OR @.owner = :owner)"
        " AND @.kind IN (SELECT value FROM json_each(:kinds))"
    )
    return condition.replace("@", job)


def reserved(now: datetime) -> Transaction[list[Row]]:
    """Return the queued jobs that are reserved, for whom, and whether that is over."""
    return rows(
        "SELECT id, owner, lease_until <= :now AS is_over FROM job"
        " WHERE state = 'queued' AND owner IS NOT NULL",
        now=text_of(now),
    )


def free(job: str, owner: str) -> Transaction[list[Row]]:
    """Let anybody claim what was reserved for a process that is gone, or did not come."""
    return rows(
        "UPDATE job SET owner = NULL, lease_until = NULL"
        " WHERE id = :id AND owner = :owner AND state = 'queued' RETURNING id",
        id=job, owner=owner,
    )  # fmt: skip


def renew(
    now: datetime, owner: str, lease: timedelta, held: Collection[str]
) -> Transaction[Mapping[Claim, bool]]:
    """Prolong the leases of these jobs; return what this owner holds, and whether each is to end."""
    found = yield from rows(
        "UPDATE job SET lease_until = :until WHERE owner = :owner AND state = 'running'"
        " AND id IN (SELECT value FROM json_each(:ids)) RETURNING id, fence, cancel_at",
        owner=owner, until=text_of(now + lease), ids=json.dumps(list(held)),
    )  # fmt: skip
    return {(row["id"], row["fence"]): row["cancel_at"] is not None for row in found}


def to_be_stopped(owner: str) -> Transaction[set[Claim]]:
    """Return what this owner runs and was told to end."""
    found = yield from rows(
        "SELECT id, fence FROM job"
        " WHERE owner = :owner AND state = 'running' AND cancel_at IS NOT NULL",
        owner=owner,
    )
    return {(row["id"], row["fence"]) for row in found}


def must_hold(now: datetime, claim: Claim) -> Transaction[bool]:
    """Return whether somebody told the job to end; raise `LeaseLost` where this claim lost it."""
    job, fence = claim
    found = yield from rows(
        "SELECT cancel_at FROM job WHERE id = :id AND fence = :fence AND state = 'running'"
        " AND lease_until > :now",
        id=job, fence=fence, now=text_of(now),
    )  # fmt: skip
    if not found:
        raise LeaseLost("This process no longer holds the job, so it writes nothing for it.")
    return found[0]["cancel_at"] is not None


def must_go_on(now: datetime, claim: Claim) -> Transaction[None]:
    """Raise `LeaseLost` where this claim lost the job, or somebody told it to end."""
    if (yield from must_hold(now, claim)):
        raise LeaseLost("It was told to end, so nothing more is written for it.")


def is_held_by(owner: str, job: str) -> Transaction[bool]:
    """Whether a job runs, as far as the table knows, in this process."""
    found = yield from rows(
        "SELECT 1 FROM job WHERE id = :id AND owner = :owner AND state = 'running'",
        id=job, owner=owner,
    )  # fmt: skip
    return bool(found)


def has_ended(job: Job) -> Transaction[bool]:
    """Whether this very claim of the job has been ended already."""
    found = yield from rows(
        "SELECT 1 FROM job WHERE id = :id AND fence = :fence AND ended_at IS NOT NULL",
        id=job.id, fence=job.fence,
    )  # fmt: skip
    return bool(found)


def next_to(now: datetime, job: str) -> Transaction[str | None]:
    """Return which job has to be run so that this one can end; None where it has ended.

    It is the first of its lane that is queued, else the job itself. It may be kept for others.
    """
    found = yield from rows(
        "SELECT coalesce((SELECT head.id FROM job head WHERE head.lane = job.lane"
        " AND head.state = 'queued' AND head.seq < job.seq"
        " AND (head.run_at <= :now OR head.tries > 0 AND head.run_at > :late)"
        " ORDER BY head.seq LIMIT 1), job.id) AS id"
        " FROM job WHERE job.id = :id AND job.state IN ('queued', 'running')",
        id=job, now=text_of(now), late=text_of(now + _LONGEST_PAUSE),
    )  # fmt: skip
    return found[0]["id"] if found else None


def is_to_end(job: Job) -> Transaction[bool]:
    """Whether somebody told the job to end: then whoever settles it ends what belongs to it."""
    found = yield from rows("SELECT 1 FROM job WHERE id = :id AND cancel_at IS NOT NULL", id=job.id)
    return bool(found)


def finish(now: datetime, job: Job, state: JobState) -> Transaction[bool]:
    """End a job; False where this claim no longer holds it."""
    return changed(
        "UPDATE job SET state = :state, ended_at = :now, owner = NULL, lease_until = NULL"
        " WHERE id = :id AND fence = :fence AND state = 'running' RETURNING id",
        state=state, now=text_of(now), id=job.id, fence=job.fence,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A job that was told to end. One that `was_queued` ended with it: nobody else sees to that."""

    job: Job
    was_queued: bool


def cancel(now: datetime, job: str) -> Transaction[Told | None]:
    """Tell a job to end; None where it was told before, or has ended."""
    found = yield from rows(
        "UPDATE job SET cancel_at = :now,"  # noqa: S608 - a constant
        " state = CASE WHEN state = 'queued' THEN 'cancelled' ELSE state END,"
        " ended_at = CASE WHEN state = 'queued' THEN :now ELSE ended_at END"
        " WHERE id = :job AND cancel_at IS NULL AND state IN ('queued', 'running')"
        f" RETURNING {_COLUMNS}, state",
        now=text_of(now), job=job,
    )  # fmt: skip
    if not found:
        return None
    return Told(job=job_of(found[0]), was_queued=found[0]["state"] == JobState.CANCELLED)


def running(now: datetime) -> Transaction[list[Row]]:
    """Return all running jobs, with who holds each and whether its lease is over."""
    return rows(
        f"SELECT {_COLUMNS}, owner, lease_until <= :now AS is_over FROM job WHERE state = 'running'",  # noqa: S608 - a constant
        now=text_of(now),
    )


def seize(
    now: datetime, owner: str, lease: timedelta, job: Job, dead: str | None
) -> Transaction[Job | None]:
    """Take a claim from `dead`, or from whoever let its lease end; None where neither holds any more.

    It does not run: its lane stays taken until it is released.
    """
    found = yield from rows(
        "UPDATE job SET owner = :owner, fence = fence + 1, lease_until = :until"  # noqa: S608 - a constant
        " WHERE id = :id AND fence = :fence AND state = 'running'"
        f" AND (lease_until <= :now OR owner = :dead) RETURNING {_COLUMNS}",
        owner=owner, until=text_of(now + lease), id=job.id, fence=job.fence, now=text_of(now),
        dead=dead,
    )  # fmt: skip
    return job_of(found[0]) if found else None


def release(now: datetime, job: Job, state: JobState) -> Transaction[None]:
    """Put a seized job where it belongs: back into the queue, or to its end."""
    released = yield from changed(
        "UPDATE job SET owner = NULL, lease_until = NULL, fence = fence + 1, state = :state,"
        " ended_at = CASE WHEN :state = 'queued' THEN NULL ELSE :now END"
        " WHERE id = :id AND fence = :fence AND state = 'running' RETURNING id",
        state=state, now=text_of(now), id=job.id, fence=job.fence,
    )  # fmt: skip
    if not released:
        raise LeaseLost("Another process took this job meanwhile.", job=job.id)


def put_back(now: datetime, job: Job, pause: timedelta | None) -> Transaction[bool]:
    """Queue a held job again, as if it had not been begun; False where this claim lost it.

    With a pause, it counts as a try and keeps its lane while it waits. What was told to end is not
    put back.
    """
    return changed(
        "UPDATE job SET state = 'queued', owner = NULL, lease_until = NULL, fence = fence + 1,"
        " attempt = attempt - 1, tries = tries + :tried, run_at = :run_at"
        " WHERE id = :id AND fence = :fence AND state = 'running' AND cancel_at IS NULL"
        " RETURNING id",
        id=job.id, fence=job.fence, tried=0 if pause is None else 1,
        run_at=text_of(now + pause) if pause else _AT_ONCE,
    )  # fmt: skip


def settle_safe(
    _: datetime, job: Job, loss: Loss, *, most: int = MOST_REQUEUES
) -> Transaction[JobState]:
    """Have a safe job run again, unless it was begun too often: then it is what kills its holders."""
    yield from ()
    if loss is Loss.STOPPED:
        return JobState.CANCELLED
    again = loss is Loss.DIED and job.attempt <= most
    return JobState.QUEUED if again else JobState.FAILED


def job_of(row: Row) -> Job:
    """Return the claim that a row describes."""
    payload: Any = json.loads(row["payload"])
    return Job(
        id=row["id"],
        kind=row["kind"],
        tenant=row["tenant"],
        payload=payload,
        replay=Replay(row["replay"]),
        lane=row["lane"],
        fence=row["fence"],
        attempt=row["attempt"],
        tries=row["tries"],
    )
