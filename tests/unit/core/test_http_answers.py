"""What an answer has to be, and in which words it was not so."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import http_answers
from core.canonical import Json
from core.plans import Answer
from core.redaction import MASK, Redactor
from tests.requests import request

SECRET = 'Zq7"Rk2 Wm9\nxT4'
NOBODY = Redactor.of([])


def fault(path: str, expected: Json, body: bytes, redactor: Redactor = NOBODY) -> str | None:
    answers = (Answer(path=path, equals=expected),)  # type: ignore[arg-type]  # JSON of another name
    return http_answers.fault(request("http://a/", answers=answers), body, redactor)


def test_a_status_is_one_of_those_that_are_expected() -> None:
    step = request("http://a/", statuses=(200, 204))
    assert http_answers.status_fault(step, 204) is None
    assert http_answers.status_fault(step, 503) == "status 503, expected 200 or 204"


def test_where_nothing_is_asked_of_an_answer_it_may_be_anything() -> None:
    assert http_answers.fault(request("http://a/"), b"\xff", NOBODY) is None


@pytest.mark.parametrize(
    ("found", "expected", "words"),
    [
        ("1", 1.0, None),
        ("1.0", 1, None),
        ("true", 1, '"/a" is true, expected 1'),
        ("1", True, '"/a" is 1, expected true'),
        ("null", "x", '"/a" is null, expected "x"'),
        ('{"b": 1, "c": 2}', {"c": 2, "b": 1}, None),
        ('{"b": 1}', {"b": 2}, '"/a" is a mapping, expected {"b": 2}'),
        ("[1]", [1, 2], '"/a" is a list, expected [1, 2]'),
        ('"<@U1> `x`"', "x", '"/a" is "\\u003c\\u0040U1\\u003e \\u0060x\\u0060", expected "x"'),
        ("NaN", 1, '"/a" is nan, expected 1'),
        ("1e999", 1, '"/a" is inf, expected 1'),
        (str(2**64), 2, '"/a" is 1.84467440737e+19, expected 2'),
        ('"\\ud800"', "x", '"/a" is "\\ud800", expected "x"'),
    ],
)
def test_a_value_is_what_is_expected_or_both_are_told(
    found: str, expected: Json, words: str | None
) -> None:
    assert fault("/a", expected, f'{{"a": {found}}}'.encode()) == words


def test_what_is_told_is_short() -> None:
    said = fault("/a", "y" * 1000, json.dumps({"a": "x" * 100_000}).encode())
    assert said is not None
    assert len(said) < 250


def test_i12_no_secret_is_told_in_whatever_form_it_came() -> None:
    body = json.dumps({"a": f"it is {SECRET}", "b": "z" * 70 + SECRET}).encode()
    assert fault("/a", 1, body, Redactor.of([SECRET])) == f'"/a" is "it is {MASK}", expected 1'
    said = fault("/b", 1, body, Redactor.of([SECRET]))
    assert said is not None
    assert "Zq7" not in said


@given(st.binary(max_size=200))
def test_whatever_comes_has_its_words(body: bytes) -> None:
    assert fault("/a/0", "x", body)
