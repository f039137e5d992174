"""What happens when a request has waited for a while: whoever may vote is named again."""

from dataclasses import dataclass

from approvals import cards, entitlement
from approvals.gate import Gate
from approvals.models import Request, State
from approvals.policy import Authority
from approvals.store import ApprovalStore
from core.jobs import Hold


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminding:
    """Handles the job that a request leaves for its reminder."""

    store: ApprovalStore
    gate: Gate

    async def __call__(self, hold: Hold) -> None:
        """Remind, if the request is still open, of those whose votes count now."""
        request = await self._open(hold)
        if request is None:
            return
        authority = await self._named(request)
        wanted = entitlement.yet_to_vote(authority, request)
        hold.check()
        await self.store.remind(request.tenant, request.id, cards.reminder(request, wanted))

    async def escalate(self, hold: Hold) -> None:
        """Tell other groups, if the request is still open, and whose votes it waits for."""
        request = await self._open(hold)
        if request is None:
            return
        authority = await self._named(request)
        found = authority.policy.escalation(call.risk for call in request.plan.calls)
        people = authority.directory.members(request.tenant)
        told = [one.id for one in people if found and one.groups & found.groups]
        if not told:
            return
        text = cards.escalation(request, told, entitlement.yet_to_vote(authority, request))
        hold.check()
        await self.store.escalate(request.tenant, request.id, text=text, calls=told)

    async def _open(self, hold: Hold) -> Request | None:
        request = await self.store.get(hold.job.tenant, str(hold.job.payload["request"]))
        is_open = request and request.state is State.OPEN and request.is_intact
        return request if is_open else None

    async def _named(self, request: Request) -> Authority:
        acting = self.gate.acting
        return await acting.standings.named(acting.authority(), request.tenant)
