"""Rates as values: which one concerns a tool, and what is said where somebody is too fast."""

from datetime import timedelta

import pytest

from core.rates import UNHURRIED, NoRoom, Rate, RateRules

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
    twice = NoRoom(at=0, rate=RATES.tools[0], uses=2, wait=wait)
    assert twice.refusal("Not run: you may do this") == (
        f"Not run: you may do this 2 times in 1h. Try again in {said}."
    )
    once = NoRoom(at=0, rate=Rate(name="x", most=1, per=HOUR), uses=1, wait=wait)
    assert once.refusal("May") == f"May once in 1h. Try again in {said}."


def test_a_refusal_of_more_than_there_is_ever_room_for_names_no_time() -> None:
    lacking = NoRoom(at=2, rate=RATES.tools[0], uses=3, wait=HOUR)
    assert lacking.refusal("May") == (
        "May 2 times in 1h, and this is 3 times at once. Ask for less at once."
    )


def test_what_people_do_besides_is_counted_as_messages_are_and_by_itself() -> None:
    assert UNHURRIED.of_people("votes") == Rate(
        name="votes", most=UNHURRIED.messages.most, per=UNHURRIED.messages.per
    )
