"""The gate: the one place where a plan becomes allowed, and the one way out of it, the spend."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NoReturn

from approvals import cards, entitlement
from approvals.acting import Acting
from approvals.brakes import LONGEST_WHY, Broken
from approvals.covering import Covering
from approvals.factors import CodeSpent, Factors, RightCode
from approvals.freeze import Freezer
from approvals.grants import Grants
from approvals.holding import Holding
from approvals.models import LIVE, Request, Spent, State, Voted
from approvals.policy import Authority
from approvals.preparing import Preparing
from approvals.proposals import Proposal
from approvals.second_factor import SecondFactor
from approvals.store import ApprovalStore
from approvals.switches import Switches
from approvals.unchanged import Unchanged
from core import ids
from core.display import one_line
from core.errors import Refused, SaysoError
from core.events import Approve, AskAgain, Deny
from core.jobs import Job, LeaseLost
from core.plans import Plan
from core.principals import Identity, Principal
from core.redaction import Redactor
from core.roster import Freshness
from core.rulings import BreakGlass
from core.tools import Toolbox

UNKNOWN = "There is no such request. Copy its id from the card, or ask again for what you need."
NO_GRANT_AGAIN = (
    "That asked for a standing grant. Propose it again: sayso grant, or `grant` in chat."
)
_NO_REASON = "Nothing was let through: say why, for everybody who may approve it is told."
_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Opens requests, takes votes and spends what was granted."""

    store: ApprovalStore
    freezer: Freezer
    acting: Acting
    factors: Factors
    toolbox: Callable[[], Toolbox]
    """Reads the catalogue afresh; raises where it cannot be read."""
    switches: Switches
    redactor: Redactor
    grants: Grants

    @property
    def covering(self) -> Covering:
        """Return what finds the standing grant that covers a proposal."""
        return Covering(
            grants=self.grants,
            store=self.store,
            authority=self.acting.authority,
            toolbox=self.toolbox,
            standings=self.acting.standings,
            redactor=self.redactor,
        )

    @property
    def factor(self) -> SecondFactor:
        """Return what demands a code of whoever decides, where a rule does."""
        return SecondFactor(acting=self.acting, factors=self.factors)

    @property
    def holding(self) -> Holding:
        """Return what knows whether something holds things back."""
        return Holding(acting=self.acting, switches=self.switches)

    @property
    def preparing(self) -> Preparing:
        """Return what prepares a request, before anybody is asked."""
        return Preparing(
            store=self.store,
            freezer=self.freezer,
            acting=self.acting,
            factor=self.factor,
            covering=self.covering,
            holding=self.holding,
            switches=self.switches,
            redactor=self.redactor,
        )

    async def freeze(self, proposal: Proposal) -> Plan:
        """Do every check that needs nobody and return the plan; ask nobody."""
        _, frozen = await self.preparing.prepared(proposal)
        return frozen.plan

    async def propose(self, proposal: Proposal) -> Request:
        """Freeze the calls and wait for people; raise with the reason, on record, having asked nobody."""
        try:
            return await self.preparing.opened(proposal)
        except LeaseLost:
            raise  # nobody was refused: somebody else answers
        except SaysoError as error:
            await self.store.attempt_refused(
                proposal.tenant,
                principal=proposal.requester,
                request="",
                why=self.redactor.text(error.logged),
                claim=proposal.closing.job.claim if proposal.closing else None,
            )
            raise

    async def seen(
        self, identity: Identity, given: str, freshness: Freshness = Freshness.RECENT
    ) -> tuple[Authority, Principal, Request]:
        """Return who is acting, and a request that they may know of; one refusal where they may not."""
        authority, principal = await self.acting.who(identity, freshness)
        found = await self._seen(authority, principal, given, also_altered=True)
        return authority, principal, found

    async def again(self, click: AskAgain) -> Request:
        """Return a request that this person may ask for once more; raise `Refused` otherwise."""
        authority, principal = await self.acting.who(click.identity)
        return await self.may_again(authority, principal, click.request)

    async def may_again(self, authority: Authority, principal: Principal, given: str) -> Request:
        """Return a request that somebody may ask for once more; raise `Refused` otherwise.

        After a denial, and for other people's requests, that takes the right to approve it.
        """
        request = await self._seen(authority, principal, given)
        if cards.asks_to_grant(request):
            await self.acting.refuse(principal, request.id, NO_GRANT_AGAIN)
        own = principal.id == request.requester and request.state is not State.DENIED
        about = entitlement.resources(request)
        if not own and not authority.policy.may(principal, "plan:approve", about):
            named = await self.acting.named(principal.tenant)
            reason = entitlement.not_again(named, request)
            await self.acting.refuse(principal, request.id, reason)
        return request

    async def approve(self, click: Approve, *, runner: str | None = None) -> Voted:
        """Record a yes; the one that completes the quorum grants the request and queues its run.

        What comes after that is none, and `Voted` says so.

        `runner` names this process where it is about to run it by itself.
        """
        authority, principal = await self.acting.admit(click.identity, "votes")
        request = await self._seen(authority, principal, click.request)
        await self._must_live(principal, request)
        principal, held = await self.factor.must_hold(principal, request, click.code)
        reason = entitlement.not_a_voter(authority, principal, request)
        if reason:
            await self.acting.refuse(principal, request.id, reason)
        await self.holding.must_count(authority, principal, request)
        await self._must_be_unchanged(principal.id, request, Freshness.RECENT)
        voted = await self._vote(principal, request, runner, held)
        await self._must_live(principal, voted.request)
        return voted

    async def _vote(
        self, principal: Principal, request: Request, runner: str | None, held: RightCode | None
    ) -> Voted:
        try:
            return await self.store.vote(
                request.tenant, request.id, principal=principal.id, runner=runner, held=held
            )
        except CodeSpent as why:
            await self.factor.spent(principal, request, why)

    async def break_glass(self, click: BreakGlass, *, runner: str | None = None) -> Voted:
        """Grant a request by one person's word, for a reason: without quorum, or in a freeze.

        That gets past no denial, no end, no pause and nothing that changed.
        """
        authority, principal = await self.acting.admit(click.identity, "votes")
        request = await self._seen(authority, principal, click.request)
        await self._must_live(principal, request)
        why = one_line(self.redactor.text(click.reason), LONGEST_WHY)
        reason = _NO_REASON if not why else entitlement.not_a_breaker(authority, principal, request)
        if reason:
            await self.acting.refuse(principal, request.id, reason)
        principal, held = await self.factor.must_hold(principal, request, click.code, anew=True)
        await self.holding.must_count(
            authority, principal, replace(request, broken_by=principal.id)
        )
        await self._must_be_unchanged(principal.id, request, Freshness.RECENT)
        may = authority.holders(request.tenant, "plan:approve", entitlement.resources(request))
        broken = Broken(by=principal.id, why=why, calls=may)
        try:
            voted = await self.store.break_glass(
                request.tenant, request.id, broken, held=held, runner=runner
            )
        except CodeSpent as spent:
            await self.factor.spent(principal, request, spent)
        await self._must_live(principal, voted.request)
        return voted

    async def deny(self, click: Deny) -> Request:
        """End a request for good; its effects stay refused in its conversation."""
        # No rate holds back a no, and no platform that cannot be asked.
        authority, principal = await self.acting.who(click.identity, Freshness.HELD)
        request = await self._seen(authority, principal, click.request)
        await self._must_live(principal, request)
        if not authority.policy.may_any(principal, "plan:deny", entitlement.resources(request)):
            doubt = entitlement.doubt(authority, principal.id)
            await self.acting.refuse(principal, request.id, f"You may not deny this.{doubt}")
        reason = one_line(self.redactor.text(click.reason))
        denied = await self.store.deny(
            request.tenant, request.id, principal=principal.id, reason=reason
        )
        if denied.state is not State.DENIED or denied.ended_by != principal.id:
            await self._too_late(principal, denied)
        return denied

    async def spend(self, request: Request, job: Job) -> Spent | None:
        """Turn a granted request into its one run, if everything is still as it was shown (I3).

        Raises `Refused` where it is not, and `Unavailable` while something holds it back, which it
        outlives; returns None where somebody else was first.
        """
        asked = request.under or not request.voters
        last = request.requester if asked else request.voters[-1]
        await self.holding.until(request)
        try:
            await self._must_be_unchanged(last, request, Freshness.NOW)
        except Refused:
            await self.covering.settle(request)
            raise
        before = await self.holding.until(request)
        return await self.store.spend(request, job=job, run=ids.run_id(), before=before)

    async def known(
        self, authority: Authority, principal: Principal, given: str, unknown: str
    ) -> Request:
        """Return a request that somebody may know of; `unknown` is the one refusal where they may not."""
        return await self._seen(authority, principal, given, unknown=unknown)

    async def _seen(
        self,
        authority: Authority,
        principal: Principal,
        given: str,
        *,
        also_altered: bool = False,
        unknown: str = UNKNOWN,
    ) -> Request:
        """Return the request if this person may know of it; one answer for every other case.

        That tells what could not be asked about this person, since it may be all that is missing.

        What was altered ends here, unless it has ended and is neither decided nor asked for again.
        """
        unknown = f"{unknown}{entitlement.doubt(authority, principal.id)}"
        request = await self.store.get(principal.tenant, given) if _ID.fullmatch(given) else None
        if request is None:
            await self.acting.refuse(principal, given, unknown)
        if not request.is_intact and not (also_altered and request.state not in LIVE):
            # What it is about can no longer be told, so neither can who may know of it.
            await self._revoke(principal.id, request, cards.ALTERED)
        if not entitlement.may_see(authority, principal, request):
            await self.acting.refuse(principal, given, unknown)
        return request

    async def _must_live(self, principal: Principal, request: Request) -> None:
        if request.state not in LIVE:
            await self._too_late(principal, request)

    async def _too_late(self, principal: Principal, request: Request) -> NoReturn:
        logged = f"Too late: it is {request.state.value}."
        await self.acting.refuse(principal, request.id, cards.too_late(request), logged=logged)

    async def _must_be_unchanged(
        self, principal: str, request: Request, freshness: Freshness
    ) -> None:
        unchanged = Unchanged(
            freezer=self.freezer,
            authority=self.acting.authority,
            toolbox=self.toolbox,
            switches=self.switches,
            standings=self.acting.standings,
        )
        obstacle = await unchanged.obstacle(request, freshness)
        if obstacle:
            await self._revoke(principal, request, obstacle)

    async def _revoke(self, principal: str, request: Request, reason: str) -> NoReturn:
        revoked = await self.store.revoke(
            request.tenant, request.id, principal=principal, reason=self.redactor.text(reason)
        )
        ran = revoked.state is State.SPENT
        raise Refused(cards.too_late(revoked) if ran else f"Not run. {cards.too_late(revoked)}")
