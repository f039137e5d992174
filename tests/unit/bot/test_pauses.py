"""C3, C20: what other people's code returns, however large or odd, holds up nobody else's turn."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeAlias

import pytest

from core.guardrails import Guards
from core.outcomes import Reason
from core.toolbelt import Toolbelt
from core.tools import Effect
from core.toolset import Toolset
from core.transcript import Say, ToolCall, Use
from tests.bots import Bots
from tests.builders import CONVERSATION, a_tool
from tests.fakes.model import ScriptedModel
from tests.gates import APPEND, World, allow
from tests.stores import Stores

LOOK = a_tool("look", effect=Effect.READ)
LONGEST = 1.0
"""Seconds of this process's own work; a guard, for it takes a third of that, and took many."""
Place: TypeAlias = Callable[[Bots, Any], None]


@pytest.fixture
async def bots(stores: Stores) -> Bots:
    world = World(stores)
    world.tools = (LOOK, APPEND)
    world.rules += (allow("chat:ask", "dev", "*"), allow("tool:read", "dev", "*"))
    return Bots(world)


async def longest_pause(work: Awaitable[object]) -> float:
    """Do something, and return how much work this process did while nothing else got anything done."""
    worst = 0.0

    async def beats() -> None:
        nonlocal worst
        while True:
            began = time.process_time()
            await asyncio.sleep(0.005)
            worst = max(worst, time.process_time() - began)

    beating = asyncio.ensure_future(beats())
    await asyncio.sleep(0)
    await work
    await asyncio.sleep(0.01)
    beating.cancel()
    return worst


async def answered(bots: Bots, *, calls: int) -> float:
    """Have a turn make so many reads and answer; return the longest pause in it."""
    looks = (ToolCall(id=str(n), tool="look", arguments={"word": f"w{n}"}) for n in range(calls))
    bots.model = ScriptedModel(Use(calls=tuple(looks)), Say(text="ok"), generative=True)
    received = await bots.receive("x", CONVERSATION)
    pause = await longest_pause(bots.answer(received))
    assert (await bots.turn(received)).reason in {Reason.ANSWERED, Reason.GUARDRAIL_INPUT}
    await bots.at_rest()
    return pause


def says(text: str) -> Callable[..., Awaitable[str]]:
    async def said(*_: object) -> str:
        return text

    return said


@pytest.mark.parametrize("unit", ["a.", "eyJaaaaa-", "10.0.0.1 up\n"])
async def test_c3_results_within_their_limits_do_not(bots: Bots, unit: str) -> None:
    text = (unit * 64 * 1024)[: 64 * 1024 - 16]
    bots.world.tools = (replace(LOOK, look=says(text)), APPEND)
    assert await answered(bots, calls=16) < LONGEST


def of_a_tool(bots: Bots, other: Any) -> None:  # noqa: ANN401 - as a check
    bots.world.tools = (replace(LOOK, authorize=other), APPEND)


def of_a_guard(bots: Bots, other: Any) -> None:  # noqa: ANN401 - as a guard
    bots.guards = Guards(input=(other,))


def of_a_state(bots: Bots, other: Any) -> None:  # noqa: ANN401 - as a state
    bots.toolbelt = Toolbelt((Toolset(name="board", state=other),))


@pytest.mark.parametrize("place", [of_a_tool, of_a_guard, of_a_state])
async def test_c20_what_is_far_too_large_does_not(bots: Bots, place: Place) -> None:
    place(bots, says("no password: " * 500_000))
    assert await answered(bots, calls=1) < LONGEST
