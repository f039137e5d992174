"""P-19: what a person typed is what is read, whatever Slack made of it on the way."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack import typed

READ = {
    "echo a &amp;&amp; b &lt; c": "echo a && b < c",
    "&amp;lt;": "&lt;",
    "&amp;amp;amp;": "&amp;amp;",
    "&lt;@U0BOT&gt; stop": "<@U0BOT> stop",
    "&lt;http://a.b|a.b&gt;": "<http://a.b|a.b>",
    "ask <@U1> and <@U2|bob>": "ask @U1 and @U2",
    "post in <#C1|ops>, not <#C2> or <#C3|>": "post in #ops, not #C2 or #C3",
    "<!here> <!here|@here> <!channel> <!everyone>": "@here @here @channel @everyone",
    "<!subteam^S1|@sre> or <!subteam^S1>": "@sre or @S1",
    "<!date^1392734382^{date_num}|18 Feb 2014>": "18 Feb 2014",
    "<!date^1392734382^{date_num}>": "1392734382^{date_num}",
    "<mailto:a@b.c|a@b.c>": "a@b.c",
    "<tel:123|123>": "123",
    "curl <http://a.b|a.b>": "curl a.b",
    "curl <http://a.b/|a.b>": "curl a.b",
    "curl <https://a.b/?x=1&amp;y=2>": "curl https://a.b/?x=1&y=2",
    "curl <https://a.b/?x=1&amp;y=2|https://a.b/?x=1&amp;y=2>": "curl https://a.b/?x=1&y=2",
    "<https://a.b/?q=&amp;lt;|a.b>": "a.b (https://a.b/?q=&lt;)",
    "see <https://evil.example|the runbook>": "see the runbook (https://evil.example)",
    "a < b and <> and <": "a < b and  and <",
}


@pytest.mark.parametrize("text", READ)
def test_p19_text_is_read_as_it_was_typed(text: str) -> None:
    assert typed.plain(text) == READ[text]


def slack_escapes(text: str) -> str:
    """As Slack passes on what stands in its message box."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


TRICKY = st.text(st.sampled_from("&<>;#@!|^ U0BOTampltgs\n")) | st.text()


@given(TRICKY)
def test_p19_whatever_was_typed_comes_back(text: str) -> None:
    assert typed.plain(slack_escapes(text)) == text
    assert typed.read(slack_escapes(text), "U0BOT") == text.strip()


@given(TRICKY, st.sampled_from(["http://a.b", "https://a.b/c"]))
def test_p19_what_slack_links_by_itself_comes_back(text: str, address: str) -> None:
    short = address.partition("//")[2]
    around = slack_escapes(text)
    assert typed.plain(f"{around} <{address}|{short}> {around}") == f"{text} {short} {text}"
    assert typed.plain(f"{around} <{address}> {around}") == f"{text} {address} {text}"


@given(TRICKY)
def test_what_somebody_typed_never_mentions_anybody(text: str) -> None:
    assert not typed.mentions(slack_escapes(text), "U0BOT")
    assert not typed.begins_with_a_mention(slack_escapes(text))


@given(TRICKY)
def test_signs_are_decoded_as_if_the_ampersand_came_last(text: str) -> None:
    raw = re.sub("[<>]", "", text)
    in_turn = raw.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    assert typed.plain(raw) == in_turn


@pytest.mark.parametrize(
    "text",
    [
        "<@U0BOT> stop",
        "<@U0BOT>stop",
        "<@U0BOT>\u00a0stop",
        "  <@U0BOT|sayso>:  stop ",
        "<@U0BOT>, stop",
        "<@U0BOT> <@U0BOT> stop",
    ],
)
def test_sayso_is_not_told_its_own_name_at_the_beginning(text: str) -> None:
    assert typed.read(text, "U0BOT") == "stop"


def test_its_own_name_stays_where_it_says_something() -> None:
    assert typed.read("thank <@U0BOT>", "U0BOT") == "thank @U0BOT"
    assert typed.read("<@U0BOTX> stop", "U0BOT") == "@U0BOTX stop"
    assert typed.read("<@U0BOT>:tada:", "U0BOT") == ":tada:"


def test_a_mention_is_told_from_what_looks_like_one() -> None:
    assert typed.mentions("hey <@U0BOT|sayso>", "U0BOT")
    assert not typed.mentions("hey <@U0BOTX>", "U0BOT")
    assert typed.begins_with_a_mention(" <@U1> look")
    assert typed.begins_with_a_mention("<!subteam^S1|@sre> look")
    assert not typed.begins_with_a_mention("look, <@U1>")
    assert not typed.begins_with_a_mention("<http://a.b|a.b> is down")
