"""What ends a request: votes, a denial, a revocation, time, the spend. Each is one transaction."""

import json
from dataclasses import replace
from datetime import datetime, timedelta

from adapters.storage import beginning, brakes, casting, jobs, using
from adapters.storage.entries import append, call, redraw
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
from approvals.factors import RightCode
from approvals.models import EXPIRE, REMIND, RUN, Denial, Request, Spent, Voted, Yes, job_of
from core import canonical
from core.errors import Refused
from core.jobs import Job, NewJob, Replay
from core.plans import Plan


def run_job(request: Request, runner: str | None) -> NewJob:
    """Return the job that runs a granted request, for a process that is about to, if one is named.

    It may be the one that has a standing grant begin.
    """
    return NewJob(
        id=job_of(request.id),
        kind=RUN,
        tenant=request.tenant,
        payload={"request": request.id},
        replay=Replay.NEVER,
        # What was altered is revoked at the spend: it runs nothing, so it needs nothing to itself.
        locks=() if not request.is_intact or request.plan.standing else request.plan.locks,
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


def vote(
    now: datetime, tenant: str, request: str, principal: str, runner: str | None,
    held: RightCode | None = None,
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
    held: RightCode | None,
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
    run = run_job((yield from must_read(tenant, request)), runner)
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
        # Who denies a standing grant denies nobody the effect itself: that still has a card.
        for call in () if denied.plan.standing else denied.plan.calls:
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
        yield from brakes.denied(now, tenant, denied.conversation)
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


def spend(
    now: datetime, request: Request, job: Job, run: str, before: datetime | None = None
) -> Transaction[Spent | None]:
    """Turn a granted request into a running run, or return None: one condition decides."""
    yield from expire(now)
    yield from brakes.must_be_off(request.tenant, is_frozen=before is not None and now >= before)
    is_to_end = yield from jobs.must_hold(now, job.claim)
    stored = yield from read(request.tenant, request.id)
    if stored is None or is_to_end or job.id != job_of(request.id):
        return None
    obstacle = yield from _obstacle(now, stored)
    if obstacle:
        yield from revoke(now, request.tenant, request.id, *obstacle)
        return None
    spent = yield from changed(
        "UPDATE request SET state = 'spent', ended_at = :now WHERE id = :id AND tenant = :tenant"
        " AND conversation = :conversation AND plan_sha256 = :sha256 AND state = 'granted'"
        " AND NOT EXISTS (SELECT 1 FROM brake WHERE tenant = :tenant AND name = '')"
        " AND expires_at > :now AND (quorum <= json_array_length(:voters)"
        " AND :quorum <= json_array_length(:voters) OR broken_by = :broken_by)"
        " AND NOT EXISTS (SELECT 1 FROM vote WHERE request = :voted"
        " AND principal NOT IN (SELECT value FROM json_each(:voters)))"
        " AND json_array_length(:voters) = (SELECT count(*) FROM vote WHERE request = :voted)"
        " AND (:coded = 0 OR NOT EXISTS"
        " (SELECT 1 FROM vote WHERE request = :voted AND code_step IS NULL))"
        " RETURNING id",
        now=text_of(now), id=request.id, tenant=request.tenant, conversation=request.conversation,
        sha256=request.plan_sha256, voters=json.dumps(request.voters),
        quorum=request.rule.quorum, voted=stored.under.request if stored.under else request.id,
        broken_by=request.broken_by, coded=int(stored.rule.second_factor),
    )  # fmt: skip
    if stored.under and not spent:
        raise Refused("This was no longer as it was checked, so its standing grant is not used.")
    if spent and stored.plan.standing:
        yield from using.activate(now, stored, stored.plan.standing)
    if not spent or stored.plan.standing:
        return None
    return (yield from beginning.begin(now, request, run, job))


def _obstacle(now: datetime, stored: Request) -> Transaction[tuple[str, str] | None]:
    """Return by whom and why a request is revoked at its spend; where nothing is, count its use."""
    if not stored.is_intact:
        return SYSTEM, cards.ALTERED
    denial = yield from denial_of(stored.tenant, stored.conversation, stored.plan)
    if denial:
        return denial.by, denied_in_words(denial)
    why = (yield from using.use(now, stored, stored.under)) if stored.under else None
    return (SYSTEM, why) if why else None


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
        told = cards.expired(expired)
        yield from call(now, expired.conversation, told, expired.id, [expired.requester])
        yield from redraw(now, expired.conversation, expired.id)


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
