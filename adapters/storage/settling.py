"""What becomes of a request and its run when nobody holds the job that runs it."""

from datetime import datetime

from adapters.storage import deciding, runs
from adapters.storage.transactions import SYSTEM, Transaction, rows
from approvals.models import RunState
from core.jobs import Job, JobState, Loss

_WHY = {
    Loss.DIED: "its process is gone, or did not answer for too long",
    Loss.FAILED: "its process failed",
    Loss.STOPPED: "it was stopped, and its process did not say what became of it",
}


def settle(now: datetime, job: Job, loss: Loss) -> Transaction[JobState]:
    """Say what became of a run: what had begun is unknown, the rest is not run.

    Where provably nothing had begun it is queued again, unless it failed or was told to end.
    """
    found = yield from rows(
        "SELECT id, state FROM run WHERE job = :job AND tenant = :tenant",
        job=job.id, tenant=job.tenant,
    )  # fmt: skip
    if not found:
        return (yield from _unspent(now, job, loss))
    run = found[0]["id"]
    if found[0]["state"] != RunState.RUNNING:
        return JobState.DONE
    begun = yield from rows("SELECT 1 FROM step WHERE run = :run AND state <> 'pending'", run=run)
    if begun:
        yield from runs.cut(now, job.tenant, run, _WHY[loss])
        return JobState.UNKNOWN
    if loss is Loss.DIED:
        return JobState.QUEUED
    why = runs.STOPPED if loss is Loss.STOPPED else "it failed before anything began"
    yield from runs.end_run(now, job.tenant, run, RunState.CANCELLED, why)
    return JobState.CANCELLED


def _unspent(now: datetime, job: Job, loss: Loss) -> Transaction[JobState]:
    """End a request that nobody will spend any more; one whose process died is still to be spent."""
    if loss is Loss.DIED:
        return JobState.QUEUED
    why = "it was stopped" if loss is Loss.STOPPED else "it could not be prepared, see the log"
    yield from deciding.revoke(now, job.tenant, str(job.payload["request"]), SYSTEM, why)
    return JobState.CANCELLED
