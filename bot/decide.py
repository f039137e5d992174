"""What happens when somebody decides: a vote, and the run that it may complete."""

import asyncio
from dataclasses import dataclass

from approvals import cards
from approvals.gate import Gate
from approvals.models import Request, Run, RunState, State, Voted, Yes, job_of
from approvals.store import ApprovalStore, RunStore
from core.errors import OutcomeUnknown, Refused
from core.events import Approve, Deny
from core.jobs import Engine
from core.rulings import BreakGlass


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A request after somebody's decision, and the run if that made it run."""

    request: Request
    yes: Yes
    run: Run | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Deciding:
    """Takes votes, and sees to it that what enough people agreed to is run."""

    gate: Gate
    requests: ApprovalStore
    runs: RunStore
    engine: Engine

    async def vote(self, click: Approve) -> Decided:
        """Record a yes and leave the run to whoever serves the queue."""
        voted = await self.gate.approve(click)
        self.engine.look()
        return Decided(request=voted.request, yes=voted.yes, run=None)

    async def approve(self, click: Approve, stop: asyncio.Event) -> Decided:
        """Record a yes; where it completes the quorum, run the plan and wait for its end, or stop it."""
        voted = await self.gate.approve(click, runner=self.engine.owner)
        if voted.request.state is State.OPEN:
            return Decided(request=voted.request, yes=voted.yes, run=None)
        return await self._outcome(voted, stop)

    async def break_glass(self, click: BreakGlass) -> Decided:
        """Let it run by one person's word, and leave the run to whoever serves the queue."""
        voted = await self.gate.break_glass(click)
        self.engine.look()
        return Decided(request=voted.request, yes=voted.yes, run=None)

    async def break_through(self, click: BreakGlass, stop: asyncio.Event) -> Decided:
        """Let it run by one person's word, and wait for the end of the run, or stop it."""
        voted = await self.gate.break_glass(click, runner=self.engine.owner)
        return await self._outcome(voted, stop)

    async def deny(self, click: Deny) -> Request:
        """End the request."""
        return await self.gate.deny(click)

    async def _outcome(self, voted: Voted, stop: asyncio.Event) -> Decided:
        if voted.job:
            await self.engine.see_through(voted.job, stop)
        elif not await self.engine.run(job_of(voted.request.id), stop):
            raise Refused(cards.too_late(await self._latest(voted.request)))
        request = await self._latest(voted.request)
        run = await self.runs.run_of(request.tenant, request.id)
        if run is None and request.state is State.SPENT and cards.asks_to_grant(request):
            return Decided(request=request, yes=voted.yes, run=None)
        if run is None:
            raise Refused(f"Not run. {cards.too_late(request)}")
        if run.state is RunState.RUNNING:
            raise OutcomeUnknown(
                "It ran, but how it ended could not be written down. Look at `sayso runs`."
            )
        return Decided(request=request, yes=voted.yes, run=run)

    async def _latest(self, request: Request) -> Request:
        return await self.requests.get(request.tenant, request.id) or request
