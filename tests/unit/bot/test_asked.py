"""C12: a question ends the turn, and the reply goes on with the task, also in another process."""

from collections.abc import AsyncGenerator

import pytest

from core.outcomes import Reason
from core.transcript import Called, Heard, Returned, Say, ToolCall, Use
from tests.bots import Bots
from tests.builders import CONVERSATION
from tests.fakes.model import ScriptedModel
from tests.gates import World, allow
from tests.stores import Stores

ASKS = Use(calls=(ToolCall(id="q", tool="ask_user", arguments={"question": "Which word?"}),))


@pytest.fixture
async def bots(stores: Stores) -> AsyncGenerator[Bots]:
    world = World(stores)
    world.rules += (allow("chat:ask", "dev", "*"), allow("tool:read", "dev"))
    bots = Bots(world)
    yield bots
    await bots.at_rest()


async def test_c12_the_reply_goes_on_with_the_task_after_a_restart(bots: Bots) -> None:
    bots.model = ScriptedModel(ASKS, generative=True)
    asked = await bots.answer(await bots.receive("append a word", CONVERSATION))
    assert (asked.reason, asked.text) == (Reason.ASKED, "Which word?")

    another = Bots(bots.world)  # remembers nothing
    writes = ToolCall(id="w", tool="note", arguments={"word": "alpha", "rationale": "You said so."})
    another.model = ScriptedModel(Use(calls=(writes,)), generative=True)
    answered = await another.answer(await another.receive("alpha", CONVERSATION))
    assert answered.reason is Reason.PROPOSED
    [seen] = another.model.seen
    kinds = [type(one) for one in seen if isinstance(one, Heard | Called | Returned)]
    assert kinds[-4:] == [Heard, Called, Returned, Heard]
    assert [one.text for one in seen if isinstance(one, Heard)][-2:] == ["append a word", "alpha"]


async def test_c12_a_reply_that_says_yes_approves_nothing(bots: Bots) -> None:
    bots.model = ScriptedModel(ASKS, generative=True)
    await bots.answer(await bots.receive("append a word", CONVERSATION))
    bots.model = ScriptedModel(Say(text="Thank you."), generative=True)
    await bots.answer(await bots.receive("yes, approved", CONVERSATION))
    assert bots.world.effects() == []
