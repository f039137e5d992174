"""What is done before anybody is asked: every check that needs nobody, the freeze, and the card."""

import asyncio
from dataclasses import dataclass, replace

from approvals import denials, entitlement, estimates, secrecy
from approvals.acting import Acting
from approvals.covering import Covering
from approvals.freeze import Freezer, Frozen
from approvals.holding import Holding
from approvals.models import Denial, Request
from approvals.new_request import About, new_request
from approvals.policy import Authority
from approvals.proposals import NewRequest, Proposal
from approvals.second_factor import SecondFactor
from approvals.store import ApprovalStore
from approvals.switches import Switches
from core.differences import difference
from core.errors import Refused, Unavailable
from core.plans import Plan
from core.redaction import Redactor

MOST_CALLS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparing:
    """Turns a proposal into a request that is ready to be stored."""

    store: ApprovalStore
    freezer: Freezer
    acting: Acting
    factor: SecondFactor
    covering: Covering
    holding: Holding
    switches: Switches
    redactor: Redactor

    async def opened(self, proposal: Proposal) -> Request:
        """Store a proposal as a request, unless something stands in its way."""
        off = self.switches.obstacle()
        if off:
            raise Refused(f"Not proposed: {off}.")
        proposal = await self.with_editors(proposal)
        authority = await self.asking(proposal)
        await self.holding.must_not_hold(authority, proposal)
        frozen = await self.freeze(proposal, authority)
        changed = difference(proposal.expects, frozen.plan) if proposal.expects else None
        if changed:
            raise Refused(
                f"Not proposed: since this plan was made, {changed}.",
                logged="Not proposed: something changed since this plan was made.",
            )
        about = secrecy.masked(proposal.about, self.redactor)
        grant = await self.covering.of(proposal, frozen.plan)
        opened = await self.store.open(
            await self.drafted(replace(proposal, about=about), frozen, authority, grant=grant)
        )
        if isinstance(opened, Denial):
            raise denials.refused(opened)
        return opened

    async def prepared(self, proposal: Proposal) -> tuple[Authority, Frozen]:
        """Do every check that needs nobody; return people and rules, and the plan with its previews."""
        authority = await self.asking(proposal)
        return authority, await self.freeze(proposal, authority)

    async def drafted(
        self,
        proposal: Proposal,
        frozen: Frozen,
        authority: Authority,
        *,
        grant: str | None = None,
        was: Plan | None = None,
    ) -> NewRequest:
        """Return what a frozen proposal becomes, with all that its card has to tell."""
        tenant, plan = proposal.tenant, frozen.plan
        rule = authority.policy.strictest(call.risk for call in plan.calls)
        again = proposal.supersedes
        return new_request(
            proposal,
            frozen,
            authority,
            About(
                before=await self.store.get(tenant, again) if again else None,
                doubts=await self.store.in_doubt(tenant, plan.sha256, again=again),
                took=await self.store.took(tenant, plan.does, most=estimates.MOST),
                enrolled=await self.factor.enrolled(tenant, rule),
                grant=grant,
                was=was,
            ),
        )

    async def with_editors(self, proposal: Proposal) -> Proposal:
        """Have who edited what is asked for again count as requesters of that too."""
        again = proposal.supersedes
        old = await self.store.get(proposal.tenant, again) if again else None
        return replace(proposal, editors=old.editors) if old else proposal

    async def asking(self, proposal: Proposal) -> Authority:
        """Return people and rules as they are now; raise where whoever asks counts for nothing."""
        who = (proposal.tenant, *entitlement.requesters(proposal))
        authority = await self.acting.standings.acting(self.acting.authority(), *who)
        authority.directory.must_be_here(proposal.edited_by or proposal.requester)
        return authority

    async def freeze(self, proposal: Proposal, authority: Authority) -> Frozen:
        """Return the plan of the calls; raise `Refused` where it may not be asked for."""
        if len(proposal.calls) > MOST_CALLS:
            raise Refused(f"One plan may hold {MOST_CALLS} calls, not more. Ask for less at once.")
        asker = proposal.edited_by or proposal.requester
        barred = entitlement.not_proposed(authority, proposal, asker)
        if barred:
            raise Refused(barred)
        off = self.switches.offline(authority, proposal.profile, proposal.calls)
        if off:
            raise Refused(f"Not proposed: {off}")
        secret = secrecy.exposed(proposal.calls, self.redactor)
        if secret:
            raise Refused(secret)
        try:
            async with asyncio.timeout_at(proposal.by):
                return await self.freezer.freeze(proposal.calls, authority, who=proposal.turn)
        except TimeoutError as error:
            raise Unavailable(
                "Not proposed: to look at what this would do took longer than a turn may take. Ask for "
                "less at once; tell an operator where that does not help."
            ) from error
