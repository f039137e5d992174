"""How a run ends, judged from where its steps are. Pure."""

from collections.abc import Sequence
from typing import Protocol

from approvals.models import RunState, StepState
from core.plans import OnFailure

_ENDS = {
    StepState.FAILED: RunState.FAILED,
    StepState.UNKNOWN: RunState.UNKNOWN,
    StepState.CANCELLED: RunState.CANCELLED,
}


class Stepped(Protocol):
    """As much of a step as decides about its run."""

    @property
    def state(self) -> StepState:
        """Where it is."""
        ...

    @property
    def on_failure(self) -> OnFailure:
        """Whether the steps behind it run where it has failed."""
        ...


def lets_on(state: StepState, on_failure: OnFailure) -> bool:
    """Whether the step behind one in this state may begin."""
    goes_on = state is StepState.FAILED and on_failure == "continue"
    return goes_on or state is StepState.SUCCEEDED


def end_of(steps: Sequence[Stepped]) -> RunState | None:
    """Return how a run with steps like these has ended; None where there is one that may begin."""
    for step in steps:
        if not lets_on(step.state, step.on_failure):
            return _ENDS.get(step.state)
    failed = any(step.state is StepState.FAILED for step in steps)
    return RunState.FAILED if failed else RunState.SUCCEEDED
