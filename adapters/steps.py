"""Runs each step with whatever runs its kind."""

from dataclasses import dataclass
from typing import Protocol, TypeVar, assert_never

from core.plans import HttpStep, PythonStep, RunStep, Step, ToolStep
from core.ports import Ended, Ending, Hear

S_contra = TypeVar("S_contra", contravariant=True)


class KindRunner(Protocol[S_contra]):
    """Runs the steps of one kind, as `core.ports.Runner` says."""

    def obstacle(self, step: S_contra) -> str | None:
        """See the port."""
        ...

    async def run(self, step: S_contra, *, step_id: str, hear: Hear | None = None) -> Ended:
        """See the port."""
        ...


@dataclass(frozen=True, slots=True)
class NoRunner:
    """Runs nothing of a kind, and says so before anybody is asked."""

    why: str

    def obstacle(self, step: Step) -> str | None:
        """Say why."""
        del step
        return self.why

    async def run(self, step: Step, *, step_id: str, hear: Hear | None = None) -> Ended:
        """Start nothing."""
        del step, step_id, hear
        return Ended(ending=Ending.NOT_STARTED, exit_code=None, output=self.why)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRunner:
    """Implements `core.ports.Runner` over one runner for each kind of step."""

    backend: str
    commands: KindRunner[RunStep]
    http: KindRunner[HttpStep]
    python: KindRunner[PythonStep]
    tools: KindRunner[ToolStep]

    def obstacle(self, step: Step) -> str | None:
        """See the port."""
        match step:
            case RunStep():
                return self.commands.obstacle(step)
            case HttpStep():
                return self.http.obstacle(step)
            case PythonStep():
                return self.python.obstacle(step)
            case ToolStep():
                return self.tools.obstacle(step)
            case _:
                assert_never(step)

    async def run(self, step: Step, *, step_id: str, hear: Hear | None = None) -> Ended:
        """See the port."""
        match step:
            case RunStep():
                return await self.commands.run(step, step_id=step_id, hear=hear)
            case HttpStep():
                return await self.http.run(step, step_id=step_id, hear=hear)
            case PythonStep():
                return await self.python.run(step, step_id=step_id, hear=hear)
            case ToolStep():
                return await self.tools.run(step, step_id=step_id, hear=hear)
            case _:
                assert_never(step)
