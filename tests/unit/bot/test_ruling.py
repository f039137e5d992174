"""Who pauses, resumes and lifts, what they are told, and what goes on afterwards."""

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from adapters.jobs.table import MOST_TRIES
from adapters.storage.transactions import changed
from approvals.brakes import LONGEST_WHY
from approvals.models import State
from bot.freezing import Freezing
from bot.ruling import NOT_BLOCKED, NOT_PAUSED, Rulings
from core.errors import Invalid, Refused, Unavailable
from core.principals import Identity
from core.rulings import Lift, Pause, Resume, Ruling
from tests.bots import Bots
from tests.builders import CONVERSATION, PLACE, TENANT
from tests.fakes.clock import FrozenClock
from tests.gates import EVE, LOW, SECRET, World, allow, who
from tests.jobs import soon
from tests.stores import OTHER_CONVERSATION, Stores, jobs_of, said_in
from tests.unit.approvals.test_held import HOUR, NOON

OPS = (allow("run:stop", "ops", "*"),)


@pytest.fixture
async def bots(stores: Stores) -> AsyncGenerator[Bots]:
    bots = Bots(World(stores))
    bots.world.rules += OPS
    yield bots
    await bots.at_rest()


async def rule(bots: Bots, event: Ruling) -> str:
    stores = bots.world.stores
    rulings = Rulings(
        gate=bots.world.gate,
        brakes=stores.brakes,
        requests=stores.requests,
        conversations=stores.conversations,
        deciding=bots.deciding(),
    )
    return await rulings.rule(event)


async def refusal(bots: Bots, event: Ruling) -> str:
    with pytest.raises(Refused) as told:
        await rule(bots, event)
    return told.value.shown


async def deny_three(bots: Bots) -> None:
    for word in "abc":
        await bots.world.deny("bob", await bots.world.propose(word=word))


# pause


async def test_x6_a_pause_says_what_it_does_and_how_it_ends(bots: Bots) -> None:
    told = await rule(bots, Pause(identity=who("bob"), reason=f" an\nincident {SECRET} "))
    assert told.startswith("Paused: bob paused everything at 2026-03-01 09:30:00 UTC (an incident ")
    assert SECRET not in told
    assert "reads go on" in told
    assert await rule(bots, Resume(identity=who("carol"))) == "Resumed: bob had paused it."
    assert await rule(bots, Resume(identity=who("carol"))) == NOT_PAUSED


async def test_who_comes_second_is_told_whose_pause_stands(bots: Bots) -> None:
    await rule(bots, Pause(identity=who("bob"), reason="first"))
    told = await rule(bots, Pause(identity=who("carol"), reason="second"))
    assert "bob paused everything" in told
    assert "(first)" in told


async def test_a_long_reason_is_cut(bots: Bots) -> None:
    told = await rule(bots, Pause(identity=who("bob"), reason="x" * 10_000))
    assert "x" * (LONGEST_WHY + 1) not in told


@pytest.mark.parametrize("event", [Pause, Resume])
async def test_p09_who_may_not_is_told_who_may_and_put_on_record(
    bots: Bots, event: type[Pause | Resume]
) -> None:
    await rule(bots, Pause(identity=who("bob")))
    told = await refusal(bots, event(identity=who("dave")))
    assert told == "You may not pause or resume (tenant:pause); alice, bob and carol may."
    assert (await bots.world.stores.brakes.now(TENANT)).pause
    [tried] = await bots.world.attempts()
    assert "dave" in tried.body
    bots.world.rules = ()
    assert "nobody may" in await refusal(bots, event(identity=who("bob")))


async def test_i14_another_tenants_pause_is_its_own(bots: Bots) -> None:
    await rule(bots, Pause(identity=EVE))
    assert (await bots.world.stores.brakes.now(TENANT)).pause is None


async def test_x6_what_was_approved_goes_on_by_itself_after_a_pause_and_a_restart(
    bots: Bots,
) -> None:
    request = await bots.world.granted(LOW)
    await rule(bots, Pause(identity=who("bob")))
    async with bots.serving("a"):
        await soon(lambda: _tried(bots))
        assert bots.world.effects() == []
    async with bots.serving("b"):
        await rule(bots, Resume(identity=who("bob")))
        await soon(lambda: _ran(bots))
    assert len(bots.world.effects()) == 1
    assert [run.request for run in await bots.world.runs()] == [request.id]


