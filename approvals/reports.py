"""What became of a run, told by software alone, and what people may do about it. Pure."""

from collections import Counter
from collections.abc import Iterator

from approvals.cards import at, names
from approvals.models import Run, RunState, Step, StepState, Verification
from approvals.run_ends import lets_on
from core import exits
from core.cards import Button
from core.display import one_line
from core.ports import ending_in_words
from core.sizes import in_words

_COUNTED = (StepState.SUCCEEDED, StepState.FAILED, StepState.UNKNOWN, StepState.NOT_RUN)
_UNKNOWN = "A step may or may not have happened. Nothing is tried again; look, then"


def choices(run: Run, *, undo: bool = False) -> tuple[Button, ...]:
    """Return what people may do about a run: end an unknown step, or undo it where that is known how."""
    if undo:
        return (Button(label="Undo", verb="undo", request=run.request),)
    if run.state is not RunState.UNKNOWN:
        return ()
    return (
        Button(label="Verify", verb="verify", request=run.request),
        Button(label="It happened", verb="happened", request=run.request),
        Button(label="It did not", verb="did_not", request=run.request),
        Button(label="Plan again", verb="again", request=run.request),
    )


def report(run: Run) -> str:
    """Return what a run did, rebuilt from the store alone: the same bytes every time."""
    head = f"Run {run.id} {run.state.value.replace('_', ' ')}: {', '.join(run.tools)}."
    told = {
        RunState.UNKNOWN: f"{_UNKNOWN} {_how(run)}",
        RunState.CANCELLED: "It was stopped between steps: what is marked not run did not happen.",
    }
    lines = [head, *(line for step in run.steps for line in _step_lines(step)), *_passed_over(run)]
    lines += [told[run.state]] if run.state in told else []
    lines += [told for step in run.steps for told in _whole(run, step)]
    alone = (
        f" Glass broken by {run.broken_by}: {one_line(run.broken_why)}." if run.broken_by else ""
    )
    return "\n".join([*lines, f"{_allowed(run)}; plan {run.plan}.{alone}"])


def _passed_over(run: Run) -> Iterator[str]:
    """Count how the steps ended where some ran behind one that failed: the run's state is of that one."""
    ends = Counter(step.state for step in run.steps)
    if any(lets_on(s.state, s.on_failure) for s in run.steps if s.state is StepState.FAILED):
        told = [f"{ends[state]} {_state(state)}" for state in _COUNTED if ends[state]]
        yield f"Of its {len(run.steps)} steps, {', '.join(told)}."


def _allowed(run: Run) -> str:
    """Say why it could run: who approved it, or the grant that they approved before."""
    by = f"pproved by {names(run.voters)}"
    if run.under is None:
        return f"A{by}"
    use = run.under
    return (
        f"Ran under standing grant {use.grant}, use {use.number} of {use.most}, until "
        f"{at(use.until)}, a{by}"
    )


def in_chat(told: str, run: Run) -> str:
    """Return a report as it is to stand above the choices about its run, which say what to type."""
    return told.replace(_how(run), "say which below.") if choices(run) else told


def _how(run: Run) -> str:
    """Say what ends an unknown step, wherever that is read: in a chat and in a shell."""
    index = next((step.index for step in run.steps if step.state is StepState.UNKNOWN), "INDEX")
    return (
        f"say which with {_either(run.id, index)}; where its runbook has a verify, `verify` in that "
        "place looks."
    )


def _either(run: str, index: int | str) -> str:
    """Return what ends an unknown step: in a terminal's chat, on a platform, and in a shell."""
    return (
        f"/resolve {run} {index} happened (or did-not) in a chat at a terminal, with the buttons "
        f"below its report, or with sayso resolve {run} {index} --happened (or --did-not) in a shell"
    )


def _state(state: StepState) -> str:
    return state.value.replace("_", " ")


def _step_lines(step: Step) -> Iterator[str]:
    code = "" if step.exit_code is None else f" ({exits.in_words(step.exit_code)})"
    note = f": {step.note}" if step.note else ""
    yield f"  {step.index}. {step.tool} {_state(step.state)}{code}{note}"
    if step.state is not StepState.PENDING:
        yield from (f"     {line}" for line in step.output.splitlines())


def _whole(run: Run, step: Step) -> Iterator[str]:
    """Tell where all of an output is of which not all is shown, or why it is nowhere."""
    whole = step.whole
    if whole is None:
        return
    if whole.stored is None:
        yield f"Not all that step {step.index} printed was kept. {whole.why_not}"
        return
    size, sha256 = in_words(whole.stored.bytes), whole.stored.sha256
    yield (
        f"Step {step.index} printed more than is shown: {size}, sha256 {sha256}. To have all of it, write "
        f"output {run.id} {step.index} in a chat, or sayso output {run.id} {step.index} in a shell."
    )


def verification(seen: Verification, *, then: str = "") -> str:
    """Return what looking at an unknown step printed, and that this decides nothing.

    `then` is what can be typed to end it, where it is known where that is.
    """
    run, tool = seen.run.id, seen.run.steps[seen.index].tool
    then = then or _either(run, seen.index)
    return "\n".join(
        [
            f"{seen.principal} verified step {seen.index} of run {run}, {tool}: "
            f"{ending_in_words(seen.ended)}.",
            *(f"     {line}" for line in seen.ended.output.splitlines()),
            f"This decides nothing. Judge by what was printed, then say which with {then}.",
        ]
    )
