"""Placeholders in values: each keeps its kind where it stands alone, and is text where it does not."""

import pytest

from core import placeholders
from core.canonical import Json
from core.errors import Incorrect

ARGUMENTS: dict[str, Json] = {"n": 3, "on": True, "word": "{n}", "part": 0.5}


@pytest.mark.parametrize(
    ("written", "filled"),
    [
        ("{n}", 3),
        ("{on}", True),
        ("{part}", 0.5),
        ("{word}", "{n}"),
        ("{n} of {n}", "3 of 3"),
        ("{word}{on}", "{n}true"),
        ("{{n}}", "{n}"),
        ("", ""),
        (7, 7),
        (None, None),
        (["{n}", {"{n}": "{word}"}], [3, {"{n}": "{n}"}]),
        ({"a": ["{on}", 1.5], "b": {}}, {"a": [True, 1.5], "b": {}}),
    ],
)
def test_a_value_is_filled_in_wherever_a_text_stands(written: Json, filled: Json) -> None:
    assert placeholders.fill_value(written, ARGUMENTS) == filled


def test_every_text_of_a_value_is_looked_at_and_no_name_in_it() -> None:
    value: Json = ["a", {"{x}": "{y}", "b": ["c", 1, None]}, True]
    assert [*placeholders.texts_in(value)] == ["a", "{y}", "c"]


def test_what_is_missing_is_named() -> None:
    with pytest.raises(Incorrect, match="`other` is required"):
        placeholders.fill_value(["{other}"], ARGUMENTS)
