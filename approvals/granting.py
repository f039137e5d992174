"""Standing grants, as people deal with them: proposed from what a card showed, listed and revoked."""

from dataclasses import dataclass, replace
from datetime import timedelta

from approvals import denials, entitlement
from approvals.gate import Gate
from approvals.grants import Grant, GrantState
from approvals.models import Denial, Request, Rule
from approvals.policy import Authority
from approvals.proposals import Proposal
from core import ids
from core.conversations import Conversations
from core.differences import difference
from core.errors import Refused, Unavailable
from core.events import ProposeGrant, RevokeGrant
from core.plans import Plan, Standing
from core.principals import Identity, Principal
from core.roster import Freshness
from core.transcript import AgentText

UNKNOWN = (
    "There is no such standing grant. `sayso grants`, or `grants` in chat, lists what there is."
)
MOST_USES = 1000
LONGEST = timedelta(days=30)
_OVER = "Standing grant {} is {} already, so there is nothing to revoke."
_NOT_NOW = "Not proposed: {}."
_CODED = (
    "its rule demands a second factor with every yes, and nobody is asked under a standing grant"
)


def why_none(rule: Rule) -> str | None:
    """Say why what this rule decides can have no standing grant, or None where it can.

    Whatever a rule asks of every single vote, a grant would have been asked only once.
    """
    return _CODED if rule.second_factor else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Granting:
    """Proposes, lists and revokes standing grants."""

    gate: Gate
    conversations: Conversations

    async def propose(self, event: ProposeGrant) -> tuple[Grant, bool]:
        """Ask people for a grant of exactly what a request showed; nobody's vote is counted here.

        Returns it, and whether a yes of whoever proposes it would count. Raises `Refused`, on record.
        """
        acting = self.gate.acting
        _, principal = await acting.admit(event.identity, "votes")
        authority, _, source = await self.gate.seen(event.identity, event.request)
        try:
            made = await self._made(event, authority, principal, source)
        except Refused as error:
            await acting.refuse(principal, source.id, error.shown, logged=error.logged)
        request = await self.gate.store.get(principal.tenant, made.request)
        may_vote = request and not entitlement.not_a_voter(authority, principal, request)
        return made, bool(may_vote)

    async def _made(
        self, event: ProposeGrant, authority: Authority, principal: Principal, source: Request
    ) -> Grant:
        _must_be_bounded(event)
        if source.plan.standing:
            raise Refused(
                "That request asks for a standing grant already. Approve it, or name the request of "
                "what is to run."
            )
        if not authority.policy.may(principal, "grant:propose", entitlement.resources(source)):
            doubt = entitlement.doubt(authority, principal.id)
            raise Refused(f"You may not propose a standing grant for this (grant:propose).{doubt}")
        opened = await self._opened(event, principal, source)
        made = await self.gate.grants.made_by(opened.tenant, opened.id)
        if made is None:
            raise Unavailable(
                "That standing grant could not be found again. Look at what `sayso grants` lists."
            )
        return made

    async def _opened(self, event: ProposeGrant, principal: Principal, source: Request) -> Request:
        off = self.gate.switches.obstacle()
        if off:
            raise Refused(_NOT_NOW.format(off))
        tools = self.gate.toolbox()
        calls = tuple(tools[call.tool].check(call.arguments, {}) for call in source.plan.calls)
        proposal = Proposal(
            tenant=source.tenant,
            conversation=source.conversation,
            turn=source.turn,
            requester=source.requester,
            profile=source.profile,
            calls=calls,
            about=AgentText(),
            editors=source.editors,
        )
        authority, frozen = await self.gate.preparing.prepared(proposal)
        await self.gate.holding.must_not_hold(authority, proposal)
        changed = difference(source.plan, frozen.plan)
        if changed:
            raise Refused(
                f"Not proposed: since that was shown, {changed}. Ask for it again first.",
                logged="Not proposed: something changed since that was shown.",
            )
        plan = replace(frozen.plan, standing=await self._standing(event, principal, source))
        new = await self.gate.preparing.drafted(
            proposal, replace(frozen, plan=plan), authority, grant=ids.grant_id()
        )
        why = why_none(new.rule)
        if why:
            raise Refused(_NOT_NOW.format(why))
        opened = await self.gate.store.open(new)
        if isinstance(opened, Denial):
            raise denials.refused(opened)
        return opened

    async def _standing(
        self, event: ProposeGrant, principal: Principal, source: Request
    ) -> Standing:
        turn = await self.conversations.turn(source.tenant, source.turn)
        if turn is None:
            raise Refused(
                "What asked for that is gone, so nobody can tell where it would hold. Ask for it again "
                "first."
            )
        return Standing(
            plan=source.plan_sha256,
            requester=source.requester,
            place=turn.place.resource,
            uses=event.uses,
            lasts_ms=int(event.lasts / timedelta(milliseconds=1)),
            proposer=principal.id,
        )

    async def known(self, identity: Identity) -> list[tuple[Grant, Plan | None]]:
        """Return the grants that somebody may know of, newest first, each with what it lets run."""
        authority, principal = await self.gate.acting.who(identity)
        found = await self.every(principal.tenant)
        seen = [await self.gate.store.get(principal.tenant, grant.request) for grant, _ in found]
        return [
            one
            for one, request in zip(found, seen, strict=True)
            if request and _may_know(authority, principal, one[0], request)
        ]

    async def every(self, tenant: str) -> list[tuple[Grant, Plan | None]]:
        """Return all grants of a tenant, newest first; the plan is None where it was erased."""
        grants = await self.gate.covering.known(tenant)
        return [(grant, await self.plan_of(grant)) for grant in grants]

    async def plan_of(self, grant: Grant) -> Plan | None:
        """Return what a grant lets run; None where it was erased."""
        request = await self.gate.store.get(grant.tenant, grant.request)
        return request.plan if request and request.is_intact else None

    async def revoke(self, event: RevokeGrant) -> Grant:
        """End a grant; raise `Refused` with one answer for what is unknown or none of theirs."""
        acting = self.gate.acting
        # No rate holds back a no, and no platform that cannot be asked.
        authority, principal = await acting.who(event.identity, Freshness.HELD)
        grant, request = await self._found(principal.tenant, event.grant)
        if grant is None or request is None or not _may_know(authority, principal, grant, request):
            await acting.refuse(principal, event.grant, UNKNOWN)
        if not _may_revoke(authority, principal, grant, request):
            doubt = entitlement.doubt(authority, principal.id)
            await acting.refuse(
                principal, grant.id, f"You may not revoke this (grant:revoke).{doubt}"
            )
        revoked = await self.gate.grants.revoke(principal.tenant, grant.id, principal=principal.id)
        if (
            revoked is None
            or revoked.state is not GrantState.REVOKED
            or (grant.state is GrantState.REVOKED or revoked.ended_by != principal.id)
        ):
            state = (revoked or grant).state.value.replace("_", " ")
            await acting.refuse(principal, grant.id, _OVER.format(grant.id, state))
        return revoked

    async def _found(self, tenant: str, given: str) -> tuple[Grant | None, Request | None]:
        grant = await self.gate.grants.get(tenant, given) if ids.is_grant_id(given) else None
        return grant, await self.gate.store.get(tenant, grant.request) if grant else None


def _must_be_bounded(event: ProposeGrant) -> None:
    if not 1 <= event.uses <= MOST_USES:
        raise Refused(f"A standing grant is for 1 to {MOST_USES} uses.")
    if not timedelta(seconds=1) <= event.lasts <= LONGEST:
        raise Refused("A standing grant lasts 1s to 30d, written like 30m, 1h or 7d.")


def _may_know(authority: Authority, principal: Principal, grant: Grant, request: Request) -> bool:
    """Whether somebody may know of a grant: who may know of its request, and who may revoke it."""
    return entitlement.may_see(authority, principal, request) or _may_revoke(
        authority, principal, grant, request
    )


def _may_revoke(authority: Authority, principal: Principal, grant: Grant, request: Request) -> bool:
    """Whether somebody may end a grant: who proposed it, and who may revoke or approve any of it."""
    if grant.proposer == principal.id:
        return True
    about = entitlement.resources(request)
    return any(
        authority.policy.may_any(principal, action, about)
        for action in ("grant:revoke", "plan:approve")
    )
