"""The same words mean the same on Slack and on Discord."""

import pytest

from adapters.discord import findings as discord
from adapters.discord.declared import COMMANDS
from adapters.discord.inbound import read as read_discord
from adapters.discord.seen import Where
from adapters.slack import findings as slack
from adapters.slack import slashes
from adapters.slack.inbound import read as read_slack
from tests.discord_seen import ID, IN_CHANNEL, IN_DIRECT, IN_THREAD, SAYSO, STRICT
from tests.discord_seen import message as discord_message
from tests.discord_seen import slash as discord_slash
from tests.slack_payloads import BOT, Body, direct, mention, message, reply
from tests.slack_payloads import slash as slack_slash

SAID = [
    "restart web",
    "stop",
    "!stop",
    " STOP ",
    "/stop",
    "stop all",
    "!stop all",
    "!stop c_1",
    "stop the deploy",
    "st\u200bop",
    "`stop`",
    "!nice work",
    "lgtm",
    "yes",
    "",
    "approve",
    "!approve",
    "!approve it",
    f"approve {ID}",
    f"!approve {ID}",
    f"!approve `{ID}`",
    f"!approve {ID[:-1]}",
    f"`!approve {ID}`",
    f"!deny {ID}",
    f"!deny {ID} not now",
    "!deny",
    f"!again {ID}",
    "!again",
    "again please",
    "help",
    "!help",
    "!requests",
    "!runs",
    "!runs of today",
    "ask health",
    "!ask health",
    "!ask",
    "!help me",
    "**stop**",
    "a < b && c > d",
]


def meaning(found: discord.Finding | slack.Finding) -> object:
    """What is left of a finding without the names that each platform has for people and places."""
    match found:
        case discord.Act() | slack.Act():
            event = found.event
            kept = ("text", "request", "reason", "known_only", "everything", "conversation", "at")
            return type(event), {key: getattr(event, key) for key in kept if hasattr(event, key)}
        case discord.Sentence() | slack.Sentence():
            return found.text
        case discord.Ignored() | slack.Ignored():
            return found.why
        case _:
            raise AssertionError(found)


def test_there_are_the_same_slash_commands() -> None:
    assert tuple(f"/{one.name}" for one in COMMANDS) == slashes.COMMANDS


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def on_slack(body: Body, *, mentions_only: bool = False) -> object:
    return meaning(read_slack(body, BOT, mentions_only=mentions_only))


def on_discord(text: str, where: Where, *, mentions_only: bool = False) -> object:
    us = STRICT if mentions_only else SAYSO
    return meaning(read_discord(discord_message(text, where), us))


@pytest.mark.parametrize("text", SAID)
def test_a_word_in_a_thread_means_the_same(text: str) -> None:
    for strict in (False, True):
        assert on_slack(reply(escaped(text)), mentions_only=strict) == on_discord(
            text, IN_THREAD, mentions_only=strict
        )


@pytest.mark.parametrize("text", SAID)
def test_a_word_to_nobody_means_the_same(text: str) -> None:
    assert on_slack(message(escaped(text))) == on_discord(text, IN_CHANNEL)


@pytest.mark.parametrize("text", SAID)
def test_a_mention_means_the_same(text: str) -> None:
    body, said = f"<@U0BOT> {escaped(text)}", f"<@900> {text}"
    assert on_slack(mention(body)) == on_discord(said, IN_CHANNEL)
    assert on_slack(reply(body)) == on_discord(said, IN_THREAD)


@pytest.mark.parametrize("text", SAID)
def test_a_direct_message_means_the_same_but_decides_nothing(text: str) -> None:
    there, here = on_slack(direct(escaped(text))), on_discord(text, IN_DIRECT)
    if isinstance(here, str) and here.startswith("Nothing was decided"):
        assert ID in text
    else:
        assert there == here


@pytest.mark.parametrize("text", ["<@{}> look", "look, <@{}>", "<@{}>, <@{}> stop"])
def test_whom_a_message_is_for_is_the_same(text: str) -> None:
    for theirs, ours in (("U0CAROL", "3"), ("U0BOT", "900")):
        there = on_slack(reply(text.format(theirs, theirs)))
        here = on_discord(text.format(ours, ours), IN_THREAD)
        assert str(there).replace(theirs, ours) == str(here)


@pytest.mark.parametrize("name", ["ask", "stop", "sayso"])
@pytest.mark.parametrize("text", SAID)
def test_a_slash_command_means_the_same(name: str, text: str) -> None:
    there = meaning(read_slack(slack_slash(f"/{name}", escaped(text)), BOT))
    assert there == meaning(read_discord(discord_slash(name, text), SAYSO))
