"""What people read of a run while it goes on."""

from dataclasses import replace
from datetime import timedelta

import pytest

from approvals import progress
from approvals.models import Run, RunState, Step, StepState
from core.cards import Button
from core.declared import Declared
from tests.fakes.clock import START

STATES = StepState
REQUEST = "0" * 32


def a_run(state: RunState, *steps: StepState) -> Run:
    return Run(
        id="r_1",
        tenant="acme",
        conversation="c_1",
        request=REQUEST,
        plan="p_1",
        voters=("bob",),
        state=state,
        fence=1,
        steps=tuple(
            Step(
                index=index,
                tool="build" if index == 0 else "deploy",
                state=one,
                exit_code=None,
                output="kept for the report",
                note="",
            )
            for index, one in enumerate(steps)
        ),
        started_at=START,
        ended_at=None,
    )


GOING_ON = a_run(RunState.RUNNING, STATES.SUCCEEDED, STATES.RUNNING)


def test_where_a_run_is_and_how_it_is_stopped() -> None:
    shown = progress.shown(GOING_ON)
    assert (shown.run, shown.title) == ("r_1", "Run r_1: build, deploy")
    assert shown.status == "Step 2 of 2, deploy: running."
    assert (shown.began_at, shown.tail) == (START, ())
    assert shown.buttons == (Button(label="Stop", verb="stop", request=REQUEST),)


@pytest.mark.parametrize(
    ("run", "status"),
    [
        (a_run(RunState.RUNNING, STATES.PENDING), "Step 1 of 1, build: pending."),
        (
            a_run(RunState.SUCCEEDED, STATES.SUCCEEDED, STATES.SUCCEEDED),
            "Succeeded. Step 2 of 2, deploy: succeeded.",
        ),
        (
            a_run(RunState.FAILED, STATES.FAILED, STATES.NOT_RUN),
            "Failed. Step 1 of 2, build: failed.",
        ),
        (
            a_run(RunState.UNKNOWN, STATES.SUCCEEDED, STATES.UNKNOWN),
            "Unknown. Step 2 of 2, deploy: unknown.",
        ),
        (
            a_run(RunState.CANCELLED, STATES.SUCCEEDED, STATES.NOT_RUN),
            "Cancelled. Step 2 of 2, deploy: not run.",
        ),
    ],
    ids=lambda one: one.state if isinstance(one, Run) else "",
)
def test_a_run_says_at_which_step_it_is_or_ended(run: Run, status: str) -> None:
    shown = progress.shown(run)
    assert shown.status == status
    assert bool(shown.buttons) is (run.state is RunState.RUNNING)


def test_a_frame_tells_for_how_long_it_runs_and_the_end_of_what_it_printed() -> None:
    lines = [f"line {number}" for number in range(100)]
    frame = progress.live(GOING_ON, lines, timedelta(seconds=125.9))
    assert frame.status == "Step 2 of 2, deploy: running. It has run for 2m5s."
    assert frame.tail == tuple(lines[-progress.LINES :])
    assert replace(frame, status="", tail=()) == replace(progress.shown(GOING_ON), status="")


def test_a_frame_says_which_try_it_is() -> None:
    frame = progress.live(GOING_ON, (), timedelta(seconds=3), attempt="try 2 of 3")
    assert frame.status == "Step 2 of 2, deploy: running. Try 2 of 3. It has run for 3s."


@pytest.mark.parametrize(
    ("state", "states", "status"),
    [
        (RunState.RUNNING, (STATES.FAILED, STATES.RUNNING), "Step 2 of 2, deploy: running."),
        (RunState.FAILED, (STATES.FAILED, STATES.SUCCEEDED), "Failed. Step 1 of 2, build: failed."),
        (
            RunState.UNKNOWN,
            (STATES.FAILED, STATES.UNKNOWN),
            "Unknown. Step 2 of 2, deploy: unknown.",
        ),
    ],
)
def test_a_run_that_went_past_a_failed_step_says_where_it_is(
    state: RunState, states: tuple[StepState, ...], status: str
) -> None:
    run = a_run(state, *states)
    lenient = replace(run, steps=tuple(replace(s, on_failure="continue") for s in run.steps))
    assert progress.shown(lenient).status == status


def test_how_far_it_says_to_be_and_how_long_such_runs_take_are_told_too() -> None:
    said = Declared(percent=40, words="copying")
    took = timedelta(seconds=12)
    frame = progress.live(GOING_ON, ("one",), took, declared=said, usual="about 20 s")
    assert frame.status.endswith(" It has run for 12s; such runs usually take about 20 s.")
    assert frame.printed == ("[########............] 40% copying", "one")
    long = Declared(percent=40, words="c" * 1000)
    assert len(progress.live(GOING_ON, (), took, declared=long).bar) == progress.WIDTH
    assert progress.live(GOING_ON, ("one",), took).printed == ("one",)


def test_a_long_line_is_cut_where_people_see_it() -> None:
    fits, long = "a" * progress.WIDTH, "b" * (progress.WIDTH + 1)
    shown_fits, shown_long = progress.live(GOING_ON, (fits, long), timedelta()).tail
    assert shown_fits == fits
    assert shown_long == "b" * (progress.WIDTH - 1) + "…"


def test_that_a_run_began_is_told_with_what_it_runs() -> None:
    assert progress.began(GOING_ON) == "Run r_1 began: build, deploy."
