"""Rates as values: which one concerns a tool, and what is said where somebody is too fast."""

from datetime import timedelta

import pytest

from core.rates import UNHURRIED, Rate, RateRules

HOUR = timedelta(hours=1)
RATES = RateRules(
    messages=UNHURRIED.messages,
    tools=(Rate(name="restart-*", most=2, per=HOUR), Rate(name="*", most=9, per=HOUR)),
)


@pytest.mark.parametrize(
    ("tool", "most"), [("restart-web", 2), ("restart-", 2), ("look", 9), ("Restart-web", 9)]
)
def test_the_first_line_that_fits_a_tool_counts(tool: str, most: int) -> None:
    found = RATES.of(tool)
    assert found is not None
    assert found.most == most


@pytest.mark.parametrize("name", ["messages", "votes", "looks", "*"])
def test_what_is_counted_of_tools_is_called_like_nothing_else_that_people_do(name: str) -> None:
    rules = RateRules(messages=UNHURRIED.messages, tools=(Rate(name=name, most=1, per=HOUR),))
    found = rules.of(name)
    assert found is not None
    assert found.name == f"tool:{name}"


def test_a_tool_that_no_line_fits_has_no_rate() -> None:
    assert UNHURRIED.of("look") is None


@pytest.mark.parametrize(
    ("wait", "said"),
    [
        (timedelta(minutes=29, milliseconds=1), "29m1s"),
        (timedelta(microseconds=1), "1s"),
        (timedelta(), "1s"),
    ],
)
def test_a_refusal_says_how_much_is_allowed_and_when_there_is_room(
    wait: timedelta, said: str
) -> None:
    assert RATES.tools[0].refusal("Not run: you may do this", wait) == (
        f"Not run: you may do this 2 times in 1h. Try again in {said}."
    )
    once = Rate(name="x", most=1, per=HOUR)
    assert once.refusal("May", wait) == f"May once in 1h. Try again in {said}."
