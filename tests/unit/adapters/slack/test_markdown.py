"""Markdown in Slack: all of it arrives in order, and nothing in it hides, mentions or leads astray."""

import re
import time
from collections.abc import Iterator, Mapping
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.slack import markdown, messages, splitting
from core.canonical import JsonObject
from core.deliveries import Text
from tests.slack_drawings import TEAM
from tests.slack_limits import refused_message

WORD = re.compile(r"w\d+")
piece = st.sampled_from(
    [
        "W ", "**W** ", "*W* ", "~~W~~ ", "`W` ", "[W](http://W.W) ", "![W](http://W) ", "<b>W</b> ",
        "\n", "\n\n", "- W\n", "  - W\n", "1. W\n", "> W\n", "> - W\n", ">> W\n", "# W\n", "```\nW\n```\n",
        "```W W\nW\n", "    W\n", "| W | W |\n|---|---|\n| W | W |\n", "---\n", "<http://W.W> ", "http://W.W ",
        "[W]: http://W\n", "&amp;W ", "\\*W ", "W" * 3_000, "\t", "~~~\nW\n~~~\n", "<!-- W -->\n", "W\n===\n",
        "[W](javascript:W) ", "[W](http://W 'W') ", "  ", "> ```\n> W\n> ```\n", "- ```\n  W\n  ```\n",
    ]
)  # fmt: skip


def elements(text: str) -> list[JsonObject]:
    return splitting.elements(markdown.parts(text))


def flat(value: object) -> Iterator[str]:
    """Yield what is read, in order, as Slack draws it."""
    if isinstance(value, Mapping):
        one = cast("Mapping[str, Any]", value)
        if one.get("type") in {"text", "link"}:
            yield str(one.get("text") or one.get("url"))
        else:
            yield from flat(one.get("elements", []))
            yield "\n"
    else:
        for inner in cast("list[object]", value):
            yield from flat(inner)


def read(value: object) -> str:
    return "".join(flat(value))


def numbered(pieces: list[str]) -> str:
    parts = "".join(pieces).replace("W" * 3_000, "W " * 300).split("W")
    return "".join(f"{part}w{number}" for number, part in enumerate(parts[:-1])) + parts[-1]


@given(st.lists(piece, max_size=60))
@settings(max_examples=200, deadline=None)
def test_every_word_of_an_answer_arrives_once_and_in_order(pieces: list[str]) -> None:
    source = numbered(pieces)
    shown = messages.draw(Text(text=source), team=TEAM)
    assert all([*refused_message(one.blocks, one.text)] == [] for one in shown)
    if shown[0].document is None:
        want = WORD.findall(source)
        got = WORD.findall(read([one.blocks for one in shown]))
        assert [word for word in got if word in set(want)] == want


def test_a_table_with_more_cells_than_its_head_is_shown_as_it_was_written() -> None:
    source = "| a | b |\n|---|---|\n| c | d | e |\nf | g | h"
    assert read(elements(source)).strip() == source
    quoted = "> | a | b |\n> |---|---|\n> | c | d | e |\n\nafter"
    assert [word for word in "abcde" if word not in read(elements(quoted))] == []


@given(st.text(alphabet="gh`*_~[]()<>!#->|+.1\\&;\n\t 😀\u200b", max_size=300))
@settings(max_examples=300, deadline=None)
def test_no_letter_of_any_text_is_lost(text: str) -> None:
    shown = messages.draw(Text(text=text), team=TEAM)
    assert all([*refused_message(one.blocks, one.text)] == [] for one in shown)
    got = read([one.blocks for one in shown])
    assert [c for c in text if c in "gh😀"] == [c for c in got if c in "gh😀"]


@pytest.mark.parametrize(
    ("source", "want"),
    [
        ("**b** *i* ~~s~~ `c`", ["bold", "italic", "strike", "code"]),
        ("***x***", ["bold", "italic"]),
        ("# *x*", ["bold", "italic"]),
        ("**`x`**", ["bold", "code"]),
        ("plain", []),
    ],
)
def test_styles_are_kept(source: str, want: list[str]) -> None:
    runs = [run for part in markdown.parts(source) for run in part.runs]
    styles = [name for run in runs for name in cast("dict[str, bool]", run.get("style", {}))]
    assert sorted(styles) == sorted(want)


