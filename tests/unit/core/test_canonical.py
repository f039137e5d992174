"""One spelling for every value, and nothing accepted that two parsers could read differently."""

import hashlib
import json
import math
from collections.abc import Mapping
from types import MappingProxyType

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from core import canonical
from core.canonical import LARGEST_INTEGER, Json
from core.errors import Refused

texts = st.text(st.characters(exclude_categories=["Cs"]))
integers = st.integers(-LARGEST_INTEGER, LARGEST_INTEGER)
scalars = st.none() | st.booleans() | integers | st.floats(-1e15, 1e15) | texts
values: st.SearchStrategy[Json] = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=20
)
arguments = st.dictionaries(texts, scalars, max_size=6)


def spelled(value: Json) -> object:
    """Return a value in which two are equal exactly where their canonical text should be."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return (type(value).__name__, value)
    if isinstance(value, int | float):
        return ("number", value)
    if isinstance(value, Mapping):
        return ("object", frozenset((key, spelled(item)) for key, item in value.items()))
    return ("list", tuple(spelled(item) for item in value))


@given(values)
def test_what_was_encoded_reads_back_as_the_same_value_and_the_same_text(value: Json) -> None:
    text = canonical.encode(value)
    assert spelled(canonical.parse(text)) == spelled(value)
    assert canonical.encode(canonical.parse(text)) == text


@given(values)
def test_whichever_way_it_is_encoded_it_is_spelled_as_rfc_8785_has_it(value: Json) -> None:
    assert canonical.encode(value) == rfc8785.dumps(value).decode()


@given(values, values)
def test_two_values_share_their_text_exactly_where_they_are_the_same_value(
    one: Json, other: Json
) -> None:
    same = canonical.encode(one) == canonical.encode(other)
    assert same is (spelled(one) == spelled(other))


@given(arguments)
def test_the_order_of_names_changes_no_hash(given_arguments: dict[str, Json]) -> None:
    turned = dict(reversed(given_arguments.items()))
    assert canonical.digest(turned) == canonical.digest(given_arguments)


@given(arguments, texts, scalars)
def test_another_argument_is_another_hash(
    given_arguments: dict[str, Json], name: str, value: Json
) -> None:
    changed = {**given_arguments, name: value}
    same = canonical.digest(changed) == canonical.digest(given_arguments)
    assert same is (spelled(changed) == spelled(given_arguments))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [None, True, "x"]}, '{"a":[null,true,"x"],"b":1}'),
        ({"é": "\u2028", "\U0001f600": 1, "\ufb33": 2}, '{"é":"\u2028","😀":1,"\ufb33":2}'),
        (1.0, "1"),
        (-0.0, "0"),
        (1e-7, "1e-7"),
        (0.1, "0.1"),
        (LARGEST_INTEGER, "9007199254740991"),
        ('\x00\x1f"\\\n', '"\\u0000\\u001f\\"\\\\\\n"'),
        (MappingProxyType({"a": (1, 2)}), '{"a":[1,2]}'),
    ],
)
def test_the_canonical_text_is_that_of_rfc_8785(value: Json, text: str) -> None:
    assert canonical.encode(value) == text


def test_one_and_one_point_nought_are_the_same_number() -> None:
    assert canonical.digest({"n": 1}) == canonical.digest({"n": 1.0})
    assert canonical.digest({"n": True}) != canonical.digest({"n": 1})
    assert canonical.digest({"n": "1"}) != canonical.digest({"n": 1})


def test_composed_and_decomposed_letters_stay_different_texts() -> None:
    assert canonical.digest("\u00e9") != canonical.digest("e\u0301")


def test_the_digest_is_the_sha256_of_the_text() -> None:
    expected = hashlib.sha256(b'{"a":1}').hexdigest()
    assert canonical.digest({"a": 1}) == canonical.sha256('{"a":1}') == expected


def nested(depth: int) -> Json:
    value: Json = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        -math.inf,
        {"deep": [math.nan]},
        2**53,
        -(2**53),
        10**400,
        "\ud800",
        {"\udfff": 1},
        nested(100_000),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_has_no_exact_json_form_is_refused(value: Json) -> None:
    with pytest.raises(Refused) as refusal:
        canonical.encode(value)
    assert refusal.value.shown.endswith("Write large ids as text.")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1, "a": 1}', "names one key twice"),
        ('{"a": {"b": 1, "b": 2}}', "names one key twice"),
        ('{"a": 1, "\\u0061": 2}', "names one key twice"),
        ("NaN", "NaN and infinity"),
        ("[Infinity]", "NaN and infinity"),
        ("-Infinity", "NaN and infinity"),
        ("1e400", "no exact JSON form"),
        (str(2**53), "beyond 2^53"),
        (str(-(2**53)), "beyond 2^53"),
        ("9" * 1_000_000, "beyond 2^53"),
        ('"\\ud800"', "no exact JSON form"),
        ('"\ud800"', "no exact JSON form"),
        ('{"\\udc00": 1}', "no exact JSON form"),
        ("[" * 100_000, "nested too deeply"),
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
        ("", "not valid JSON"),
        ("{'a': 1}", "not valid JSON"),
        ("1 2", "not valid JSON"),
        ('"a\nb"', "not valid JSON"),
        ("[1,]", "not valid JSON"),
        ("\ufeff1", "not valid JSON"),
    ],
    ids=lambda value: repr(value[:20]),
)
def test_what_two_readers_could_understand_differently_is_refused(text: str, why: str) -> None:
    with pytest.raises(Refused) as refusal:
        canonical.parse(text)
    assert why in refusal.value.shown


def test_the_largest_integers_are_read() -> None:
    assert canonical.parse(f"[{LARGEST_INTEGER},-{LARGEST_INTEGER}]") == [
        LARGEST_INTEGER,
        -LARGEST_INTEGER,
    ]


@given(st.text())
def test_any_text_is_read_or_refused_and_nothing_else_happens(text: str) -> None:
    try:
        value = canonical.parse(text)
    except Refused:
        return
    assert spelled(value) == spelled(json.loads(text))


@pytest.mark.parametrize("value", [1e17, -1e17, 2.0**53, 1e300])
def test_a_whole_float_that_would_be_written_as_too_large_an_integer_is_refused(
    value: float,
) -> None:
    with pytest.raises(Refused):
        canonical.encode({"n": value})
