"""P-07: a request that waits is brought to mind once, with the names of those whose votes count."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from adapters.jobs.kinds import Kind
from adapters.jobs.table import TableEngine
from adapters.leftovers import nothing
from adapters.storage import jobs
from adapters.storage.transactions import rows
from approvals.models import REMIND
from approvals.policy import Policy
from bot.remind import Reminding
from core.errors import Refused
from core.standing import Why
from tests.builders import CONVERSATION, a_rule
from tests.fakes.clock import FrozenClock
from tests.fakes.hold import FakeHold
from tests.fakes.roster import FakeRoster
from tests.gates import APPEND, BOB_ON_SLACK, HIGH, HOUR, World
from tests.jobs import QUICK
from tests.stores import Stores, at_rest, jobs_of, log_of, said_in

WAITS = (
    "Still waiting: 0 of 1 vote, not the requester, until 2026-03-01 10:30:00 UTC. "
    "May approve: bob and carol."
)


@pytest.fixture
async def world(stores: Stores) -> AsyncGenerator[World]:
    yield World(stores, reminders={"medium": 0.5, "high": 0.25})
    await at_rest(stores)


async def reminded(world: World, clock: FrozenClock, *, after: float = 0.5) -> list[str]:
    """Let time pass, have every reminder that is due handled, and return the notes."""
    clock.pass_by(HOUR * after)
    handler = Reminding(store=world.stores.requests, gate=world.gate)
    engine = TableEngine(
        world.stores.database,
        {REMIND: Kind(handler=handler, clean=nothing, settle=jobs.settle_safe)},
        owner="server",
        is_dead=lambda _: False,
        pace=QUICK,
    )
    for row in await jobs_of(world.stores, REMIND):
        await engine.run(row["id"], asyncio.Event())
    return await said_in(world.stores, CONVERSATION, "note")


async def test_p07_an_open_request_is_brought_to_mind_at_its_time_and_once(
    world: World, clock: FrozenClock
) -> None:
    request = await world.propose()
    assert await reminded(world, clock, after=0.49) == []
    assert await reminded(world, clock, after=0.01) == [WAITS]
    assert await reminded(world, clock, after=0.25) == [WAITS]
    entries = [e for e in await log_of(world.stores) if e.kind == "request.reminded"]
    assert [request.id in entry.body for entry in entries] == [True]


async def test_only_those_are_named_whose_votes_count_and_are_not_there(
    world: World, clock: FrozenClock
) -> None:
    request = await world.propose(HIGH)
    await world.approve("bob", request)
    [note] = await reminded(world, clock, after=0.25)
    assert "1 of 2 votes" in note
    assert note.endswith("May approve: carol.")


async def test_where_nobody_may_approve_any_more_it_says_so(
    world: World, clock: FrozenClock
) -> None:
    await world.propose()
    world.rules = tuple(rule for rule in world.rules if rule.action != "plan:approve")
    [note] = await reminded(world, clock)
    assert note.endswith("May approve: nobody.")


@pytest.mark.parametrize("end", ["granted", "denied", "expired", "altered"])
async def test_what_waits_no_more_is_not_brought_to_mind(
    world: World, clock: FrozenClock, end: str
) -> None:
    request = await world.propose()
    if end == "granted":
        await world.approve("bob", request)
    if end == "denied":
        await world.deny("bob", request)
    if end == "altered":
        await world.stores.database.transact(lambda _: rows("UPDATE request SET card = '{}'"))
    notes = await reminded(world, clock, after=1 if end == "expired" else 0.5)
    assert not any(note.startswith("Still waiting") for note in notes)


async def test_a_request_that_is_decided_while_it_is_looked_at_is_not_brought_to_mind(
    world: World,
) -> None:
    request = await world.granted()
    await world.stores.requests.remind(request.tenant, request.id, "Still waiting")
    assert await said_in(world.stores, CONVERSATION, "note") == []


async def test_p07_a_reminder_that_is_begun_twice_is_said_once(
    world: World, clock: FrozenClock
) -> None:
    await world.propose()
    clock.pass_by(HOUR / 2)
    [row] = await jobs_of(world.stores, REMIND)
    job = jobs.job_of(row)
    handler = Reminding(store=world.stores.requests, gate=world.gate)
    for attempt in (1, 2):  # the first died before it could say that it was through
        await handler(FakeHold(replace(job, fence=attempt, attempt=attempt)))
    assert await said_in(world.stores, CONVERSATION, "note") == [WAITS]
    entries = [e for e in await log_of(world.stores) if e.kind == "request.reminded"]
    assert len(entries) == 1


async def test_a_risk_without_a_reminder_has_none(stores: Stores) -> None:
    world = World(stores)
    await world.propose(APPEND)
    assert await jobs_of(stores, REMIND) == []


def test_the_earliest_reminder_of_several_risks_counts() -> None:
    risks = {name: a_rule(name=name) for name in ("low", "medium", "high")}
    policy = Policy(rules=(), risks=risks, reminders={"medium": 0.5, "high": 0.25})
    assert policy.reminder(["medium", "high", "low"]) == 0.25
    assert policy.reminder(["low"]) is None


async def test_p36_who_is_known_to_be_gone_on_their_platform_is_not_named(
    world: World, clock: FrozenClock
) -> None:
    slack = FakeRoster(clock=clock, gone={"U2": Why.DEACTIVATED})
    await world.propose()
    clock.pass_by(HOUR * 0.5)
    world.rosters = {"slack": slack}
    with pytest.raises(Refused):
        await world.gate.acting.who(BOB_ON_SLACK)
    [note] = await reminded(world, clock, after=0)
    assert note.endswith("May approve: carol.")
