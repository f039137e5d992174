"""Looking at an unknown step by its runbook's `verify`: shown to who may resolve, and never a verdict."""

import asyncio
from collections.abc import Awaitable
from dataclasses import replace

import pytest

from adapters.storage.transactions import rows
from approvals import reports
from approvals.models import Run, RunState, StepEnd
from core.errors import Refused
from core.ports import Ended, Ending
from core.tools import Tool
from tests.bots import Bots
from tests.builders import CONVERSATION, a_proposal, a_tool
from tests.fakes.runner import Argv, ended, exited, for_ever
from tests.gates import APPEND, EVE, HIGH, TOOLS, World, allow, edited, who
from tests.jobs import soon
from tests.stores import SUCCEEDED, UNKNOWN, Stores, everything, facts_of, log_of, said_in, stepped

LOOK = ("verify", "alpha", "words.txt")
MOVE = a_tool("move", verify=True, steps=2)
NO_RUN = (
    "There is no run of that id that you may resolve. /runs in a chat or `sayso runs` lists them."
)
BY_HAND = "Look yourself, then say what you found: happened or did-not."


@pytest.fixture
def bots(stores: Stores) -> Bots:
    world = World(stores, tools=(*TOOLS, MOVE))
    world.rules = (*world.rules, allow("run:resolve", "ops"))
    return Bots(world)


async def run_of(bots: Bots, *tools: Tool, ends: tuple[StepEnd, ...] = (UNKNOWN,)) -> Run:
    """Return a run of these calls whose first steps ended like this."""
    calls = (tool.check({"word": "alpha"}, {}) for tool in tools or (APPEND,))
    request = await bots.world.ask(a_proposal(*calls))
    for person in ("bob", "carol")[: request.rule.quorum]:
        request = await bots.world.approve(person, request)
    spent = await bots.world.spend(request)
    bots.world.runner.steps.clear()
    return await stepped(bots.world.stores, spent.run, *ends)


async def refused(verifying: Awaitable[object]) -> str:
    with pytest.raises(Refused) as told:
        await verifying
    return told.value.shown


@pytest.mark.parametrize(
    "how",
    [
        exited(0, "alpha\n"),
        exited(1),
        exited(-9, "killed"),
        ended(Ending.TIMED_OUT, "still waiting"),
        ended(Ending.TOO_MUCH_OUTPUT, "x" * 100),
    ],
)
async def test_it_shows_how_the_command_ended_and_what_it_printed_and_decides_nothing(
    bots: Bots, how: Ended
) -> None:
    run = await run_of(bots)
    bots.world.runner.endings[LOOK] = how
    before = await everything(bots.world.stores.database)
    seen = await bots.resolving.verify(who("bob"), run.id, 0)
    assert (seen.run, seen.index, seen.principal, seen.ended) == (run, 0, "bob", how)
    after = await everything(bots.world.stores.database)
    assert {table for table in after if after[table] != before[table]} == {"audit", "entry", "rate"}
    assert await said_in(bots.world.stores, CONVERSATION, "note") == [reports.verification(seen)]
    last = (await log_of(bots.world.stores))[-1]
    assert (last.kind, facts_of(last)) == (
        "step.verified",
        {"principal": "bob", "run": run.id, "index": 0, "exit_code": how.exit_code},
    )


async def test_it_runs_the_command_once_and_under_no_steps_name(bots: Bots) -> None:
    run = await run_of(bots)
    await bots.resolving.verify(who("bob"), run.id, 0)
    assert bots.world.runner.ran == [LOOK]
    [name] = bots.world.runner.step_ids
    assert name.startswith(f"{run.id}.look_")


@pytest.mark.parametrize(
    ("succeeded", "command"),
    [(1, ("verify", "alpha", "words.txt")), (2, ("verify", "beta", "words.txt"))],
)
async def test_a_step_is_verified_by_the_call_that_it_belongs_to(
    bots: Bots, succeeded: int, command: Argv
) -> None:
    calls = MOVE.check({"word": "alpha"}, {}), APPEND.check({"word": "beta"}, {})
    request = await bots.world.approve("bob", await bots.world.ask(a_proposal(*calls)))
    run = (await bots.world.spend(request)).run
    bots.world.runner.steps.clear()
    await stepped(bots.world.stores, run, *[SUCCEEDED] * succeeded, UNKNOWN)
    await bots.resolving.verify(who("bob"), run.id, succeeded)
    assert bots.world.runner.ran == [command]


async def test_it_runs_what_was_shown_whatever_the_runbook_says_by_now(bots: Bots) -> None:
    run = await run_of(bots)
    other = a_tool("append-word", steps=3)
    bots.world.edit("append-word", lambda _: replace(edited(other), summary="Without a verify"))
    await bots.resolving.verify(who("bob"), run.id, 0)
    assert bots.world.runner.ran == [LOOK]


