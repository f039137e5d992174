"""I12: what this process holds, or has held, is known in every usual form, by every thread."""

import base64
import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote, quote_plus

import pytest

from core.exact_values import LONGEST, SHORTEST, Exact, Known, unfit
from core.redaction import MASK, Redactor

SECRET = 's3/cr+"t é\nv?lue=123'
FORMS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "quoted": lambda secret: quote(secret, safe=""),
    "quoted in a path": quote,
    "quoted in a form": quote_plus,
    "quoted in small letters": lambda secret: re.sub("%..", lambda f: f[0].lower(), quote(secret)),
    "in JSON": lambda secret: json.dumps(secret)[1:-1],
    "in JSON as it is": lambda secret: json.dumps(secret, ensure_ascii=False)[1:-1],
    "in hex": lambda secret: secret.encode().hex(),
    "in base64": lambda secret: base64.b64encode(secret.encode()).decode(),
    "in base64 for a URL": lambda secret: base64.urlsafe_b64encode(secret.encode()).decode(),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_i12_a_value_is_masked_in_each_usual_form(form: Callable[[str], str]) -> None:
    redactor = Redactor.of([])
    redactor.learn("FLEET", SECRET)
    masked = redactor.text(f"it is {form(SECRET)} now")
    assert masked.replace("=", "") == f"it is {MASK} now"


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        ("x" * SHORTEST, True),
        ("x" * (SHORTEST - 1), False),
        ("x\n" * (SHORTEST - 1), False),
        ("x" * LONGEST, True),
        ("x" * (LONGEST + 1), False),
        ("hunter2\0hunter2", False),
        ("hunter2\udcffhunter2", False),
        ("hunter2\nhunter2 é", True),
    ],
)
def test_only_what_can_be_masked_and_passed_on_is_a_secret(value: str, *, fits: bool) -> None:
    why = unfit(value)
    assert (why is None) is fits
    assert not why or value not in why


def test_the_same_value_twice_is_nothing_new() -> None:
    known = Known(["hunter2hunter2"])
    known.learn("FLEET", "swordfish-9")
    before = known.now
    known.learn("FLEET", "swordfish-9")
    assert known.now is before
    known.learn("OTHER", "swordfish-9")
    assert known.now.values == ("hunter2hunter2", "swordfish-9")


def test_a_value_that_comes_back_is_the_newest_again() -> None:
    known = Known()
    for value in ("first-value", "second-value", "first-value"):
        known.learn("FLEET", value)
    assert Redactor(known).values == ("second-value", "first-value")


def test_who_knows_nothing_masks_nothing() -> None:
    assert Exact().masked("any text\n", MASK) == "any text\n"


def test_many_threads_teach_it_and_nothing_is_lost() -> None:
    known = Known()
    names = [f"NAME_{number}" for number in range(64)]
    values = [f"value-of-{name}" for name in names]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(known.learn, names, values))
    assert set(known.now.values) == set(values)


def test_the_longest_form_says_how_far_a_text_has_to_be_looked_at() -> None:
    redactor = Redactor.of([])
    short = redactor.reach
    redactor.learn("FLEET", "é" * 3000)
    assert redactor.reach >= len(quote("é" * 3000)) > short
