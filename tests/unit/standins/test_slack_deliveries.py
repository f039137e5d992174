"""What people do in our own Slack reaches the real Bolt, over sockets and by HTTP."""

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import pytest
from aiohttp import web

from tests.standins.bolt import Bot, Client, bot_of, connected
from tests.standins.slack import Broken, FakeSlack, Json, post_signed

ALICE, BOB, EXTERNAL, OPS = "U0ALICE", "U0BOB", "U0EXT", "C0OPS"


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def buttons(*verbs: str) -> list[Json]:
    elements = [
        {"type": "button", "text": plain(verb.title()), "action_id": f"sayso:{verb}", "value": "r1"}
        for verb in verbs
    ]
    return [{"type": "actions", "elements": elements}]


def modal(title: str = "Deny", **more: object) -> Json:
    element = {"type": "plain_text_input", "action_id": "reason"}
    why = {"type": "input", "block_id": "reason", "label": plain("Why"), "element": element}
    view = {"type": "modal", "title": plain(title), "submit": plain("Deny"), "blocks": [why]}
    return {**view, **more}


@pytest.fixture
async def bot(slack: FakeSlack) -> AsyncIterator[Bot]:
    async with connected(slack) as bot:
        yield bot


async def posted(client: Client, **more: object) -> str:
    return str((await client("chat.postMessage", channel=OPS, text="x", **more))["ts"])


async def test_a_slash_command_comes_escaped_and_knows_no_thread(
    slack: FakeSlack, bot: Bot
) -> None:
    delivery = await slack.people.slash(ALICE, OPS, "/sayso", "a && b < c")
    assert delivery.acked
    assert bot.bodies[0]["text"] == "a &amp;&amp; b &lt; c"
    assert "thread_ts" not in bot.bodies[0]
    await slack.people.slash(ALICE, OPS, "/sayso", "<@U0BOB>", raw=True)
    assert bot.bodies[1]["text"] == "<@U0BOB>"


@pytest.mark.parametrize("first", ["app_mention", "message"])
async def test_a_mention_is_told_twice_in_either_order(
    slack: FakeSlack, bot: Bot, first: str
) -> None:
    await slack.people.mention(ALICE, OPS, "ask {bot} & go", first=first)
    events = [body["event"] for body in bot.bodies]
    assert events[0]["type"] == first
    assert {event["type"] for event in events} == {"app_mention", "message"}
    assert {event["text"] for event in events} == {f"ask <@{slack.work.bot}> &amp; go"}
    assert len({event["ts"] for event in events}) == 1
    assert len({body["event_id"] for body in bot.bodies}) == 2


async def test_direct_messages_and_threads_are_told_as_such(slack: FakeSlack, bot: Bot) -> None:
    root = await slack.people.say(ALICE, ALICE, "hello")
    reply = await slack.people.say(ALICE, ALICE, "more", thread=root.ts)
    assert bot.bodies[0]["event"]["channel_type"] == "im"
    assert bot.bodies[1]["event"]["thread_ts"] == root.ts
    assert slack.thread(ALICE, root.ts) == ["hello", "more"]
    assert reply.ts > root.ts


async def test_somebody_of_another_workspace_comes_with_their_own(
    slack: FakeSlack, bot: Bot, client: Client
) -> None:
    slack.work.channel("C0BOTH", ALICE, EXTERNAL, is_shared=True)
    await slack.people.say(EXTERNAL, "C0BOTH", "hello")
    shown = await client("chat.postMessage", channel="C0BOTH", text="x", blocks=buttons("approve"))
    await slack.hands.click(EXTERNAL, "C0BOTH", shown["ts"], "approve")
    said, clicked = bot.bodies
    assert said["event"]["user_team"] == clicked["user"]["team_id"] == "T0ELSE"
    assert said["authorizations"][0]["team_id"] == clicked["team"]["id"] == slack.work.team
    assert said["is_ext_shared_channel"]


async def test_edits_deletions_and_previews_are_told_with_what_was_there(
    slack: FakeSlack, bot: Bot
) -> None:
    ts = (await slack.people.say(ALICE, OPS, "one https://example.com")).ts
    await slack.people.unfurl(OPS, ts)
    await slack.people.edit(OPS, ts, "two")
    await slack.people.delete(OPS, ts)
    _, unfurled, edited, deleted = [body["event"] for body in bot.bodies]
    assert unfurled["message"]["text"] == unfurled["previous_message"]["text"]
    assert "edited" not in unfurled["message"]
    assert edited["message"]["text"] == "two"
    assert edited["message"]["edited"]["user"] == ALICE
    assert edited["previous_message"]["text"].startswith("one")
    assert (deleted["subtype"], deleted["deleted_ts"]) == ("message_deleted", ts)
    assert slack.messages(OPS) == []


