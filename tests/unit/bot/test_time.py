"""C2, C68: a turn's time begins with the turn, and everything in it ends with that time."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from approvals.delegation import Delegation
from bot.ask import Answered
from core import gateway
from core.agent import Agent, Session
from core.events import Ask
from core.limits import Limits
from core.outcomes import Outcome, Reason
from core.toolbelt import Toolbelt
from core.tools import Effect
from core.toolset import Toolset
from core.transcript import Compacted, Form, Heard, Say, Stated, ToolCall, Use
from tests.bots import Bots
from tests.builders import CONVERSATION, PLACE, a_tool
from tests.fakes.hanging import Fault, hangs, raises, stays
from tests.fakes.model import Scripted, ScriptedModel
from tests.fakes.runner import for_ever
from tests.gates import APPEND, World, allow, who
from tests.stores import Stores

LOOK = a_tool("look", effect=Effect.READ)
LOOKS = Use(calls=(ToolCall(id="1", tool="look", arguments={"word": "alpha"}),))
WRITES = Use(
    calls=(
        ToolCall(id="w", tool="append-word", arguments={"word": "alpha", "rationale": "because"}),
    )
)
SMALL = Limits(prompt_bytes=32 * 1024, conclusion_seconds=2.5)
never_ends = pytest.mark.parametrize("other", [hangs, stays])


@pytest.fixture
async def bots(stores: Stores) -> AsyncGenerator[Bots]:
    world = World(stores)
    world.tools += (LOOK,)
    world.rules += (allow("chat:ask", "dev", "*"), allow("tool:read", "dev"))
    world.within(SMALL)
    bots = Bots(world)
    yield bots
    await bots.at_rest()


async def answered(bots: Bots, *script: Scripted) -> Answered:
    bots.model = ScriptedModel(*script, generative=True)
    return await bots.answer(await bots.receive("and now?", CONVERSATION))


async def grown(bots: Bots) -> None:
    """Have a conversation become so long that its next turn begins with a compaction."""
    for _ in range(2):
        await answered(bots, Say(text="x" * 6000))


def within(bots: Bots, seconds: float) -> None:
    """Give each turn so many seconds."""
    bots.world.within(replace(SMALL, seconds=seconds))


@asynccontextmanager
async def took_less_than(seconds: float) -> AsyncGenerator[None]:
    loop = asyncio.get_running_loop()
    begun = loop.time()
    yield
    assert loop.time() - begun < seconds


@never_ends
async def test_c79_a_compaction_that_hangs_leaves_the_turn_the_time_to_look_and_to_answer(
    bots: Bots, other: Fault
) -> None:
    await grown(bots)
    within(bots, 2)
    told = await answered(bots, other, LOOKS, Say(text="ok"))
    assert (told.reason, told.text) == (Reason.ANSWERED, "ok")
    assert [argv[0] for argv in bots.world.runner.ran] == ["look"]
    short = bots.model.seen[-1][0]
    assert isinstance(short, Compacted)
    assert (short.words, bool(short.told)) == ("", True)


async def test_c2_a_turn_with_a_compaction_has_no_more_time_than_any_other(bots: Bots) -> None:
    await grown(bots)
    within(bots, 1.2)
    async with took_less_than(2.2):  # it is 1.2 on an idle machine
        told = await answered(bots, hangs, hangs, hangs)
    assert (told.reason, len(bots.model.seen)) == (Reason.MAX_SECONDS, 3)


async def test_c2_nor_has_one_with_a_slow_classifier_and_slow_states(bots: Bots) -> None:
    bots.classifier = lambda _: hangs
    bots.toolbelt = Toolbelt((Toolset(name="board", state=hangs),))
    within(bots, 0.8)
    async with took_less_than(1.4):  # it is 0.8 on an idle machine
        told = await answered(bots, hangs, hangs)
    assert (told.reason, len(bots.model.seen)) == (Reason.MAX_SECONDS, 2)
    away = [one for one in bots.model.seen[0] if isinstance(one, Stated) and one.source == "board"]
    assert [one.form for one in away] == [Form.AWAY]


async def test_c68_what_a_turn_may_do_for_somebody_ends_exactly_with_its_time(
    bots: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions, turn = list[Session](), Agent.turn

    async def watched(agent: Agent, heard: Heard, **given: Any) -> Outcome:  # noqa: ANN401
        sessions.append(given["session"])
        return await turn(agent, heard, **given)

    monkeypatch.setattr(Agent, "turn", watched)
    await answered(bots, Say(text="ok"))
    [session] = sessions
    delegation = getattr(session.access.authorize, "__self__", None)
    assert isinstance(delegation, Delegation)
    assert delegation.until == session.end


@pytest.mark.parametrize("other", [hangs, stays, raises(ValueError("4711"))])
async def test_c20_a_plan_of_before_is_not_proposed_where_a_tools_own_say_never_comes(
    bots: Bots, other: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = (await bots.world.propose()).plan
    monkeypatch.setattr(gateway, "CHECK_SECONDS", 0.05)
    bots.world.tools = (replace(APPEND, authorize=other), LOOK)
    ask = Ask(identity=who("alice"), place=PLACE, text="")
    told = await bots.answer(await bots.inbox.ask_plan(ask, plan))
    assert told.request is None
    assert "Whether this may be done" in told.text or "It could not be checked" in told.text
    bots.world.tools = (APPEND, LOOK)
    assert (await answered(bots, Say(text="ok"))).text == "ok"


async def test_c2_a_preview_is_cut_where_the_time_is_over_and_nobody_is_asked(bots: Bots) -> None:
    bots.world.runner.meanwhile["preview",] = for_ever
    within(bots, 1)
    async with took_less_than(2):  # it is 1 on an idle machine
        told = await answered(bots, WRITES)
    assert (told.reason, told.request) == (Reason.MAX_SECONDS, None)
    assert len(bots.world.runner.cut) == 1
    [tried] = await bots.world.attempts()
    assert "took longer than a turn may take" in repr(tried)


async def test_c2_that_of_a_plan_of_before_too(bots: Bots) -> None:
    plan = (await bots.world.propose()).plan
    bots.world.runner.meanwhile["preview",] = for_ever
    within(bots, 0.5)
    async with took_less_than(1.5):
        told = await bots.answer(
            await bots.inbox.ask_plan(Ask(identity=who("alice"), place=PLACE, text=""), plan)
        )
    assert told.request is None
    assert "took longer than a turn may take" in told.text
