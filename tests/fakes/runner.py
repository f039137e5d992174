"""A runner that runs nothing and ends every step as a test told it to."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from core.plans import HttpStep, PythonStep, RunStep, Step, ToolStep
from core.ports import Ended, Ending, Hear

T = TypeVar("T")
Argv: TypeAlias = tuple[str, ...]


def exited(code: int = 0, output: str = "") -> Ended:
    """Return the end of a command that exited by itself."""
    return Ended(ending=Ending.EXITED, exit_code=code, output=output)


def ended(ending: Ending, output: str = "") -> Ended:
    """Return an end without an exit code."""
    return Ended(ending=ending, exit_code=None, output=output)


def words_of(step: Step) -> Argv:
    """Return what a step does as words: its argv, its method and address, its function, or its tool."""
    match step:
        case RunStep():
            return step.argv
        case HttpStep():
            return (step.method, step.url)
        case PythonStep():
            return (step.function,)
        case ToolStep():
            return (step.server, step.tool)


@dataclass(kw_only=True)
class FakeRunner:
    """Implements `core.ports.Runner`. The tables are asked with the longest matching start of an argv."""

    backend: str = "fake"
    endings: dict[Argv, Ended] = field(default_factory=dict[Argv, Ended])
    """How a step ends; one that is not here exits with 0 and prints nothing."""
    obstacles: dict[Argv, str] = field(default_factory=dict[Argv, str])
    meanwhile: dict[Argv, Callable[[], Awaitable[object]]] = field(
        default_factory=dict[Argv, Callable[[], Awaitable[object]]]
    )
    """What is awaited while a step runs."""
    steps: list[tuple[str, Step]] = field(default_factory=list[tuple[str, Step]])
    """Every step that was started, with its step id."""
    hears: Hear | None = None
    """Who listens to the step that was started last."""
    cut: list[str] = field(default_factory=list[str])
    """The ids of the steps that were cancelled."""

    @property
    def ran(self) -> list[Argv]:
        """Return the argv of every step that was started, in order."""
        return [words_of(step) for _, step in self.steps]

    @property
    def step_ids(self) -> list[str]:
        """Return the id of every step that was started, in order."""
        return [step_id for step_id, _ in self.steps]

    def obstacle(self, step: Step) -> str | None:
        """See the port."""
        return _found(self.obstacles, words_of(step))

    def printed(self, *lines: str) -> None:
        """Have the step that was started last have printed these so far."""
        assert self.hears
        self.hears(lambda: lines)

    async def run(self, step: Step, *, step_id: str, hear: Hear | None = None) -> Ended:
        """See the port."""
        self.steps.append((step_id, step))
        self.hears = hear
        waits = _found(self.meanwhile, words_of(step))
        try:
            if waits:
                await waits()
        except asyncio.CancelledError:
            self.cut.append(step_id)
            raise
        return _found(self.endings, words_of(step)) or exited()


async def for_ever() -> None:
    """Wait until somebody cancels this."""
    await asyncio.Event().wait()


def _found(table: Mapping[Argv, T], argv: Argv) -> T | None:
    keys = [key for key in table if argv[: len(key)] == key]
    return table[max(keys, key=len)] if keys else None