async def test_other_programs_and_other_kinds_of_messages_are_marked(
    slack: FakeSlack, bot: Bot, client: Client
) -> None:
    root = await posted(client)
    await slack.people.other_bot(OPS, "beep", mentions=True)
    await slack.people.webhook(OPS, "alarm")
    own = await slack.people.echo(OPS, root)
    await slack.people.share_file(ALICE, OPS, "look")
    await slack.people.broadcast(ALICE, OPS, "all", thread=root)
    events = [body["event"] for body in bot.bodies]
    told = [(event["type"], event.get("subtype"), event.get("bot_id")) for event in events]
    assert told == [
        ("app_mention", None, "B0OTHER"),
        ("message", "bot_message", "B0HOOK"),
        ("message", "file_share", None),
        ("message", "thread_broadcast", None),
    ]
    assert own.acked  # by Bolt itself, which lets nobody see what the app wrote
    assert own.payload["event"]["bot_id"] == slack.work.bot_id


async def test_the_apps_own_edits_are_told_too(slack: FakeSlack, client: Client) -> None:
    ts = await posted(client)
    await client("chat.update", channel=OPS, ts=ts, text="y")
    event = (await slack.people.echo_edit(OPS, ts)).payload["event"]
    assert (event["previous_message"]["text"], event["message"]["text"]) == ("x", "y")
    assert event["message"]["bot_id"] == slack.work.bot_id


async def test_only_public_channels_are_named(slack: FakeSlack, bot: Bot) -> None:
    slack.work.channel("C0SECRET", ALICE, is_private=True)
    for where in (OPS, "C0SECRET", ALICE):
        await slack.people.slash(ALICE, where, "/sayso")
    names = [body["channel_name"] for body in bot.bodies]
    assert names == [OPS.lower(), "privategroup", "directmessage"]


async def test_a_click_carries_the_message_as_it_stands(
    slack: FakeSlack, bot: Bot, client: Client
) -> None:
    root = await posted(client)
    ts = await posted(client, thread_ts=root, blocks=buttons("approve", "deny"))
    await client("chat.update", channel=OPS, ts=ts, text="y", blocks=buttons("deny"))
    await slack.hands.click(ALICE, OPS, ts, "Deny")
    body = bot.bodies[0]
    assert body["message"]["text"] == "y"
    assert body["container"]["thread_ts"] == root
    assert body["actions"][0]["action_id"] == "sayso:deny"
    assert body["actions"][0]["value"] == "r1"
    with pytest.raises(AssertionError, match="no one button is 'approve'"):
        await slack.hands.click(ALICE, OPS, ts, "approve")


async def test_a_click_carries_plain_text_escaped(
    slack: FakeSlack, bot: Bot, client: Client
) -> None:
    shown = buttons("a < b")
    ts = await posted(client, blocks=shown)
    await slack.hands.click(ALICE, OPS, ts, "A < B")
    body = bot.bodies[0]
    assert body["actions"][0]["text"]["text"] == "A &lt; B"
    assert body["message"]["blocks"][0]["elements"][0]["text"]["text"] == "A &lt; B"
    assert body["actions"][0]["action_id"] == "sayso:a < b"


async def test_a_forged_click_names_what_the_message_does_not_have(
    slack: FakeSlack, bot: Bot, client: Client
) -> None:
    ts = await posted(client)
    await slack.hands.click_forged(BOB, OPS, ts, "sayso:approve", "r2")
    assert bot.bodies[0]["actions"][0]["value"] == "r2"
    assert bot.bodies[0]["user"]["id"] == BOB


async def test_what_one_person_is_shown_has_no_message_in_its_click(
    slack: FakeSlack, bot: Bot, client: Client
) -> None:
    shown = await client(
        "chat.postEphemeral", channel=OPS, user=ALICE, text="x", blocks=buttons("stop")
    )
    await slack.hands.click(ALICE, OPS, shown["message_ts"], "stop")
    assert bot.bodies[0]["container"]["is_ephemeral"]
    assert "message" not in bot.bodies[0]


async def test_a_modal_is_submitted_and_closes(slack: FakeSlack, bot: Bot, client: Client) -> None:
    ts = await posted(client, blocks=buttons("deny"))
    await slack.hands.click(ALICE, OPS, ts, "deny")
    view = modal(private_metadata="r1", callback_id="sayso:deny")
    await client("views.open", trigger_id=bot.bodies[0]["trigger_id"], view=view)
    opened = slack.views(ALICE)[0]
    await slack.hands.submit_view(ALICE, opened["id"], {"reason": "too late at night"})
    body = bot.bodies[1]
    assert body["view"]["private_metadata"] == "r1"
    assert "shown_to" not in body["view"]
    assert body["view"]["external_id"] == ""
    value = body["view"]["state"]["values"]["reason"]["reason"]
    assert value == {"type": "plain_text_input", "value": "too late at night"}
    assert slack.views(ALICE) == []


