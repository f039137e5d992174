"""All that a step printed: whether it can be had, and how it is told that somebody wanted it. Pure."""

from approvals.models import Run, Step, StepState
from core.sizes import in_words

_NOT_YET = "That step has not ended. Ask for what it printed when it has."
_GONE = "It is not kept any more: it was erased, or removed when its time was over."


def obstacle(step: Step) -> str | None:
    """Say why not all that a step printed can be had, in a sentence; None where it can."""
    if step.state in {StepState.PENDING, StepState.RUNNING}:
        return _NOT_YET
    whole = step.whole
    if whole is None:
        return None
    if whole.stored is None:
        return f"Not all that this step printed was kept. {whole.why_not}"
    return _GONE if whole.is_gone else None


def wanted(run: Run, index: int, principal: str) -> str:
    """Tell who wanted it, what it is, and where else it can be had."""
    step = run.steps[index]
    stored = step.whole and step.whole.stored
    what = f": {in_words(stored.bytes)}, sha256 {stored.sha256}" if stored else ""
    return (
        f"{principal} asked for all that step {index} of run {run.id}, {step.tool}, printed{what}. In a "
        f"shell: sayso output {run.id} {index}"
    )
