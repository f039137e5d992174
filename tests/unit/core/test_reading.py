"""Reads whose runbook says what is done where a step fails: they change nothing, so all may be repeated."""

import pytest

from core.plans import OnFailure, Retry
from core.ports import Ended, Ending
from core.reading import Reading
from core.redaction import Redactor
from core.tools import Effect
from core.transcript import Result
from tests.builders import a_caller, a_checked, a_tool
from tests.fakes.runner import FakeRunner, ended, exited
from tests.scene import untold

RETRY = Retry(times=2, wait_ms=1)


async def read(
    runner: FakeRunner, *, retry: Retry | None = None, on_failure: OnFailure = "stop"
) -> Result:
    """Read with two steps."""
    tool = a_tool("look", effect=Effect.READ, steps=2, retry=retry, on_failure=on_failure)
    reading = Reading(
        runner=runner,
        turn="t_1",
        caller=a_caller(),
        most=10_000,
        trail=untold,
        redactor=Redactor.of([]),
    )
    found: dict[str, Result] = {}
    await reading.look({"1": a_checked(tool=tool)}, found)
    return found["1"]


async def test_a_step_that_failed_is_read_again_under_the_same_id() -> None:
    runner, ends = FakeRunner(), iter([exited(1, "no\n"), exited(0, "yes\n"), exited(0, "end\n")])

    async def turn() -> None:
        runner.endings["look",] = next(ends)

    runner.meanwhile["look",] = turn
    result = await read(runner, retry=RETRY)
    told = "[try 1 of 3: exit code 1]\nno\n[try 2 of 3]\nyes\nend"
    assert (result.failed, result.text) == (False, told)
    assert runner.step_ids == ["t_1.1"] * 3


async def test_a_read_that_fails_at_every_try_has_failed() -> None:
    runner = FakeRunner(endings={("look",): ended(Ending.TIMED_OUT)})
    result = await read(runner, retry=RETRY)
    assert result.failed
    assert result.text.startswith("look failed: it ran longer than its time limit.\n[try 1 of 3: ")
    assert len(runner.ran) == 3


@pytest.mark.parametrize(
    ("on_failure", "ran", "text"),
    [
        ("stop", 1, "look failed: exit code 3.\nno"),
        ("continue", 2, "look failed: exit code 3.\nno\nyes"),
    ],
)
async def test_the_steps_behind_a_failed_one_are_read_where_the_runbook_says_so(
    on_failure: OnFailure, ran: int, text: str
) -> None:
    ends: dict[tuple[str, ...], Ended] = {
        ("look", "0"): exited(3, "no\n"),
        ("look", "1"): exited(0, "yes\n"),
    }
    runner = FakeRunner(endings=ends)
    result = await read(runner, on_failure=on_failure)
    assert (result.failed, result.text, len(runner.ran)) == (True, text, ran)
