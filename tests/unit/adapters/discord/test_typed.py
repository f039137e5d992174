"""P-19: what a person typed is what is read, whatever Discord made of it on the way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.discord import typed
from tests.discord_seen import ROLE, US

NAMES = {
    "<@1>": "ann",
    "<@!2>": "bob",
    "<@&7>": "sre",
    "<#8>": "ops",
    "<@4>": "two\nlines <@1>",
    "<@5>": "@",
    "<@6>": "x" * 500,
}
READ = {
    "ask <@1> and <@!1>, not <@2> or <@3>": "ask @ann and @ann, not @bob or @3",
    "<@&7> or <@&9> in <#8>, not <#9>": "@sre or @9 in #ops, not #9",
    "<@4> and <@5>": "@two lines <@1> and @5",
    "<:party:12> <a:wave:13> \U0001f4af": ":party: :wave: \U0001f4af",
    "</sayso runs:14> or </stop:15>": "/sayso runs or /stop",
    "at <t:1618953630> or <t:0:R>": "at 2021-04-20 21:20:30 UTC or 1970-01-01 00:00:00 UTC",
    "at <t:9999999999999>": "at 9999999999999",
    "see <https://a.b/?x=1&y=2>": "see https://a.b/?x=1&y=2",
    "see [the runbook](https://evil.example)": "see [the runbook](https://evil.example)",
    "a < b and <> and <stdin> and <@x> and <": "a < b and <> and <stdin> and <@x> and <",
    "@everyone look, @here": "@everyone look, @here",
    r"grep \.py C:\tmp ¯\_(ツ)_/¯": r"grep \.py C:\tmp ¯\_(ツ)_/¯",
    r"\<@1> is how, \\<@1> is ann": r"\<@1> is how, \\@ann is ann",
    "`<@1>` and ``a ` <@1>`` and <@1>": "`<@1>` and ``a ` <@1>`` and @ann",
    "```sh\n<@1>\n``` <@1>": "```sh\n<@1>\n``` @ann",
    "`a`` <@1>` <@1>": "`a`` <@1>` @ann",
    "`` <@1> ` <@1>": "`` @ann ` @ann",
    r"\`<@1>\`": r"\`@ann\`",
    "**stop**": "**stop**",
    "a\0b\ud800": "a\ufffdb\ufffd",
}


@pytest.mark.parametrize("text", READ)
def test_p19_text_is_read_as_it_was_typed(text: str) -> None:
    assert typed.plain(text, NAMES) == READ[text]


def test_a_name_is_bounded_and_never_more_than_a_name() -> None:
    assert typed.plain("<@6>", NAMES) == "@" + "x" * 100
    odd = {"<@1>": "<@2> `stop", "<@2>": "approve"}
    assert typed.plain("<@1> <@2>", odd) == "@<@2> `stop @approve"


@given(st.text(st.sampled_from("abc <>&*_~|#()[]\n\u202e")))
def test_p19_whatever_else_was_typed_comes_back(text: str) -> None:
    assert typed.plain(text, NAMES) == text


@given(st.text(st.sampled_from("<@!&#:/t19>`\\ \n")) | st.text())
def test_whatever_was_typed_is_read(text: str) -> None:
    typed.plain(text, NAMES)
    typed.read(text, US, [ROLE], NAMES)
    typed.mentions(text, US, [ROLE])
    typed.bare(text)


@pytest.mark.parametrize(
    "text",
    [
        "<@900> stop",
        "<@900>stop",
        "<@!900>\u00a0stop",
        "  <@&901>:  stop ",
        "<@900>, stop",
        "<@900> <@&901> stop",
    ],
)
def test_sayso_is_not_told_its_own_name_at_the_beginning(text: str) -> None:
    assert typed.read(text, US, [ROLE], {}) == "stop"


def test_its_own_name_stays_where_it_says_something() -> None:
    assert typed.read("thank <@900>", US, [ROLE], {}) == "thank @900"
    assert typed.read("<@9001> stop", US, [ROLE], {}) == "@9001 stop"
    assert typed.read("<@900>:tada:", US, [ROLE], {}) == ":tada:"


def test_a_mention_is_told_from_what_looks_like_one() -> None:
    for text in ("hey <@900>", "<@!900>", "x<@&901>", "`a` <@900> `b`"):
        assert typed.mentions(text, US, [ROLE])
    for text in ("<@9001>", "<@&900>", "<@901>", "`<@900>`", r"\<@900>", "```\n<@900>```", "@900"):
        assert not typed.mentions(text, US, [ROLE])


def test_an_id_is_no_pattern() -> None:
    assert not typed.mentions("<@9000>", "9.00", ["9("])
    assert typed.read("<@9000> stop", "9.00", ["9("], {}) == "@9000 stop"


def test_a_text_for_somebody_else_begins_with_them() -> None:
    for text in (" <@1> look", "<@!1>", "<@&7> look", "@everyone look", "@here"):
        assert typed.begins_with_a_mention(text)
    for text in ("look, <@1>", "<#8> is down", "`<@1>`", "@hereby", "@ann"):
        assert not typed.begins_with_a_mention(text)


@pytest.mark.parametrize(
    "text", ["`web up`", "``web up``", "```web up```", "```sh\nweb up\n```", "```\nweb up```"]
)
def test_a_pasted_line_of_code_is_what_stands_in_it(text: str) -> None:
    assert typed.bare(text) == "web up"


@pytest.mark.parametrize(
    "text", ["run `web up`", "```\na\nb\n```", "`a` `b`", "` `", "``````", "web up"]
)
def test_what_is_not_one_line_of_code_stays_as_it_is(text: str) -> None:
    assert typed.bare(text) == text
