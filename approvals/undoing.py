"""What undoes a run: a new plan, proposed by whoever wants that, which people decide like any other."""

from collections.abc import Callable
from dataclasses import dataclass

from approvals.gate import Gate
from approvals.models import Run, RunState
from approvals.policy import Authority
from approvals.store import RunStore
from core.canonical import JsonObject
from core.errors import Refused, SaysoError
from core.plans import Plan
from core.principals import Principal
from core.tools import Checked, Toolbox

NO_RUN = "There is no such run that you may undo. Copy its id from its report."
_NO_UNDO = (
    "Its runbook {} says nothing about how to undo it. Ask in words for what you need instead."
)
_ENDS = {
    RunState.RUNNING: "It still runs. Stop it, or wait for its report.",
    RunState.UNKNOWN: "A step of it may or may not have happened. Say first what became of it.",
}
_IN_PART = "Not all of it happened, so nobody knows what would undo it. Ask for that in words."


@dataclass(frozen=True, slots=True, kw_only=True)
class Undoing:
    """Finds out what undoes a run. Proposing that is for the gate."""

    gate: Gate
    runs: RunStore
    toolbox: Callable[[], Toolbox]
    """Reads the catalogue afresh; raises where it cannot be read."""

    def offered(self, run: Run) -> bool:
        """Whether a run can be undone as the catalogue is now; not where that cannot be read."""
        if run.state is not RunState.SUCCEEDED:
            return False
        try:
            tools = self.toolbox()
        except SaysoError:
            return False
        return all(name in tools.names and tools[name].undo for name in run.tools)

    async def run(self, authority: Authority, principal: Principal, given: str) -> Run:
        """Return a run that can be undone, by its id or its request's.

        Raises `Refused`: one answer for every run of which somebody may not know, and why where it
        did not do all that was asked of it.
        """
        run, _ = await self._known(authority, principal, given)
        return run

    async def calls(
        self, who: tuple[Authority, Principal], given: str, offered: Toolbox
    ) -> tuple[Run, tuple[Checked, ...]]:
        """Return a run and the calls that undo it, the last first, of what is `offered` to somebody."""
        run, plan = await self._known(*who, given)
        tools = self.toolbox()
        undone = [_undone(call.tool, call.arguments, tools, offered) for call in plan.calls]
        return run, tuple(reversed(undone))

    async def _known(
        self, authority: Authority, principal: Principal, given: str
    ) -> tuple[Run, Plan]:
        gate, tenant = self.gate, principal.tenant
        named = await self.runs.run(tenant, given)
        request = await gate.known(authority, principal, named.request if named else given, NO_RUN)
        run = named or await self.runs.run_of(tenant, request.id)
        if run is None:
            await gate.acting.refuse(principal, given, NO_RUN)
        if run.state is not RunState.SUCCEEDED:
            why = f"Run {run.id} is not undone. {_ENDS.get(run.state, _IN_PART)}"
            await gate.acting.refuse(principal, given, why)
        return run, request.plan


def _undone(tool: str, arguments: JsonObject, tools: Toolbox, offered: Toolbox) -> Checked:
    undo = tools[tool].undo if tool in tools.names else None
    if undo is None:
        raise Refused(_NO_UNDO.format(tool))
    undoes = offered[undo.runbook]
    return undoes.check(undo.arguments(arguments, undoes.names), {})