async def test_one_may_look_again_and_then_say_what_happened(bots: Bots) -> None:
    run = await run_of(bots)
    for _ in range(2):
        await bots.resolving.verify(who("bob"), run.id, 0)
    resolved = await bots.resolving.resolve(who("carol"), run.id, 0, happened=True)
    assert resolved.state is RunState.SUCCEEDED
    told = await refused(bots.resolving.verify(who("bob"), run.id, 0))
    assert told == "That step is not unknown, so there is nothing to verify."
    assert len(bots.world.runner.ran) == 2


async def nothing_ran(bots: Bots) -> bool:
    kinds = [entry.kind for entry in await log_of(bots.world.stores)]
    notes = await said_in(bots.world.stores, CONVERSATION, "note")
    return LOOK not in bots.world.runner.ran and "step.verified" not in kinds and not notes


@pytest.mark.parametrize("index", [0, 2, 3, -1, 10_000])
async def test_only_a_step_that_is_unknown_can_be_looked_at(bots: Bots, index: int) -> None:
    run = await run_of(bots, MOVE, APPEND, ends=(SUCCEEDED, UNKNOWN))
    told = await refused(bots.resolving.verify(who("bob"), run.id, index))
    assert told == "That step is not unknown, so there is nothing to verify."
    assert await nothing_ran(bots)


async def test_without_a_verify_there_is_nothing_to_run(bots: Bots) -> None:
    run = await run_of(bots, HIGH)
    told = await refused(bots.resolving.verify(who("bob"), run.id, 0))
    assert told == f"The runbook wipe had no verify when this ran. {BY_HAND}"
    assert await nothing_ran(bots)


async def test_what_cannot_start_here_is_told_before_it_is_tried(bots: Bots) -> None:
    run = await run_of(bots)
    bots.world.runner.obstacles["verify",] = "There is no program verify."
    told = await refused(bots.resolving.verify(who("bob"), run.id, 0))
    assert told == "append-word: the verify command cannot run. There is no program verify."
    assert await nothing_ran(bots)


async def test_what_did_not_start_after_all_is_no_look(bots: Bots) -> None:
    run = await run_of(bots)
    bots.world.runner.endings[LOOK] = ended(Ending.NOT_STARTED)
    told = await refused(bots.resolving.verify(who("bob"), run.id, 0))
    assert told == f"Its verify command could not be started, so nobody looked. {BY_HAND}"
    assert "step.verified" not in [entry.kind for entry in await log_of(bots.world.stores)]


@pytest.mark.parametrize(
    "altered",
    [
        "UPDATE plan SET body = replace(body, 'verify', 'shred')",
        "UPDATE request SET card = replace(card, 'alpha', 'omega')",
    ],
)
async def test_a_plan_that_was_altered_is_not_run_not_even_to_look(
    bots: Bots, altered: str
) -> None:
    run = await run_of(bots)
    await bots.world.stores.database.transact(lambda _: rows(altered))
    told = await refused(bots.resolving.verify(who("bob"), run.id, 0))
    assert told == (
        "The stored plan of this run is not the one that was shown, so nothing of it is run. "
        + BY_HAND
    )
    assert bots.world.runner.ran == []


async def test_who_may_not_resolve_may_not_look_and_is_told_the_same(bots: Bots) -> None:
    run = await run_of(bots)
    for person, name in ((who("dave"), run.id), (EVE, run.id), (who("bob"), "r_0")):
        looking = await refused(bots.resolving.verify(person, name, 0))
        ending = await refused(bots.resolving.resolve(person, name, 0, happened=True))
        assert looking == ending == NO_RUN
    with pytest.raises(Refused, match="does not know you"):
        await bots.resolving.verify(who("nobody"), run.id, 0)
    tried = [facts_of(entry)["principal"] for entry in await bots.world.attempts()]
    assert tried == ["dave", "dave", "eve", "eve", "bob", "bob", "(unknown)"]
    assert await nothing_ran(bots)


async def test_whoever_gives_up_waiting_kills_it_and_leaves_no_trace(bots: Bots) -> None:
    run = await run_of(bots)
    bots.world.runner.meanwhile[LOOK] = for_ever
    looking = asyncio.create_task(bots.resolving.verify(who("bob"), run.id, 0))

    async def begun() -> bool:
        return LOOK in bots.world.runner.ran

    await soon(begun)
    looking.cancel()
    await asyncio.wait([looking])
    assert looking.cancelled()
    assert len(bots.world.runner.cut) == 1
    assert "step.verified" not in [entry.kind for entry in await log_of(bots.world.stores)]


async def test_who_knows_of_a_run_and_may_not_resolve_it_is_told_who_may(bots: Bots) -> None:
    run = await run_of(bots)
    bots.world.groups["alice"] = {"dev"}
    told = await refused(bots.resolving.verify(who("alice"), run.id, 0))
    assert told.startswith("You may not resolve this run (run:resolve); ")
    assert "bob" in told
    assert told == await refused(bots.resolving.resolve(who("alice"), run.id, 0, happened=True))
