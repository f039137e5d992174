"""How a run begins, once its request was spent: part of that transaction; and how it is taken over."""

from datetime import datetime

from adapters.storage import brakes, jobs, progress, run_rows, runs
from adapters.storage.entries import redraw
from adapters.storage.request_rows import must_read
from adapters.storage.transactions import SYSTEM, Transaction, log
from approvals.models import Request, Spent
from core.jobs import Job


def begin(now: datetime, request: Request, run: str, job: Job) -> Transaction[Spent]:
    """Begin the run of a request that was just spent."""
    yield from runs.start(now, request, run, job)
    under = {"grant": request.under.grant} if request.under else {}
    yield from log(
        now, request.tenant, "run.started", _behind(request), request=request.id, run=run,
        plan_sha256=request.plan_sha256, voters=list(request.voters), **under,
    )  # fmt: skip
    yield from redraw(now, request.conversation, request.id)
    fresh = yield from must_read(request.tenant, request.id)
    started = yield from run_rows.must_read(request.tenant, run)
    yield from progress.begin(now, started)
    return Spent(request=fresh, run=started)


def _behind(request: Request) -> str:
    """Return whose deed set a run going: the last vote, or asking for it under a standing grant."""
    return request.requester if request.under else request.voters[-1]


def resume(now: datetime, request: Request, job: Job) -> Transaction[Spent | None]:
    """Give a run none of whose steps has begun to the claim that holds its job now."""
    yield from brakes.must_be_off(request.tenant)
    is_to_end = yield from jobs.must_hold(now, job.claim)
    run = None if is_to_end else (yield from runs.adopt(request, job))
    if run is None:
        return None
    yield from log(now, request.tenant, "run.resumed", SYSTEM, request=request.id, run=run.id)
    return Spent(request=request, run=run)
