"""What is done about a request that waits: people are reminded, told or asked; the glass is broken."""

from collections.abc import Sequence
from datetime import datetime

from adapters.storage import casting, deciding, jobs
from adapters.storage.entries import append, call, redraw
from adapters.storage.request_rows import must_read
from adapters.storage.transactions import SYSTEM, Transaction, changed, log, sql, text_of
from approvals import cards
from approvals.brakes import Broken
from approvals.factors import WANTED_OF_A_BREAKER, RightCode
from approvals.models import Voted, Yes, job_of
from core import canonical


def remind(now: datetime, tenant: str, request: str, text: str) -> Transaction[None]:
    """Say that a request still waits, if it is still open."""
    yield from deciding.expire(now)
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
    yield from deciding.expire(now)
    is_news = yield from changed(
        "UPDATE request SET edited_at = :now WHERE id = :id AND tenant = :tenant"
        " AND state IN ('open', 'granted') AND edited_at IS NULL RETURNING id",
        now=text_of(now), id=request, tenant=tenant,
    )  # fmt: skip
    if is_news:
        current = yield from must_read(tenant, request)
        yield from redraw(now, current.conversation, request)
        yield from log(now, tenant, "request.edited", current.requester, request=request)


def escalate(
    now: datetime, tenant: str, request: str, text: str, people: Sequence[str]
) -> Transaction[None]:
    """Tell people that a request still waits, if it is still open; once."""
    yield from deciding.expire(now)
    is_news = yield from changed(
        "UPDATE request SET escalated_at = :now WHERE id = :id AND tenant = :tenant"
        " AND state = 'open' AND escalated_at IS NULL RETURNING id",
        now=text_of(now), id=request, tenant=tenant,
    )  # fmt: skip
    if is_news:
        current = yield from must_read(tenant, request)
        yield from call(now, current.conversation, text, request, people)
        yield from log(now, tenant, "request.escalated", SYSTEM, request=request)


def hand_over(
    now: datetime, tenant: str, request: str, principal: str, to: str
) -> Transaction[bool]:
    """Ask somebody to decide an open request; each is asked once."""
    yield from deciding.expire(now)
    is_news = yield from changed(
        "INSERT INTO handover (tenant, request, principal, asked_by, at)"
        " SELECT tenant, id, :to, :by, :now FROM request WHERE id = :id AND tenant = :tenant"
        " AND state = 'open' ON CONFLICT DO NOTHING RETURNING request",
        now=text_of(now), id=request, tenant=tenant, to=to, by=principal,
    )  # fmt: skip
    if is_news:
        current = yield from must_read(tenant, request)
        text = cards.handed_over(current, principal, to)
        yield from call(now, current.conversation, text, request, [to])
        yield from log(now, tenant, "request.handed_over", principal, request=request, to=to)
    return is_news


def break_glass(
    now: datetime,
    tenant: str,
    name: str,
    broken: Broken,
    held: RightCode | None,
    runner: str | None,
) -> Transaction[Voted]:
    """Grant a live request by the yes of one person alone, mark it, and call people."""
    principal, reason = broken.by, broken.why
    yield from deciding.expire(now)
    opens = yield from _broken(tenant, name, principal, reason, "open")
    granted = opens or (yield from _broken(tenant, name, principal, reason, "granted"))
    if granted:
        yield from _prove(now, tenant, name, broken, held, votes=opens)
        yield from log(
            now, tenant, "request.broken", principal, request=name,
            reason_sha256=canonical.sha256(reason), **({"second_factor": True} if held else {}),
        )  # fmt: skip
        yield from _go(now, tenant, name, principal, runner if opens else None, is_new=opens)
        granted_now = yield from must_read(tenant, name)
        yield from call(now, granted_now.conversation, cards.glass(granted_now), name, broken.calls)
        yield from redraw(now, granted_now.conversation, name)
    found = yield from must_read(tenant, name)
    counted = Yes.COUNTED if granted else Yes.LATE
    return Voted(request=found, yes=counted, job=job_of(name) if granted else None)


def _broken(
    tenant: str, request: str, principal: str, reason: str, state: str
) -> Transaction[bool]:
    return changed(
        "UPDATE request SET state = 'granted', broken_by = :by, broken_why = :why"
        " WHERE id = :id AND tenant = :tenant AND state = :state AND broken_by IS NULL RETURNING id",
        id=request, tenant=tenant, by=principal, why=reason, state=state,
    )  # fmt: skip


def _prove(
    now: datetime, tenant: str, request: str, broken: Broken, held: RightCode | None, *, votes: bool
) -> Transaction[None]:
    """Use up their code, whatever they said before; where it `votes`, count their yes, once."""
    about = yield from must_read(tenant, request)
    if votes and (yield from casting.cast(now, request, broken.by, held)):
        yield from casting.noted(now, about, broken.by, held)
    else:
        yield from casting.prove(now, about, broken.by, held, WANTED_OF_A_BREAKER)


def _go(
    now: datetime, tenant: str, request: str, principal: str, runner: str | None, *, is_new: bool
) -> Transaction[None]:
    """Queue the run, or have one that waits be tried at once."""
    if is_new:
        yield from log(now, tenant, "request.granted", principal, request=request)
        yield from jobs.submit(
            now, deciding.run_job((yield from must_read(tenant, request)), runner)
        )
    else:
        yield sql(
            "UPDATE job SET run_at = '' WHERE id = :id AND state = 'queued'", id=job_of(request)
        )
