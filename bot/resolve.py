"""What happens when somebody looks at an unknown step, or ends it."""

from collections.abc import Sequence
from dataclasses import dataclass

from approvals import entitlement
from approvals.cards import names
from approvals.gate import Gate
from approvals.models import Run, StepState, Verification
from approvals.store import ApprovalStore, RunStore
from core import ids
from core.errors import Refused
from core.plans import Step
from core.ports import Ending, Runner
from core.principals import Identity, Principal
from core.tools import of_runbook

_NO_RUN = (
    "There is no run of that id that you may resolve. /runs in a chat or `sayso runs` lists them."
)
_ALTERED = "The stored plan of this run is not the one that was shown, so nothing of it is run."
_BY_HAND = "Look yourself, then say what you found: happened or did-not."


def _not_yours(holders: Sequence[str]) -> str:
    whose = f"{names(holders)} may" if holders else "nobody may right now"
    return f"You may not resolve this run (run:resolve); {whose}."


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
        ended = await self.runner.run(command, step_id=ids.look_id(found.id))
        if ended.ending is Ending.NOT_STARTED:
            raise Refused(f"Its verify command could not be started, so nobody looked. {_BY_HAND}")
        seen = Verification(run=found, index=index, principal=principal.id, ended=ended)
        await self.store.verified(seen)
        return seen

    async def _theirs(self, identity: Identity, run: str) -> tuple[Principal, Run]:
        authority, principal = await self.gate.acting.admit(identity, "looks")
        found = await self.store.run(principal.tenant, run)
        about = tuple(map(of_runbook, found.tools if found else ()))
        if found is None:
            await self.gate.acting.refuse(principal, run, _NO_RUN)
        if not authority.policy.may(principal, "run:resolve", about):
            request = await self.requests.get(principal.tenant, found.request)
            known = request is not None and entitlement.may_see(authority, principal, request)
            holders = authority.holders(principal.tenant, "run:resolve", about)
            await self.gate.acting.refuse(principal, run, _not_yours(holders) if known else _NO_RUN)
        return principal, found

    async def _command(self, run: Run, index: int) -> Step:
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
