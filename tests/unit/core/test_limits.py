"""Limits are positive numbers, and what a model is given is measured in one way."""

import math
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.canonical import encode
from core.errors import Invalid, Refused
from core.limits import Limits, prompt_bytes
from core.transcript import Called, Entry, Heard, Noted, Result, Returned, Spoke, ToolCall
from tests.scene import HEARD

CALL = ToolCall(id="1", tool="look", arguments={"word": "ä"})


def test_c1_the_defaults_are_those_of_the_design() -> None:
    limits = Limits()
    assert (limits.turns, limits.tool_calls, limits.seconds) == (8, 16, 120)
    assert (limits.tokens, limits.prompt_bytes) == (200_000, 2**18)
    assert (limits.argument_bytes, limits.result_bytes) == (2**15, 2**16)


def test_a_quarter_of_the_prompt_and_of_the_tokens_is_kept_back() -> None:
    limits = Limits(prompt_bytes=101, tokens=10)
    assert (limits.kept_bytes, limits.least_bytes, limits.move_tokens) == (76, 1, 8)


@pytest.mark.parametrize("name", ["turns", "tool_calls", "tokens", "prompt_bytes", "seconds"])
@pytest.mark.parametrize("value", [0, -1, True, math.nan, math.inf, "8", None])
def test_whatever_is_no_positive_number_is_no_limit(name: str, value: object) -> None:
    anything: dict[str, Any] = {name: value}
    with pytest.raises(Invalid, match=f"The limit {name} has to be a"):
        Limits(**anything)


def test_only_seconds_may_be_broken() -> None:
    assert Limits(seconds=0.5).seconds == 0.5
    half: Any = 0.5
    with pytest.raises(Invalid, match="a whole number above zero"):
        Limits(turns=half)


def test_what_is_kept_back_for_a_conclusion_is_never_most_of_the_time() -> None:
    assert Limits().reserve == 20
    assert Limits(seconds=2).reserve == 0.5


def test_an_entry_has_its_canonical_bytes() -> None:
    assert prompt_bytes([HEARD]) == len(encode({"speaker": "alice", "text": "append alpha"}))


@given(st.text())
def test_the_size_of_any_text_is_that_of_its_canonical_form(text: str) -> None:
    result = Result(call="1", text=text, failed=True)
    entries: list[Entry] = [
        Heard(speaker="a", text=text),
        Noted(text=text),
        Spoke(text=text),
        Returned(results=(result, result)),
    ]
    assert prompt_bytes(entries) == sum(len(encode(asdict(one)).encode()) for one in entries)


def test_bytes_are_counted_and_not_characters() -> None:
    short, long = (Heard(speaker="a", text=text) for text in ("a", "ä"))
    assert prompt_bytes([long]) == prompt_bytes([short]) + 1


def test_what_a_provider_gets_back_as_it_sent_it_is_measured_as_that() -> None:
    called = Called(calls=(CALL,), text="x" * 1000, content="ää")
    assert prompt_bytes([called, Spoke(text="x" * 1000, content="ä")]) == 6
    assert prompt_bytes([Spoke(text="x" * 1000)]) > 1000


def test_an_entry_without_a_canonical_form_has_no_size() -> None:
    with pytest.raises(Refused, match="no exact JSON form"):
        prompt_bytes([Heard(speaker="a", text="\ud800")])
