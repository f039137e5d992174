"""`core.artifacts.Kept`, and what a step's end writes of a whole output, on every database."""

from dataclasses import replace
from datetime import timedelta

import pytest

from adapters.storage.transactions import rows
from approvals.models import Run, StepEnd, StepState, Whole
from approvals.reports import report
from core.artifacts import Stored
from core.jobs import LeaseLost
from tests.builders import CONVERSATION, TENANT, a_checked, a_new_request, a_tool
from tests.fakes.clock import FrozenClock
from tests.stores import (
    FAILED,
    OTHER_CONVERSATION,
    OTHER_TENANT,
    SUCCEEDED,
    WHOLE,
    Stores,
    erasing,
    everything,
    facts_of,
    log_of,
    running,
    stepped,
)

A_DAY = timedelta(days=1)
PRINTED = replace(SUCCEEDED, whole=WHOLE)
LOST = replace(SUCCEEDED, whole=Whole(why_not="The disk is full."))


async def ran(stores: Stores, *ends: StepEnd) -> Run:
    """Return a run whose steps ended so."""
    new = a_new_request(a_checked("alpha", tool=a_tool(steps=len(ends))))
    return await stepped(stores, await running(stores, new), *ends)


async def now(stores: Stores, run: Run) -> Run:
    found = await stores.runs.run(run.tenant, run.id)
    assert found
    return found


async def test_c85_a_step_knows_what_became_of_all_that_it_printed(stores: Stores) -> None:
    run = await ran(stores, PRINTED, LOST, SUCCEEDED)
    assert [step.whole for step in run.steps] == [WHOLE, LOST.whole, None]
    assert await stores.records.runs() == [run]
    assert await stores.records.run(run.id) == run
    assert await stores.records.run("r_unknown") is None


async def test_c85_it_is_written_whose_it_is_and_where_it_came_from(stores: Stores) -> None:
    run = await ran(stores, PRINTED)
    [row] = (await everything(stores.database))["artifact"]
    assert row[:7] == (run.id, 0, TENANT, CONVERSATION, "alice", 100_000, "a" * 64)


async def test_c85_the_log_holds_the_digest_so_that_a_receipt_does(stores: Stores) -> None:
    await ran(stores, PRINTED, LOST)
    kept, lost = [facts_of(e) for e in await log_of(stores) if e.kind == "step.ended"]
    assert (kept["whole_bytes"], kept["whole_sha256"]) == (100_000, "a" * 64)
    assert "whole_sha256" not in lost


async def test_a_process_that_lost_its_run_writes_nothing_of_it(stores: Stores) -> None:
    run = await running(stores)
    assert await stores.runs.begin_step(run, 0)
    taken = "UPDATE job SET fence = fence + 1"
    await stores.database.transact(lambda _: rows(taken))
    with pytest.raises(LeaseLost):
        await stores.runs.end_step(run, 0, PRINTED)
    assert await stores.kept.lying() == frozenset()


async def test_p15_p51_whatever_is_told_again_of_a_run_tells_of_the_same_output(
    stores: Stores,
) -> None:
    unknown = StepEnd(state=StepState.UNKNOWN, output="head", note="cut", whole=WHOLE)
    run = await ran(stores, unknown)
    resolved = await stores.runs.resolve(TENANT, run.id, 0, happened=True, principal="carol")
    line = f"Step 0 printed more than is shown: 100.0 kB, sha256 {'a' * 64}"
    assert line in report(run)
    assert line in report(resolved)
    assert resolved.steps[0].whole == WHOLE


async def test_what_was_kept_for_long_enough_is_no_more(stores: Stores, clock: FrozenClock) -> None:
    run = await ran(stores, PRINTED, LOST)
    name = f"{run.id}.0"
    assert await stores.kept.lying() == await stores.kept.of(CONVERSATION) == {name}
    clock.pass_by(A_DAY - timedelta(seconds=1))
    assert await stores.kept.outlived() == frozenset()
    clock.pass_by(timedelta(seconds=1))
    assert await stores.kept.outlived() == {name}
    assert await stores.kept.outlived() == await stores.kept.lying() == frozenset()
    assert [step.whole for step in (await now(stores, run)).steps] == [
        replace(WHOLE, is_gone=True),
        LOST.whole,
    ]


async def test_c85_of_an_erased_conversation_the_digest_stays_and_every_name_is_told(
    stores: Stores,
) -> None:
    run = await ran(stores, PRINTED, FAILED)
    erased = await erasing(stores).erase(CONVERSATION, account="root")
    assert erased.removed["artifact"] == 1
    assert await stores.kept.lying() == frozenset()
    assert await stores.kept.of(CONVERSATION) == {f"{run.id}.0"}
    assert await stores.kept.of(OTHER_CONVERSATION) == frozenset()
    whole = (await now(stores, run)).steps[0].whole
    assert whole == Whole(stored=Stored(bytes=100_000, sha256="a" * 64), is_gone=True)


async def test_i14_nobody_elses_run_tells_of_it(stores: Stores) -> None:
    run = await ran(stores, PRINTED)
    assert await stores.runs.run(OTHER_TENANT, run.id) is None
