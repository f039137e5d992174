"""What undoes a run: known only where all of it happened, and told only to who may know of it."""

from collections.abc import AsyncGenerator, Awaitable
from dataclasses import replace

import pytest

from approvals.models import Run, RunState, StepEnd
from approvals.undoing import NO_RUN
from core.errors import Incorrect, Invalid, Refused
from core.tools import Checked, Tool, Toolbox
from core.undo import Undo
from tests.bots import Bots
from tests.builders import a_checked, a_new_request, a_rule, a_tool
from tests.gates import TOOLS, World
from tests.stores import (
    FAILED,
    OTHER_TENANT,
    SUCCEEDED,
    THEIR_CONVERSATION,
    UNKNOWN,
    Stores,
    running,
    stepped,
)

BACK = a_tool("take-back")
ADD = replace(a_tool("add"), undo=Undo(runbook="take-back"))
SWAP = replace(a_tool("swap"), undo=Undo(runbook="swap", args={"word": "old"}))
PLAIN = a_tool("plain")


@pytest.fixture
async def world(stores: Stores) -> AsyncGenerator[World]:
    world = World(stores)
    world.tools = (*TOOLS, BACK, ADD, SWAP, PLAIN)
    yield world
    await Bots(world).at_rest()


async def ran(stores: Stores, *calls: Checked, ends: tuple[StepEnd, ...] | None = None) -> Run:
    new = a_new_request(*calls, rule=a_rule(quorum=1))
    run = await running(stores, new, "bob")
    return await stepped(stores, run, *(ends or (SUCCEEDED,) * len(calls)))


async def undone(world: World, given: str, person: str = "alice") -> list[tuple[str, object]]:
    authority = world.authority()
    [principal] = [p for p in authority.directory.members("acme") if p.id == person]
    _, calls = await world.undoing.calls(
        (authority, principal), given, Toolbox.of(t for t in world.tools)
    )
    return [(one.tool.name, one.arguments["word"]) for one in calls]


async def refusal(asking: Awaitable[object]) -> str:
    with pytest.raises(Refused) as told:
        await asking
    return told.value.shown


def word(tool: Tool, text: str) -> Checked:
    return a_checked(text, tool=tool)


async def test_calls_are_undone_last_first_with_their_own_values(
    world: World, stores: Stores
) -> None:
    run = await ran(stores, word(ADD, "a"), word(SWAP, "b"), word(ADD, "c"))
    wanted = [("take-back", "c"), ("swap", "old"), ("take-back", "a")]
    assert await undone(world, run.id) == wanted
    assert await undone(world, run.request) == wanted
    assert world.undoing.offered(run)
    authority = world.authority()
    [alice] = [p for p in authority.directory.members("acme") if p.id == "alice"]
    assert (await world.undoing.run(authority, alice, run.request)).id == run.id


async def test_one_call_that_nothing_undoes_keeps_all_of_it(world: World, stores: Stores) -> None:
    run = await ran(stores, word(ADD, "a"), word(PLAIN, "b"))
    assert not world.undoing.offered(run)
    told = await refusal(undone(world, run.id))
    assert told.startswith("Its runbook plain says nothing about how to undo it.")
    world.tools = TOOLS
    assert not world.undoing.offered(run)
    assert "says nothing" in await refusal(undone(world, run.id))


@pytest.mark.parametrize(
    ("end", "why"),
    [(FAILED, "Not all of it happened"), (UNKNOWN, "Say first what became of it")],
)
async def test_where_not_all_of_it_happened_nothing_is_offered(
    world: World, stores: Stores, end: StepEnd, why: str
) -> None:
    run = await ran(stores, word(ADD, "a"), ends=(end,))
    assert not world.undoing.offered(run)
    assert why in await refusal(undone(world, run.id))


async def test_what_still_runs_is_not_undone(world: World, stores: Stores) -> None:
    run = await running(stores, a_new_request(word(ADD, "a"), rule=a_rule(quorum=1)), "bob")
    assert run.state is RunState.RUNNING
    assert "It still runs" in await refusal(undone(world, run.id))
    await stepped(stores, run, SUCCEEDED)


async def test_i14_unknown_foreign_unspent_and_unseen_runs_have_one_answer(
    world: World, stores: Stores
) -> None:
    run = await ran(stores, word(ADD, "a"))
    theirs = await running(
        stores,
        a_new_request(
            word(ADD, "a"),
            request="e" * 32,
            tenant=OTHER_TENANT,
            conversation=THEIR_CONVERSATION,
            rule=a_rule(quorum=1),
        ),
        "eve",
    )
    await stepped(stores, theirs, SUCCEEDED)
    open_ = await world.propose(ADD, "later")
    for given in ("r_gone", "", "0" * 32, theirs.id, theirs.request, open_.id):
        assert await refusal(undone(world, given)) == NO_RUN
    for given in (run.id, run.request):
        assert await refusal(undone(world, given, "dave")) == NO_RUN
    assert len(await world.attempts()) == 8


async def test_who_may_not_use_what_undoes_it_hears_what_is_said_of_what_is_not_there(
    world: World, stores: Stores
) -> None:
    run = await ran(stores, word(ADD, "a"))
    authority = world.authority()
    [alice] = [p for p in authority.directory.members("acme") if p.id == "alice"]
    with pytest.raises(Incorrect, match="There is no such tool here"):
        await world.undoing.calls((authority, alice), run.id, Toolbox.of([ADD]))


async def test_a_catalogue_that_cannot_be_read_offers_nothing(world: World, stores: Stores) -> None:
    run = await ran(stores, word(ADD, "a"))

    def unreadable() -> Toolbox:
        raise Invalid("no")

    assert not replace(world.undoing, toolbox=unreadable).offered(run)


async def test_x2_i4_a_card_warns_of_the_same_plan_whose_step_may_have_happened(
    world: World, stores: Stores
) -> None:
    first = await world.granted(ADD)
    spent = await world.spend(first)
    run = await stepped(stores, spent.run, UNKNOWN)
    again = await world.propose(ADD)
    warning = f"A step of run {run.id} may have happened already."
    assert again.card.warnings[0] == warning
    other = await world.propose(ADD, "other")
    assert warning not in other.card.warnings
    await stores.runs.resolve("acme", run.id, 0, happened=False, principal="bob")
    # Asked once more it is the same request, drawn as things are now.
    assert warning not in (await world.propose(ADD)).card.warnings
