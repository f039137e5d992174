"""C75: what stands before a conversation is the same bytes for everybody with the same tools."""

import json

from core.prompt import Prompt, Prompts
from core.tools import Toolbox
from tests.scene import TOOLS


def test_the_order_in_which_tools_are_given_changes_nothing() -> None:
    one, other = (Prompt(system="Be brief.", tools=Toolbox.of(t)) for t in (TOOLS, TOOLS[::-1]))
    assert one.text == other.text
    assert one.bytes == len(one.text.encode())


def test_the_digest_is_of_the_instructions_and_of_what_is_declared() -> None:
    prompts = [
        Prompt(),
        Prompt(system="Be brief."),
        Prompt(tools=Toolbox.of(TOOLS)),
        Prompt(tools=Toolbox.of(TOOLS[1:])),
    ]
    assert len({prompt.sha256 for prompt in prompts}) == len(prompts)
    names = [one["name"] for one in json.loads(prompts[2].text)["tools"]]
    assert names == [*sorted(tool.name for tool in TOOLS), "ask_user"]


def test_the_same_tools_have_the_same_prompt_and_others_another() -> None:
    prompts = Prompts()
    first = prompts.of(Toolbox.of(TOOLS))
    assert prompts.of(Toolbox.of(TOOLS[::-1])) is first
    others = [prompts.of(Toolbox.of(TOOLS[1:])), prompts.of(Toolbox.of(TOOLS), "Be brief.")]
    assert [one == first for one in others] == [False, False]
    assert first.tools == Toolbox.of(TOOLS)


def test_the_prompt_that_was_not_used_for_longest_is_made_anew() -> None:
    prompts = Prompts(most=2)
    made = [prompts.of(Toolbox.of(TOOLS), system) for system in "ab"]
    assert prompts.of(Toolbox.of(TOOLS), "a") is made[0]
    prompts.of(Toolbox.of(TOOLS), "c")
    assert prompts.of(Toolbox.of(TOOLS), "a") is made[0]
    assert prompts.of(Toolbox.of(TOOLS), "b") is not made[1]
