"""What our own Slack takes and what it refuses, as the real one does."""

import pytest
from slack_sdk.errors import SlackApiError

from tests.standins.bolt import Client
from tests.standins.slack import FakeSlack, Json

ALICE, OPS = "U0ALICE", "C0OPS"


def section(text: str) -> Json:
    return {"type": "section", "text": plain(text)}


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def header(text: Json) -> Json:
    return {"type": "header", "text": text}


def button(text: str = "Approve", action: str = "sayso:approve", value: str = "r1") -> Json:
    return {"type": "button", "text": plain(text), "action_id": action, "value": value}


def actions(*buttons: Json) -> Json:
    return {"type": "actions", "elements": list(buttons)}


def rich(*parts: Json) -> Json:
    return {"type": "rich_text", "elements": list(parts)}


def line(*elements: Json) -> Json:
    return {"type": "rich_text_section", "elements": list(elements)}


def listed(style: str, *items: Json) -> Json:
    return {"type": "rich_text_list", "style": style, "elements": list(items)}


def code(*elements: Json) -> Json:
    return {"type": "rich_text_preformatted", "elements": list(elements)}


def reason() -> Json:
    element = {"type": "plain_text_input", "action_id": "reason"}
    return {"type": "input", "block_id": "reason", "label": plain("Why"), "element": element}


def modal(**more: object) -> Json:
    given = {"type": "modal", "title": plain("Deny"), "submit": plain("Deny")}
    return {**given, "blocks": [reason()], **more}


LONG_MARKDOWN: Json = {"type": "markdown", "text": "x" * 6001}
REFUSED: dict[str, list[Json]] = {
    "a long section": [section("x" * 3001)],
    "an empty section": [section("")],
    "a section of nothing": [{"type": "section"}],
    "many fields": [{"type": "section", "fields": [plain("x")] * 11}],
    "a long field": [{"type": "section", "fields": [plain("x" * 2001)]}],
    "a long header": [header(plain("x" * 151))],
    "a header of nothing": [{"type": "header"}],
    "a text of an unknown kind": [{"type": "section", "text": {"type": "html", "text": "x"}}],
    "a text with more": [{"type": "section", "text": {**plain("x"), "size": 2}}],
    "markdown of nothing": [{"type": "markdown"}],
    "a header in mrkdwn": [header({"type": "mrkdwn", "text": "x"})],
    "many blocks": [section("x")] * 51,
    "a long label": [actions(button("x" * 76))],
    "a label in mrkdwn": [actions({**button(), "text": {"type": "mrkdwn", "text": "x"}})],
    "a long value": [actions(button(value="x" * 2001))],
    "a long action_id": [actions(button(action="x" * 256))],
    "an unknown style": [actions({**button(), "style": "warning"})],
    "a button with more": [actions({**button(), "colour": "red"})],
    "twice the same action_id": [actions(button(), button())],
    "no buttons": [actions()],
    "many buttons": [actions(*(button(action=f"a{number}") for number in range(26)))],
    "a text among buttons": [actions(plain("x"))],
    "twice the same block_id": [{**section(text), "block_id": "b"} for text in "xy"],
    "a long block_id": [{**section("x"), "block_id": "b" * 256}],
    "much context": [{"type": "context", "elements": [plain("x")] * 11}],
    "much markdown in sum": [LONG_MARKDOWN, LONG_MARKDOWN],
    "a divider with text": [{"type": "divider", "text": "x"}],
    "an unknown block": [{"type": "sparkle"}],
    "an input in a message": [reason()],
    "empty text in rich text": [rich(line({"type": "text", "text": ""}))],
    "a link to nowhere": [rich(line({"type": "link", "text": "x"}))],
    "an unknown element": [rich(line({"type": "sparkle", "text": "x"}))],
    "an unknown style of text": [
        rich(line({"type": "text", "text": "x", "style": {"loud": True}}))
    ],
    "an unknown range": [rich(line({"type": "broadcast", "range": "all"}))],
    "text with more": [rich(line({"type": "text", "text": "x", "size": 2}))],
    "an unknown part": [rich({"type": "sparkle", "elements": []})],
    "an unknown list": [rich(listed("square", line()))],
    "a list with more": [rich({**listed("bullet", line()), "size": 2})],
    "a deep list": [rich({**listed("bullet", line()), "indent": 9})],
    "a list of words": [rich(listed("bullet", {"type": "text", "text": "x"}))],
    "a person in code": [rich(code({"type": "user", "user_id": ALICE}))],
    "a part without elements": [rich({"type": "rich_text_section"})],
    "no rich text": [rich()],
}


@pytest.mark.parametrize("what", REFUSED)
async def test_blocks_that_slack_refuses_are_refused(client: Client, what: str) -> None:
    refused = await client.refused("chat.postMessage", channel=OPS, text="x", blocks=REFUSED[what])
    assert refused == "invalid_blocks"


async def test_too_much_text_over_all_blocks_is_refused(client: Client) -> None:
    blocks = [*[section("x" * 3000)] * 4, section("x" * 1200)]
    await client("chat.postMessage", channel=OPS, text="x", blocks=blocks)
    blocks.append(section("x"))
    assert (
        await client.refused("chat.postMessage", channel=OPS, text="x", blocks=blocks)
        == "msg_blocks_too_long"
    )


