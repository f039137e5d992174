"""What happens once enough people agreed: the checks, the spend, the steps."""

from dataclasses import dataclass

from approvals import estimates
from approvals.execution import Execution
from approvals.gate import Gate
from approvals.models import Request, Spent, State
from approvals.store import ApprovalStore
from bot.live import Live
from core.errors import OutcomeUnknown, Refused, Unavailable
from core.jobs import Hold, LeaseLost


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """Handles the job that runs a request, in whichever process claimed it."""

    store: ApprovalStore
    gate: Gate
    execution: Execution
    live: Live

    async def __call__(self, hold: Hold) -> None:
        """Spend the request and run it; where that may not be, its card already says why."""
        job = hold.job
        request = await self.store.get(job.tenant, str(job.payload["request"]))
        spent = await self._spent(request, hold) if request else None
        if spent is None:
            return
        try:
            usual = estimates.usual(spent.request.card.estimate)
            async with self.live.showing(spent.run, hold, usual=usual) as watch:
                await self.execution.execute(spent, hold, watch)
        except LeaseLost:
            raise
        except (OutcomeUnknown, Unavailable) as error:
            # The job must not end before its run: whoever takes it next says what is unknown.
            raise LeaseLost(error.shown, job=job.id) from error

    async def _spent(self, request: Request, hold: Hold) -> Spent | None:
        if request.state is State.SPENT:
            # An earlier claim spent it and died before the first step.
            return await self.store.resume(request, job=hold.job)
        if request.state is not State.GRANTED:
            return None
        try:
            return await self.gate.spend(request, hold.job)
        except Refused:
            return None
