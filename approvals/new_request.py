"""The request that a proposal becomes: under which rule, for whom, and how it is shown."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from approvals import edits, entitlement, factors, fresh_cards
from approvals.freeze import Frozen
from approvals.models import Request, Rule, State
from approvals.policy import Authority
from approvals.proposals import NewRequest, Proposal
from core import ids
from core.plans import Plan
from core.tools import Checked


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a card has to tell besides the plan itself."""

    before: Request | None = None
    """What it asks for again, or edits: people learn that it was denied."""
    doubts: Sequence[str] = ()
    """Runs of which a step may have done already what this would do."""
    enrolled: Collection[str] | None = None
    """Who has a second factor, where the rule demands one."""
    took: Sequence[timedelta] = ()
    """How long the newest runs took that did the same."""
    grant: str | None = None
    """The standing grant that may cover it."""
    was: Plan | None = None
    """The plan before somebody edited it."""


def new_request(
    proposal: Proposal, frozen: Frozen, authority: Authority, about: About
) -> NewRequest:
    """Return it, with the card that people are to see once its id and its end are known."""
    before = about.before
    plan = frozen.plan
    rule = authority.policy.strictest(call.risk for call in plan.calls)
    holders = authority.holders(proposal.tenant, "plan:approve", _resources(proposal.calls))
    approvers = entitlement.voters(rule, entitlement.requesters(proposal), holders)
    shown = fresh_cards.Shown(
        requester=proposal.requester,
        checked=proposal.calls,
        about=proposal.about,
        rule=rule,
        approvers=approvers,
        lacking=_lacking(rule, approvers, about),
        previews=frozen.previews,
        edits=tuple(edits.facts(proposal.editors, about.was, plan)),
        undoes=proposal.undoes,
        doubts=tuple(about.doubts),
        took=tuple(about.took),
        denied_by=before.ended_by if before and before.state is State.DENIED else None,
    )
    part = authority.policy.reminder(call.risk for call in plan.calls)
    escalation = authority.policy.escalation(call.risk for call in plan.calls)
    return NewRequest(
        id=ids.request_id(),
        proposal=proposal,
        plan=plan,
        rule=rule,
        card=partial(fresh_cards.card_for, plan, shown),
        remind_in=None if part is None else rule.expires * part,
        escalate_in=rule.expires * escalation.part if escalation else None,
        grant=about.grant,
    )


def _lacking(rule: Rule, approvers: Sequence[str], about: About) -> str | None:
    return None if about.enrolled is None else factors.lacking(rule, approvers, about.enrolled)


def _resources(calls: Sequence[Checked]) -> tuple[str, ...]:
    return tuple(checked.tool.resource for checked in calls)