async def test_a_modal_is_closed_in_silence_unless_the_app_wants_to_know(
    slack: FakeSlack, bot: Bot, client: Client
) -> None:
    for tells in (False, True):
        view = modal(notify_on_close=tells)
        await client("views.open", trigger_id=slack.work.trigger(ALICE), view=view)
        await slack.hands.close_view(ALICE, slack.views(ALICE)[0]["id"])
    assert [body["type"] for body in bot.bodies] == ["view_closed"]
    assert slack.views(ALICE) == []


async def test_a_modal_becomes_what_the_app_answers(
    slack: FakeSlack, bot: Bot, client: Client
) -> None:
    await client("views.open", trigger_id=slack.work.trigger(ALICE), view=modal())
    opened = slack.views(ALICE)[0]["id"]
    bot.answer = {"response_action": "errors", "errors": {"reason": "Say why."}}
    refused = await slack.hands.submit_view(ALICE, opened, {})
    assert refused.answer == bot.answer
    assert len(slack.views(ALICE)) == 1
    bot.answer = {"response_action": "update", "view": modal("Too late")}
    await slack.hands.submit_view(ALICE, opened, {"reason": "x"})
    assert [each["title"]["text"] for each in slack.views(ALICE)] == ["Too late"]
    bot.answer = {"response_action": "clear"}
    await slack.hands.submit_view(ALICE, opened, {"reason": "x"})
    assert slack.views(ALICE) == []


async def test_the_home_tab_is_opened_and_pressed(
    slack: FakeSlack, bot: Bot, client: Client
) -> None:
    await slack.hands.open_home(ALICE)
    await client("views.publish", user_id=ALICE, view={"type": "home", "blocks": buttons("review")})
    await slack.hands.click_home(ALICE, "review")
    opened, clicked = bot.bodies
    assert opened["event"]["tab"] == "home"
    assert clicked["view"]["type"] == "home"
    assert "channel" not in clicked


async def test_an_invitation_makes_the_app_a_member(
    slack: FakeSlack, bot: Bot, client: Client
) -> None:
    slack.work.channel("C0NEW", ALICE, joined=False)
    assert await client.refused("chat.postMessage", channel="C0NEW", text="x") == "not_in_channel"
    await slack.hands.invite(ALICE, "C0NEW")
    assert bot.bodies[0]["event"]["user"] == slack.work.bot
    await client("chat.postMessage", channel="C0NEW", text="x")


async def test_slacks_own_stop_ends_the_streams_of_the_thread(
    slack: FakeSlack, bot: Bot, client: Client
) -> None:
    root = await posted(client)
    to: Json = {"recipient_team_id": slack.work.team, "recipient_user_id": ALICE}
    stream = (await client("chat.startStream", channel=OPS, thread_ts=root, **to))["ts"]
    await slack.hands.native_stop(ALICE, OPS, root)
    assert bot.bodies[0]["event"]["streaming_message_ts"] == [stream]
    refused = await client.refused("chat.appendStream", channel=OPS, ts=stream, markdown_text="x")
    assert refused == "message_not_in_streaming_state"


async def test_a_response_url_is_used_five_times_in_half_an_hour(
    slack: FakeSlack, bot: Bot
) -> None:
    await slack.people.slash(ALICE, OPS, "/sayso")
    async with aiohttp.ClientSession() as session:

        async def answer(text: str) -> int:
            url = bot.bodies[-1]["response_url"]
            async with session.post(url, json={"text": text}) as got:
                return got.status

        assert [await answer(f"{number}") for number in range(6)] == [200] * 5 + [404]
        assert slack.ephemerals(ALICE) == ["0", "1", "2", "3", "4"]
        await slack.people.slash(ALICE, OPS, "/sayso")
        slack.work.time.pass_by(1801)
        assert await answer("late") == 404


async def test_a_response_url_replaces_posts_and_deletes(
    slack: FakeSlack, bot: Bot, client: Client
) -> None:
    ts = await posted(client, blocks=buttons("stop"))
    await slack.hands.click(ALICE, OPS, ts, "stop")
    url = bot.bodies[0]["response_url"]
    async with aiohttp.ClientSession() as session:

        async def answer(**body: object) -> int:
            async with session.post(url, json=body) as got:
                return got.status

        assert await answer(replace_original=True, text="stopped") == 200
        assert slack.thread(OPS, ts) == ["stopped"]
        assert slack.buttons(slack.messages(OPS)[0]) == []
        assert await answer(response_type="in_channel", text="all see it") == 200
        assert await answer(text="") == 400
        assert await answer(delete_original=True) == 200
    assert [each["text"] for each in slack.messages(OPS)] == ["all see it"]
    assert slack.ephemerals(ALICE) == []


