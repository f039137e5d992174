"""C75: what stands before a conversation is the same bytes for everybody with the same tools."""

import json

from core.prompt import Prompt
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
