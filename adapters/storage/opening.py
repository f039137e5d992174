"""How a request comes to be: once, unless its effect was denied here."""

import json
from dataclasses import replace
from datetime import datetime

from adapters.storage import brakes, deciding, jobs, turns, using
from adapters.storage.entries import append, place_of, redraw
from adapters.storage.request_rows import about_text, must_read, rule_text
from adapters.storage.transactions import (
    SYSTEM,
    Transaction,
    changed,
    log,
    rows,
    sql,
    text_of,
)
from approvals import cards, receipts
from approvals.models import ESCALATE, Denial, Request
from approvals.proposals import NewRequest, Proposal
from core import canonical
from core.cards import encode
from core.conversations import Turn
from core.errors import Refused
from core.events import Place
from core.jobs import Job, JobState, LeaseLost
from core.outcomes import Reason
from core.plans import Plan
from core.transcript import Noted

MOST_OPEN = 5
"""Requests of one conversation that may wait at the same time: nobody reads more of them (P-08)."""


def open_request(now: datetime, new: NewRequest) -> Transaction[Request | Denial]:
    """Open a request, count its twin once more, or return the denial that forbids it."""
    proposal, plan = new.proposal, new.plan
    place = yield from whereabouts(proposal)
    if proposal.closing:
        yield from _must_go_on(now, proposal.closing.turn, proposal.closing.job)
    yield from deciding.expire(now)
    denial = yield from deciding.denial_of(
        proposal.tenant, proposal.conversation, plan, lifting=proposal.supersedes or ""
    )
    if denial:
        return denial
    yield from must_not_be_held(proposal)
    superseded = (yield from _supersede(now, new)) if proposal.supersedes else False
    yield from keep_plan(proposal.tenant, plan)
    under = yield from using.covers(now, new, place)
    inserted = yield from insert(now, new, under)
    opened = yield from (must_read(proposal.tenant, new.id) if inserted else _repeat(now, new))
    if opened is None:
        raise Refused(
            f"Not proposed: {MOST_OPEN} requests of this conversation wait for people already. Have "
            "one of them approved or denied, or withdraw them all with the word stop, and ask again."
        )
    if superseded:
        yield from log(
            now, proposal.tenant, "request.superseded", proposal.requester,
            request=proposal.supersedes, by=opened.id,
        )  # fmt: skip
    if inserted and under:
        yield from _begin(now, new, opened, place)
    elif inserted:
        yield from announce(now, new, opened, place)
    return opened


def _begin(now: datetime, new: NewRequest, opened: Request, place: Place) -> Transaction[None]:
    """Queue the run of a request that a standing grant covers: nobody is asked, and there is no card."""
    told = f"Standing grant {new.grant} covers this, so it runs now. Its report follows."
    yield from _close(now, new.proposal, new.id, told, under=True)
    yield from jobs.submit(now, deciding.expiry_of(opened))
    yield from jobs.submit(now, deciding.run_job(opened, None))
    yield from _log_opened(now, new, opened, place)


def must_not_be_held(proposal: Proposal) -> Transaction[None]:
    """Raise `Refused` where everything is paused, or too much was denied in the conversation."""
    pause = yield from brakes.pause_of(proposal.tenant)
    if pause:
        raise Refused(f"Not proposed: {pause.why}. {pause.then}", logged="Not proposed: a pause.")
    again = proposal.supersedes
    if (yield from brakes.is_blocked(proposal.tenant, proposal.conversation, again=again)):
        raise Refused(f"Not proposed: {brakes.BLOCKED}")


