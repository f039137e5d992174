"""What happens when a request has waited for a while: whoever may vote is named again."""

from dataclasses import dataclass

from approvals import cards, entitlement
from approvals.gate import Gate
from approvals.models import State
from approvals.store import ApprovalStore
from core.jobs import Hold


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminding:
    """Handles the job that a request leaves for its reminder."""

    store: ApprovalStore
    gate: Gate

    async def __call__(self, hold: Hold) -> None:
        """Remind, if the request is still open, of those whose votes count now."""
        tenant, name = hold.job.tenant, str(hold.job.payload["request"])
        request = await self.store.get(tenant, name)
        if request is None or request.state is not State.OPEN or not request.is_intact:
            return
        authority = await self.gate.acting.standings.named(self.gate.acting.authority(), tenant)
        wanted = entitlement.yet_to_vote(authority, request)
        hold.check()
        await self.store.remind(tenant, name, cards.reminder(request, wanted))