@pytest.mark.parametrize(
    ("source", "want"),
    [
        ("[safe](http://evil.example)", "safe (http://evil.example)"),
        ("[http://bank.example](http://evil.example)", "http://bank.example (http://evil.example)"),
        ("[http://a.example](http://a.example)", "http://a.example"),
        ("<http://a.example>", "http://a.example"),
        ("<me@a.example>", "mailto:me@a.example"),
        ("see http://a.example/x.", "see http://a.example/x."),
        ("[](http://a.example)", "(http://a.example)"),
        ('[x](http://a.example "and this")', 'x (http://a.example "and this")'),
        ("[x](slack://open)", "x (slack://open)"),
        ("[x](/y)", "x (/y)"),
        ("[x]()", "x ()"),
        ("[x](javascript:alert)", "[x](javascript:alert)"),
        ("![alt](http://a.example/p.png)", "alt (http://a.example/p.png)"),
        ("[![alt](http://p)](http://q)", "alt (http://p) (http://q)"),
        ("[x]: http://a.example", "[x]: http://a.example"),
        ("<b>no</b><!-- seen -->", "<b>no</b><!-- seen -->"),
        ("<!channel> <@U1> @everyone", "<!channel> <@U1> @everyone"),
        ("a &amp; b &lt;!here&gt;", "a & b <!here>"),
        ("over&#x202e;rtl", "over\\u202ertl"),
        ("```py\nx = 1\n```", "x = 1"),
        ("```py hidden words\nx\n```", "py hidden words\nx"),
        ("- a\n- b", "a\nb"),
        ("> a\n> - b\n>   1. c\n> > d", "a\n• b\n  1. c\n> d"),
        ("| a | long |\n|---|---|\n| b | c |\n| d |", "a | long\n--+-----\nb | c\nd |"),
        ("a  \nb\nc", "a\nb\nc"),
        ("a\n\nb\n\n---\n\nc", "a\n\nb\n\n---\n\nc"),
        ("⚠\ufe0f ok", "⚠ ok"),
    ],
)
def test_what_is_read(source: str, want: str) -> None:
    assert re.sub("\n+$", "", re.sub(r"\n\n(?=[^\n])", "\n\n", read(elements(source)))) == want


def test_only_web_and_mail_addresses_can_be_pressed() -> None:
    source = (
        "[a](ftp://x) [b](slack://x) [c](http://x) [d](https://x) [e](mailto:x@y) [f](x) http://z"
    )
    runs = [run for part in markdown.parts(source) for run in part.runs]
    urls = [run["url"] for run in runs if run["type"] == "link"]
    assert urls == ["http://x", "https://x", "mailto:x@y", "http://z"]
    (long,) = (run for part in markdown.parts("http://" + "x" * 3_000) for run in part.runs)
    assert long["type"] == "text"


def test_lists_keep_their_depth_and_their_numbers() -> None:
    lists = elements(
        "3. a\n4. b\n   - c\n     - d\n5. e\n\n   more\n\n       code\n\n6. f\n   ```\n   g\n   ```\n   h"
    )
    assert [
        (one["type"], one.get("style"), one.get("indent"), one.get("offset"), read(one).strip())
        for one in lists
    ] == [
        ("rich_text_list", "ordered", 0, 2, "a\nb"),
        ("rich_text_list", "bullet", 1, None, "c"),
        ("rich_text_list", "bullet", 2, None, "d"),
        ("rich_text_list", "ordered", 0, 4, "e\nmore"),
        ("rich_text_preformatted", None, None, None, "code"),
        ("rich_text_list", "ordered", 0, 5, "f"),
        ("rich_text_preformatted", None, None, None, "g"),
        ("rich_text_section", None, None, None, "h"),
    ]


def test_what_is_nested_too_deep_to_be_read_is_shown_as_it_is() -> None:
    deep = "> " * 40 + "the end"
    assert read(elements(deep)).strip() == deep
    lists = "".join("  " * depth + f"- w{depth}\n" for depth in range(40))
    assert WORD.findall(read(elements(lists))) == [f"w{depth}" for depth in range(40)]


@pytest.mark.parametrize(
    "text",
    [
        "`" * 100_000,
        "[" * 100_000,
        "> " * 50_000,
        "*a " * 30_000,
        "<" * 100_000,
        "![" * 50_000,
        "|" * 100_000,
    ],
    ids=lambda text: text[:3],
)
def test_hostile_text_takes_little_time_and_comes_as_a_file(text: str) -> None:
    began = time.process_time()
    (one,) = messages.draw(Text(text=text), team=TEAM)
    assert time.process_time() - began < 10
    assert one.document == text


@pytest.mark.parametrize(
    "text",
    [
        "```" + "x" * 1_900 + "\ncode\n```",
        "😀" * 2_000,
        "y" * 12_012,
        "```\n" + "z" * 12_012 + "\n```",
        "word " * 7_000,
    ],
    ids=lambda text: text[:3],
)
def test_what_is_long_arrives_whole(text: str) -> None:
    shown = messages.draw(Text(text=text), team=TEAM)
    assert all([*refused_message(one.blocks, one.text)] == [] for one in shown)
    letters = re.sub(r"[`\s]", "", text)
    assert re.sub(r"\s", "", read([one.blocks for one in shown])) == letters
