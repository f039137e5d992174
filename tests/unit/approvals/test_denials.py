"""What counts as the same effect after a denial."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from approvals.denials import effect
from core.canonical import JsonObject


@pytest.mark.parametrize(
    "worded",
    [
        {"env": "prod", "force": True, "n": 1, "text": "a b"},
        {"text": "a b", "n": 1, "force": True, "env": "prod"},
        {"env": "prod", "force": True, "n": 1.0, "text": "a b"},
        {"env": " prod ", "force": True, "n": 1, "text": "a  \t b"},
        {"env": "prod", "force": True, "n": 1, "text": "a\u00a0b"},
        {"env": "ｐｒｏｄ", "force": True, "n": 1, "text": "a b"},
        {"env": "𝐩𝐫𝐨𝐝", "force": True, "n": 1, "text": "a b"},
    ],
)
def test_i13_other_order_spacing_and_form_are_the_same_effect(worded: JsonObject) -> None:
    denied: JsonObject = {"env": "prod", "force": True, "n": 1, "text": "a b"}
    assert effect("restart", worded) == effect("restart", denied)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("restart", {"env": "Prod"}),
        ("restart", {"env": "staging"}),
        ("restart", {"env": "prod", "force": True}),
        ("restart", {"place": "prod"}),
        ("restart", {"env": "pro d"}),
        ("restart", {"env": None}),
        ("stop", {"env": "prod"}),
    ],
)
def test_another_tool_name_or_value_is_another_effect(tool: str, arguments: JsonObject) -> None:
    assert effect(tool, arguments) != effect("restart", {"env": "prod"})


@given(st.text(min_size=1), st.text(min_size=1))
def test_no_two_texts_that_differ_beyond_form_are_one_effect(one: str, other: str) -> None:
    same = effect("t", {"x": one}) == effect("t", {"x": other})
    assert same or one != other
