"""The project's own Slack, driven by the real SDK and the real Bolt."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from tests.standins.slack import FakeSlack, Json, Time, post_signed

ALICE, BOB, EXTERNAL, OPS = "U0ALICE", "U0BOB", "U0EXT", "C0OPS"


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack() as slack:
        for user in (ALICE, BOB):
            slack.work.person(user)
        slack.work.channel(OPS, ALICE, BOB)
        yield slack


@pytest.fixture
def client(slack: FakeSlack) -> AsyncWebClient:
    return AsyncWebClient(token=slack.bot_token, base_url=slack.base_url)


@dataclass
class Bot:
    """Keeps every body that came; acknowledges unless told not to."""

    bodies: list[Json] = field(default_factory=list[Json])
    acks: bool = True
    says: dict[str, Any] = field(default_factory=dict[str, Any])
    """What is answered to the next views."""


@asynccontextmanager
async def connected(slack: FakeSlack, count: int = 1) -> AsyncIterator[Bot]:
    bot = Bot()
    app = AsyncApp(client=AsyncWebClient(token=slack.bot_token, base_url=slack.base_url))

    @app.middleware
    async def take(body: Json) -> BoltResponse | None:  # pyright: ignore[reportUnusedFunction]
        bot.bodies.append(body)
        if not bot.acks:
            return BoltResponse(status=500)
        answer = bot.says if body.get("type") == "view_submission" else ""
        return BoltResponse(status=200, body=answer)

    async with AsyncExitStack() as stack:
        for number in range(count):
            handler = AsyncSocketModeHandler(app, slack.app_token, ping_interval=1)
            await handler.connect_async()  # pyright: ignore[reportUnknownMemberType]
            stack.push_async_callback(handler.close_async)  # pyright: ignore[reportUnknownMemberType]
            await slack.sockets.until_open(number + 1)
        yield bot


def section(text: str) -> Json:
    return {"type": "section", "text": {"type": "plain_text", "text": text}}


def button(text: str = "Approve", action: str = "sayso:approve", value: str = "r1") -> Json:
    label = {"type": "plain_text", "text": text}
    return {"type": "button", "text": label, "action_id": action, "value": value}


def actions(*buttons: Json) -> Json:
    return {"type": "actions", "elements": list(buttons)}


def rich(*parts: Json) -> Json:
    return {"type": "rich_text", "elements": list(parts)}


def line(*elements: Json) -> Json:
    return {"type": "rich_text_section", "elements": list(elements)}


def modal(**more: object) -> Json:
    title = {"type": "plain_text", "text": "Deny"}
    given = {"type": "modal", "title": title, "submit": title, "blocks": [reason()]}
    return {**given, **more}


def reason() -> Json:
    label = {"type": "plain_text", "text": "Why"}
    element = {"type": "plain_text_input", "action_id": "reason"}
    return {"type": "input", "block_id": "reason", "label": label, "element": element}


async def refused(call: Any) -> str:
    with pytest.raises(SlackApiError) as raised:
        await call
    return str(raised.value.response["error"])


TOO_MUCH = [
    ([section("x" * 3001)], "invalid_blocks"),
    ([{"type": "header", "text": {"type": "plain_text", "text": "x" * 151}}], "invalid_blocks"),
    ([{"type": "header", "text": {"type": "mrkdwn", "text": "x"}}], "invalid_blocks"),
    ([section("x")] * 51, "invalid_blocks"),
    ([actions(button("x" * 76))], "invalid_blocks"),
    ([actions(button(value="x" * 2001))], "invalid_blocks"),
    ([actions(button(action="x" * 256))], "invalid_blocks"),
    ([actions(button(), button())], "invalid_blocks"),
    ([actions()], "invalid_blocks"),
    ([actions(*(button(action=f"a{n}") for n in range(26)))], "invalid_blocks"),
    ([{**section("x"), "block_id": "b"}, {**section("y"), "block_id": "b"}], "invalid_blocks"),
    ([{"type": "markdown", "text": "x" * 6001}] * 2, "invalid_blocks"),
    ([section("x" * 3000)] * 4 + [section("x" * 1201)], "msg_blocks_too_long"),
    ([section("")], "invalid_blocks"),
    ([{"type": "divider", "text": "x"}], "invalid_blocks"),
    ([{"type": "sparkle"}], "invalid_blocks"),
    ([reason()], "invalid_blocks"),
    ("nothing", "invalid_blocks_format"),
    ([rich(line({"type": "text", "text": ""}))], "invalid_blocks"),
    ([rich(line({"type": "sparkle", "text": "x"}))], "invalid_blocks"),
    ([rich({"type": "sparkle", "elements": []})], "invalid_blocks"),
    ([rich({"type": "rich_text_list", "style": "square", "elements": [line()]})], "invalid_blocks"),
    ([rich({"type": "rich_text_list", "style": "bullet", "elements": [{"type": "text"}]})],
     "invalid_blocks"),
    ([rich({"type": "rich_text_preformatted", "elements": [{"type": "user", "user_id": "U"}]})],
     "invalid_blocks"),
    ([rich()], "invalid_blocks"),
]  # fmt: skip


@pytest.mark.parametrize(("blocks", "error"), TOO_MUCH)
async def test_blocks_that_slack_refuses_are_refused(
    client: AsyncWebClient, blocks: Any, error: str
) -> None:
    call = client.api_call("chat.postMessage", json={"channel": OPS, "text": "x", "blocks": blocks})
    assert await refused(call) == error


async def test_blocks_up_to_every_limit_are_taken(client: AsyncWebClient) -> None:
    full = [
        *[section("x" * 3000)] * 3, {"type": "header", "text": {"type": "plain_text", "text": "x" * 150}},
        actions(*(button("x" * 75, f"{n:255}", "x" * 2000) for n in range(25))),
        {"type": "context", "elements": [{"type": "mrkdwn", "text": "x"}] * 10},
        *[{"type": "divider"}] * 44,
    ]  # fmt: skip
    posted = await client.chat_postMessage(channel=OPS, text="x", blocks=full)
    assert len(posted["message"]["blocks"]) == 50


async def test_text_above_forty_thousand_characters_is_cut(client: AsyncWebClient) -> None:
    posted = await client.chat_postMessage(channel=OPS, text="x" * 40_001)
    assert len(posted["message"]["text"]) == 40_000


async def test_rich_text_is_read_as_lines(slack: FakeSlack, client: AsyncWebClient) -> None:
    words = [
        {"type": "text", "text": "a < b "}, {"type": "link", "url": "https://x.org", "text": "x"},
        {"type": "user", "user_id": ALICE}, {"type": "broadcast", "range": "here"},
        {"type": "usergroup", "usergroup_id": "S1"}, {"type": "emoji", "name": "wave"},
        {"type": "date", "timestamp": 1, "format": "{date}", "fallback": "today"},
    ]  # fmt: skip
    item = line({"type": "text", "text": "one"})
    listed = {"type": "rich_text_list", "style": "ordered", "indent": 1, "elements": [item]}
    quote = {"type": "rich_text_quote", "elements": [{"type": "text", "text": "q\nr"}]}
    code = {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": "$ ls"}]}
    blocks = [rich(line(*words), listed, quote, code), section("&amp;"), actions(button())]
    posted = await client.chat_postMessage(channel=OPS, text="x", blocks=blocks)
    assert slack.thread(OPS, posted["ts"]) == [
        "a < b x<@U0ALICE><!here><!subteam^S1>:wave:today\n  1. one\n> q\n> r\n$ ls\n&amp;"
    ]
    assert slack.buttons(posted["message"]) == ["Approve"]


async def test_a_slash_command_is_acknowledged_over_the_socket(slack: FakeSlack) -> None:
    async with connected(slack) as bot:
        delivery = await slack.people.slash(ALICE, OPS, "/sayso", "a && b < c")
    assert delivery.acked
    assert bot.bodies[0]["text"] == "a &amp;&amp; b &lt; c"
    assert "thread_ts" not in bot.bodies[0]


async def test_what_is_not_acknowledged_comes_again_in_a_new_envelope(slack: FakeSlack) -> None:
    slack.sockets.ack_within = 0.2
    async with connected(slack) as bot:
        bot.acks = False
        first = await slack.people.say(ALICE, OPS, "hello")
        bot.acks = True
        again = await slack.redeliver(first, reason="timeout")
    assert not first.acked
    assert again.acked
    assert again.envelope != first.envelope
    assert [body["event_id"] for body in bot.bodies] == [first.payload["event_id"]] * 2
