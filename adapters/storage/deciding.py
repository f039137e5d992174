"""What ends a request: votes, a denial, a revocation, time, the spend. Each is one transaction."""

import json
from dataclasses import replace
from datetime import datetime, timedelta

from adapters.storage import casting, jobs, progress, run_rows, runs
from adapters.storage.entries import append, redraw
from adapters.storage.request_rows import must_read, read
from adapters.storage.transactions import (
    SYSTEM,
    Transaction,
    changed,
    log,
    rows,
    sql,
    text_of,
)
from approvals import cards, denials
from approvals.factors import Held
from approvals.models import EXPIRE, REMIND, RUN, Denial, Request, Spent, Voted, Yes, job_of
from core import canonical
from core.jobs import Job, NewJob, Replay
from core.plans import Plan


def _run_job(request: Request, runner: str | None) -> NewJob:
    return NewJob(
        id=job_of(request.id),
        kind=RUN,
        tenant=request.tenant,
        payload={"request": request.id},
        replay=Replay.NEVER,
        # What was altered is revoked at the spend: it runs nothing, so it needs nothing to itself.
        locks=request.plan.locks if request.is_intact else (),
        reserved_for=runner,
    )


def expiry_of(request: Request) -> NewJob:
    """Return the job that ends a request at its time, so that its card is redrawn without a click."""
    return NewJob(
        id=f"{EXPIRE}:{request.id}",
        kind=EXPIRE,
        tenant=request.tenant,
        payload={"request": request.id},
        replay=Replay.SAFE,
        delay=request.expires_at - request.opened_at,
    )


def reminder_of(request: Request, delay: timedelta) -> NewJob:
    """Return the job that brings a request to mind."""
    return replace(expiry_of(request), id=f"{REMIND}:{request.id}", kind=REMIND, delay=delay)


def remind(now: datetime, tenant: str, request: str, text: str) -> Transaction[None]:
    """Say that a request still waits, if it is still open."""
    yield from expire(now)
    reminds = yield from changed(
        "UPDATE request SET reminded_at = :now WHERE id = :id AND tenant = :tenant"
        " AND state = 'open' AND reminded_at IS NULL RETURNING id",
        now=text_of(now), id=request, tenant=tenant,
    )  # fmt: skip
    if reminds:
        current = yield from must_read(tenant, request)
        yield from append(now, current.conversation, "note", SYSTEM, text, about=request)
        yield from log(now, tenant, "request.reminded", SYSTEM, request=request)


def edited(now: datetime, tenant: str, request: str) -> Transaction[None]:
    """Keep that the message which asked for it was edited, while it is live; once is enough."""
    yield from expire(now)
    is_news = yield from changed(
        "UPDATE request SET edited_at = :now WHERE id = :id AND tenant = :tenant"
        " AND state IN ('open', 'granted') AND edited_at IS NULL RETURNING id",
        now=text_of(now), id=request, tenant=tenant,
    )  # fmt: skip
    if is_news:
        current = yield from must_read(tenant, request)
        yield from redraw(now, current.conversation, request)
        yield from log(now, tenant, "request.edited", current.requester, request=request)


def vote(
    now: datetime, tenant: str, request: str, principal: str, runner: str | None,
    held: Held | None = None,
) -> Transaction[Voted]:  # fmt: skip
    """Count one yes; the one that completes the quorum grants the request and queues its run.

    The code that came with it is used up with it. Raises `CodeSpent` where it cannot be.
    """
    yield from expire(now)
    # The row is locked first, so that on every database two last votes see one another.
    live = yield from changed(
        "UPDATE request SET quorum = quorum WHERE id = :id AND tenant = :tenant AND state = 'open'"
        " RETURNING id",
        id=request, tenant=tenant,
    )  # fmt: skip
    counts = live and (yield from casting.cast(now, request, principal, held))
    job = (yield from _count(now, tenant, request, principal, runner, held)) if counts else None
    voted = yield from must_read(tenant, request)
    late = Yes.AGAIN if principal in voted.voters else Yes.LATE
    return Voted(request=voted, yes=Yes.COUNTED if counts else late, job=job)


