"""What others wrote is literal on Discord: nothing in it has a meaning, and all of it is read."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adapters.discord import words
from adapters.platforms.literal import shown
from tests.discord_reading import kinds, plain

odd = st.text(alphabet="ab1 .:/@#<>&!*_~`|[]()-+\\\n\tdt\u202e😀", max_size=60)
PIECES = [
    "<@1>", "<@!1>", "<@&1>", "<#1>", "</stop:1>", "</a b:1>", "<t:1>", "<t:1:R>", "<:a:1>",
    "<a:a:1>", "<id:guide>", "<+123>", "<a@b.c>", "@everyone", "@here", "[x](https://evil.example)",
    "[x](<https://evil.example>)", "https://evil.example", "steam://run", "<https://evil.example>",
    "discord.gg/abc", "Discord.GG/abc", "https://discord.com/channels/1/2", "discordapp.com/invite/a",
    ":smile:", "||a||", "**a**", "__a__", "~~a~~", "*a*", "_a_", "`a`", "```a```", "# a", "## a",
    "### a", "-# a", "- a", "* a", "+ a", "1. a", "12) a", "> a", ">>> a", "\n", " ", "\\", "a",
    "\n# ", "\n  - ", "\n-# ", "\n> # a", "\t# a", "¯\\_(ツ)_/¯",
]  # fmt: skip
pieces = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)


@pytest.mark.parametrize(
    "piece", [one for one in PIECES if one.strip() not in {"", "\\", "a", "#", "-", "-#"}]
)
def test_each_of_these_would_mean_something_if_it_were_not_literal(piece: str) -> None:
    assert kinds(piece) or piece.startswith("\t") or "ツ" in piece


@given(odd | pieces)
@example("`")
@example("\\`\\")
@settings(max_examples=1_500, deadline=None)
def test_literal_words_mean_nothing_and_read_as_they_are(text: str) -> None:
    drawn = words.literal(text)
    assert kinds(drawn) == set()
    assert plain(drawn) == shown(text)


@given(odd | pieces)
@settings(max_examples=500, deadline=None)
def test_a_quote_holds_nothing_but_text_and_every_line_of_it_is_quoted(text: str) -> None:
    drawn = words.quoted(text)
    assert all(line.startswith("> ") for line in drawn.split("\n"))
    assert kinds(drawn) <= {"quote"}
    assert plain(drawn) == shown(text)


@given(odd | pieces | st.text(alphabet="`\na", max_size=20))
@example("```\n# out")
@example("a``")
@example("```")
@settings(max_examples=800, deadline=None)
def test_nothing_ends_a_block_of_code_from_inside(text: str) -> None:
    drawn = words.code(text)
    assert drawn.count("```") == 2
    if text.strip():
        assert kinds(drawn) == {"block"}
        assert plain(drawn).strip() == words.fenced(text).strip()


@given((odd | pieces).filter(lambda text: text.strip() and "\n" not in text))
@example("`")
@example("``a")
@settings(max_examples=500, deadline=None)
def test_nothing_ends_code_within_a_line(text: str) -> None:
    drawn = words.code_inline(text)
    assert kinds(drawn) == {"code"}
    assert plain(drawn).strip() == shown(text).replace("``", "`\\u0060").strip()


@given(odd | pieces)
@settings(max_examples=300, deadline=None)
def test_a_small_line_is_small_and_holds_nothing_else(text: str) -> None:
    drawn = words.small(text)
    assert kinds(drawn) <= {"small"}
    assert all(line.startswith("-# ") for line in drawn.splitlines())


def test_an_empty_line_at_the_beginning_of_code_is_seen() -> None:
    assert words.code("\na") == "```\n \na\n```"
    assert plain(words.code("\na")) == " \na"


def test_a_time_is_on_the_readers_own_clock() -> None:
    assert words.dated("Until 2026-11-30 10:00:00 UTC.") == "Until <t:1796032800:f>."
    assert words.dated("Until 2026-13-30 10:00:00 UTC.") == words.literal(
        "Until 2026-13-30 10:00:00 UTC."
    )


def test_a_time_that_somebody_wrote_as_discord_would_is_only_text() -> None:
    assert kinds(words.dated("<t:1:R> 2026-11-30 10:00:00 UTC")) == {"time"}
    assert words.dated("<t:1:R>").startswith("\\<")


@given(odd | pieces, st.integers(-3, 120))
@settings(max_examples=300, deadline=None)
def test_what_is_cut_fits_once_it_is_drawn(text: str, room: int) -> None:
    at = words.reach(shown(text), room)
    assert at == 0 or words.length(words.literal(shown(text)[:at])) <= room


@given(st.text())
def test_a_length_is_never_less_than_in_utf_16(text: str) -> None:
    whole = text.encode("utf-16-le", "surrogatepass")
    assert words.length(text) == len(whole) // 2 >= len(text)


def test_copies_of_what_is_shown_are_what_was_written() -> None:
    path = r"C:\srv\*.conf <user@host> snake_case"
    assert plain(words.literal(path)) == path
    assert re.sub(r"\\(.)", r"\1", words.literal(path)) == path


@pytest.mark.parametrize("said", ["About C#", "### Restart ##", "a # \nb"])
def test_what_ends_a_heading_is_read_as_well(said: str) -> None:
    assert plain(f"### {words.literal(said)}").split() == said.split()
    assert kinds(words.literal(said)) == set()
