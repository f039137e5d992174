"""What happens when somebody decides: a vote, and the run that it may complete."""

import asyncio
from dataclasses import dataclass

from approvals import cards
from approvals.gate import Gate
from approvals.models import (
    Request,
    Run,
    RunState,
    State,
    StepState,
    Verification,
    Voted,
    job_of,
)
from approvals.store import ApprovalStore, RunStore
from core import ids
from core.errors import OutcomeUnknown, Refused
from core.events import Approve, Deny
from core.jobs import Engine
from core.plans import RunStep
from core.ports import Ending, Runner
from core.principals import Identity, Principal

_NO_RUN = "There is no run of that id that you may resolve. Look at `sayso runs`."
_ALTERED = "The stored plan of this run is not the one that was shown, so nothing of it is run."
_BY_HAND = "Look yourself, then say with --happened or --did-not what you found."


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A request after somebody's decision, and the run if that made it run."""

    request: Request
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
        return Decided(request=(await self.gate.approve(click)).request, run=None)

    async def approve(self, click: Approve, stop: asyncio.Event) -> Decided:
        """Record a yes; where it completes the quorum, run the plan and wait for its end, or stop it."""
        voted = await self.gate.approve(click, runner=self.engine.owner)
        if voted.request.state is State.OPEN:
            return Decided(request=voted.request, run=None)
        return await self._outcome(voted, stop)

    async def deny(self, click: Deny) -> Request:
        """End the request."""
        return await self.gate.deny(click)

    async def _outcome(self, voted: Voted, stop: asyncio.Event) -> Decided:
        job = job_of(voted.request.id)
        ran = await self.engine.run(job, stop)
        if not ran and voted.job is None:
            raise Refused(cards.too_late(await self._latest(voted.request)))
        if not ran:
            await self.engine.ended(job, stop)
        request = await self._latest(voted.request)
        run = await self.runs.run_of(request.tenant, request.id)
        if run is None:
            raise Refused(f"Not run. {cards.too_late(request)}")
        if run.state is RunState.RUNNING:
            raise OutcomeUnknown(
                "It ran, but how it ended could not be written down. Look at `sayso runs`."
            )
        return Decided(request=request, run=run)

    async def _latest(self, request: Request) -> Request:
        return await self.requests.get(request.tenant, request.id) or request


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolving:
    """Lets a person look at an unknown, and end it by what they found out."""

    store: RunStore
    requests: ApprovalStore
    gate: Gate
    runner: Runner

    async def resolve(self, identity: Identity, run: str, index: int, *, happened: bool) -> Run:
        """End the unknown step; raise `Refused` in one sentence for every run that is not theirs."""
        principal, found = await self._theirs(identity, run)
        return await self.store.resolve(
            principal.tenant, found.id, index, happened=happened, principal=principal.id
        )

    async def verify(self, identity: Identity, run: str, index: int) -> Verification:
        """Run the stored `verify` of the unknown step, as a read, and keep what it printed.

        It decides nothing: exit code 0 need not mean that the step happened. Raises `Refused` as
        `resolve` does, and where there is nothing to run or it cannot be started.
        """
        principal, found = await self._theirs(identity, run)
        command = await self._command(found, index)
        ended = await self.runner.run(command, step_id=ids.look_id())
        if ended.ending is Ending.NOT_STARTED:
            raise Refused(f"Its verify command could not be started, so nobody looked. {_BY_HAND}")
        seen = Verification(run=found, index=index, principal=principal.id, ended=ended)
        await self.store.verified(seen)
        return seen

    async def _theirs(self, identity: Identity, run: str) -> tuple[Principal, Run]:
        authority, principal = await self.gate.who(identity)
        found = await self.store.run(principal.tenant, run)
        about = [f"runbook:{tool}" for tool in found.tools] if found else []
        if found is None or not authority.policy.may(principal, "run:resolve", about):
            await self.gate.refuse(principal, run, _NO_RUN)
        return principal, found

    async def _command(self, run: Run, index: int) -> RunStep:
        """Return the command that people saw on the card, and that can be started here."""
        if StepState.UNKNOWN not in {s.state for s in run.steps if s.index == index}:
            raise Refused("That step is not unknown, so there is nothing to verify.")
        request = await self.requests.get(run.tenant, run.request)
        if request is None or not request.is_intact:
            raise Refused(f"{_ALTERED} {_BY_HAND}")
        call = request.plan.call_of(index)
        if call.verify is None:
            raise Refused(f"The runbook {call.tool} had no verify when this ran. {_BY_HAND}")
        obstacle = self.runner.obstacle(call.verify)
        if obstacle:
            raise Refused(f"{call.tool}: the verify command cannot run. {obstacle}")
        return call.verify