def _count(
    now: datetime, tenant: str, request: str, principal: str, runner: str | None,
    held: Held | None,
) -> Transaction[str | None]:  # fmt: skip
    """Grant the request where a vote that was cast completes the quorum; return the run's job then."""
    voted = yield from must_read(tenant, request)
    yield from casting.noted(now, voted, principal, held)
    yield from redraw(now, voted.conversation, request)
    granted = yield from changed(
        "UPDATE request SET state = 'granted' WHERE id = :id AND state = 'open'"
        " AND quorum <= (SELECT count(*) FROM vote WHERE request = :id) RETURNING id",
        id=request,
    )
    if not granted:
        return None
    yield from log(now, tenant, "request.granted", principal, request=request)
    run = _run_job((yield from must_read(tenant, request)), runner)
    yield from jobs.submit(now, run)
    return run.id


def deny(
    now: datetime, tenant: str, request: str, principal: str, reason: str
) -> Transaction[Request]:
    """End a live request and refuse its effects for its conversation."""
    yield from expire(now)
    ended = yield from end(now, tenant, request, "denied", principal, reason)
    denied = yield from must_read(tenant, request)
    if ended:
        for call in denied.plan.calls:
            yield sql(
                "INSERT INTO denial (tenant, conversation, effect, tool, request, denied_by, reason)"
                " VALUES (:tenant, :conversation, :effect, :tool, :request, :by, :reason)"
                " ON CONFLICT DO NOTHING",
                tenant=tenant, conversation=denied.conversation, tool=call.tool, request=request,
                effect=denials.effect(call.tool, call.arguments), by=principal, reason=reason,
            )  # fmt: skip
        yield from log(
            now, tenant, "request.denied", principal, request=request,
            reason_sha256=canonical.sha256(reason),
        )  # fmt: skip
        yield from _tell(now, denied)
        yield from _refuse_elsewhere(now, denied, principal)
    return denied


def _refuse_elsewhere(now: datetime, denied: Request, principal: str) -> Transaction[None]:
    """Revoke every other live card of the conversation that asks for an effect that was just denied."""
    live = yield from rows(
        "SELECT id FROM request WHERE tenant = :tenant AND conversation = :conversation"
        " AND state IN ('open', 'granted')",
        tenant=denied.tenant, conversation=denied.conversation,
    )  # fmt: skip
    for row in live:
        other = yield from must_read(denied.tenant, row["id"])
        if not other.is_intact:
            continue
        denial = yield from denial_of(other.tenant, other.conversation, other.plan)
        if denial:
            yield from revoke(now, other.tenant, other.id, principal, denied_in_words(denial))


def denial_of(
    tenant: str, conversation: str, plan: Plan, *, lifting: str = ""
) -> Transaction[Denial | None]:
    """Return a denial that forbids a plan here, other than those left by the request to be lifted."""
    effects = [denials.effect(call.tool, call.arguments) for call in plan.calls]
    found = yield from rows(
        "SELECT tool, denied_by, reason FROM denial WHERE conversation = :conversation"
        " AND tenant = :tenant AND lifted_at IS NULL AND request <> :lifting"
        " AND effect IN (SELECT value FROM json_each(:effects)) LIMIT 1",
        conversation=conversation, tenant=tenant, effects=json.dumps(effects), lifting=lifting,
    )  # fmt: skip
    if not found:
        return None
    return Denial(tool=found[0]["tool"], by=found[0]["denied_by"], reason=found[0]["reason"])


def denied_in_words(denial: Denial) -> str:
    """Return why a card was revoked, where somebody denied its effect on another one."""
    return f"{denial.by} denied {denial.tool} with these arguments in this conversation"


def revoke(
    now: datetime, tenant: str, request: str, principal: str, reason: str
) -> Transaction[Request]:
    """End a live request for a reason that no person gave."""
    yield from expire(now)
    ended = yield from end(now, tenant, request, "revoked", principal, reason)
    revoked = yield from must_read(tenant, request)
    if ended:
        yield from log(
            now, tenant, "request.revoked", principal, request=request,
            reason_sha256=canonical.sha256(reason),
        )  # fmt: skip
        yield from _tell(now, revoked)
    return revoked


