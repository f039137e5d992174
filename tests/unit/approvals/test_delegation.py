"""C66, C68: a turn may do what its person may do now, through its profile, and until its time is over."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from approvals.delegation import Delegation
from approvals.switches import Switches
from core.canonical import JsonObject
from core.errors import Invalid, Refused, Unavailable
from core.gateway import TooOften
from core.profiles import DEFAULT, Profile, Profiles
from core.rates import Rate, RateRules
from core.tools import MISSING, Caller, Effect, Work
from tests.builders import CALLS, a_caller, a_step, a_tool, a_turn
from tests.gates import APPEND, LOW, PLENTY, World, allow
from tests.stores import Stores

LOOK = a_tool("look", effect=Effect.READ)
READ, WRITE = LOOK.check({"word": "a"}, {}), APPEND.check({"word": "a"}, {})


@pytest.fixture
def world(stores: Stores) -> World:
    world = World(stores)
    world.rules += (allow("tool:read", "dev"),)
    return world


def delegation(world: World, *, seconds: float = 60, profile: str = DEFAULT) -> Delegation:
    return Delegation(
        gate=world.gate,
        rates=world.gate.acting.rates,
        turn=replace(a_turn(), profile=profile),
        claim=CALLS,
        until=asyncio.get_running_loop().time() + seconds,
    )


async def test_what_they_may_is_let_through(world: World) -> None:
    assert await delegation(world).authorize(READ) is None
    assert await delegation(world).authorize(WRITE) is None


async def test_c66_authority_that_went_since_the_turn_began_is_gone(world: World) -> None:
    begun = delegation(world)
    world.groups["alice"] = set()
    assert await begun.authorize(READ) == MISSING
    del world.groups["alice"]
    with pytest.raises(Refused, match="does not know you"):
        await begun.authorize(READ)


async def test_what_cannot_be_read_lets_nothing_through_for_now(world: World) -> None:
    begun = delegation(world)
    world.unreadable = Invalid("sayso.yml:1: it is half written.")
    with pytest.raises(Unavailable, match="half written"):
        await begun.authorize(READ)
    with pytest.raises(Unavailable, match="half written"):
        await begun.count([READ])
    world.unreadable = None
    assert await begun.authorize(READ) is None


async def test_a_tool_that_says_that_something_is_wrong_says_so_for_good(world: World) -> None:
    async def says(*_: object) -> object:
        raise Invalid("It is set up wrongly.")

    with pytest.raises(Invalid):
        await delegation(world).authorize(replace(LOOK, authorize=says).check({"word": "a"}, {}))


async def test_a_right_to_read_is_none_to_propose_and_the_other_way_round(world: World) -> None:
    world.rules = (allow("tool:read", "dev"),)
    assert await delegation(world).authorize(WRITE) == MISSING
    world.rules = (allow("run:propose", "dev"),)
    assert await delegation(world).authorize(READ) == MISSING


@pytest.mark.parametrize("tools", [frozenset({"look"}), frozenset[str]()])
async def test_c68_a_tool_outside_the_profile_is_refused_though_they_may_use_it(
    world: World, tools: frozenset[str]
) -> None:
    world.profiles = Profiles(known={"narrow": Profile(name="narrow", tools=tools)})
    assert await delegation(world, profile="narrow").authorize(WRITE) == MISSING
    assert await delegation(world, profile="gone").authorize(READ) == MISSING


async def test_c68_it_ends_with_the_time_of_the_turn(world: World) -> None:
    said = await delegation(world, seconds=0).authorize(READ)
    assert said == "Not run: the time in which this turn may act for you is over. Ask again."


async def test_c20_a_tool_has_its_own_say_about_whose_order_it_is(world: World) -> None:
    async def own(arguments: JsonObject, caller: Caller) -> object:
        seen.append((arguments["word"], caller))
        return None if arguments["word"] == "mine" else "It is not your order."

    seen: list[object] = []
    tool = replace(LOOK, authorize=own)
    assert await delegation(world).authorize(tool.check({"word": "mine"}, {})) is None
    assert (
        await delegation(world).authorize(tool.check({"word": "yours"}, {}))
        == "It is not your order."
    )
    caller = a_caller()
    assert seen == [("mine", caller), ("yours", caller)]


async def test_c22_calls_are_counted_by_the_rates_as_they_are_now(world: World) -> None:
    begun = delegation(world)
    assert await begun.count([READ]) is None
    once = Rate(name="look", most=1, per=timedelta(hours=1))
    world.rates = RateRules(messages=PLENTY.messages, tools=(once,))
    assert await begun.count([READ]) is None
    no = TooOften(why={0: "Not run: you may do this once in 1h. Try again in 1h."})
    assert await begun.count([READ]) == no
    assert await begun.count([WRITE]) is None


async def test_c22_calls_that_come_at_once_are_counted_all_or_none(world: World) -> None:
    begun = delegation(world)
    look, append = (
        Rate(name=name, most=2, per=timedelta(hours=1)) for name in ("look", "append-word")
    )
    world.rates = RateRules(messages=PLENTY.messages, tools=(look, append))
    other = LOW.check({"word": "a"}, {})
    assert await begun.count([other, WRITE]) is None
    why = {3: "Not run: you may do this 2 times in 1h. Try again in 30m."}
    assert await begun.count([other, READ, WRITE, WRITE]) == TooOften(why=why)
    assert await begun.count([READ, WRITE, other, READ]) is None
    many = (
        "Not run: you may do this 2 times in 1h, and this is 3 times at once. Ask for less at once."
    )
    found = await begun.count([READ, READ, READ])
    assert found == TooOften(why=dict.fromkeys(range(3), many))


async def test_c26_a_read_that_needs_the_network_is_not_run_where_it_is_off(world: World) -> None:
    def expand(_: JsonObject) -> Work:
        return Work(steps=(a_step("curl", network=True),))

    online = replace(LOOK, expand=expand)
    call = online.check({"word": "a"}, {})
    assert await delegation(world).authorize(call) is None
    world.switches = Switches(network=False)
    assert await delegation(world).authorize(call) == (
        "Not run: look needs the network, which is switched off here."
    )
    assert await delegation(world).authorize(READ) is None
