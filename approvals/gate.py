"""The gate: the one place where a plan becomes allowed, and the one way out of it, the spend."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NoReturn

from approvals import cards, denials, entitlement, secrecy
from approvals.freeze import Freezer, Frozen
from approvals.models import LIVE, Denial, Proposal, Request, Spent, State, Voted
from approvals.new_request import new_request
from approvals.policy import Authority
from approvals.standings import Standings
from approvals.store import ApprovalStore
from approvals.switches import Switches
from approvals.unchanged import Unchanged
from core import ids
from core.display import one_line
from core.errors import Refused, SaysoError, Unavailable
from core.events import Approve, AskAgain, Deny
from core.jobs import Job, LeaseLost
from core.plans import Plan, difference
from core.principals import STRANGER, Identity, Principal
from core.rates import TOO_FAST, Rate, Rates
from core.redaction import Redactor
from core.roster import Freshness
from core.tools import Toolbox

UNKNOWN = "There is no such request. Copy its id from the card, or ask again for what you need."
MOST_CALLS = 50
_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Opens requests, takes votes and spends what was granted."""

    store: ApprovalStore
    freezer: Freezer
    authority: Callable[[], Authority]
    """Reads people and rules afresh, as the file has them; raises where they cannot be read."""
    toolbox: Callable[[], Toolbox]
    """Reads the catalogue afresh; raises where it cannot be read."""
    switches: Switches
    redactor: Redactor
    rates: Rates
    standings: Standings = field(default_factory=Standings)

    async def freeze(self, proposal: Proposal) -> Plan:
        """Do every check that needs nobody and return the plan; ask nobody."""
        return (await self._freeze(proposal, await self._asking(proposal))).plan

    async def propose(self, proposal: Proposal) -> Request:
        """Freeze the calls and wait for people; raise with the reason, on record, having asked nobody."""
        try:
            return await self._propose(proposal)
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

    async def _propose(self, proposal: Proposal) -> Request:
        off = self.switches.obstacle()
        if off:
            raise Refused(f"Not proposed: {off}.")
        authority = await self._asking(proposal)
        frozen = await self._freeze(proposal, authority)
        changed = difference(proposal.expects, frozen.plan) if proposal.expects else None
        if changed:
            raise Refused(
                f"Not proposed: since this plan was made, {changed}.",
                logged="Not proposed: something changed since this plan was made.",
            )
        about = secrecy.masked(proposal.about, self.redactor)
        opened = await self.store.open(
            new_request(replace(proposal, about=about), frozen, authority)
        )
        if isinstance(opened, Denial):
            raise denials.refused(opened)
        return opened

    async def _asking(self, proposal: Proposal) -> Authority:
        who = (proposal.tenant, proposal.requester)
        authority = await self.standings.acting(self.authority(), *who)
        authority.directory.must_be_here(proposal.requester)
        return authority

    async def _freeze(self, proposal: Proposal, authority: Authority) -> Frozen:
        if len(proposal.calls) > MOST_CALLS:
            raise Refused(f"One plan may hold {MOST_CALLS} calls, not more. Ask for less at once.")
        asked = (proposal.tenant, proposal.requester, proposal.profile)
        tools = [checked.tool.name for checked in proposal.calls]
        if not entitlement.may_propose(authority, *asked, tools):
            doubt = entitlement.doubt(authority, proposal.requester)
            raise Refused(f"Not proposed: you may not ask for this.{doubt}")
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

    async def who(
        self, identity: Identity, freshness: Freshness = Freshness.RECENT
    ) -> tuple[Authority, Principal]:
        """Return people and rules as they are now, and who is acting; a stranger is put on record."""
        authority = await self.standings.around(self.authority(), identity, freshness)
        return await self._resolved(authority, identity)

    async def asks(self, identity: Identity) -> tuple[Authority, Principal]:
        """Return the same as `who`, where everybody else is as they are listed."""
        authority = await self.standings.alone(self.authority(), identity, Freshness.RECENT)
        return await self._resolved(authority, identity)

    async def _resolved(
        self, authority: Authority, identity: Identity
    ) -> tuple[Authority, Principal]:
        try:
            return authority, authority.directory.resolve(identity)
        except Refused as error:
            workspace = (identity.platform, identity.workspace)
            if workspace in authority.directory.workspaces:
                await self.store.attempt_refused(
                    authority.directory.workspaces[workspace],
                    principal=STRANGER,
                    request=identity.user,
                    why=error.logged,
                )
            raise

    async def admit(self, identity: Identity, doing: str) -> tuple[Authority, Principal]:
        """Return the same as `who` for somebody who is not too fast; raise `Refused` otherwise (C67).

        What people are `doing` is counted by itself: who asks much may still vote.
        """
        authority, principal = await self.who(identity)
        rate = authority.rates.of_people(doing)
        lacking = await self.rates.take(principal.tenant, principal.id, [rate])
        if lacking:
            await self.refuse(principal, "", lacking[0].refusal(TOO_FAST))
        return authority, principal

    async def count(self, principal: Principal, rate: Rate) -> None:
        """Count what somebody did, where there is room: it was refused already."""
        await self.rates.take(principal.tenant, principal.id, [rate])

    async def person(self, tenant: str, principal: str) -> tuple[Authority, Principal]:
        """Return people and rules, and somebody as they are now; everybody else is as listed."""
        authority = await self.standings.of(self.authority(), tenant, [principal], Freshness.RECENT)
        authority.directory.must_be_here(principal)
        found = authority.directory.find(tenant, principal)
        if found is None:
            raise Refused("Sayso does not know you any more, so this was not looked at.")
        return authority, found

    async def seen(
        self, identity: Identity, given: str, freshness: Freshness = Freshness.RECENT
    ) -> tuple[Authority, Principal, Request]:
        """Return who is acting, and a request that they may know of; one refusal where they may not."""
        authority, principal = await self.who(identity, freshness)
        found = await self._seen(authority, principal, given, also_altered=True)
        return authority, principal, found

    async def again(self, click: AskAgain) -> Request:
        """Return a request that this person may ask for once more; raise `Refused` otherwise."""
        authority, principal = await self.who(click.identity)
        return await self.may_again(authority, principal, click.request)

    async def may_again(self, authority: Authority, principal: Principal, given: str) -> Request:
        """Return a request that somebody may ask for once more; raise `Refused` otherwise.

        After a denial, and for other people's requests, that takes the right to approve it.
        """
        request = await self._seen(authority, principal, given)
        own = principal.id == request.requester and request.state is not State.DENIED
        about = entitlement.resources(request)
        if not own and not authority.policy.may(principal, "plan:approve", about):
            named = await self.standings.named(self.authority(), principal.tenant)
            reason = entitlement.not_again(named, request)
            await self.refuse(principal, request.id, reason)
        return request

    async def approve(self, click: Approve, *, runner: str | None = None) -> Voted:
        """Record a yes; the one that completes the quorum grants the request and queues its run.

        What comes after that is none, and `Voted` says so.

        `runner` names this process where it is about to run it by itself.
        """
        authority, principal = await self.admit(click.identity, "votes")
        request = await self._seen(authority, principal, click.request)
        await self._must_live(principal, request)
        reason = entitlement.not_a_voter(authority, principal, request)
        if reason:
            await self.refuse(principal, request.id, reason)
        await self._must_be_unchanged(principal.id, request, Freshness.RECENT)
        voted = await self.store.vote(
            request.tenant, request.id, principal=principal.id, runner=runner
        )
        await self._must_live(principal, voted.request)
        return voted

    async def deny(self, click: Deny) -> Request:
        """End a request for good; its effects stay refused in its conversation."""
        # No rate holds back a no, and no platform that cannot be asked.
        authority, principal = await self.who(click.identity, Freshness.HELD)
        request = await self._seen(authority, principal, click.request)
        await self._must_live(principal, request)
        if not authority.policy.may_any(principal, "plan:deny", entitlement.resources(request)):
            doubt = entitlement.doubt(authority, principal.id)
            await self.refuse(principal, request.id, f"You may not deny this.{doubt}")
        reason = one_line(self.redactor.text(click.reason))
        denied = await self.store.deny(
            request.tenant, request.id, principal=principal.id, reason=reason
        )
        if denied.state is not State.DENIED or denied.ended_by != principal.id:
            await self._too_late(principal, denied)
        return denied

    async def spend(self, request: Request, job: Job) -> Spent | None:
        """Turn a granted request into its one run, if everything is still as it was shown (I3).

        Raises `Refused` where it is not; returns None where somebody else was first.
        """
        last = request.voters[-1] if request.voters else request.requester
        await self._must_be_unchanged(last, request, Freshness.NOW)
        return await self.store.spend(request, job=job, run=ids.run_id())

    async def _seen(
        self, authority: Authority, principal: Principal, given: str, *, also_altered: bool = False
    ) -> Request:
        """Return the request if this person may know of it; one answer for every other case.

        That tells what could not be asked about this person, since it may be all that is missing.

        What was altered ends here, unless it has ended and is neither decided nor asked for again.
        """
        unknown = f"{UNKNOWN}{entitlement.doubt(authority, principal.id)}"
        request = await self.store.get(principal.tenant, given) if _ID.fullmatch(given) else None
        if request is None:
            await self.refuse(principal, given, unknown)
        if not request.is_intact and not (also_altered and request.state not in LIVE):
            # What it is about can no longer be told, so neither can who may know of it.
            await self._revoke(principal.id, request, cards.ALTERED)
        if not entitlement.may_see(authority, principal, request):
            await self.refuse(principal, given, unknown)
        return request

    async def _must_live(self, principal: Principal, request: Request) -> None:
        if request.state not in LIVE:
            await self._too_late(principal, request)

    async def _too_late(self, principal: Principal, request: Request) -> NoReturn:
        logged = f"Too late: it is {request.state.value}."
        await self.refuse(principal, request.id, cards.too_late(request), logged=logged)

    async def _must_be_unchanged(
        self, principal: str, request: Request, freshness: Freshness
    ) -> None:
        unchanged = Unchanged(
            freezer=self.freezer,
            authority=self.authority,
            toolbox=self.toolbox,
            switches=self.switches,
            standings=self.standings,
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

    async def refuse(
        self, principal: Principal, request: str, reason: str, *, logged: str = ""
    ) -> NoReturn:
        """Refuse what somebody tried, and put it on record; `request` is what they gave.

        A reason that holds anybody's words has another form for the log.
        """
        refused = Refused(reason, logged=logged)
        await self.store.attempt_refused(
            principal.tenant, principal=principal.id, request=request, why=refused.logged
        )
        raise refused
