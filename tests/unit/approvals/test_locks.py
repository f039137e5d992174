"""Approved runs that share a lock wait for one another; others do not."""

import pytest

from adapters.storage import jobs
from adapters.storage.transactions import rows
from approvals.models import RUN, Request, RunState, State, job_of
from core.errors import Refused
from tests.bots import Bots
from tests.builders import a_proposal, a_tool
from tests.gates import TOOLS, World
from tests.stores import LEASE, Stores

DEPLOY = a_tool("deploy", risk="low", lock="{word}")
ERASE = a_tool("erase", risk="low", lock="{word}")


@pytest.fixture
def world(stores: Stores) -> World:
    return World(stores, tools=(*TOOLS, DEPLOY, ERASE))


@pytest.fixture
def bots(world: World) -> Bots:
    return Bots(world)


async def claim(world: World, owner: str = "server") -> set[str]:
    """Claim all runs that are to be had, as a server does."""
    found = await world.stores.database.transact(
        lambda now: jobs.claim(now, owner, LEASE, [RUN], most=50, only=None)
    )
    return {job.id for job in found}


async def granted(world: World, *calls: tuple[str, str]) -> Request:
    """Return a granted request for these calls, each a tool and its word."""
    tools = {tool.name: tool for tool in world.tools}
    checked = (tools[name].check({"word": word}, {}) for name, word in calls)
    return await world.approve("bob", await world.ask(a_proposal(*checked)))


async def locks_of(world: World, request: Request) -> list[str]:
    found = await world.stores.database.transact(
        lambda _: rows(
            "SELECT lock FROM job_lock WHERE job = :job ORDER BY lock", job=job_of(request.id)
        )
    )
    return [row["lock"] for row in found]


async def test_two_granted_requests_with_one_lock_are_never_claimed_together(world: World) -> None:
    web = await granted(world, ("deploy", "web"))
    also_web = await granted(world, ("erase", "web"))
    other = await granted(world, ("erase", "worker"))
    without = [await granted(world, ("note", word)) for word in ("web", "worker")]
    first = await claim(world)
    assert first == {job_of(request.id) for request in (web, other, *without)}
    assert await claim(world, "another server") == set()
    assert (await world.now(also_web)).state is State.GRANTED


async def test_a_run_of_several_calls_has_the_locks_of_all_of_them(world: World) -> None:
    several = await granted(
        world, ("deploy", "web"), ("erase", "db"), ("note", "x"), ("erase", "web")
    )
    assert await locks_of(world, several) == ["db", "web"]
    waits = [await granted(world, ("deploy", word)) for word in ("db", "web")]
    assert [await locks_of(world, request) for request in waits] == [["db"], ["web"]]
    assert await claim(world) == {job_of(several.id)}


async def test_nothing_is_locked_before_enough_people_agreed(world: World) -> None:
    world.tools = (*world.tools, a_tool("drop", risk="high", lock="web"))
    drop = await world.ask(a_proposal(world.tools[-1].check({"word": "x"}, {})))
    await world.approve("bob", drop)
    assert await locks_of(world, drop) == []
    await world.approve("carol", drop)
    assert await locks_of(world, drop) == ["web"]


async def test_a_server_runs_one_after_another_in_the_order_of_their_grants(bots: Bots) -> None:
    requests = [await granted(bots.world, (name, "web")) for name in ("erase", "deploy")]
    others = [await granted(bots.world, ("note", word)) for word in ("a", "b")]
    most = list[int]()

    async def look() -> None:
        live = await bots.world.stores.runs.live("acme", None)
        most.append(sum(run.tools != ("note",) for run in live))

    bots.world.runner.meanwhile |= {("deploy",): look, ("erase",): look}
    async with bots.serving():
        for request in (*requests, *others):
            await bots.ended(request)
    assert most == [1, 1]
    locked = [argv[0] for argv in bots.world.effects() if argv[0] != "note"]
    assert locked == ["erase", "deploy"]
    assert {run.state for run in await bots.world.runs()} == {RunState.SUCCEEDED}


async def test_who_approves_one_shot_does_not_wait_for_what_nobody_runs(bots: Bots) -> None:
    waits = await granted(bots.world, ("deploy", "web"))
    mine = await bots.world.propose(ERASE, "web")
    decided = await bots.approve("bob", mine)
    assert decided.run is not None
    assert decided.run.state is RunState.SUCCEEDED
    assert (await bots.world.now(waits)).state is State.GRANTED


async def test_what_was_altered_is_granted_without_locks_and_revoked_at_the_spend(
    world: World,
) -> None:
    request = await world.propose(DEPLOY, "web")
    await world.stores.database.transact(
        lambda _: rows("UPDATE plan SET body = replace(body, 'web', 'all')")
    )
    voted = await world.stores.requests.vote(request.tenant, request.id, principal="bob")
    assert voted.request.state is State.GRANTED
    assert await locks_of(world, request) == []
    with pytest.raises(Refused):
        await world.spend(voted.request)
    assert await world.runs() == []