def announce(now: datetime, new: NewRequest, opened: Request, place: Place) -> Transaction[None]:
    """Put the card into the conversation, end the turn that proposed it, and watch its time."""
    proposal, plan = new.proposal, new.plan
    card = encode(opened.card)
    yield from _close(now, proposal, new.id)
    yield from append(now, proposal.conversation, "card", SYSTEM, card, about=new.id)
    yield from jobs.submit(now, deciding.expiry_of(opened))
    if new.remind_in is not None:
        yield from jobs.submit(now, deciding.reminder_of(opened, new.remind_in))
    if new.escalate_in is not None:
        job = replace(deciding.reminder_of(opened, new.escalate_in), kind=ESCALATE)
        yield from jobs.submit(now, replace(job, id=f"{ESCALATE}:{opened.id}"))
    yield from _log_opened(now, new, opened, place)
    if plan.standing:
        yield from using.propose(now, new, plan.standing, place)


def _log_opened(now: datetime, new: NewRequest, opened: Request, place: Place) -> Transaction[None]:
    proposal, plan = new.proposal, new.plan
    under = {"under": opened.under.grant} if opened.under else {}
    yield from log(
        now, proposal.tenant, "request.opened", proposal.edited_by or proposal.requester, request=new.id,
        conversation=proposal.conversation, plan_sha256=plan.sha256,
        card_sha256=opened.card_sha256, quorum=new.rule.quorum,
        request_sha256=receipts.noted(opened, place), supersedes=proposal.supersedes, **under,
        **({"editors": [*proposal.editors]} if proposal.editors else {}),
    )  # fmt: skip


def _must_go_on(now: datetime, turn: Turn, job: Job) -> Transaction[None]:
    """Raise `LeaseLost` where the turn is no longer this claim's, or was told to end."""
    if (yield from turns.must_hold(now, turn, job)):
        raise LeaseLost("The turn was told to end, so it proposes nothing.")


def _close(
    now: datetime, proposal: Proposal, request: str, told: str = "", *, under: bool = False
) -> Transaction[None]:
    """End the turn that proposes, and its job: together with the request, or not at all."""
    closing = proposal.closing
    if closing:
        text = "\n".join(filter(None, (closing.end.text, told)))
        end = replace(closing.end, text=text)
        if under:  # nobody is asked
            end = replace(end, reason=Reason.ANSWERED, entries=(*end.entries, Noted(text=told)))
        yield from turns.close(now, closing.turn, end, request, claim=closing.job.fence)
        yield from jobs.finish(now, closing.job, JobState.DONE)


def whereabouts(proposal: Proposal) -> Transaction[Place]:
    """Return where the conversation is; raise `Refused` where the tenant has no such one."""
    here = yield from rows(
        "SELECT * FROM conversation WHERE id = :id AND tenant = :tenant",
        id=proposal.conversation, tenant=proposal.tenant,
    )  # fmt: skip
    if not here:
        raise Refused("There is no such conversation here. Leave it out to start a new one.")
    return place_of(here[0])


def insert(now: datetime, new: NewRequest, under: str | None = None) -> Transaction[bool]:
    """Insert the request unless its twin lives, which the unique index decides, or too many wait."""
    proposal, expires_at = new.proposal, now + new.rule.expires
    card = encode(new.card(new.id, expires_at))
    inserted = yield from changed(
        "INSERT INTO request (id, tenant, conversation, turn, requester, plan, plan_sha256, rule,"
        " quorum, state, about, card, card_sha256, times_asked, opened_at, expires_at, reason,"
        " edits, editors, under)"
        " SELECT :id, :tenant, :conversation, :turn, :requester, :plan, :plan_sha256, :rule,"
        " :quorum, :state, :about, :card, :card_sha256, 1, :opened_at, :expires_at, '',"
        " :edits, :editors, :under"
        " WHERE (SELECT count(*) FROM request WHERE conversation = :conversation"
        " AND state IN ('open', 'granted')) < :most"
        " ON CONFLICT DO NOTHING RETURNING id",
        most=MOST_OPEN, under=under, state="granted" if under else "open",
        id=new.id, tenant=proposal.tenant, conversation=proposal.conversation, turn=proposal.turn,
        requester=proposal.requester, plan=new.plan.id, plan_sha256=new.plan.sha256,
        rule=rule_text(new.rule), quorum=new.rule.quorum, about=about_text(proposal.about),
        card=card, card_sha256=canonical.sha256(card), opened_at=text_of(now), expires_at=text_of(expires_at),
        edits=proposal.supersedes if proposal.edited_by else None, editors=json.dumps(proposal.editors),
    )  # fmt: skip
    return inserted


