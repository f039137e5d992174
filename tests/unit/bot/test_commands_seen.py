"""C28: a command that a person typed, and what came of it, is in the conversation as their deed."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace

import pytest

from adapters.grammar import GrammarModel
from core.outcomes import Reason
from core.tools import Effect
from core.transcript import Called, Entry, Heard, Noted, Returned, Say, Spoke, Stated, ToolCall, Use
from tests.bots import Bots
from tests.builders import CONVERSATION, a_tool
from tests.fakes.model import ScriptedModel
from tests.fakes.runner import exited, for_ever
from tests.gates import World, allow
from tests.jobs import soon
from tests.stores import Stores

LOOK = a_tool("look", effect=Effect.READ)


@pytest.fixture
async def bots(stores: Stores) -> AsyncGenerator[Bots]:
    world = World(stores)
    world.tools += (LOOK,)
    world.rules += (allow("chat:ask", "dev", "*"), allow("tool:read", "dev"))
    bots = Bots(world)
    yield bots
    await bots.at_rest()


async def sent_after(bots: Bots, *texts: str) -> Sequence[Entry]:
    """Have alice say these, then ask a model what she did; return what it is sent."""
    for text in texts:
        await bots.answer(await bots.receive(text, CONVERSATION))
    bots.model = ScriptedModel(Say(text="You looked."), generative=True)
    asked = await bots.answer(await bots.receive("what did I just do?", CONVERSATION))
    assert asked.reason is Reason.ANSWERED
    [seen] = bots.model.seen
    # Between the message of the fixture and the question, without what is told of the task.
    return [one for one in seen[2:-1] if not isinstance(one, Stated)]


def is_nobodys_call(entries: Sequence[Entry]) -> bool:
    return not any(isinstance(entry, Called | Returned | Spoke) for entry in entries)


async def test_c28_a_read_that_was_typed_is_told_with_who_what_and_the_result(bots: Bots) -> None:
    bots.world.runner.endings["look",] = exited(output="three words\n")
    entries = await sent_after(bots, "!look word=alpha")
    heard, told = entries
    assert heard == Heard(speaker="alice", text="!look word=alpha")
    assert isinstance(told, Noted)
    assert told.text.startswith("A command of the person did this; you did not call it.")
    assert 'look {"file":"words.txt","word":"alpha"}' not in told.text  # as it was given, no more
    assert told.text.endswith('look {"word":"alpha"}\n> three words')


async def test_c28_a_write_that_was_typed_is_told_as_waiting_and_its_end_as_news(
    bots: Bots,
) -> None:
    proposed = await bots.answer(await bots.receive("!append-word word=alpha", CONVERSATION))
    assert proposed.request
    await bots.world.deny("bob", proposed.request, "not now")
    heard, told, news = await sent_after(bots)
    assert isinstance(heard, Heard)
    assert isinstance(told, Noted)
    assert told.text.endswith(
        'append-word {"word":"alpha"}\n> The plan waits for approval, not run.'
    )
    assert isinstance(news, Noted)
    assert "Denied by bob: not now." in news.text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("!append-word nonsense=1", "there is no argument"),
        ("!append-word", "it is required and has no default"),
    ],
)
async def test_c28_a_command_that_was_refused_is_told_with_the_reason(
    bots: Bots, text: str, said: str
) -> None:
    entries = await sent_after(bots, text)
    assert entries[0] == Heard(speaker="alice", text=text)
    assert isinstance(entries[1], Noted)
    assert said in entries[1].text
    assert is_nobodys_call(entries)


async def test_c28_what_a_phrase_did_is_the_persons_deed_too(bots: Bots) -> None:
    bots.world.runner.endings["look",] = exited(output="three words\n")
    bots.world.edit("look", lambda tool: replace(tool, phrases=("look at {word}",)))
    bots.model = GrammarModel()  # type: ignore[assignment]  # a model like any other
    entries = await sent_after(bots, "look at alpha")
    assert is_nobodys_call(entries)
    assert isinstance(entries[1], Noted)
    assert entries[1].text.endswith('look {"word":"alpha"}\n> three words')


async def test_c28_a_command_that_was_stopped_is_told_as_far_as_it_came(bots: Bots) -> None:
    bots.world.runner.meanwhile["look",] = for_ever
    received = await bots.receive("!look word=alpha", CONVERSATION)
    async with bots.serving():

        async def begun() -> bool:
            return bool(bots.world.runner.ran)

        await soon(begun)
        await bots.stop("alice", CONVERSATION)
        await bots.ended(received)
    entries = await sent_after(bots)
    assert is_nobodys_call(entries)
    texts = [entry.text for entry in entries if isinstance(entry, Noted)]
    assert "> Not run to its end: it was stopped." in texts[0]
    assert texts[-1] == "Stopped. Nothing was changed."


async def test_c28_calls_of_a_model_that_writes_stay_its_own(bots: Bots) -> None:
    looks = Use(calls=(ToolCall(id="1", tool="look", arguments={"word": "alpha"}),))
    bots.model = ScriptedModel(looks, Say(text="Done."), generative=True)
    await bots.answer(await bots.receive("look", CONVERSATION))
    entries = await sent_after(bots)
    assert [type(entry) for entry in entries] == [Heard, Called, Returned, Spoke]
