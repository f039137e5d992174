"""How a job ends, or is put back: each is one transaction with whatever belongs to the job."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from adapters.jobs.kinds import Kind
from adapters.storage import jobs
from adapters.storage.transactions import Transaction
from core.jobs import Job, JobState, Loss


def ended(
    now: datetime, job: Job, state: JobState, kind: Kind, *, after: timedelta = timedelta()
) -> Transaction[bool]:
    """End a job that is still ours, unless its handler did; return whether it was not taken from us.

    What is put back is left alone for a while: at least for `after`.

    Whatever may have been left half done, because it failed or was told to end, is settled with it.
    """
    is_to_end = yield from jobs.is_to_end(job)
    if state is JobState.QUEUED and not is_to_end:
        back = yield from jobs.put_back(now, job, max(after, pause(job.tries)))
        return back or (yield from jobs.has_ended(job))
    if is_to_end and state is not JobState.FAILED:
        state = JobState.CANCELLED
    if not (yield from jobs.finish(now, job, state)):
        return (yield from jobs.has_ended(job))
    if state is not JobState.DONE:
        loss = Loss.FAILED if state is JobState.FAILED else Loss.STOPPED
        yield from kind.settle(now, job, loss)
    return True


def pause(tries: int) -> timedelta:
    """Return for how long to leave alone what did not answer: longer each time, up to a minute."""
    return timedelta(seconds=min(60.0, 0.5 * 2 ** min(tries, 10)))


def put_back(job: Job, now: datetime) -> Transaction[bool]:
    """Queue a job again whose handler was cut, as if it had not been begun."""
    return jobs.put_back(now, job, None)


def told(now: datetime, job: str, kinds: Mapping[str, Kind]) -> Transaction[None]:
    """Tell a job to end; where nobody has it, end what belongs to it here and now."""
    cancelled = yield from jobs.cancel(now, job)
    was_queued = cancelled is not None and cancelled.was_queued
    kind = kinds.get(cancelled.job.kind) if cancelled and was_queued else None
    if cancelled and kind:  # None: a newer version's
        yield from kind.settle(now, cancelled.job, Loss.STOPPED)