async def test_what_is_not_acknowledged_comes_again_in_a_new_envelope(
    slack: FakeSlack, bot: Bot
) -> None:
    slack.sockets.ack_within = 0.2
    bot.acks = False
    first = await slack.people.say(ALICE, OPS, "hello")
    bot.acks = True
    again = await slack.redeliver(first)
    assert (first.acked, again.acked) == (False, True)
    assert again.envelope != first.envelope
    assert [body["event_id"] for body in bot.bodies] == [first.payload["event_id"]] * 2
    assert bot.headers[1]["x-slack-retry-num"] == ["1"]
    assert bot.headers[1]["x-slack-retry-reason"] == ["timeout"]


async def test_each_envelope_goes_to_one_of_the_sockets(slack: FakeSlack) -> None:
    async with connected(slack, 2) as bot:
        for number in range(4):
            assert (await slack.people.say(ALICE, OPS, f"{number}")).acked
        await slack.redeliver(slack.delivered[0], socket=1)
    assert len(bot.bodies) == 5
    assert slack.sockets.sent == [1, 0, 1, 0, 1]


async def test_a_socket_that_is_told_to_go_comes_back(slack: FakeSlack, bot: Bot) -> None:
    await slack.sockets.disconnect("refresh_requested")
    await slack.sockets.until_opened(2)
    await slack.sockets.until_open(1)
    assert (await slack.people.say(ALICE, OPS, "hello")).acked
    assert len(bot.bodies) == 1


async def test_a_socket_that_is_cut_comes_back(slack: FakeSlack, bot: Bot) -> None:
    await slack.sockets.drop()
    await slack.sockets.until_opened(2)
    assert (await slack.people.say(ALICE, OPS, "hello")).acked
    assert len(bot.bodies) == 1


async def test_a_ticket_opens_one_socket(slack: FakeSlack) -> None:
    address = slack.sockets.address()
    async with aiohttp.ClientSession() as session, session.ws_connect(address) as socket:
        assert (await socket.receive_json())["type"] == "hello"
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await session.ws_connect(address)


async def test_without_a_socket_nothing_is_acknowledged(slack: FakeSlack) -> None:
    assert not (await slack.people.say(ALICE, OPS, "hello")).acked


async def test_one_waits_for_what_the_app_does(slack: FakeSlack, client: Client) -> None:
    waits = asyncio.create_task(slack.until(lambda: slack.messages(OPS)))
    await posted(client)
    await waits
    with pytest.raises(TimeoutError):
        await slack.until(lambda: False, within=0.05)


@pytest.fixture
async def reached(slack: FakeSlack) -> AsyncIterator[Bot]:
    """An app that takes deliveries by HTTP."""
    bot = bot_of(slack)
    runner = web.AppRunner(bot.app.web_app(), shutdown_timeout=0.2)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    slack.url = f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
    yield bot
    await runner.cleanup()


async def test_everything_is_delivered_by_http_too(
    slack: FakeSlack, reached: Bot, client: Client
) -> None:
    ts = await posted(client, blocks=buttons("approve"))
    said = await slack.people.say(ALICE, OPS, "a & b")
    await slack.people.slash(ALICE, OPS, "/sayso", "a & b")
    await slack.hands.click(ALICE, OPS, ts, "approve")
    await slack.redeliver(said)
    assert [each.status for each in slack.delivered] == [200] * 4
    assert reached.bodies[0]["event"]["text"] == reached.bodies[1]["text"] == "a &amp; b"
    assert reached.bodies[2]["actions"][0]["value"] == "r1"
    assert reached.headers[3]["x-slack-retry-num"] == ["1"]


@pytest.mark.parametrize(
    ("broken", "age", "status"),
    [(None, 0, 200), (None, 301, 401), ("signature", 0, 401), ("no headers", 0, 401),
     ("other body", 0, 401)],
)  # fmt: skip
async def test_a_signature_is_as_good_or_bad_as_a_test_wants(
    slack: FakeSlack, reached: Bot, broken: Broken | None, age: float, status: int
) -> None:
    await slack.people.say(ALICE, OPS, "hello")
    reached.bodies.clear()
    body, url = slack.delivered[0].payload, str(slack.url)
    got, _ = await post_signed(url, body, slack.secret, age=age, broken=broken)
    assert got == status
    assert len(reached.bodies) == (status == 200)
