"""How requests make standing grants and use them: part of the transactions that open and spend them."""
# ruff: noqa: S608 - nothing but constants becomes SQL

from datetime import datetime, timedelta

from adapters.storage.entries import append, redraw
from adapters.storage.transactions import (
    SYSTEM,
    Transaction,
    log,
    rows,
    sql,
    text_of,
)
from approvals.grants import Under
from approvals.models import Request
from approvals.proposals import NewRequest
from core.errors import Refused
from core.events import Place
from core.plans import Standing

PLACE = (
    "'channel:' || conversation.platform || '/' || conversation.workspace || '/'"
    " || conversation.channel"
)
"""Where a conversation is, as `core.events.Place.resource` names it."""


def covers(now: datetime, new: NewRequest, place: Place) -> Transaction[str | None]:
    """Return the grant that was found to cover a new request, if it still does.

    What waits to run under it is taken for used: only so many people need not be asked.
    """
    if new.grant is None or new.plan.standing:
        return None
    yield from expire(now)
    covering = yield from rows(
        "SELECT id FROM standing_grant WHERE id = :id AND tenant = :tenant AND state = 'active'"
        " AND requester = :requester AND place = :place AND plan_sha256 = :sha256"
        " AND used + (SELECT count(*) FROM request WHERE under = :id AND state = 'granted') < most",
        id=new.grant, tenant=new.proposal.tenant, requester=new.proposal.requester,
        place=place.resource, sha256=new.plan.sha256,
    )  # fmt: skip
    return new.grant if covering else None


def propose(now: datetime, new: NewRequest, standing: Standing, place: Place) -> Transaction[None]:
    """Keep the grant that a new request asks for."""
    if standing.place != place.resource or standing.requester != new.proposal.requester:
        raise Refused("A standing grant is for who asked, where they asked. Propose it there.")
    yield sql(
        "INSERT INTO standing_grant (id, tenant, request, requester, proposer, place, plan_sha256, most,"
        " used, lasts_ms, state, proposed_at, reason) VALUES (:id, :tenant, :request, :requester,"
        " :proposer, :place, :sha256, :most, 0, :lasts_ms, 'proposed', :now, '')",
        id=new.grant, tenant=new.proposal.tenant, request=new.id, requester=standing.requester,
        proposer=standing.proposer, place=standing.place, sha256=standing.plan, most=standing.uses,
        lasts_ms=standing.lasts_ms, now=text_of(now),
    )  # fmt: skip
    yield from log(
        now, new.proposal.tenant, "grant.proposed", standing.proposer, grant=new.grant,
        request=new.id, requester=standing.requester, plan_sha256=standing.plan,
        uses=standing.uses, lasts_ms=standing.lasts_ms,
    )  # fmt: skip


def activate(now: datetime, request: Request, standing: Standing) -> Transaction[None]:
    """Have the grant that a request asked for, which was just spent on it, begin."""
    until = now + timedelta(milliseconds=standing.lasts_ms)
    active = yield from rows(
        "UPDATE standing_grant SET state = 'active', until = :until WHERE request = :request"
        " AND tenant = :tenant AND state = 'proposed' AND EXISTS (SELECT 1 FROM request"
        " WHERE request.id = :request AND quorum <= (SELECT count(*) FROM vote"
        " WHERE vote.request = :request)) RETURNING id",
        until=text_of(until), request=request.id, tenant=request.tenant,
    )  # fmt: skip
    if not active:
        raise Refused("No standing grant begins without all of its votes.")
    grant = active[0]["id"]
    yield from log(
        now, request.tenant, "grant.activated", request.voters[-1], grant=grant,
        request=request.id, voters=list(request.voters), until=text_of(until),
    )  # fmt: skip
    yield from tell(
        now, request.tenant, request.id,
        f"Standing grant {grant} is active until {until:%Y-%m-%d %H:%M:%S} UTC: {standing.requester}"
        f" need not wait for a card, {standing.uses} time{'s' if standing.uses > 1 else ''}."
        f" To end it: revoke {grant}",
    )  # fmt: skip


