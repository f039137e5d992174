"""Whether all that a step printed can be had, and how it is told that somebody wanted it."""

from dataclasses import replace

import pytest

from approvals import outputs
from approvals.models import RunState, Step, StepState, Whole
from tests.stores import WHOLE
from tests.unit.approvals.test_progress import a_run

RUN = a_run(RunState.SUCCEEDED, StepState.SUCCEEDED)
STEP: Step = RUN.steps[0]


@pytest.mark.parametrize(
    ("whole", "why"),
    [
        (None, None),
        (WHOLE, None),
        (
            Whole(why_not="The disk is full."),
            "Not all that this step printed was kept. The disk is full.",
        ),
        (
            replace(WHOLE, is_gone=True),
            "It is not kept any more: it was erased, or removed when its time was over.",
        ),
    ],
)
def test_what_stands_in_the_way_is_a_sentence(whole: Whole | None, why: str | None) -> None:
    assert outputs.obstacle(replace(STEP, whole=whole)) == why


@pytest.mark.parametrize("state", [StepState.PENDING, StepState.RUNNING])
def test_of_a_step_that_goes_on_not_all_can_be_had(state: StepState) -> None:
    told = "That step has not ended. Ask for what it printed when it has."
    assert outputs.obstacle(replace(STEP, state=state)) == told


@pytest.mark.parametrize(
    ("whole", "what"),
    [(WHOLE, f": 100.0 kB, sha256 {'a' * 64}"), (None, ""), (Whole(why_not="It is full."), "")],
)
def test_whoever_wanted_it_is_named_with_what_it_is(whole: Whole | None, what: str) -> None:
    run = replace(RUN, steps=(replace(STEP, whole=whole),))
    assert outputs.wanted(run, 0, "carol") == (
        f"carol asked for all that step 0 of run r_1, build, printed{what}. In a shell: sayso output r_1 0"
    )
