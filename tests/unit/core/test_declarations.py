"""What a model is told that it may call."""

import pytest

from core.canonical import encode
from core.declarations import ASK_USER, Declaration, declarations
from core.errors import Invalid
from core.runbooks import tool as runbook
from core.tools import RESERVED, Toolbox
from tests.builders import a_tool
from tests.scene import TOOLS

DECLARED = {one.name: one for one in declarations(Toolbox.of(TOOLS))}


def names(declaration: Declaration) -> list[str]:
    properties = declaration.schema["properties"]
    assert isinstance(properties, dict)
    return list(properties)


def test_c17_the_order_and_the_bytes_do_not_depend_on_how_tools_were_found() -> None:
    one, other = (declarations(Toolbox.of(found)) for found in (TOOLS, reversed(TOOLS)))
    assert [d.name for d in one] == ["append-word", "look", "look-twice", "ask_user"]
    assert [encode(d.schema) for d in one] == [encode(d.schema) for d in other]


def test_a_gated_call_has_to_be_explained_and_a_read_has_not() -> None:
    gated, read = DECLARED["append-word"], DECLARED["look"]
    assert names(gated) == ["word", "file", "loud", *RESERVED]
    assert gated.schema["required"] == ["word", "file", "rationale"]
    assert names(read) == ["word", "file", "loud"]
    assert read.schema["required"] == ["word", "file"]


def test_a_gated_tool_without_parameters_still_has_to_be_explained() -> None:
    bare = runbook("name: r\nsummary: s\nsteps: [{run: [rm]}]\n", "r.yml")
    [declared, _] = declarations(Toolbox.of([bare]))
    assert declared.schema["required"] == ["rationale"]


def test_a_model_is_told_what_runs_at_once_and_what_people_decide() -> None:
    assert DECLARED["look"].description.endswith("(reads: runs at once)")
    assert "people decide" in DECLARED["append-word"].description


def test_c12_a_question_is_declared_and_is_no_tool() -> None:
    assert declarations(Toolbox(())) == (ASK_USER,)
    with pytest.raises(Invalid, match="No tool can be called ask_user"):
        Toolbox.of([a_tool("ask_user")])