async def test_x6_however_long_a_pause_lasts_what_was_approved_is_kept(bots: Bots) -> None:
    request = await bots.world.granted(LOW)
    await rule(bots, Pause(identity=who("bob")))
    await bots.world.stores.database.transact(
        lambda _: changed("UPDATE job SET tries = :n WHERE kind = 'run' RETURNING id", n=MOST_TRIES)
    )

    async def tried_again() -> bool:
        [job] = await jobs_of(bots.world.stores, "run")
        return int(job["tries"]) > MOST_TRIES or job["state"] != "queued"

    async with bots.serving("a"):
        await soon(tried_again)
    assert (await bots.world.now(request)).state is State.GRANTED
    await rule(bots, Resume(identity=who("bob")))
    async with bots.serving("b"):
        await soon(lambda: _ran(bots))


async def _tried(bots: Bots) -> bool:
    [job] = await jobs_of(bots.world.stores, "run")
    return int(job["tries"]) > 0


async def _ran(bots: Bots) -> bool:
    return bool([run for run in await bots.world.runs() if run.ended_at])


# lift


async def test_p04_who_may_approve_what_was_denied_last_lifts_it(bots: Bots) -> None:
    await deny_three(bots)
    with pytest.raises(Refused, match="3 requests of this conversation were denied"):
        await bots.world.propose(word="d")
    told = await rule(bots, Lift(identity=who("carol"), conversation=CONVERSATION))
    assert told.startswith("Lifted:")
    await bots.world.propose(word="d")
    assert await rule(bots, Lift(identity=who("carol"), conversation=CONVERSATION)) == NOT_BLOCKED


async def test_p04_whoever_only_asks_does_not_lift_it(bots: Bots) -> None:
    await deny_three(bots)
    bots.world.groups["alice"] = {"dev"}
    told = await refusal(bots, Lift(identity=who("alice"), conversation=CONVERSATION))
    assert told == (
        "You may not lift that: it takes who may approve what was denied last. bob and carol may."
    )
    bots.world.rules = tuple(r for r in bots.world.rules if r.action != "plan:approve")
    told = await refusal(bots, Lift(identity=who("alice"), conversation=CONVERSATION))
    assert told.endswith("nobody may.")


@pytest.mark.parametrize("person", [who("dave"), EVE])
async def test_i14_who_may_not_know_of_it_hears_the_same_as_of_nothing(
    bots: Bots, person: Identity
) -> None:
    async def told(conversation: str) -> str:
        try:
            return await rule(bots, Lift(identity=person, conversation=conversation))
        except Refused as error:
            return error.shown

    await deny_three(bots)
    found = {await told(one) for one in (CONVERSATION, OTHER_CONVERSATION, "c_none")}
    assert found == {NOT_BLOCKED}


async def test_a_lift_is_of_the_conversation_in_which_it_is_said(bots: Bots) -> None:
    await deny_three(bots)
    for place in (None, PLACE, replace(PLACE, thread="17.1")):
        assert await rule(bots, Lift(identity=who("bob"), place=place)) == NOT_BLOCKED


# freezes


async def test_x6_a_freeze_is_told_of_within_a_look_and_once(
    bots: Bots, clock: FrozenClock
) -> None:
    world = bots.world
    freezing = Freezing(authority=world.authority, brakes=world.stores.brakes)
    world.windows = (NOON,)
    request = await world.propose()
    await freezing()
    assert (await world.now(request)).brakes == ()
    clock.pass_by(HOUR / 2)
    for _ in range(2):
        await freezing()
    [brake] = (await world.now(request)).brakes
    assert brake.name == "noon"
    assert len(await said_in(world.stores, CONVERSATION, "note")) == 1
    clock.pass_by(HOUR)
    await freezing()
    assert (await said_in(world.stores, CONVERSATION, "note"))[-1].startswith("The freeze noon is")


async def test_a_file_that_is_being_saved_puts_that_off(bots: Bots) -> None:
    world = bots.world
    world.unreadable = Invalid("sayso.yml:1: half of it is missing.")
    with pytest.raises(Unavailable, match="half of it"):
        await Freezing(authority=world.authority, brakes=world.stores.brakes)()