async def test_blocks_that_are_no_list_of_objects_are_of_no_format(client: Client) -> None:
    for blocks in ("nothing", '"nothing"', '["nothing"]'):
        refused = await client.refused("chat.postMessage", channel=OPS, text="x", blocks=blocks)
        assert refused == "invalid_blocks_format"


async def test_blocks_up_to_every_limit_are_taken(client: Client) -> None:
    full = [
        *[section("x" * 3000)] * 3,
        header(plain("x" * 150)),
        actions(*(button("x" * 75, f"{number:255}", "x" * 2000) for number in range(25))),
        {"type": "context", "elements": [plain("x")] * 10},
        *[{"type": "divider"}] * 44,
    ]
    markdown: Json = {"type": "markdown", "text": "x" * 6000}
    fields: Json = {"type": "section", "fields": [*[plain("x")] * 9, plain("x" * 2000)]}
    await client("chat.postMessage", channel=OPS, text="x", blocks=[fields])
    await client("chat.postMessage", channel=OPS, text="x", blocks=[markdown, markdown])
    posted = await client("chat.postMessage", channel=OPS, text="x", blocks=full)
    assert len(posted["message"]["blocks"]) == 50
    assert len({block["block_id"] for block in posted["message"]["blocks"]}) == 50


async def test_an_edit_is_held_to_the_same_limits(client: Client) -> None:
    posted = await client("chat.postMessage", channel=OPS, text="x")
    where: Json = {"channel": OPS, "ts": posted["ts"]}
    edit = {**where, "text": "x", "blocks": [section("x" * 3001)]}
    assert await client.refused("chat.update", **edit) == "invalid_blocks"


async def test_a_message_of_nothing_is_refused(client: Client) -> None:
    with pytest.raises(SlackApiError, match="no_text"):
        await client.raw("chat.postMessage", channel=OPS, text="")


async def test_text_above_forty_thousand_characters_is_cut(client: Client) -> None:
    posted = await client("chat.postMessage", channel=OPS, text="x" * 40_001)
    assert len(posted["message"]["text"]) == 40_000


async def test_an_edit_has_less_room_for_text(client: Client) -> None:
    posted = await client("chat.postMessage", channel=OPS, text="x")
    where: Json = {"channel": OPS, "ts": posted["ts"]}
    await client("chat.update", **where, text="x" * 4000)
    assert await client.refused("chat.update", **where, text="x" * 4001) == "msg_too_long"


async def test_what_is_wrong_is_named_with_its_place(slack: FakeSlack, client: Client) -> None:
    await client.refused("chat.postMessage", channel=OPS, text="x", blocks=[section("x" * 3001)])
    answer = slack.calls("chat.postMessage")[0].answer
    assert answer is not None
    assert answer["response_metadata"]["messages"] == [
        "[ERROR] must be less than 3001 characters [json-pointer:/blocks/0/text/text]"
    ]


VIEWS: dict[str, Json] = {
    "a long title": modal(title=plain("x" * 25)),
    "a long submit": modal(submit=plain("x" * 25)),
    "much private": modal(private_metadata="x" * 3001),
    "many blocks": modal(blocks=[section("x")] * 101),
    "an input without submit": modal(submit=None),
    "an input without label": modal(blocks=[{**reason(), "label": plain("")}]),
    "an input without element": modal(blocks=[{**reason(), "element": None}]),
    "markdown": modal(blocks=[{"type": "markdown", "text": "x"}]),
    "a home": modal(type="home"),
}


@pytest.mark.parametrize("what", VIEWS)
async def test_modals_that_slack_refuses_are_refused(
    slack: FakeSlack, client: Client, what: str
) -> None:
    trigger = slack.work.trigger(ALICE)
    refused = await client.refused("views.open", trigger_id=trigger, view=VIEWS[what])
    assert refused == "invalid_arguments"
    assert slack.views(ALICE) == []


async def test_a_modal_up_to_every_limit_is_taken(slack: FakeSlack, client: Client) -> None:
    full = modal(
        title=plain("x" * 24), private_metadata="x" * 3000, blocks=[{"type": "divider"}] * 100
    )
    await client("views.open", trigger_id=slack.work.trigger(ALICE), view=full)
    assert len(slack.views(ALICE)[0]["blocks"]) == 100


async def test_a_message_is_read_as_lines(slack: FakeSlack, client: Client) -> None:
    words = line(
        {"type": "text", "text": "a < b "},
        {"type": "link", "url": "https://x.org", "text": "x"},
        {"type": "user", "user_id": ALICE},
        {"type": "broadcast", "range": "here"},
        {"type": "usergroup", "usergroup_id": "S1"},
        {"type": "date", "timestamp": 1, "format": "{date}", "fallback": "today"},
    )
    numbered = {**listed("ordered", line({"type": "text", "text": "one"})), "indent": 1}
    quote = {"type": "rich_text_quote", "elements": [{"type": "text", "text": "q\nr"}]}
    blocks = [
        header(plain("Title")),
        rich(words, numbered, quote, code({"type": "text", "text": "$ ls"})),
        {"type": "section", "text": {"type": "mrkdwn", "text": "&amp;"}},
        actions(button()),
    ]
    posted = await client("chat.postMessage", channel=OPS, text="x", blocks=blocks)
    assert slack.thread(OPS, posted["ts"]) == [
        "Title\na < b x<@U0ALICE><!here><!subteam^S1>today\n  1. one\n> q\n> r\n$ ls\n&"
    ]
    assert slack.buttons(posted["message"]) == ["Approve"]
