"""A call of an agent elsewhere: led like a model's, kept as that agent's, and failed where it failed."""

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from bot.ask import Answered
from bot.inbox import LONGEST
from core.canonical import JsonObject
from core.errors import Refused
from core.outcomes import Reason
from core.redaction import Redactor
from core.transcript import Heard, Noted
from core.wishes import Masked, Relayed
from tests.bots import Bots
from tests.gates import SECRET, World, allow
from tests.stores import Stores
from tests.unit.bot.test_inbox import an_ask

WORD: JsonObject = {"word": "alpha", "rationale": "It is missing."}


@pytest.fixture
async def bots(stores: Stores) -> AsyncGenerator[Bots]:
    world = World(stores)
    world.rules += (allow("chat:ask", "dev", "*"),)
    bots = Bots(world)
    yield bots
    await bots.at_rest()


async def called(bots: Bots, tool: str, arguments: JsonObject) -> Answered:
    return await bots.answer(await bots.inbox.relay(an_ask(), tool, arguments))


async def test_it_is_proposed_without_a_model_being_asked_and_kept_as_the_agents(
    bots: Bots,
) -> None:
    answered = await called(bots, "append-word", WORD)
    assert answered.reason is Reason.PROPOSED
    assert answered.request is not None
    assert answered.request.about.rationale == "It is missing."
    assert answered.request.plan.calls[0].arguments["word"] == "alpha"
    turn = await bots.world.stores.conversations.turn("acme", answered.turn)
    assert turn is not None
    history = await bots.world.stores.conversations.history(turn)
    heard, noted = history.entries
    assert heard == Heard(
        speaker="alice",
        text='(over MCP: append-word {"rationale":"It is missing.","word":"alpha"})',
    )
    assert isinstance(noted, Noted)
    assert noted.text.startswith("Another agent of the person did this; you did not call it.")


async def test_what_failed_is_no_answer(bots: Bots) -> None:
    answered = await called(bots, "nothing", {})
    assert (answered.reason, answered.text) == (
        Reason.ERROR,
        "There is no such tool here. Use one of those that are listed.",
    )


@pytest.mark.parametrize("secret", [SECRET, 'with "quotes" and \n lines'])
async def test_a_secret_is_masked_before_it_is_kept(bots: Bots, secret: str) -> None:
    inbox = replace(bots.inbox, redactor=Redactor.of([secret]))
    received = await inbox.relay(an_ask(), "append-word", {"word": f"a {secret}"})
    assert received.turn.wish == Masked(text='(over MCP: append-word {"word":"a [redacted]"})')
    assert (await bots.answer(received)).request is None


async def test_a_call_that_is_too_long_is_refused_and_a_name_is_made_sound(bots: Bots) -> None:
    with pytest.raises(Refused, match="is the most"):
        await bots.inbox.relay(an_ask(), "append-word", {"word": "x" * LONGEST})
    received = await bots.inbox.relay(an_ask(), "no\u202ename\n", {})
    assert received.turn.wish == Relayed(tool="no\u202ename\n", arguments="{}")
    assert received.turn.wish.shown == r"(over MCP: no\u202ename {})"
    assert (await bots.answer(received)).reason is Reason.ERROR
