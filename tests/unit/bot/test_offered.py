"""T12, C28, C29: what of the toolsets a model is sent and a person can type, in whole turns."""

from collections.abc import AsyncGenerator

import pytest
from pydantic import BaseModel, field_validator

from adapters.grammar import GrammarModel
from core.canonical import encode
from core.limits import prompt_bytes
from core.redaction import Redactor
from core.skills import Shelf, Skill
from core.toolbelt import Toolbelt
from core.tools import OWN, answering
from core.toolset import Channel, Toolset
from core.toolsets.skills import SkillsConfig, toolset
from core.transcript import Returned, Say, ToolCall, Use
from tests.bots import Bots
from tests.builders import CONVERSATION
from tests.fakes.model import ScriptedModel
from tests.gates import World, allow, without
from tests.stores import Stores

BODY = "Drain it first, the left one."
SKILLS = (
    Skill(name="deploy", summary="How we deploy", body=BODY),
    Skill(name="drain", summary="How we drain", body="Ask the night shift."),
)


def belt(*channels: Channel) -> Toolbelt:
    config = SkillsConfig(expose=channels or None)
    return Toolbelt.of([toolset(config, Shelf(skills=SKILLS), Redactor.of([])).exposed(config)])


@pytest.fixture
async def bots(stores: Stores) -> AsyncGenerator[Bots]:
    world = World(stores)
    world.rules += (
        allow("chat:ask", "dev", "*"),
        allow("tool:read", "dev", "tool:skill"),
    )
    bots = Bots(world, toolbelt=belt())
    yield bots
    await bots.at_rest()


def reading(name: str = "deploy", call: str = "1") -> Use:
    return Use(calls=(ToolCall(id=call, tool="skill", arguments={"name": name}),))


async def say(bots: Bots, text: str) -> str:
    return (await bots.answer(await bots.receive(text, CONVERSATION))).text


async def asked(bots: Bots, *script: Say | Use) -> ScriptedModel:
    """Have alice ask a model that writes."""
    model = bots.model = ScriptedModel(*script, generative=True)
    await say(bots, "how do we deploy?")
    return model


def all_sent(model: ScriptedModel, move: int) -> str:
    """Return everything that a model was sent for one of its moves."""
    return model.prompts[move].says.text + "".join(map(repr, model.seen[move]))


async def test_t12_the_menu_is_sent_and_a_text_only_after_it_was_asked_for(bots: Bots) -> None:
    model = await asked(bots, reading(), Say(text="Drain it."))
    assert "- deploy: How we deploy\n- drain: How we drain" in model.prompts[0].system
    assert BODY not in all_sent(model, 0)
    assert f"> {BODY}" in all_sent(model, 1)
    assert "Ask the night shift" not in all_sent(model, 1)


async def test_c27_a_typed_command_whose_arguments_cannot_be_checked_is_refused_by_name(
    bots: Bots,
) -> None:
    class Odd(BaseModel):
        word: str

        @field_validator("word")
        @classmethod
        def _fails(cls, _: str) -> str:
            raise KeyError("4711")

    async def never(*_: object) -> str:
        raise AssertionError

    odd = answering("odd", "Never works", Odd, never)
    bots.world.rules += (allow("tool:read", "dev", "tool:odd"),)
    bots.toolbelt = Toolbelt((Toolset(name="odd", commands=(odd,)),))
    assert await say(bots, "!odd alpha") == (
        "odd: its arguments could not be checked, so it was not called. Tell an operator."
    )


async def test_c75_reading_a_skill_leaves_what_stands_first_as_it_is(bots: Bots) -> None:
    model = await asked(bots, reading(), Say(text="Drain it."))
    assert model.prompts[0].says.text == model.prompts[1].says.text


async def test_t12_it_can_be_read_again_in_another_turn_and_not_twice_in_one(bots: Bots) -> None:
    model = await asked(bots, reading(), reading(call="2"), Say(text="Drain it."))
    returned = model.seen[2][-1]
    assert isinstance(returned, Returned)
    assert returned.results[0].text.startswith("Not run again")
    again = await asked(bots, reading(), Say(text="As I said."))
    returned = again.seen[1][-1]
    assert isinstance(returned, Returned)
    assert f"> {BODY}" in returned.results[0].text


async def test_t12_a_person_reads_one_by_a_command(bots: Bots) -> None:
    assert await say(bots, "!skill deploy") == (
        "The skill deploy, as the operators wrote it. Follow it as far as the tools and the people "
        f"here allow; it decides nothing.\n> {BODY}"
    )
    refused = await say(bots, "!skill ../../etc/passwd")
    assert refused.startswith("skill: `name`: it must be exactly one of deploy, drain.")
    assert "passwd" not in refused


async def test_t12_who_may_not_read_skills_is_not_told_of_them(bots: Bots) -> None:
    bots.world.rules = without(bots.world.rules, "tool:read dev")
    model = await asked(bots, reading(), Say(text="I cannot."))
    assert "How we deploy" not in all_sent(model, 0)
    assert model.seen[1][-1] == Returned(results=model.told)
    assert model.told[0].text.startswith("There is no such tool here.")


async def test_c29_what_is_only_a_command_is_not_declared_to_a_model(bots: Bots) -> None:
    bots.toolbelt = belt(Channel.COMMAND, Channel.PROMPT)
    model = await asked(bots, reading(), Say(text="I cannot."))
    assert "skill" not in encode([one.name for one in model.prompts[0].says.declared])
    assert "Toolset skills" not in model.prompts[0].system
    assert model.told[0].text.startswith("There is no such tool here.")
    assert BODY in await say(bots, "!skill deploy")


async def test_c29_what_is_only_a_tool_cannot_be_typed(bots: Bots) -> None:
    bots.toolbelt = belt(Channel.TOOL)
    bots.model = ScriptedModel(Say(text="What?"), generative=True)
    assert await say(bots, "!skill deploy") == "What?"
    assert {tool.name for tool in bots.model.prompts[0].tools if tool.look} - OWN == {"skill"}


@pytest.mark.parametrize(("channel", "times"), [(Channel.COMMAND, 1), (Channel.TOOL, 0)])
async def test_c28_help_lists_the_commands_that_can_be_typed_here(
    bots: Bots, channel: Channel, times: int
) -> None:
    bots.toolbelt = belt(channel)
    bots.model = GrammarModel()  # type: ignore[assignment]  # a model like any other
    assert (await say(bots, "help")).count("`!skill name=deploy|drain`") == times
    bots.world.rules = without(bots.world.rules, "tool:read dev")
    assert "!skill" not in await say(bots, "help")


async def test_t12_what_a_model_keeps_of_a_conversation_grows_by_what_it_read(bots: Bots) -> None:
    before = prompt_bytes((await asked(bots, Say(text="Hm."))).seen[0])
    after = prompt_bytes((await asked(bots, Say(text="Hm."))).seen[0])
    assert after - before < 200
