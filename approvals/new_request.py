"""The request that a proposal becomes: under which rule, for whom, and how it is shown."""

from collections.abc import Sequence
from functools import partial

from approvals import cards, entitlement
from approvals.freeze import Frozen
from approvals.models import NewRequest, Proposal
from approvals.policy import Authority
from core import ids
from core.tools import Checked


def new_request(proposal: Proposal, frozen: Frozen, authority: Authority) -> NewRequest:
    """Return it, with the card that people are to see once its id and its end are known."""
    plan = frozen.plan
    rule = authority.policy.strictest(call.risk for call in plan.calls)
    holders = authority.holders(proposal.tenant, "plan:approve", _resources(proposal.calls))
    shown = cards.Shown(
        requester=proposal.requester,
        checked=proposal.calls,
        about=proposal.about,
        rule=rule,
        approvers=entitlement.voters(rule, proposal.requester, holders),
        previews=frozen.previews,
    )
    part = authority.policy.reminder(call.risk for call in plan.calls)
    escalation = authority.policy.escalation(call.risk for call in plan.calls)
    return NewRequest(
        id=ids.request_id(),
        proposal=proposal,
        plan=plan,
        rule=rule,
        card=partial(cards.card_for, plan, shown),
        remind_in=None if part is None else rule.expires * part,
        escalate_in=rule.expires * escalation.part if escalation else None,
    )


def _resources(calls: Sequence[Checked]) -> tuple[str, ...]:
    return tuple(checked.tool.resource for checked in calls)