def _repeat(now: datetime, new: NewRequest) -> Transaction[Request | None]:
    """Count the twin once more, if there is one; its agent text changes only while nobody voted."""
    proposal = new.proposal
    twin = yield from rows(
        "UPDATE request SET times_asked = times_asked + 1"
        " WHERE conversation = :conversation AND requester = :requester AND plan_sha256 = :sha256"
        " AND state IN ('open', 'granted') RETURNING id, expires_at",
        conversation=proposal.conversation, requester=proposal.requester, sha256=new.plan.sha256,
    )  # fmt: skip
    if not twin:
        return None
    request = twin[0]["id"]
    before = yield from must_read(proposal.tenant, request)
    card = encode(new.card(request, before.expires_at))
    yield sql(
        "UPDATE request SET about = :about, card = :card, card_sha256 = :card_sha256"
        " WHERE id = :id AND state = 'open' AND editors = :editors"
        " AND NOT EXISTS (SELECT 1 FROM vote WHERE request = :id)",
        editors=json.dumps(proposal.editors), id=request, about=about_text(proposal.about), card=card, card_sha256=canonical.sha256(card),
    )  # fmt: skip
    repeated = yield from must_read(proposal.tenant, request)
    yield from log(
        now, proposal.tenant, "request.repeated", proposal.requester, request=request,
        card_sha256=repeated.card_sha256,
    )  # fmt: skip
    told = f"That waits already. {cards.status(repeated)}"
    yield from _close(now, proposal, request, told, under=repeated.under is not None)
    yield from redraw(now, proposal.conversation, request)
    return repeated


def _supersede(now: datetime, new: NewRequest) -> Transaction[bool]:
    """Lift what the old request's denial forbids, and end it; return whether it was still live."""
    proposal, old = new.proposal, new.proposal.supersedes or ""
    yield sql(
        "UPDATE denial SET lifted_at = :now WHERE request = :old AND tenant = :tenant"
        " AND lifted_at IS NULL",
        now=text_of(now), old=old, tenant=proposal.tenant,
    )  # fmt: skip
    ended = yield from deciding.end(now, proposal.tenant, old, "superseded", proposal.requester, "")
    if ended:
        superseded = yield from must_read(proposal.tenant, old)
        yield from redraw(now, superseded.conversation, old)
    return ended


def freeze(now: datetime, turn: Turn, job: Job, plan: Plan) -> Transaction[None]:
    """Keep a plan of a turn that nobody is asked about, while this claim holds."""
    yield from _must_go_on(now, turn, job)
    yield from keep_plan(turn.tenant, plan)
    yield sql(
        "INSERT INTO frozen (tenant, plan, conversation) VALUES (:tenant, :plan, :conversation)"
        " ON CONFLICT DO NOTHING",
        tenant=turn.tenant, plan=plan.id, conversation=turn.conversation,
    )  # fmt: skip


def keep_plan(tenant: str, plan: Plan) -> Transaction[None]:
    """Keep a plan once, anew where it was erased; raise `Refused` where its short id names another."""
    yield sql(
        "INSERT INTO plan (tenant, id, sha256, body) VALUES (:tenant, :id, :sha256, :body)"
        " ON CONFLICT (tenant, id) DO UPDATE SET body = excluded.body"
        " WHERE plan.body = '' AND plan.sha256 = excluded.sha256",
        tenant=tenant, id=plan.id, sha256=plan.sha256, body=plan.canonical,
    )  # fmt: skip
    kept = yield from rows(
        "SELECT sha256 FROM plan WHERE tenant = :tenant AND id = :id", tenant=tenant, id=plan.id
    )
    if kept[0]["sha256"] != plan.sha256:
        raise Refused("Another plan has the same short id. Change an argument and ask again.")
