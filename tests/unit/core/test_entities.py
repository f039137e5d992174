"""What a message names is found by its words alone, and the same thing is the same however written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.entities import MOST, Choices, Entity, choices, named
from core.runbooks import tool
from core.tools import Toolbox
from tests.builders import a_tool

RESTART = """
name: restart
summary: Restart.
params:
  service: {type: string, enum: [web, Worker]}
  env: {type: string, enum: [staging]}
  size: {type: integer, enum: [1, 2]}
  note: {type: string}
steps: [{run: [true-thing]}]
"""
KNOWN: Choices = {"service": frozenset({"web", "worker"}), "env": frozenset({"staging", "prod"})}


def pairs(text: str, known: Choices = KNOWN) -> set[tuple[str, str]]:
    return {(one.kind, one.value) for one in named(text, known)}


def test_the_words_that_a_parameter_has_to_be_one_of_are_its_choices() -> None:
    tools = Toolbox.of([tool(RESTART, "restart.yml"), a_tool("look")])
    assert choices(tools) == {
        "service": frozenset({"web", "worker"}),
        "env": frozenset({"staging"}),
    }


def test_tools_with_a_parameter_of_one_name_share_its_choices() -> None:
    other = RESTART.replace("name: restart", "name: other").replace("staging", "prod")
    tools = Toolbox.of([tool(RESTART, "restart.yml"), tool(other, "other.yml")])
    assert choices(tools)["env"] == {"staging", "prod"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("restart WEB in prod.", {("service", "web"), ("env", "prod")}),
        ("what about order-4711?", {("order", "4711")}),
        ("what about Order 4711?", {("order", "4711")}),
        ("order #4711", {("order", "4711")}),
        ("4711", {("number", "4711")}),
        ("web-3 is down", {("web", "3")}),
        ("look at db1.example.com:5432, please", {("host", "db1.example.com:5432")}),
        ("wait 5 minutes, e.g. 10", set[tuple[str, str]]()),
        ("nothing here", set[tuple[str, str]]()),
    ],
)
def test_c13_what_a_text_names(text: str, found: set[tuple[str, str]]) -> None:
    assert pairs(text) == found


def test_a_word_of_two_parameters_is_one_of_each() -> None:
    known = {"service": frozenset({"web"}), "target": frozenset({"web"})}
    assert pairs("web", known) == {("service", "web"), ("target", "web")}


def test_a_message_names_a_bounded_number_of_things() -> None:
    assert len(pairs(" ".join(f"order-{n}" for n in range(10_000)))) == MOST
    assert pairs(f"order-{'1' * 200}") == set()


@given(st.text())
def test_any_text_names_only_what_fits_on_a_line(text: str) -> None:
    for one in named(text, KNOWN):
        assert isinstance(one, Entity)
        assert len(f"{one.kind}{one.value}".splitlines()) == 1
