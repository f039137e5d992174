"""What stands where the configuration names nothing, or nothing was opened: it does nothing and says why."""

from dataclasses import dataclass
from typing import NoReturn

from core.errors import Unavailable
from core.plans import RunStep
from core.ports import Ended, Ending, Hear


@dataclass(frozen=True, slots=True)
class NoSandbox:
    """A `Runner` for a configuration that names no sandbox: nothing runs."""

    backend: str = "unset"

    def obstacle(self, step: RunStep) -> str | None:
        """Say how to choose a sandbox."""
        del step
        return (
            "nothing may run, because no sandbox is chosen. An operator has to set "
            "`sandbox: {backend: none}` in sayso.yml to run commands without one."
        )

    async def run(self, step: RunStep, *, step_id: str, hear: Hear | None = None) -> Ended:
        """Start nothing."""
        del step_id, hear
        return Ended(ending=Ending.NOT_STARTED, exit_code=None, output=self.obstacle(step) or "")


class NoDatabase:
    """A database for whoever only looks at what is configured."""

    async def transact(self, work: object) -> NoReturn:
        """Refuse."""
        del work
        raise Unavailable("Nothing is opened here, so nothing can be kept.")

    async def changes(self) -> int:
        """Return that nothing has changed."""
        return 0
