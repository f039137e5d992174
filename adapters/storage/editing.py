"""How an open request becomes another one, because somebody edited it."""

from datetime import datetime

from adapters.storage import deciding
from adapters.storage.entries import append, redraw
from adapters.storage.opening import announce, insert, keep_plan, must_not_be_held, whereabouts
from adapters.storage.request_rows import must_read
from adapters.storage.transactions import SYSTEM, Transaction, changed, log, sql, text_of
from approvals import cards
from approvals.models import Denial, Request, State
from approvals.proposals import NewRequest, Proposal
from core.errors import Refused
from core.plans import Plan


def edit(now: datetime, new: NewRequest) -> Transaction[Request | Denial]:
    """Open a request that was made of an open one, and end that; else return why that is not so."""
    proposal, tenant = new.proposal, new.proposal.tenant
    place = yield from whereabouts(proposal)
    yield from deciding.expire(now)
    old = yield from must_read(tenant, proposal.supersedes or "")
    if old.state is not State.OPEN:
        return old
    denial = yield from _denial_of_either(proposal, old.plan, new.plan)
    if denial:
        return denial
    yield from must_not_be_held(proposal)
    if not (yield from _become(now, old, new)):
        return old
    yield from keep_plan(tenant, new.plan)
    if not (yield from insert(now, new)):
        raise Refused("Not edited: exactly this waits already. Vote on that, or edit it otherwise.")
    ended, opened = (yield from must_read(tenant, old.id)), (yield from must_read(tenant, new.id))
    yield sql(
        "UPDATE turn SET request = :new WHERE id = :turn AND tenant = :tenant AND request = :old",
        new=new.id, turn=old.turn, tenant=tenant, old=old.id,
    )  # fmt: skip
    yield from log(
        now, tenant, "request.superseded", str(proposal.edited_by), request=old.id, by=new.id
    )
    yield from append(now, old.conversation, "note", SYSTEM, cards.status(ended), about=old.id)
    yield from redraw(now, old.conversation, old.id)
    yield from announce(now, new, opened, place)
    return opened


def _become(now: datetime, old: Request, new: NewRequest) -> Transaction[bool]:
    """End an open request as one that was edited: this statement decides who was first."""
    became = yield from changed(
        "UPDATE request SET state = 'superseded', ended_at = :now, ended_by = :by, became = :new"
        " WHERE id = :id AND tenant = :tenant AND conversation = :conversation AND state = 'open'"
        " AND expires_at > :now RETURNING id",
        now=text_of(now), by=new.proposal.edited_by, new=new.id, id=old.id, tenant=old.tenant,
        conversation=new.proposal.conversation,
    )  # fmt: skip
    return became


def _denial_of_either(proposal: Proposal, *both: Plan) -> Transaction[Denial | None]:
    """Return a denial that forbids one of these plans here: an edit goes round none."""
    for plan in both:
        denial = yield from deciding.denial_of(proposal.tenant, proposal.conversation, plan)
        if denial:
            return denial
    return None
