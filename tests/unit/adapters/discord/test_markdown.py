"""Markdown of a model, as Discord shows it: what it means stays, and nothing means more than is seen."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adapters.discord import markdown
from adapters.discord.splitting import drawn
from adapters.platforms.literal import shown
from tests.discord_reading import kinds, plain

STYLES = {"bold", "italic", "strike", "code", "block", "heading", "item", "quote", "pressed"}
HOSTILE = [
    "<@1>", "<@&1>", "<#1>", "</stop:1>", "<t:1:R>", "<:a:1>", "<a:a:1>", "<id:guide>", "@everyone",
    "@here", "[x](https://evil.example)", "https://discord.gg/a", "discord.gg/a", ":smile:", "||a||",
    "-# a", "\n-# a", "\n\n-# a", "- -# a", "> -# a", "# -# a", "`", "```", "````\n", "**", "*", "_",
    "~~", "\\", "\n", "\n\n", " ", "a", "<", ">", "1. ", "- ", "> ", "# ", "|", "|-|-|\n", "&#64;here",
    "&lt;@1&gt;", "<!--", "\n    ", "¹", "[", "](", ")", "![", "<https://a.example/<@1>>", "\\<@1>",
    "`**", "`*", "`~~", "*`", "**`", "`` ", "b*c", "**a**", "*a*", "\n```\n*\n-# a\n```\n", "https://a.example/\\*\\*",
]  # fmt: skip
hostile = st.lists(st.sampled_from(HOSTILE), max_size=14).map("".join)


def read(text: str) -> str:
    return drawn(markdown.parts(text))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("**a** *b* ~~c~~ `d` __e__ _f_", "**a** *b* ~~c~~ `d` **e** *f*"),
        ("# a\n## b\n### c\n#### d", "# a\n## b\n### c\n**d**"),
        ("a\nb\n\nc", "a\nb\n\nc"),
        ("- a\n  - b\n- c", "- a\n  - b\n- c"),
        ("3. a\n4. b\n   more", "3. a\n4. b\n   more"),
        ("- a\n\n  b", "- a\n  b"),
        ("> a\n> b", "> a\n> b"),
        ("> a\n\n> b", "> a\n\n> b"),
        ("> > a", "> \\> a"),
        ("> - a\n> - b", "> • a\n> • b"),
        ("> # a", "> **a**"),
        ("> ```\n> a\n> b\n> ```", "> `a`\n> `b`"),
        ("```py\na\n```", "```py\na\n```"),
        ("    a\n    b", "```\na\nb\n```"),
        ("- a\n  ```\n  b\n  ```", "- a\n```\nb\n```"),
        ("a\n\n---\n\nb", "a\n\n\\---\n\nb"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "```\na | b\n--+--\n1 | 2\n```"),
        ("[a](https://x.example)", "a (<https://x.example>)"),
        ('[a](https://x.example "t")', 'a (<https://x.example> "t")'),
        ("[https://x.example](https://x.example)", "<https://x.example>"),
        (
            "[https://bank.example](https://x.example)",
            "<https://bank.example> (<https://x.example>)",
        ),
        ("[](https://x.example)", "(<https://x.example>)"),
        ("see https://x.example/a_b.", "see <https://x.example/a_b>."),
        ("<https://x.example>", "<https://x.example>"),
        ("<mailto:a@x.example>", "mailto:a@x.example"),
        ("![a](https://x.example/p.png)", "a (https\\://x.example/p.png)"),
        ("[a](discord://x)", "a (discord\\://x)"),
        ("`a``b`", "`a` `b`"),
        ("`` a`b ``", "`` a`b ``"),
        ("2 * 3 * 4 snake_case_name", "2 \\* 3 \\* 4 snake\\_case\\_name"),
        ("**a *b***", "**a *b***"),
        ("**a** __b__", "**a** **b**"),
        ("***a***", "***a***"),
        ("", ""),
        ("```\n```", ""),
        ("a\n\n# \n\nb", "a\n\nb"),
        ("***a** b*", "***a** b*"),
        ("```a b\nc\n```", "`a b`\n```\nc\n```"),
        ("**a __b__ c**", "**a b c**"),
        ("a\n-# b\n---", "## a -# b"),
        ("***a* b**", "***a* b**"),
        ("[a]: https://x.example 'b'", "\\[a\\]: <https://x.example> 'b'"),
        (
            '[https://x.example](https://x.example "t")',
            '<https://x.example> (<https://x.example> "t")',
        ),
        (f"https://x.example/{'y' * 1_500}", f"https\\://x.example/{'y' * 1_500}"),
    ],
)
def test_what_it_means_stays(text: str, says: str) -> None:
    if text == "`a``b`":
        assert kinds(read(text)) == {"code"}
    else:
        assert read(text) == says


@given(hostile)
@example("**a__b__**")
@example("*a*b**c***")
@example("*`*`:smile:b*c<id:guide>")
@settings(max_examples=1_500, deadline=None)
def test_nothing_means_more_than_styles_lists_quotes_headings_code_and_addresses(text: str) -> None:
    assert kinds(read(text)) <= STYLES


@pytest.mark.parametrize(
    "text",
    [
        "**a `x**[click](https://evil.example)` b**",
        "*a `x*<t:1:R></stop:1>` b*",
        "~~a `x~~||b||<id:guide>` b~~",
        r"**a https://a.example/\*\*\[x\](https://evil.example)/a**",
        "**a***b*c\n\n```\nx*\n-# Approved by bob.\n```",
        "`a`[`` x`[click](https://evil.example) ``](https://x.example)",
        "`a`**`` x`[click](https://evil.example) ``**",
    ],
)
def test_what_stands_in_code_or_an_address_ends_no_style_around_it(text: str) -> None:
    assert kinds(read(text)) <= STYLES
    said = "".join(run.words for part in markdown.parts(text) for run in part.runs)
    assert "".join(plain(read(text)).split()) == "".join(said.split())


@pytest.mark.parametrize(
    "text", ["-# small", "- -# small", "> -# small", "# -# small", "1. -# small", "a\n-# small"]
)
def test_nothing_is_small_and_grey_but_what_sayso_notes(text: str) -> None:
    assert "small" not in kinds(read(text))
    assert "-# small" in plain(read(text))


@given(st.text(alphabet="ab \n.,", max_size=200))
@settings(max_examples=200, deadline=None)
def test_no_word_is_lost(text: str) -> None:
    assert "".join(plain(read(text)).split()) == "".join(shown(text).split())


def test_what_is_nested_too_deep_is_shown_as_it_was_written() -> None:
    text = "> " * 30 + "deep"
    assert kinds(read(text)) == set()
    assert plain(read(text)) == text


def test_cells_beyond_the_head_of_a_table_are_not_lost() -> None:
    assert "| 1 | 2 | 3 |" in read("| a | b |\n|---|---|\n| 1 | 2 | 3 |")
