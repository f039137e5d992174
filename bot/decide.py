"""What happens when somebody decides: a vote, the spend, the run."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from approvals.execution import Execution
from approvals.gate import Gate
from approvals.models import Request, Run, State
from approvals.policy import Authority
from approvals.store import RunStore
from core.errors import Refused
from core.events import Approve, Deny
from core.principals import Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A request after somebody's decision, and the run if that made it run."""

    request: Request
    run: Run | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Deciding:
    """Takes votes, and runs what enough people agreed to."""

    gate: Gate
    execution: Execution

    async def approve(self, click: Approve, stop: asyncio.Event) -> Decided:
        """Record a yes; where it completes the quorum, run the plan to its end or until `stop`."""
        request = await self.gate.approve(click)
        if request.state is not State.GRANTED:
            return Decided(request=request, run=None)
        spent = await self.gate.spend(click, request)
        return Decided(request=spent.request, run=await self.execution.execute(spent, stop))

    async def deny(self, click: Deny) -> Request:
        """End the request."""
        return await self.gate.deny(click)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolving:
    """Lets a person end an unknown by what they found out."""

    store: RunStore
    authority: Callable[[], Authority]

    async def resolve(self, identity: Identity, run: str, index: int, *, happened: bool) -> Run:
        """End the unknown step; raise `Refused` in one sentence for every run that is not theirs."""
        authority = self.authority()
        principal = authority.directory.resolve(identity)
        found = await self.store.run(principal.tenant, run)
        about = [f"runbook:{tool}" for tool in found.tools] if found else []
        if found is None or not authority.policy.may(principal, "run:resolve", about):
            raise Refused("There is no run of that id that you may resolve. Look at `sayso runs`.")
        return await self.store.resolve(
            principal.tenant, run, index, happened=happened, principal=principal.id
        )
