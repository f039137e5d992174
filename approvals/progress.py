"""How a run is told while it goes on. Pure; software writes all of it but the lines of output."""

from collections.abc import Sequence
from datetime import timedelta

from approvals.models import Run, RunState, Step, StepState
from approvals.run_ends import lets_on
from core.cards import Button
from core.declared import Declared
from core.deliveries import Progress
from core.durations import words

LINES = 10
"""How many of the last lines of output are shown, and how wide."""
WIDTH = 160


def began(run: Run) -> str:
    """Tell that a run began."""
    return f"Run {run.id} began: {', '.join(run.tools)}."


def shown(run: Run) -> Progress:
    """Return where a run is, as the store has it."""
    running = run.state is RunState.RUNNING
    stop = Button(label="Stop", verb="stop", request=run.request)
    state = "" if running else f"{run.state.value.capitalize()}. "
    return Progress(
        run=run.id,
        title=f"Run {run.id}: {', '.join(run.tools)}",
        status=f"{state}{_at(run)}",
        began_at=run.started_at,
        buttons=(stop,) if running else (),
    )


def live(
    run: Run,
    tail: Sequence[str],
    took: timedelta,
    *,
    attempt: str = "",
    declared: Declared | None = None,
    usual: str | None = None,
) -> Progress:
    """Return where a run is that goes on, for how long, how far it says to be, and its last lines.

    `attempt` says which try of the step it is, where there may be more than one; `usual` is how long
    such runs take, in words.
    """
    now = shown(run)
    so_far = words(timedelta(seconds=int(took.total_seconds())))
    usually = f"; such runs usually take {usual}" if usual else ""
    return Progress(
        run=now.run,
        title=now.title,
        status=f"{now.status}{_sentence(attempt)} It has run for {so_far}{usually}.",
        began_at=now.began_at,
        bar=_fitting(declared.bar) if declared else "",
        tail=tuple(_fitting(line) for line in tail[-LINES:]),
        buttons=now.buttons,
    )


def _at(run: Run) -> str:
    """Return `Step 2 of 3, restart-web: running.`: the first that holds up the rest, else the last."""
    held = [s for s in run.steps if not lets_on(s.state, s.on_failure)]
    # Where nothing did and the run has failed all the same, one of those that it went past is why.
    failed = [s for s in run.steps if s.state is StepState.FAILED]
    step = [*held, *failed, run.steps[-1]][0]
    return f"Step {step.index + 1} of {len(run.steps)}, {step.tool}: {_state(step)}."


def _sentence(text: str) -> str:
    return f" {text.capitalize()}." if text else ""


def _state(step: Step) -> str:
    return step.state.value.replace("_", " ")


def _fitting(line: str) -> str:
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…"
