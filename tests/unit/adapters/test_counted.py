"""How many commands run for whom: what a stop tells that it killed."""

import asyncio

import pytest

from adapters.counted import CountedRunner
from core.plans import RunStep
from tests.builders import a_step
from tests.fakes.runner import FakeRunner, exited, for_ever
from tests.jobs import soon


async def test_what_runs_is_counted_for_whom_it_runs_and_for_nobody_else() -> None:
    fake = FakeRunner(meanwhile={("wait",): for_ever})
    counted = CountedRunner(fake)
    names = ("t_1.1", "t_1.2", "t_10.1", "r_1.0")
    tasks = [asyncio.create_task(counted.run(a_step("wait"), step_id=name)) for name in names]

    async def all_begun() -> bool:
        return len(fake.ran) == len(names)

    await soon(all_begun)
    assert [counted.running(who) for who in ("t_1", "t_10", "r_1", "t_", "t_2")] == [2, 1, 1, 0, 0]
    tasks[0].cancel()
    await asyncio.wait(tasks[:1])
    assert counted.running("t_1") == 1
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    assert counted.running("t_1") == 0
    assert fake.cut == list(names)


async def test_what_has_ended_is_not_counted_however_it_ended() -> None:
    async def breaks() -> None:
        raise OSError("no more processes")

    fake = FakeRunner(endings={("fine",): exited(3)}, meanwhile={("bad",): breaks})
    counted = CountedRunner(fake)
    assert await counted.run(a_step("fine"), step_id="t_1.1") == exited(3)
    with pytest.raises(OSError, match="no more"):
        await counted.run(a_step("bad"), step_id="t_1.2")
    assert counted.running("t_1") == 0


def test_everything_else_is_that_of_the_runner_itself() -> None:
    step: RunStep = a_step("no-such-program")
    fake = FakeRunner(backend="bwrap", obstacles={("no-such-program",): "There is none."})
    counted = CountedRunner(fake)
    assert (counted.backend, counted.obstacle(step)) == ("bwrap", "There is none.")
    assert counted.obstacle(a_step("true")) is None
