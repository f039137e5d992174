"""What Discord's errors mean for people."""

from datetime import timedelta
from typing import get_args

import pytest

from adapters.discord import refusals
from adapters.discord.refusals import Tried, code_of, failed, is_unclear, slow_down, unanswered
from core.errors import Invalid, Refused, Unavailable


@pytest.mark.parametrize(
    ("seconds", "after"), [(1, 1), (30, 30), (600, 600), (0, 1), (0.2, 1), (1e9, 3600), (None, 30)]
)
def test_too_often_says_how_long_to_wait(seconds: float | None, after: int) -> None:
    for error in (
        failed("edit", status=429, retry_after=seconds),
        slow_down("edit", seconds),
    ):
        assert isinstance(error, Unavailable)
        assert error.after == timedelta(seconds=after)
        assert not is_unclear(error)


@pytest.mark.parametrize(("status", "code"), [(500, 0), (502, 0), (503, 50013), (400, 130000)])
def test_an_outage_may_be_over_later_and_nobody_knows_what_was_done(status: int, code: int) -> None:
    error = failed("edit", status=status, code=code)

    assert isinstance(error, Unavailable)
    assert error.after is None
    assert is_unclear(error)
    assert is_unclear(unanswered("edit", why="TimeoutError"))


def test_a_wrong_token_is_somebodys_to_correct() -> None:
    error = failed("edit", status=401)

    assert isinstance(error, Invalid)
    assert "discord.token" in error.shown
    assert "Reset Token" in error.shown


@pytest.mark.parametrize(
    ("tried", "permission"),
    [
        ("post in a channel", "Send Messages"),
        ("post in a thread", "Send Messages in Threads"),
        ("post a file", "Attach Files"),
        ("open a thread", "Create Public Threads"),
        ("open a thread again", "Manage Threads"),
        ("read messages", "Read Message History"),
        ("read a channel", "View Channel"),
    ],
)
def test_p44_a_permission_that_is_missing_is_named_and_where_to_give_it(
    tried: Tried, permission: str
) -> None:
    error = failed(tried, status=403, code=50013)

    assert isinstance(error, Refused)
    assert f"“{permission}”" in error.shown
    assert "“Permissions”" in error.shown
    assert code_of(error) == 50013
    assert "“View Channel”" in failed(tried, status=403, code=50001).shown


@pytest.mark.parametrize(
    ("code", "word"),
    [
        (10003, "no longer"), (10008, "no longer"), (50007, "privacy"), (50278, "privacy"),
        (50035, "form"), (50045, "larger"), (50083, "archived"), (160005, "locked"),
        (160006, "Archive some"), (200000, "AutoMod"), (10062, "three seconds"), (50024, "thread"),
    ],
)  # fmt: skip
def test_a_refusal_says_what_to_do(code: int, word: str) -> None:
    error = failed("edit", status=400, code=code)

    assert isinstance(error, Refused)
    assert not isinstance(error, Invalid)
    assert word in error.shown


def test_a_file_that_is_too_large_is_so_without_a_code_too() -> None:
    error = failed("post a file", status=413)

    assert "larger than Discord takes" in error.shown
    assert code_of(error) in refusals.TOO_LARGE


@pytest.mark.parametrize("tried", get_args(Tried))
def test_whatever_else_it_is_is_a_sentence_with_discords_own_number(tried: Tried) -> None:
    assert failed(tried, status=400, code=99999).shown.endswith("99999.")
    assert failed(tried, status=418).shown.endswith("HTTP 418.")
    for code in (50001, 50013):
        assert failed(tried, status=403, code=code).shown.endswith(".")
