"""`ApprovalStore.took`: how long the same took before, in this tenant alone."""

from dataclasses import replace
from datetime import timedelta

from approvals.models import Run, StepEnd
from approvals.proposals import NewRequest
from core.ids import run_id
from core.plans import Plan
from tests.builders import TENANT, a_checked, a_new_request, a_tool
from tests.fakes.clock import FrozenClock
from tests.gates import World
from tests.stores import (
    FAILED,
    OTHER_TENANT,
    SUCCEEDED,
    THEIR_CONVERSATION,
    UNKNOWN,
    Stores,
    granted,
    spend,
    stepped,
)

SAME = a_new_request(a_checked("alpha"))


async def ran(
    stores: Stores, clock: FrozenClock, seconds: float, *, word: str = "alpha",
    end: StepEnd = SUCCEEDED, new: NewRequest | None = None,
) -> Run:  # fmt: skip
    """Have a run take so long, and end so."""
    request = await granted(stores, new or a_new_request(a_checked(word)))
    spent = await spend(stores, request, run_id())
    assert spent
    assert await stores.runs.begin_step(spent.run, 0)
    clock.pass_by(timedelta(seconds=seconds))
    return await stores.runs.end_step(spent.run, 0, end)


async def took(stores: Stores, plan: Plan = SAME.plan, *, tenant: str = TENANT) -> list[float]:
    found = await stores.requests.took(tenant, plan.does, most=5)
    return [one.total_seconds() for one in found]


async def test_the_newest_runs_tell_whatever_their_arguments_were(
    stores: Stores, clock: FrozenClock
) -> None:
    assert await took(stores) == []
    for number in range(7):
        await ran(stores, clock, number, word=f"word-{number}")
    assert await took(stores) == [6, 5, 4, 3, 2]


async def test_only_what_succeeded_by_itself_tells(stores: Stores, clock: FrozenClock) -> None:
    await ran(stores, clock, 1, word="a", end=FAILED)
    unknown = await ran(stores, clock, 2, word="b", end=UNKNOWN)
    await stores.runs.resolve(TENANT, unknown.id, 0, happened=True, principal="carol")
    await ran(stores, clock, 3, word="c")
    assert await took(stores) == [3]


async def test_what_does_something_else_tells_nothing(stores: Stores, clock: FrozenClock) -> None:
    await ran(stores, clock, 1)
    call = SAME.plan.calls[0]
    edited = replace(SAME.plan, calls=(replace(call, definition="f" * 64),))
    twice = replace(SAME.plan, calls=(call, call))
    other = a_new_request(a_checked("alpha", tool=a_tool("other"))).plan
    for plan in (edited, twice, other):
        assert await took(stores, plan) == []


async def test_i14_the_runs_of_others_tell_nothing(stores: Stores, clock: FrozenClock) -> None:
    theirs = a_new_request(a_checked("alpha"), tenant=OTHER_TENANT, conversation=THEIR_CONVERSATION)
    await ran(stores, clock, 9, new=theirs)
    assert await took(stores) == []
    assert await took(stores, tenant=OTHER_TENANT) == [9]


async def test_a_card_tells_it_as_it_was_when_it_was_drawn(
    stores: Stores, clock: FrozenClock
) -> None:
    world = World(stores)
    first = await world.granted()
    assert first.card.estimate == "not estimated"
    spent = await world.spend(first)
    clock.pass_by(timedelta(seconds=20))
    await stepped(stores, spent.run, SUCCEEDED)
    assert (await world.granted()).card.estimate == "about 20 s by the last run"
    assert (await world.now(first)).card.estimate == "not estimated"
