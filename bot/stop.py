"""What happens when somebody stops: never queued, and answered with what it did."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from approvals import entitlement
from approvals.gate import Gate
from approvals.models import Request, Run, RunState, State, StepState
from approvals.store import ApprovalStore, RunStore
from core.events import Stop
from core.principals import Principal

_NOT_YOURS = "You may not stop that. Whoever asked for it may, and whoever has run:stop."
_PATIENCE = 5.0
"""Seconds to wait for what was stopped to be gone, so that the answer can tell what became of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """What a stop did, counted after it was done."""

    runs: tuple[Run, ...] = ()
    requests: tuple[Request, ...] = ()
    choices: tuple[Run, ...] = ()
    """Several runs, of which nothing was stopped: the person has to say which."""

    @property
    def cut(self) -> int:
        """Return how many steps were cut, each of them killed and unknown."""
        steps = (step for run in self.runs for step in run.steps)
        return sum(step.state is StepState.UNKNOWN for step in steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopping:
    """Ends runs and withdraws requests."""

    requests: ApprovalStore
    runs: RunStore
    gate: Gate

    async def stop(self, event: Stop) -> Stopped:
        """Stop a conversation, or what the person may stop here.

        In a conversation, and for everything, runs and requests end. Otherwise the one run that
        runs is stopped; several are only listed; requests are withdrawn only if nothing runs.
        Idle is no failure, so a second stop is harmless; nor is a conversation that this person
        may not know of.
        """
        authority, principal = await self.gate.who(event.identity)
        live = await self._live(principal.tenant, event.conversation)
        theirs = [one for one in live if entitlement.may_stop(authority, principal, one[0])]
        seen = [one for one in live if entitlement.may_see(authority, principal, one[0])]
        if event.conversation and seen and not theirs:
            await self.gate.refuse(principal, event.conversation, _NOT_YOURS)
        runs = tuple(run for _, run in theirs if run)
        requests = tuple(request for request, run in theirs if not run)
        here_only = event.conversation is None and not event.everything
        if here_only and len(runs) > 1:
            return Stopped(choices=runs)
        if here_only and runs:
            requests = ()
        withdrawn, begun = await self._withdrawn(principal, requests)
        return Stopped(requests=withdrawn, runs=await self._ended(principal, (*runs, *begun)))

    async def _live(
        self, tenant: str, conversation: str | None
    ) -> list[tuple[Request, Run | None]]:
        """Return what runs, with its request, and what waits."""
        live = list[tuple[Request, Run | None]]()
        for run in await self.runs.live(tenant, conversation):
            request = await self.requests.get(tenant, run.request)
            if request:
                live.append((request, run))
        waiting = await self.requests.live(tenant, conversation)
        return [*live, *((request, None) for request in waiting)]

    async def _withdrawn(
        self, principal: Principal, requests: Iterable[Request]
    ) -> tuple[tuple[Request, ...], tuple[Run, ...]]:
        """Return what was withdrawn, and the runs of what began before it could be."""
        withdrawn, begun = list[Request](), list[Run]()
        for request in requests:
            ended = await self.requests.revoke(
                principal.tenant,
                request.id,
                principal=principal.id,
                reason=f"{principal.id} stopped it",
            )
            run = await self.runs.run_of(principal.tenant, request.id)
            if ended.state is State.REVOKED and ended.ended_by == principal.id:
                withdrawn.append(ended)
            elif run and run.state is RunState.RUNNING:
                begun.append(run)
        return tuple(withdrawn), tuple(begun)

    async def _ended(self, principal: Principal, runs: Iterable[Run]) -> tuple[Run, ...]:
        told = list(runs)
        for run in told:
            await self.runs.stop(run, principal=principal.id)
        return tuple([await self._gone(run) for run in told])

    async def _gone(self, run: Run) -> Run:
        now = asyncio.get_running_loop().time
        deadline = now() + _PATIENCE
        while run.state is RunState.RUNNING and now() < deadline:
            await asyncio.sleep(0.02)
            run = await self.runs.run(run.tenant, run.id) or run
        return run
