"""Values from outside, shown so that nobody is fooled."""

import json
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core import display
from core.canonical import Json

UNREADABLE = {"Cc", "Cf", "Zl", "Zp", "Co", "Cs", "Cn"}
every_text = st.text(st.characters())
values: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | every_text,
    lambda inner: st.lists(inner) | st.dictionaries(every_text, inner),
    max_leaves=15,
)
HIDDEN = [
    ("\u202e", "U+202E RIGHT-TO-LEFT OVERRIDE"),
    ("\u2066", "U+2066 LEFT-TO-RIGHT ISOLATE"),
    ("\u200b", "U+200B ZERO WIDTH SPACE"),
    ("\u2060", "U+2060 WORD JOINER"),
    ("\ufeff", "U+FEFF ZERO WIDTH NO-BREAK SPACE"),
    ("\u00ad", "U+00AD SOFT HYPHEN"),
    ("\u2028", "U+2028 LINE SEPARATOR"),
    ("\u2029", "U+2029 PARAGRAPH SEPARATOR"),
    ("\U000e0041", "U+E0041 TAG LATIN CAPITAL LETTER A"),
    ("\ue000", "U+E000 a character without a name"),
    ("\ud800", "U+D800 a character without a name"),
    ("\u0378", "U+0378 a character without a name"),
    ("\n", "U+000A a control character"),
    ("\r", "U+000D a control character"),
    ("\x1b", "U+001B a control character"),
    ("\x7f", "U+007F a control character"),
    ("\x85", "U+0085 a control character"),
    ("\0", "U+0000 a control character"),
]


@given(values)
def test_i6_arguments_on_a_card_are_ascii_without_meaning_and_parse_back(value: Json) -> None:
    text = display.json_text(value)
    assert text.isascii()
    assert text.isprintable()
    assert not set(text) & set("`<>&@\x7f")
    assert json.loads(text) == value


@given(values, values)
def test_i6_no_two_values_look_the_same(one: Json, other: Json) -> None:
    if display.json_text(one) == display.json_text(other):
        assert repr(one) == repr(other)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<!channel>", '"\\u003c!channel\\u003e"'),
        ("`@x&\x7f", '"\\u0060\\u0040x\\u0026\\u007f"'),
        ("\\u0040", '"\\\\u0040"'),
        ("\u202e", '"\\u202e"'),
        ("😀", '"\\ud83d\\ude00"'),
    ],
)
def test_what_a_platform_gives_a_meaning_to_is_escaped(text: str, shown: str) -> None:
    assert display.json_text(text) == shown


def test_a_number_that_is_none_has_no_text() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        display.json_text(float("nan"))


@pytest.mark.parametrize(("character", "name"), HIDDEN)
def test_what_people_cannot_see_is_named(character: str, name: str) -> None:
    assert display.hidden(f"a{character}b{character}") == name


@pytest.mark.parametrize("text", ["", "plain text", "é 漢 😀 ا", "`<>&@"])
def test_what_people_can_see_is_not_hidden(text: str) -> None:
    assert display.hidden(text) is None


BLANK = {
    0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0,
    *range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0),
}  # fmt: skip
"""Letters and marks that draw nothing."""


@given(every_text)
@example("\u034f")
@example("\ufe0f")
def test_a_text_is_hidden_exactly_where_a_character_of_it_is(text: str) -> None:
    hides = any(unicodedata.category(c) in UNREADABLE or ord(c) in BLANK for c in text)
    assert (display.hidden(text) is not None) is hides


def test_every_character_outside_ascii_is_named_once_wherever_it_stands() -> None:
    value: Json = {"é": ["а", {"x": "аé"}], "n": 1, "t": True, "z": None}
    assert display.odd_characters(value) == (
        "U+00E9 LATIN SMALL LETTER E WITH ACUTE",
        "U+0430 CYRILLIC SMALL LETTER A",
    )
    assert display.odd_characters({"plain": "text\n"}) == ()


def test_all_texts_inside_a_value_are_found() -> None:
    value: Json = {"a": ["b", {"c": "d"}], "e": 1}
    assert list(display.strings(value)) == ["a", "b", "c", "d", "e"]


@given(every_text, st.integers(1, 50))
def test_prose_on_one_line_is_visible_and_capped(text: str, limit: int) -> None:
    line = display.one_line(text, limit)
    assert line.isprintable()
    assert len(line) <= limit


def test_prose_on_one_line_folds_space_and_names_what_hides() -> None:
    assert display.one_line(" a \r\n\t b\u2028c\u202ed ") == "a b c\\u202ed"
    assert display.one_line("x" * 300) == "x" * 300
    assert display.one_line("x" * 301) == "x" * 299 + "…"


@given(every_text)
def test_i7_no_quoted_line_holds_a_line_break_or_a_control_character(text: str) -> None:
    for line in display.quoted(text):
        assert line
        assert line.splitlines() == [line]
        assert display.hidden(line) is None


def test_quoted_lines_keep_their_order_and_leave_out_empty_ones() -> None:
    assert display.quoted("one\n\n  \n two\r\nthree\x85four") == ("one", "two", "three", "four")
    assert display.quoted("") == ()


def test_what_is_quoted_is_capped_and_says_so() -> None:
    assert display.quoted("x" * 10, limit=10) == ("x" * 10,)
    assert display.quoted("x" * 11, limit=10) == ("x" * 10, "…")
    assert sum(map(len, display.quoted("ab\n" * 10_000))) <= 1500


@given(every_text)
def test_any_text_becomes_one_that_every_store_takes(text: str) -> None:
    sounded = display.sound(text)
    assert "\0" not in sounded
    assert sounded.encode().decode() == sounded
    assert display.sound(sounded) == sounded


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_a_text_that_is_sound_stays_as_it_is(text: str) -> None:
    assert display.sound(text) == text


@pytest.mark.parametrize(
    ("text", "sounded"),
    [
        ("a\0b", "a\ufffdb"),
        ("a\ud800b", "a\ufffdb"),
        ("\udc00", "\ufffd"),
        ("a\ud800", "a\ufffd"),
        ("\ud83d\ude00", "😀"),
        ("\ufeffa", "\ufeffa"),
        ("\ufffea", "\ufffea"),
    ],
)
def test_only_what_is_broken_is_replaced(text: str, sounded: str) -> None:
    assert display.sound(text) == sounded


@pytest.mark.parametrize("show", [display.output, display.one_line])
def test_marks_that_would_be_drawn_over_the_lines_above_are_spelled_out(
    show: Callable[[str], str],
) -> None:
    piled = "a" + "\u0300" * 4
    assert show(f"{piled}\u0301\u20dd {piled}") == f"{piled}\\u0301\\u20dd {piled}"
    assert show("Vie\u0302\u0323t") == "Vie\u0302\u0323t"


def test_output_that_all_can_see_stays_as_it_is_and_is_not_looked_at_letter_by_letter() -> None:
    text = "a\tb\n" * 500_000
    assert display.output(text) is text


def test_output_keeps_its_lines_and_tabs_and_shows_its_controls() -> None:
    assert display.output("a\tb\r\nc\rd\x1b[31m\0\u202e") == (
        "a\tb\nc\\u000dd\\u001b[31m\ufffd\\u202e"
    )


@given(every_text)
def test_no_control_character_of_an_output_acts(text: str) -> None:
    shown = display.output(text)
    assert display.hidden(shown.replace("\n", "").replace("\t", "")) is None
