"""What is kept of a step that printed more than is shown, and that this never keeps it from ending."""

import asyncio
from collections.abc import AsyncIterator
from hashlib import sha256

import pytest

from approvals.execution import Execution
from approvals.keeping import Keeping
from approvals.models import Run, RunState, StepState, Whole
from approvals.reports import report
from core.artifacts import Stored
from core.errors import SaysoError, Unavailable
from core.ports import Ended, Ending, Pieces
from tests.fakes.artifacts import FakeArtifacts
from tests.fakes.runner import Argv, FakeRunner
from tests.fakes.watch import FakeWatch
from tests.stores import Stores, said_in
from tests.unit.approvals.test_execution import hold_of, spend, stored

ALL = b"one\ntwo\n"
STORED = Stored(bytes=8, sha256=sha256(ALL).hexdigest())


def printing(*given: bytes) -> Pieces:
    """Return what a step printed that is more than is shown."""

    async def pieces() -> AsyncIterator[bytes]:
        for one in given:
            yield one

    return pieces


def ending(code: int = 0, whole: Pieces | None = None, how: Ending = Ending.EXITED) -> Ended:
    return Ended(
        ending=how, exit_code=code if how is Ending.EXITED else None, output="head", whole=whole
    )


async def ran(stores: Stores, keeping: Keeping, *ends: Ended) -> Run:
    """Run steps that end so, and then whatever is left."""
    spent = await spend(stores)
    table: dict[Argv, Ended] = {("append-word", str(n)): one for n, one in enumerate(ends)}
    execution = Execution(store=stores.runs, runner=FakeRunner(endings=table), keeping=keeping)
    run = await execution.execute(spent, await hold_of(stores, spent), FakeWatch())
    assert run == await stored(stores, spent)
    return run


def wholes(run: Run) -> list[Whole | None]:
    return [step.whole for step in run.steps]


async def test_c85_all_of_a_long_output_is_kept_before_its_step_ends(stores: Stores) -> None:
    shelf = FakeArtifacts()
    keeping = Keeping(artifacts=shelf, most_per_run=5)
    run = await ran(stores, keeping, ending(), ending(whole=printing(b"one\n", b"two\n")))
    assert wholes(run) == [None, Whole(stored=STORED), None]
    assert shelf.files == {f"{run.id}.1": ALL}
    [told] = await said_in(stores, run.conversation, "report")
    assert told == report(run)
    assert (
        f"Step 1 printed more than is shown: 8 bytes, sha256 {STORED.sha256}. To have all of it, "
        f"write output {run.id} 1 in a chat, or sayso output {run.id} 1 in a shell."
    ) in told.splitlines()


@pytest.mark.parametrize(
    ("end", "state"),
    [
        (ending(3, printing(ALL)), StepState.FAILED),
        (ending(whole=printing(ALL), how=Ending.TIMED_OUT), StepState.UNKNOWN),
        (ending(-9, printing(ALL)), StepState.UNKNOWN),
    ],
)
async def test_it_is_kept_however_the_step_ended(
    stores: Stores, end: Ended, state: StepState
) -> None:
    run = await ran(stores, Keeping(artifacts=FakeArtifacts(), most_per_run=5), end)
    assert (run.steps[0].state, run.steps[0].whole) == (state, Whole(stored=STORED))


async def test_c85_a_stream_of_a_byte_too_much_stores_nothing_and_the_report_says_so(
    stores: Stores,
) -> None:
    shelf = FakeArtifacts(most_bytes=8)
    keeping = Keeping(artifacts=shelf, most_per_run=5)
    run = await ran(stores, keeping, ending(whole=printing(ALL)), ending(whole=printing(ALL, b"x")))
    assert (run.state, shelf.files) == (RunState.SUCCEEDED, {f"{run.id}.0": ALL})
    assert run.steps[1].whole == Whole(why_not="It is more than is kept.")
    told = "Not all that step 1 printed was kept. It is more than is kept."
    assert told in report(run).splitlines()


@pytest.mark.parametrize("most", [0, 2])
async def test_c85_one_run_has_only_so_many_kept(stores: Stores, most: int) -> None:
    shelf = FakeArtifacts()
    long = ending(whole=printing(ALL))
    run = await ran(stores, Keeping(artifacts=shelf, most_per_run=most), long, long, long)
    kept, enough = (
        Whole(stored=STORED),
        Whole(
            why_not="This run has kept as many as a run may: artifacts.most_per_run in sayso.yml."
        ),
    )
    assert wholes(run) == [kept] * most + [enough] * (3 - most)
    assert len(shelf.files) == most


async def test_what_could_not_be_kept_leaves_room_for_what_can(stores: Stores) -> None:
    keeping = Keeping(artifacts=FakeArtifacts(most_bytes=8), most_per_run=1)
    run = await ran(
        stores, keeping, ending(whole=printing(ALL * 2)), ending(whole=printing(ALL)), ending()
    )
    assert [one and one.stored for one in wholes(run)] == [None, STORED, None]


@pytest.mark.parametrize("fault", [Unavailable("The disk is full.")])
async def test_a_full_disk_ends_no_step_otherwise_and_is_told(
    stores: Stores, fault: SaysoError
) -> None:
    keeping = Keeping(artifacts=FakeArtifacts(fails=fault), most_per_run=5)
    run = await ran(stores, keeping, ending(whole=printing(ALL)))
    assert run.state is RunState.SUCCEEDED
    assert run.steps[0].output == "head"
    assert wholes(run) == [Whole(why_not="The disk is full."), None, None]
    assert "Not all that step 0 printed was kept. The disk is full." in report(run).splitlines()


async def test_a_disk_that_does_not_answer_holds_no_step_up_for_long(stores: Stores) -> None:
    async def hangs() -> AsyncIterator[bytes]:
        await asyncio.Event().wait()
        yield b""

    keeping = Keeping(artifacts=FakeArtifacts(), most_per_run=5, patience=0)
    run = await ran(stores, keeping, ending(whole=hangs))
    assert run.state is RunState.SUCCEEDED
    assert run.steps[0].whole == Whole(why_not="The disk did not answer in time.")
