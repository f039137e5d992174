"""The window of an edit: what it is filled with, and what no window shows."""

from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel, create_model

from approvals.edit_forms import form, in_words
from approvals.editing import Editing
from approvals.models import Request
from core.canonical import Json, JsonObject
from core.errors import Refused
from core.events import BeginEdit
from core.forms import Field, Form
from core.params import Param
from core.redaction import Redactor
from core.tools import Checked, Tool, Toolbox, Work
from tests.builders import a_plan, a_proposal
from tests.gates import APPEND, HIGH, LOW, SECRET, World, who
from tests.stores import Stores


def a_param(**values: object) -> Param:
    """Return a parameter as it is read out of a file."""
    return Param.model_validate(values)


PARAMS = {
    "word": a_param(type="string", description="what to say"),
    "env": a_param(type="string", enum=("staging", "prod"), default="staging"),
    "times": a_param(type="integer", minimum=1),
    "share": a_param(type="number"),
    "loud": a_param(type="boolean", default=False),
}
NONE = Redactor.of([])


def _nothing(_: JsonObject) -> Work:
    return Work(steps=())


def a_tool(**params: Param) -> Tool:
    """Return a tool with these parameters, as one of a runbook."""
    fields: dict[str, Any] = {
        f"p_{name.replace('-', '_')}": p.annotation(name) for name, p in params.items()
    }
    model: type[BaseModel] = create_model(
        "Arguments", __config__={"extra": "forbid", "strict": True}, **fields
    )
    defaults = {name: p.default for name, p in params.items() if p.default is not None}
    return replace(APPEND, name="say", parameters=model, defaults=defaults, expand=_nothing)


def a_request(*calls: Checked) -> Request:
    """Return a request that waits for these calls."""
    plan = a_plan(*calls)
    made: Any = object.__new__(Request)
    for name, value in {
        "id": "a" * 32,
        "plan_body": plan.canonical,
        "plan_sha256": plan.sha256,
    }.items():
        object.__setattr__(made, name, value)
    object.__setattr__(made, "plan", plan)
    found: Request = made
    return found


def shown(tool: Tool, redactor: Redactor = NONE, **arguments: Json) -> Form | None:
    """Return the window for one call."""
    request = a_request(tool.check(arguments, {}))
    return form(request, Toolbox((tool,)), redactor)


def test_each_argument_is_spelled_as_it_would_be_typed() -> None:
    tool = a_tool(**PARAMS)
    found = shown(tool, word="alpha", times=3, share=0.5)
    assert found is not None
    assert found.fields == (
        Field(name="word", value="alpha", hint="What to say. Text."),
        Field(
            name="env", value="staging", hint='Left empty: "staging".', choices=("staging", "prod")
        ),
        Field(name="times", value="3", hint="A whole number in digits, such as 5."),
        Field(name="share", value="0.5", hint="A decimal number in digits, such as 0.5."),
        Field(
            name="loud",
            value="false",
            hint="True or false. Left empty: false.",
            choices=("true", "false"),
        ),
    )
    assert (found.request, found.tool, found.in_words) == ("a" * 32, "say", ())


@pytest.mark.parametrize(
    "value", [SECRET, f"x {SECRET}", "two\nlines", "a\u202eb", "tab\there"], ids=repr
)
def test_what_is_masked_or_cannot_be_seen_is_in_no_window(value: str) -> None:
    tool = a_tool(word=a_param(type="string", description=""), times=a_param(type="integer"))
    request = a_request(
        replace(tool.check({"word": "a", "times": 1}, {}), arguments={"word": value, "times": 1})
    )
    found = form(request, Toolbox((tool,)), Redactor.of([SECRET]))
    assert found is not None
    assert [one.name for one in found.fields] == ["times"]
    assert found.in_words == ("word",)


def test_what_its_name_makes_a_secret_is_in_no_window() -> None:
    tool = a_tool(password=a_param(type="string"), times=a_param(type="integer"))
    found = shown(tool, password="correct-horse-1", times=1)
    assert found is None or "password" in found.in_words


def test_a_value_that_could_not_be_typed_again_is_in_no_window() -> None:
    tool = a_tool(share=a_param(type="number"), env=a_param(type="string", enum=("a", "b")))
    checked = tool.check({"share": 0.5, "env": "a"}, {})
    gone = replace(checked, arguments={"share": 1e-7, "env": "c"})
    assert form(a_request(gone), Toolbox((tool,)), NONE) is None


def test_an_argument_with_a_name_longer_than_a_window_takes_is_edited_in_words() -> None:
    tool = a_tool(**{"n" * 81: a_param(type="integer"), "n" * 80: a_param(type="integer")})
    found = form(a_request(tool.check({"n" * 81: 1, "n" * 80: 2}, {})), Toolbox((tool,)), NONE)
    assert found is not None
    assert ([one.value for one in found.fields], found.in_words) == (["2"], ("n" * 81,))


def test_what_is_not_there_is_empty() -> None:
    found = shown(APPEND, word="alpha")
    assert found is not None
    assert [(one.name, one.value) for one in found.fields][-1] == ("loud", "")


def test_several_calls_are_edited_in_words() -> None:
    request = a_request(LOW.check({"word": "a"}, {}), HIGH.check({"word": "b"}, {}))
    assert form(request, Toolbox.of((LOW, HIGH)), NONE) is None
    assert in_words(request).endswith(f"edit {'a' * 32} NUMBER NAME=VALUE (1 note, 2 wipe)")
    assert in_words(a_request(LOW.check({"word": "a"}, {}))) == (
        f"Write what is to change: edit {'a' * 32} NAME=VALUE"
    )


async def test_whoever_may_edit_gets_the_window_and_nobody_else(stores: Stores) -> None:
    world = World(stores)
    request = await world.propose()
    editing = Editing(gate=world.gate)
    found = await editing.form(BeginEdit(identity=who("alice"), request=request.id))
    assert isinstance(found, Form)
    assert found.fields[0] == Field(name="word", value="alpha", hint="Text.")
    with pytest.raises(Refused, match="You may not edit this; alice may"):
        await editing.form(BeginEdit(identity=who("bob"), request=request.id))
    both = await world.ask(a_proposal(LOW.check({"word": "a"}, {}), HIGH.check({"word": "b"}, {})))
    words = await editing.form(BeginEdit(identity=who("alice"), request=both.id))
    assert words == in_words(both)
