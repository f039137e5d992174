"""Whole outputs that nobody needs any more are gone from the folder, and no others."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest

from approvals.models import RunState
from approvals.reports import report
from bot.sweep import ErasingAll, Sweeping
from core.errors import Refused, Unavailable
from tests.builders import CONVERSATION, a_checked, a_new_request, a_tool
from tests.fakes.artifacts import FakeArtifacts
from tests.fakes.clock import FrozenClock
from tests.stores import (
    SUCCEEDED,
    WHOLE,
    Stores,
    erasing,
    notice,
    running,
    said_in,
    stepped,
)

PRINTED = replace(SUCCEEDED, whole=WHOLE)


async def lies(shelf: FakeArtifacts, name: str) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield name.encode()

    await shelf.keep(name, pieces())


async def kept(stores: Stores, shelf: FakeArtifacts) -> str:
    """Have a run end whose output is kept; return its name."""
    run = await stepped(stores, await running(stores), PRINTED)
    await lies(shelf, f"{run.id}.0")
    return f"{run.id}.0"


async def test_what_was_kept_for_long_enough_is_removed(stores: Stores, clock: FrozenClock) -> None:
    shelf = FakeArtifacts()
    name, sweep = await kept(stores, shelf), Sweeping(artifacts=shelf, kept=stores.kept)
    shelf.old.add(name)
    await sweep()
    assert set(shelf.files) == {name}
    clock.pass_by(timedelta(days=1))
    await sweep()
    assert shelf.files == {}


async def test_what_a_process_left_that_died_is_removed_once_it_is_old(stores: Stores) -> None:
    shelf = FakeArtifacts()
    name, sweep = await kept(stores, shelf), Sweeping(artifacts=shelf, kept=stores.kept)
    await lies(shelf, ".r_half")
    await sweep()
    assert set(shelf.files) == {name, ".r_half"}
    shelf.old |= {name, ".r_half"}
    await sweep()
    assert set(shelf.files) == {name}


async def test_what_could_not_be_removed_is_removed_later(
    stores: Stores, clock: FrozenClock
) -> None:
    shelf = FakeArtifacts()
    name, sweep = await kept(stores, shelf), Sweeping(artifacts=shelf, kept=stores.kept)
    clock.pass_by(timedelta(days=1))
    shelf.fails = Unavailable("The disk does not answer.")
    with pytest.raises(Unavailable):
        await sweep()
    shelf.fails = None
    shelf.old.add(name)
    await sweep()
    assert shelf.files == {}


async def test_c85_an_erased_conversation_has_no_file_left(stores: Stores) -> None:
    shelf = FakeArtifacts()
    await kept(stores, shelf)
    await lies(shelf, "r_other.0")
    erase = ErasingAll(erasing=erasing(stores), artifacts=shelf, kept=stores.kept)
    erased = await erase.erase(CONVERSATION, account="root")
    assert erased.removed["artifact"] == 1
    assert set(shelf.files) == {"r_other.0"}


async def test_c85_a_file_that_could_not_be_removed_is_when_it_is_erased_again(
    stores: Stores,
) -> None:
    shelf = FakeArtifacts()
    await kept(stores, shelf)
    erase = ErasingAll(erasing=erasing(stores), artifacts=shelf, kept=stores.kept)
    shelf.fails = Unavailable("It could not be removed.")
    with pytest.raises(Unavailable):
        await erase.erase(CONVERSATION, account="root")
    shelf.fails = None
    await erase.erase(CONVERSATION, account="root")
    assert shelf.files == {}


async def test_what_may_not_be_erased_keeps_its_files(stores: Stores) -> None:
    shelf = FakeArtifacts()
    await kept(stores, shelf)
    erase = ErasingAll(erasing=erasing(stores), artifacts=shelf, kept=stores.kept)
    with pytest.raises(Refused):
        await erase.erase("c_unknown", account="root")
    assert len(shelf.files) == 1


async def test_p15_p51_whoever_died_between_file_and_row_leaves_an_honest_report_and_no_file(
    stores: Stores,
) -> None:
    shelf, run = FakeArtifacts(), await running(stores)
    assert await stores.runs.begin_step(run, 0)
    await lies(shelf, f"{run.id}.0")
    await notice(stores, stores.owner)
    left = await stores.runs.run(run.tenant, run.id)
    assert left
    assert (left.state, left.steps[0].whole) == (RunState.UNKNOWN, None)
    assert await said_in(stores, run.conversation, "report") == [report(left)]
    shelf.old.add(f"{run.id}.0")
    await Sweeping(artifacts=shelf, kept=stores.kept)()
    assert shelf.files == {}


async def test_p15_p51_whoever_died_behind_the_row_leaves_all_of_it(stores: Stores) -> None:
    shelf = FakeArtifacts()
    new = a_new_request(a_checked("alpha", tool=a_tool(steps=2)))
    run = await stepped(stores, await running(stores, new), PRINTED)
    await lies(shelf, f"{run.id}.0")
    await notice(stores, stores.owner)
    left = await stores.runs.run(run.tenant, run.id)
    assert left
    assert (left.state, left.steps[0].whole) == (RunState.CANCELLED, WHOLE)
    [told] = await said_in(stores, run.conversation, "report")
    assert f"Step 0 printed more than is shown: 100.0 kB, sha256 {'a' * 64}" in told
    shelf.old.add(f"{run.id}.0")
    await Sweeping(artifacts=shelf, kept=stores.kept)()
    assert set(shelf.files) == {f"{run.id}.0"}
