"""C26: what needs the network is judged from the plan, and refused before anybody is asked."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from approvals.models import State
from approvals.switches import Switches
from core.canonical import JsonObject
from core.errors import Refused
from core.plans import HttpStep, PythonStep
from core.profiles import DEFAULT, Profile, Profiles
from core.tools import Tool, Work
from tests.builders import a_proposal, a_step, a_tool
from tests.gates import LOW, World
from tests.stores import Stores

ONLINE = a_step("curl", network=True)
REQUEST = HttpStep(
    method="GET", url="http://127.0.0.1/", headers=(), body=None, statuses=(200,), answers=(),
    timeout_ms=1000, secrets=(),
)  # fmt: skip
FUNCTION = PythonStep(
    function="team.notes:add", source=None, arguments={}, timeout_ms=1000, memory_bytes=2**30,
    secrets=(), network=True,
)  # fmt: skip


def online(part: str) -> Tool:
    """Return a tool one part of which needs the network."""
    works = {
        "a step": Work(steps=(a_step("true"), ONLINE)),
        "the verify": Work(steps=(a_step("true"),), verify=ONLINE),
        "the preview": Work(steps=(a_step("true"),), preview=ONLINE),
        "a request": Work(steps=(a_step("true"), REQUEST)),
        "a function": Work(steps=(FUNCTION,)),
    }

    def expand(_: JsonObject) -> Work:
        return works[part]

    return replace(a_tool("note", risk="low"), expand=expand)


def of_the_profile(world: World) -> str:
    world.profiles = Profiles(known={DEFAULT: Profile(name=DEFAULT, network=False)})
    return "for the profile default"


def everywhere(world: World) -> str:
    world.switches = Switches(network=False)
    return "here"


OFF = [of_the_profile, everywhere]


@pytest.fixture
def world(stores: Stores) -> World:
    return World(stores)


@pytest.mark.parametrize("switch", OFF)
@pytest.mark.parametrize("part", ["a step", "the verify", "the preview", "a request", "a function"])
async def test_c26_nobody_is_asked_and_nothing_runs_where_it_is_off(
    world: World, part: str, switch: Callable[[World], str]
) -> None:
    world.tools = (online(part),)
    where = switch(world)
    with pytest.raises(Refused) as told:
        await world.ask(a_proposal(world.tools[0].check({"word": "a"}, {})))
    assert told.value.shown == (
        f"Not proposed: note needs the network, which is switched off {where}."
    )
    assert (await world.requests(), world.runner.ran) == ([], [])
    assert len(await world.attempts()) == 1


@pytest.mark.parametrize("switch", OFF)
async def test_c26_what_needs_none_is_asked_about(
    world: World, switch: Callable[[World], str]
) -> None:
    switch(world)
    assert (await world.propose(LOW)).state is State.OPEN


@pytest.mark.parametrize("switch", OFF)
async def test_i03_it_is_judged_again_before_the_spend(
    world: World, switch: Callable[[World], str]
) -> None:
    world.tools = (online("a step"),)
    request = await world.granted(world.tools[0], "alice")
    where = switch(world)
    with pytest.raises(Refused, match=f"needs the network, which is switched off {where}"):
        await world.spend(request)
    assert (await world.now(request)).state is State.REVOKED
    assert world.effects() == []


async def test_the_card_says_which_step_uses_it(world: World) -> None:
    world.tools = (online("a step"),)
    request = await world.ask(a_proposal(world.tools[0].check({"word": "a"}, {})))
    steps = [line for line in request.card.plan if ". run" in line]
    assert [line.endswith(", with the network") for line in steps] == [False, True]
