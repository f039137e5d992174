"""What somebody may look at in chat: requests, runs, and what was said where they are."""

from dataclasses import dataclass

from approvals import cards, entitlement
from approvals.gate import Gate
from approvals.models import Request, Run, State
from approvals.policy import Authority
from approvals.store import ApprovalStore, Records, RunStore
from bot.inbox import NOT_HERE
from core.conversations import Said
from core.deliveries import Asking
from core.principals import Identity, Principal
from core.terminal import Seat

MOST = 5
"""Runs that are shown at once."""
_AGAIN = frozenset({State.DENIED, State.EXPIRED, State.REVOKED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Looking:
    """Shows people what they may know of: for anybody else, it is as if it were not there (I14)."""

    gate: Gate
    requests: ApprovalStore
    run_store: RunStore
    records: Records

    async def waiting(self, identity: Identity) -> list[Request]:
        """Return the requests that wait for people or for their run."""
        await self.gate.admit(identity, "looks")
        return await self.decidable(identity)

    async def decidable(self, identity: Identity) -> list[Request]:
        """Return the same for a decision that names none: no rate holds back a no."""
        authority, principal = await self.gate.who(identity)
        live = await self.requests.live(principal.tenant, None)
        return [one for one in live if entitlement.may_see(authority, principal, one)]

    async def ended(self, seat: Seat) -> list[Request]:
        """Return the requests of this conversation that somebody could ask for again."""
        authority, principal = await self.gate.admit(seat.identity, "looks")
        found = [one for one in await self.records.requests() if one.tenant == principal.tenant]
        return [
            one
            for one in found
            if one.state in _AGAIN
            and one.conversation == seat.conversation
            and entitlement.may_see(authority, principal, one)
        ]

    async def card(self, identity: Identity, request: str) -> Asking:
        """Return the card of a request as it is now; one refusal for every one that is not theirs."""
        await self.gate.admit(identity, "looks")
        _, _, found = await self.gate.seen(identity, request)
        card, told = cards.drawn(*await self.latest(found))
        return Asking(card=card, status=told)

    async def latest(self, request: Request) -> tuple[Request, Run | None]:
        """Return a request that somebody knows of as it is now, and its run."""
        now = await self.requests.get(request.tenant, request.id) or request
        return now, await self.run_store.run_of(now.tenant, now.id)

    async def runs(self, identity: Identity) -> list[Run]:
        """Return the newest runs."""
        return [run for run, _ in await self.ran(identity)]

    async def ran(self, identity: Identity) -> list[tuple[Run, Request]]:
        """Return the newest runs, each with what it was to do."""
        authority, principal = await self.gate.admit(identity, "looks")
        found = list[tuple[Run, Request]]()
        for run in await self.records.runs():
            if len(found) == MOST:
                break
            request = await self._theirs(authority, principal, run)
            if request:
                found.append((run, request))
        return found

    async def said(self, seat: Seat) -> list[Said]:
        """Return what was said in a conversation, oldest first."""
        authority, principal = await self.gate.admit(seat.identity, "looks")
        if not entitlement.may_chat(authority, principal, seat.place):
            await self.gate.refuse(principal, seat.place.resource, NOT_HERE)
        return [*await self.records.said(seat.conversation)] if seat.conversation else []

    async def _theirs(self, authority: Authority, principal: Principal, run: Run) -> Request | None:
        if run.tenant != principal.tenant:
            return None
        request = await self.requests.get(run.tenant, run.request)
        return request if request and entitlement.may_see(authority, principal, request) else None
