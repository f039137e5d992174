"""Whether a standing grant lets something run: judged afresh, and suspended where it no longer may."""

from collections.abc import Callable
from dataclasses import dataclass

from approvals import entitlement
from approvals.grants import Grant, Grants, GrantState
from approvals.models import Request, State
from approvals.policy import Authority
from approvals.proposals import Proposal
from approvals.standings import Standings
from approvals.store import ApprovalStore
from core.errors import Invalid, Refused
from core.plans import Plan
from core.redaction import Redactor
from core.roster import Freshness
from core.tools import Toolbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Covering:
    """Finds the grant that covers a proposal, and ends those that rest on nothing any more."""

    grants: Grants
    store: ApprovalStore
    authority: Callable[[], Authority]
    toolbox: Callable[[], Toolbox]
    standings: Standings
    redactor: Redactor

    async def of(self, proposal: Proposal, plan: Plan) -> str | None:
        """Return the grant under which this plan runs without a card; None where people are asked.

        What is asked for once more is shown once more, so no grant covers that; nor does one cover
        what may have happened already (I4). What could not be checked covers nothing.
        """
        if proposal.supersedes:
            return None
        whose = (proposal.tenant, proposal.requester, proposal.conversation)
        for grant in await self.grants.active(*whose):
            if await self.holds(grant) and grant.plan_sha256 == plan.sha256:
                doubts = await self.store.in_doubt(proposal.tenant, plan.sha256, again=None)
                return None if doubts else grant.id
        return None

    async def known(self, tenant: str) -> list[Grant]:
        """Return every grant of a tenant, as it is once each active one was looked at."""
        for grant in await self.grants.known(tenant):
            if grant.state is GrantState.ACTIVE:
                await self.holds(grant)
        return list(await self.grants.known(tenant))

    async def settle(self, request: Request) -> None:
        """Look at the grant that a request rests on, if it rests on one."""
        grant = request.under and await self.grants.get(request.tenant, request.under.grant)
        if grant:
            await self.holds(grant, Freshness.NOW)

    async def holds(self, grant: Grant, freshness: Freshness = Freshness.RECENT) -> bool:
        """Return whether all that people agreed to still is; suspend a grant of which it is not."""
        request = await self.store.get(grant.tenant, grant.request)
        try:
            authority, toolbox = self.authority(), self.toolbox()
        except Invalid:
            return False  # a file that is being saved says nothing about the grant
        gone = _gone(request, authority, toolbox)
        if request and not gone:
            whose = (request.requester, *request.voters)
            standing = await self.standings.of(authority, grant.tenant, whose, freshness)
            gone = entitlement.lost(standing, request)
            if not gone:
                return entitlement.unchecked(standing, request) is None
        why = self.redactor.text(gone or "")
        await self.grants.suspend(grant.tenant, grant.id, reason=why)
        return False


def _gone(request: Request | None, authority: Authority, toolbox: Toolbox) -> str | None:
    """Say what of that which people agreed to is no longer as it was: runbooks, rules, stored bytes."""
    if request is None or not request.is_intact or request.state is not State.SPENT:
        return "what it allows is not what was shown"
    defined = {tool.name: tool.definition for tool in toolbox}
    calls = request.plan.calls
    edited = next((one.tool for one in calls if defined.get(one.tool) != one.definition), None)
    if edited:
        return f"the runbook {edited} was edited"
    return None if _same_rules(request, authority) else "the rules that decide it changed"


def _same_rules(request: Request, authority: Authority) -> bool:
    risks = [call.risk for call in request.plan.calls]
    try:
        rule = authority.policy.strictest(risks)
        rules = authority.policy.digest(entitlement.resources(request), risks)
    except Refused:  # a risk of it has no rule any more
        return False
    return (rule, rules) == (request.rule, request.plan.rules)
