"""Whatever is refused to one person as often as they like: the log ends somewhere, and nothing else does."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import TypeAlias

import pytest

from approvals.models import Request, State
from core.canonical import sha256
from core.errors import Refused
from core.events import Ask
from core.principals import Identity
from core.rates import REFUSALS, RateRules
from tests.bots import Bots
from tests.builders import CONVERSATION, PLACE
from tests.fakes.clock import FrozenClock
from tests.gates import World, allow, who
from tests.stores import Stores, facts_of

STRANGER = Identity(platform="slack", workspace="T1", user="U99")
NONE = "0" * 32
TOO_OFTEN = REFUSALS.most + 5
Deed: TypeAlias = Callable[[Bots, Request], Awaitable[object]]


def asks(bots: Bots, identity: Identity) -> Awaitable[object]:
    return bots.inbox.ask(Ask(identity=identity, place=PLACE, text="append alpha"))


DEEDS: Mapping[str, tuple[str, Deed]] = {
    "approve": ("alice", lambda bots, request: bots.world.approve("alice", request)),
    "approve nothing": ("bob", lambda bots, _: bots.world.approve("bob", NONE)),
    "deny": ("frank", lambda bots, request: bots.world.deny("frank", request)),
    "deny nothing": ("bob", lambda bots, _: bots.world.deny("bob", "x" * 1000)),
    "ask again": ("bob", lambda bots, _: bots.world.again("bob", NONE)),
    "ask again here": (
        "bob",
        lambda bots, _: bots.inbox.ask_again(Ask(identity=who("bob"), place=PLACE, text=""), NONE),
    ),
    "stop": ("bob", lambda bots, _: bots.stop("bob", CONVERSATION)),
    "stop a run": ("bob", lambda bots, request: bots.stop_run("bob", request.id)),
    "resolve": ("bob", lambda bots, _: bots.resolving.resolve(who("bob"), "r_1", 0, happened=True)),
    "verify": ("bob", lambda bots, _: bots.resolving.verify(who("bob"), "r_1", 0)),
    "ask": ("dave", lambda bots, _: asks(bots, who("dave"))),
    "ask as a stranger": ("(unknown)", lambda bots, _: asks(bots, STRANGER)),
}


@pytest.fixture
async def bots(stores: Stores) -> AsyncGenerator[Bots]:
    world = World(stores)
    world.groups |= {"frank": {"stoppers"}}
    world.rules = (*world.rules, allow("chat:ask", "ops", "*"))
    bots = Bots(world)
    yield bots
    await bots.at_rest()


async def refused(deed: Awaitable[object]) -> str:
    with pytest.raises(Refused) as told:
        await deed
    return told.value.shown


@pytest.mark.parametrize("name", DEEDS)
async def test_whatever_is_refused_is_noted_so_often_and_told_each_time(
    bots: Bots, clock: FrozenClock, name: str
) -> None:
    person, deed = DEEDS[name]
    request = await bots.world.propose()
    told = {await refused(deed(bots, request)) for _ in range(TOO_OFTEN)}
    assert len(told) == 1
    entries = await bots.world.attempts()
    assert {str(facts_of(entry)["principal"]) for entry in entries} == {person}
    assert len(entries) == REFUSALS.most + 1
    last = facts_of(entries[-1])
    assert (last["given_sha256"], str(last["why"])[:18]) == (None, "Refused too often:")
    clock.pass_by(timedelta(minutes=2))
    for _ in range(TOO_OFTEN):
        await refused(deed(bots, await bots.world.now(request)))
    assert len(await bots.world.attempts()) == REFUSALS.most + 1 + 2


async def test_who_is_too_fast_fills_no_log_either(bots: Bots) -> None:
    bots.world.rates = RateRules(messages=REFUSALS)
    request = await bots.world.propose()
    for _ in range(REFUSALS.most + TOO_OFTEN):
        await refused(bots.world.approve("alice", request))
    assert len(await bots.world.attempts()) == REFUSALS.most + 1


async def test_who_was_refused_too_often_denies_and_stops_as_before(bots: Bots) -> None:
    first = await bots.world.propose()
    second = await bots.world.propose(word="second")
    for name in ("deny nothing", "stop", "approve nothing", "ask again"):
        for _ in range(TOO_OFTEN):
            await refused(DEEDS[name][1](bots, first))
    assert (await bots.world.deny("bob", first)).state is State.DENIED
    bots.world.groups["bob"] = {"stoppers"}
    stopped = await bots.stop("bob", CONVERSATION)
    assert [request.id for request in stopped.requests] == [second.id]


async def test_of_two_people_who_are_refused_neither_hides_the_other(bots: Bots) -> None:
    request = await bots.world.propose()
    for _ in range(TOO_OFTEN):
        await refused(bots.world.approve("alice", request))
    await refused(bots.world.deny("frank", request))
    last = (await bots.world.attempts())[-1]
    assert facts_of(last)["principal"] == "frank"


async def test_of_two_strangers_neither_hides_the_other(bots: Bots) -> None:
    for _ in range(TOO_OFTEN):
        await refused(asks(bots, STRANGER))
    await refused(asks(bots, replace(STRANGER, user="U98")))
    last = facts_of((await bots.world.attempts())[-1])
    assert (last["principal"], last["given_sha256"]) == ("(unknown)", sha256("U98"))
