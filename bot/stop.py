"""What happens when somebody stops: never queued, and answered with what it did."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from approvals import entitlement
from approvals.gate import Gate
from approvals.models import Request, Run, RunState, State, StepState
from approvals.policy import Authority
from approvals.store import ApprovalStore, RunStore
from core.events import Stop
from core.principals import Principal

_NOTHING_THERE = "Nothing that you may stop runs or waits in that conversation."
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
        """
        authority, principal = await self.gate.who(event.identity)
        runs, requests = await self._theirs(authority, principal, event.conversation)
        if event.conversation and not runs and not requests:
            await self.gate.refuse(principal, event.conversation, _NOTHING_THERE)
        here_only = event.conversation is None and not event.everything
        if here_only and len(runs) > 1:
            return Stopped(choices=runs)
        if here_only and runs:
            requests = ()
        withdrawn, begun = await self._withdrawn(principal, requests)
        return Stopped(requests=withdrawn, runs=await self._ended(principal, (*runs, *begun)))

    async def _theirs(
        self, authority: Authority, principal: Principal, conversation: str | None
    ) -> tuple[tuple[Run, ...], tuple[Request, ...]]:
        """Return what runs and what waits, as far as this person may stop it."""
        runs, requests = list[Run](), list[Request]()
        for run in await self.runs.live(principal.tenant, conversation):
            request = await self.requests.get(principal.tenant, run.request)
            if request and entitlement.may_stop(authority, principal, request):
                runs.append(run)
        for request in await self.requests.live(principal.tenant, conversation):
            if entitlement.may_stop(authority, principal, request):
                requests.append(request)
        return tuple(runs), tuple(requests)

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
