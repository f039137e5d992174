"""X6: while everything is paused or frozen nothing is proposed, no yes counts and nothing is spent."""

from datetime import UTC, time, timedelta

import pytest

from adapters.storage.transactions import rows
from approvals import cards, entitlement
from approvals.models import State
from approvals.policy import PolicyRule
from approvals.switches import Held, Switches
from approvals.windows import Moment, Window
from core.errors import Invalid, Refused, Unavailable
from tests.builders import TENANT
from tests.fakes.clock import START, FrozenClock
from tests.gates import LOW, World, allow
from tests.stores import Stores, holding

HOUR = timedelta(hours=1)
NOON = Window(
    name="noon",
    begins=Moment(at=time(10)),
    ends=Moment(at=time(11)),
    zone=UTC,
    spares=frozenset({"low"}),
)
"""Begins half an hour after `START`."""


@pytest.fixture
def world(stores: Stores) -> World:
    return World(stores)


async def pause(world: World) -> None:
    await world.stores.brakes.pause(TENANT, principal="bob", reason="an incident")


async def resume(world: World) -> None:
    await world.stores.brakes.resume(TENANT, principal="bob")


async def test_x6_nothing_is_proposed_in_a_pause_and_nothing_is_looked_at(world: World) -> None:
    await pause(world)
    with pytest.raises(Refused, match=r"Not proposed: bob paused everything .* \(an incident\)"):
        await world.propose()
    assert world.runner.ran == []
    [tried] = await world.attempts()
    assert "incident" not in tried.body
    await resume(world)
    await world.propose()


async def test_x6_no_yes_counts_in_a_pause_and_a_no_does(world: World) -> None:
    request = await world.propose()
    await pause(world)
    with pytest.raises(Refused, match="Your yes was not counted: bob paused everything"):
        await world.approve("bob", request)
    assert (await world.now(request)).votes == ()
    assert (await world.deny("carol", request)).state is State.DENIED


async def test_x6_what_was_granted_before_a_pause_waits_and_runs_after_it(world: World) -> None:
    request = await world.granted()
    await pause(world)
    with pytest.raises(Unavailable, match="Not run yet: bob paused everything"):
        await world.spend(request)
    assert "Held back: bob paused everything" in cards.status(await world.now(request))
    await resume(world)
    now = await world.now(request)
    assert cards.status(now) == "Approved by bob; waiting to run."
    assert (await world.spend(now)).request.state is State.SPENT


async def test_x6_in_a_freeze_nothing_is_proposed_or_approved_but_what_is_spared(
    world: World, clock: FrozenClock
) -> None:
    world.windows = (NOON,)
    request = await world.propose()
    clock.pass_by(HOUR / 2)
    with pytest.raises(Refused, match="Not proposed: the freeze noon lasts until 2026-03-01 11:00"):
        await world.propose(word="beta")
    with pytest.raises(Refused, match="Your yes was not counted: the freeze noon lasts"):
        await world.approve("bob", request)
    low = await world.propose(LOW)
    assert (await world.spend(await world.approve("alice", low))).request.state is State.SPENT


async def test_x6_what_was_granted_before_a_freeze_waits_up_to_its_time(
    world: World, clock: FrozenClock
) -> None:
    clock.pass_by(timedelta(minutes=20))
    request = await world.granted()
    world.windows = (NOON,)
    clock.pass_by(timedelta(minutes=10))
    with pytest.raises(Unavailable, match="the freeze noon lasts"):
        await world.spend(request)
    clock.pass_by(HOUR - timedelta(microseconds=1))
    request = await world.now(request)
    assert request.state is State.EXPIRED
    assert await world.runs() == []


async def test_i03_a_freeze_that_begins_while_all_is_looked_at_holds_it_back(
    world: World, clock: FrozenClock
) -> None:
    world.windows = (NOON,)
    request = await world.granted()
    async with holding(world.stores, request) as job:
        before = await world.gate.holding.until(request)
        assert before == START + HOUR / 2
        clock.pass_by(HOUR / 2)
        with pytest.raises(Unavailable):
            await world.stores.requests.spend(request, job=job, run="r_1", before=before)
    assert await world.runs() == []


async def test_could_not_check_holds_it_back(world: World) -> None:
    request = await world.granted()
    world.unreadable = Invalid("sayso.yml:3: people: this cannot be read.")
    with pytest.raises(Unavailable, match=r"sayso\.yml:3"):
        await world.spend(request)
    assert (await world.now(request)).state is State.GRANTED


async def test_a_gate_without_brakes_is_held_back_by_nothing(world: World) -> None:
    assert await Switches().held(world.authority(), TENANT, ["low"]) == Held()


# who may


def deny(action: str, group: str) -> PolicyRule:
    return PolicyRule(
        id="no", effect="deny", action=action, resource="*", groups=frozenset({group})
    )


@pytest.mark.parametrize(
    ("rules", "may"),
    [
        ((), []),
        ((allow("run:stop", "ops", "*"),), ["alice", "bob", "carol"]),
        ((allow("run:stop", "ops", "runbook:*"),), []),
        ((allow("plan:approve", "ops"),), []),
        ((allow("tenant:pause", "guests", "tenant:acme"),), ["dave"]),
        ((allow("tenant:pause", "guests", "tenant:other"),), []),
        ((allow("run:stop", "ops", "*"), allow("tenant:pause", "guests", "*")), ["dave"]),
        ((allow("run:stop", "ops", "*"), deny("tenant:pause", "nobody")), []),
    ],
)
def test_who_may_pause_is_said_by_the_policy_or_else_who_may_stop_everything(
    world: World, rules: tuple[PolicyRule, ...], may: list[str]
) -> None:
    world.rules = rules
    assert [*entitlement.pausers(world.authority(), TENANT)] == may


async def test_a_plan_that_was_altered_is_spared_by_nothing(
    world: World, clock: FrozenClock
) -> None:
    world.windows = (NOON,)
    request = await world.propose(LOW)
    clock.pass_by(HOUR / 2)
    await world.stores.brakes.windows(TENANT, [NOON.at(clock.now()) or pytest.fail("it lasts")])
    assert "Held back" not in cards.status(await world.now(request))
    alter = "UPDATE plan SET body = body || ' '"
    await world.stores.database.transact(lambda _: rows(alter))
    assert "Held back: the freeze noon lasts" in cards.status(await world.now(request))
