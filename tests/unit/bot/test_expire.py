"""A request ends at its time, though nobody looks at it."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import timedelta

import pytest

from adapters.storage.opening import MOST_OPEN
from adapters.storage.transactions import rows
from approvals import cards
from approvals.models import EXPIRE, Request, State
from bot.expire import Expiring
from core.jobs import LeaseLost
from tests.bots import Bots
from tests.builders import CONVERSATION
from tests.fakes.clock import FrozenClock
from tests.fakes.hold import FakeHold
from tests.gates import HOUR, LOW, World
from tests.jobs import soon
from tests.stores import Stores, claimed, jobs_of, log_of, said_in

INSTANT = timedelta(microseconds=1)


@pytest.fixture
async def bots(stores: Stores) -> AsyncGenerator[Bots]:
    bots = Bots(World(stores))
    yield bots
    await bots.at_rest()


async def stored(bots: Bots, request: Request) -> str:
    """Return the state of a request as it lies in the database; asking a store might end it."""
    [row] = await bots.world.stores.database.transact(
        lambda _: rows("SELECT state FROM request WHERE id = :id", id=request.id)
    )
    state: str = row["state"]
    return state


async def expiry(bots: Bots, request: Request) -> str:
    """Return the state of the job that ends it."""
    found = await jobs_of(bots.world.stores, EXPIRE)
    [state] = [row["state"] for row in found if row["id"] == f"{EXPIRE}:{request.id}"]
    return str(state)


async def has_ended(bots: Bots, request: Request) -> None:
    async def is_over() -> bool:
        return await expiry(bots, request) not in {"queued", "running"}

    await soon(is_over)


async def test_p06_p07_a_request_ends_at_its_time_without_anybody_looking(
    bots: Bots, clock: FrozenClock
) -> None:
    request = await bots.world.propose()
    clock.pass_by(HOUR)
    assert await stored(bots, request) == "open"
    async with bots.serving():
        await has_ended(bots, request)
    assert (await stored(bots, request), await expiry(bots, request)) == ("expired", "done")
    ended = await bots.world.now(request)
    assert await said_in(bots.world.stores, CONVERSATION, "note") == [cards.expired(ended)]
    kinds = [entry.kind for entry in await log_of(bots.world.stores)]
    assert kinds.count("request.expired") == 1


async def test_x13_what_waits_adds_no_task(bots: Bots) -> None:
    async with bots.serving():
        for number in range(MOST_OPEN):
            await bots.world.propose(LOW, f"w{number}")
            await bots.elsewhere(LOW, f"w{number}")
        assert len(await bots.world.requests()) == 2 * MOST_OPEN
        held = [task for task in asyncio.all_tasks() if task.get_name().startswith("job ")]
        assert held == []


async def test_a_request_waits_up_to_its_time(bots: Bots, clock: FrozenClock) -> None:
    early = await bots.world.propose()
    clock.pass_by(INSTANT)
    late = await bots.world.propose(LOW, turn="t_1")
    clock.pass_by(HOUR - INSTANT)
    async with bots.serving():
        await has_ended(bots, early)
    assert (await stored(bots, late), await expiry(bots, late)) == ("open", "queued")


async def test_what_was_granted_and_never_spent_ends_too(bots: Bots, clock: FrozenClock) -> None:
    request = await bots.world.granted()
    await claimed(bots.world.stores, request)  # by a process that never comes to it
    clock.pass_by(HOUR)
    async with bots.serving():
        await has_ended(bots, request)
    assert await stored(bots, request) == "expired"


async def test_what_ended_before_stays_as_it_is(bots: Bots, clock: FrozenClock) -> None:
    denied = await bots.world.deny("bob", await bots.world.propose())
    clock.pass_by(HOUR)
    async with bots.serving():
        await has_ended(bots, denied)
    assert await bots.world.now(denied) == denied
    assert denied.state is State.DENIED
    assert await said_in(bots.world.stores, CONVERSATION, "note") == [cards.status(denied)]


async def test_who_lost_the_job_ends_nothing(bots: Bots, clock: FrozenClock) -> None:
    request = await bots.world.granted()
    hold = FakeHold(await claimed(bots.world.stores, request), is_lost=True)
    clock.pass_by(HOUR)
    with pytest.raises(LeaseLost):
        await Expiring(store=bots.world.stores.requests)(hold)
    assert await stored(bots, request) == "granted"
