"""Spans of time as people write them."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import durations


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("500ms", timedelta(milliseconds=500)),
        ("60s", timedelta(minutes=1)),
        ("30m", timedelta(minutes=30)),
        ("24h", timedelta(days=1)),
        ("7d", timedelta(days=7)),
        ("1h30m", timedelta(minutes=90)),
        ("1d1h1m1s1ms", timedelta(days=1, hours=1, minutes=1, seconds=1, milliseconds=1)),
        ("0h5s", timedelta(seconds=5)),
        (timedelta(seconds=3), timedelta(seconds=3)),
    ],
)
def test_a_span_is_read(text: object, span: timedelta) -> None:
    assert durations.parse(text) == span


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0s",
        "s",
        "60",
        "60 s",
        " 60s",
        "60S",
        "-60s",
        "+60s",
        "1.5h",
        "1e3s",
        "60s,",
        "1h and 5m",
        "1234567s",
        "٣s",
        "60ｓ",
        "1us",
        60,
        1.5,
        True,
        None,
        ["60s"],
    ],
)
def test_anything_else_is_refused_and_told_how_to_write_one(text: object) -> None:
    with pytest.raises(ValueError, match="write a span of time such as 60s, 30m, 24h or 1h30m"):
        durations.parse(text)


@pytest.mark.parametrize(
    ("span", "words"),
    [
        (timedelta(), "0s"),
        (timedelta(microseconds=1), "0s"),
        (timedelta(seconds=-5), "0s"),
        (timedelta(milliseconds=1), "1ms"),
        (timedelta(milliseconds=1500), "1s500ms"),
        (timedelta(seconds=90), "1m30s"),
        (timedelta(hours=24), "1d"),
        (timedelta(days=1, minutes=5), "1d5m"),
    ],
)
def test_a_span_in_words(span: timedelta, words: str) -> None:
    assert durations.words(span) == words


@given(st.integers(1, 999_999), st.sampled_from(["ms", "s", "m", "h", "d"]))
def test_words_of_two_units_read_back(count: int, unit: str) -> None:
    span = min(durations.parse(f"{min(count, 366)}{unit}"), timedelta(days=366))
    assert durations.parse(durations.words(span)) == span
