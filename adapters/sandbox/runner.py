"""Runs the steps of runbooks that are commands."""

from dataclasses import dataclass

from adapters.sandbox.programs import Program, Programs
from core.plans import RunStep
from core.ports import Ended, Hear


@dataclass(frozen=True, slots=True)
class CommandRunner:
    """Runs each command in the box that its programs run in."""

    programs: Programs

    @property
    def backend(self) -> str:
        """See the port."""
        return self.programs.box.backend

    def obstacle(self, step: RunStep) -> str | None:
        """See the port."""
        return self.programs.obstacle(_program(step))

    async def run(self, step: RunStep, *, step_id: str, hear: Hear | None = None) -> Ended:
        """See the port."""
        return await self.programs.run(_program(step), step_id=step_id, hear=hear)


def _program(step: RunStep) -> Program:
    return Program(
        argv=step.argv,
        timeout_ms=step.timeout_ms,
        memory_bytes=step.memory_bytes,
        secrets=step.secrets,
        network=step.network,
    )