def use(now: datetime, request: Request, under: Under) -> Transaction[str | None]:
    """Count one use for a granted request, or say why there is none: one condition decides.

    Whoever calls it spends the request in the same transaction.
    """
    yield from expire(now)
    used = yield from rows(
        "UPDATE standing_grant SET used = used + 1,"
        " state = CASE WHEN used + 1 < most THEN 'active' ELSE 'used_up' END,"
        " ended_at = CASE WHEN used + 1 < most THEN NULL ELSE :now END"
        " WHERE id = :id AND tenant = :tenant AND request = :allowed_by AND state = 'active'"
        " AND until > :now AND used < most AND requester = :requester AND plan_sha256 = :sha256"
        f" AND EXISTS (SELECT 1 FROM conversation WHERE id = :conversation AND place = {PLACE})"
        " AND EXISTS (SELECT 1 FROM request WHERE id = :request AND under = :id"
        " AND state = 'granted' AND expires_at > :now) RETURNING used",
        now=text_of(now), id=under.grant, tenant=request.tenant, allowed_by=under.request,
        requester=request.requester, sha256=request.plan_sha256,
        conversation=request.conversation, request=request.id,
    )  # fmt: skip
    if not used:
        return (yield from _why_not(request.tenant, under.grant))
    yield sql(
        "INSERT INTO grant_use (standing_grant, number, tenant, request)"
        " VALUES (:grant, :number, :tenant, :request)",
        grant=under.grant, number=used[0]["used"], tenant=request.tenant, request=request.id,
    )  # fmt: skip
    yield from log(
        now, request.tenant, "grant.used", request.requester, grant=under.grant,
        request=request.id, number=used[0]["used"],
    )  # fmt: skip
    return None


def _why_not(tenant: str, grant: str) -> Transaction[str]:
    found = yield from rows(
        "SELECT state FROM standing_grant WHERE id = :id AND tenant = :tenant",
        id=grant, tenant=tenant,
    )  # fmt: skip
    state = found[0]["state"].replace("_", " ") if found else "gone"
    return f"standing grant {grant} {'does not cover it' if state == 'active' else f'is {state}'}"


def expire(now: datetime) -> Transaction[None]:
    """End the grants that are past their time; `now == until` is past it."""
    due = yield from rows(
        "UPDATE standing_grant SET state = 'expired', ended_at = :now"
        " WHERE state = 'active' AND until <= :now RETURNING id, tenant",
        now=text_of(now),
    )
    for row in due:
        yield from log(now, row["tenant"], "grant.expired", SYSTEM, grant=row["id"])


def erased(now: datetime, tenant: str, conversation: str) -> Transaction[None]:
    """End every grant that was made in a conversation: nobody can read any more what it allows."""
    ended = yield from rows(
        "UPDATE standing_grant SET state = 'revoked', ended_at = :now,"
        " reason = 'what it allows was erased' WHERE tenant = :tenant"
        " AND state IN ('active', 'suspended') AND request IN"
        " (SELECT id FROM request WHERE conversation = :conversation) RETURNING id",
        now=text_of(now), tenant=tenant, conversation=conversation,
    )  # fmt: skip
    for row in ended:
        yield from log(now, tenant, "grant.revoked", SYSTEM, grant=row["id"])


def tell(now: datetime, tenant: str, request: str, text: str) -> Transaction[None]:
    """Say what became of a grant where people allowed it."""
    found = yield from rows(
        "SELECT conversation FROM request WHERE id = :id AND tenant = :tenant",
        id=request, tenant=tenant,
    )  # fmt: skip
    here = found[0]["conversation"]
    yield from append(now, here, "note", SYSTEM, text, about=request)
    yield from redraw(now, here, request)
