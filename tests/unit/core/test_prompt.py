"""C75: what stands before a conversation is the same bytes for everybody with the same tools."""

import json
from dataclasses import replace

from core.prompt import Prompt, Spellings, spell
from core.tools import Effect, Toolbox
from tests.builders import a_tool
from tests.scene import TOOLS


def test_the_order_in_which_tools_are_given_changes_nothing() -> None:
    one, other = (Prompt(system="Be brief.", tools=Toolbox.of(t)) for t in (TOOLS, TOOLS[::-1]))
    assert one.says == other.says
    assert one.says.bytes == len(one.says.text.encode())


def test_the_digest_is_of_the_instructions_and_of_what_is_declared() -> None:
    prompts = [
        Prompt(),
        Prompt(system="Be brief."),
        Prompt(tools=Toolbox.of(TOOLS)),
        Prompt(tools=Toolbox.of(TOOLS[1:])),
    ]
    assert len({prompt.says.sha256 for prompt in prompts}) == len(prompts)
    names = [one["name"] for one in json.loads(prompts[2].says.text)["tools"]]
    assert names == [*sorted(tool.name for tool in TOOLS), "ask_user"]


def test_what_says_the_same_is_spelled_out_once_whatever_it_does() -> None:
    spellings = Spellings()
    first = spellings("", Toolbox.of(TOOLS))
    others = [replace(tool, definition="0" * 64) for tool in TOOLS[::-1]]
    assert spellings("", Toolbox.of(others)) is first
    assert first == spell("", Toolbox.of(TOOLS))


def test_what_says_something_else_is_spelled_out_by_itself() -> None:
    spellings, look = Spellings(), a_tool("look", effect=Effect.READ)
    boxes = [
        Toolbox((look,)),
        Toolbox((replace(look, summary="Look."),)),
        Toolbox((replace(look, effect=Effect.WRITE),)),
        Toolbox((replace(look, name="seek"),)),
        Toolbox(()),
    ]
    made = [spellings("", box) for box in boxes] + [spellings("Be brief.", boxes[0])]
    assert len({one.sha256 for one in made}) == len(made)


def test_what_was_not_used_for_longest_is_spelled_out_anew() -> None:
    spellings, tools = Spellings(most=2), Toolbox.of(TOOLS)
    made = [spellings(system, tools) for system in "ab"]
    assert spellings("a", tools) is made[0]
    spellings("c", tools)
    assert spellings("a", tools) is made[0]
    assert spellings("b", tools) is not made[1]
