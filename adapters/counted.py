"""A runner that can tell how many commands it is running, and for whom."""

from dataclasses import dataclass, field

from core.plans import Step
from core.ports import Ended, Hear, Runner


@dataclass(frozen=True, slots=True)
class CountedRunner:
    """Implements `core.ports.Runner` over another one."""

    runner: Runner
    _running: set[str] = field(default_factory=set[str])

    @property
    def backend(self) -> str:
        """See the port."""
        return self.runner.backend

    def obstacle(self, step: Step) -> str | None:
        """See the port."""
        return self.runner.obstacle(step)

    async def run(self, step: Step, *, step_id: str, hear: Hear | None = None) -> Ended:
        """See the port."""
        self._running.add(step_id)
        try:
            return await self.runner.run(step, step_id=step_id, hear=hear)
        finally:
            self._running.discard(step_id)

    def running(self, who: str) -> int:
        """Count what runs right now for a turn or a request: their commands are named after them."""
        return sum(step.startswith(f"{who}.") for step in self._running)