def spend(now: datetime, request: Request, job: Job, run: str) -> Transaction[Spent | None]:
    """Turn a granted request into a running run, or return None: one condition decides."""
    yield from expire(now)
    is_to_end = yield from jobs.must_hold(now, job.claim)
    stored = yield from read(request.tenant, request.id)
    if stored is None or is_to_end or job.id != job_of(request.id):
        return None
    if not stored.is_intact:
        yield from revoke(now, request.tenant, request.id, SYSTEM, cards.ALTERED)
        return None
    denial = yield from denial_of(stored.tenant, stored.conversation, stored.plan)
    if denial:
        yield from revoke(now, request.tenant, request.id, denial.by, denied_in_words(denial))
        return None
    spent = yield from changed(
        "UPDATE request SET state = 'spent', ended_at = :now WHERE id = :id AND tenant = :tenant"
        " AND conversation = :conversation AND plan_sha256 = :sha256 AND state = 'granted'"
        " AND expires_at > :now AND max(quorum, :quorum) <= json_array_length(:voters)"
        " AND NOT EXISTS (SELECT 1 FROM vote WHERE request = :id"
        " AND principal NOT IN (SELECT value FROM json_each(:voters)))"
        " AND json_array_length(:voters) = (SELECT count(*) FROM vote WHERE request = :id)"
        " AND (:coded = 0 OR NOT EXISTS"
        " (SELECT 1 FROM vote WHERE request = :id AND code_step IS NULL))"
        " RETURNING id",
        now=text_of(now), id=request.id, tenant=request.tenant, conversation=request.conversation,
        sha256=request.plan_sha256, voters=json.dumps(request.voters),
        quorum=request.rule.quorum, coded=int(stored.rule.second_factor),
    )  # fmt: skip
    if not spent:
        return None
    yield from runs.start(now, request, run, job)
    yield from log(
        now, request.tenant, "run.started", request.voters[-1], request=request.id, run=run,
        plan_sha256=request.plan_sha256, voters=list(request.voters),
    )  # fmt: skip
    yield from redraw(now, request.conversation, request.id)
    fresh = yield from must_read(request.tenant, request.id)
    started = yield from run_rows.must_read(request.tenant, run)
    yield from progress.begin(now, started)
    return Spent(request=fresh, run=started)


def resume(now: datetime, request: Request, job: Job) -> Transaction[Spent | None]:
    """Give a run none of whose steps has begun to the claim that holds its job now."""
    is_to_end = yield from jobs.must_hold(now, job.claim)
    run = None if is_to_end else (yield from runs.adopt(request, job))
    if run is None:
        return None
    yield from log(now, request.tenant, "run.resumed", SYSTEM, request=request.id, run=run.id)
    return Spent(request=request, run=run)


def expire(now: datetime) -> Transaction[None]:
    """End what is past its time; `now == expires_at` is past it."""
    due = yield from rows(
        "UPDATE request SET state = 'expired', ended_at = :now"
        " WHERE state IN ('open', 'granted') AND expires_at <= :now RETURNING id, tenant",
        now=text_of(now),
    )
    for row in due:
        yield from _drop_run(now, row["id"])
        yield from log(now, row["tenant"], "request.expired", SYSTEM, request=row["id"])
        expired = yield from must_read(row["tenant"], row["id"])
        yield from _tell(now, expired)


def _drop_run(now: datetime, request: str) -> Transaction[None]:
    """End the job that would run a request which has ended: nobody need wait for it any more."""
    yield from jobs.cancel(now, job_of(request))


def _tell(now: datetime, ended: Request) -> Transaction[None]:
    """Say in its conversation what became of a request, and show it on its card."""
    yield from append(now, ended.conversation, "note", SYSTEM, cards.status(ended), about=ended.id)
    yield from redraw(now, ended.conversation, ended.id)


def end(
    now: datetime, tenant: str, request: str, state: str, principal: str, reason: str
) -> Transaction[bool]:
    """Move a live request to an end; return whether it was this call that did."""
    ended = yield from changed(
        "UPDATE request SET state = :state, ended_at = :now, ended_by = :by, reason = :reason"
        " WHERE id = :id AND tenant = :tenant AND state IN ('open', 'granted') RETURNING id",
        state=state, now=text_of(now), by=principal, reason=reason, id=request, tenant=tenant,
    )  # fmt: skip
    if ended:
        yield from _drop_run(now, request)
    return ended
