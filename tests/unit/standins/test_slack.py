"""Our own Slack, called with the real SDK."""

import asyncio

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler

from tests.standins.bolt import Client, answer_of, client_of
from tests.standins.slack import FakeSlack, Json, Time

ALICE, BOB, EXTERNAL, OPS = "U0ALICE", "U0BOB", "U0EXT", "C0OPS"


def modal(title: str = "Deny") -> Json:
    label = {"type": "plain_text", "text": title}
    return {"type": "modal", "title": label, "blocks": [{"type": "divider"}]}


async def test_a_wrong_token_is_no_token(slack: FakeSlack) -> None:
    wrong = client_of(slack, token="xoxb-wrong")
    assert await wrong.refused("auth.test") == "invalid_auth"
    assert await wrong.refused("apps.connections.open", app_token="xapp-wrong") == "invalid_auth"


async def test_a_token_can_be_taken_back(slack: FakeSlack, client: Client) -> None:
    assert (await client("auth.test"))["team_id"] == slack.work.team
    slack.faults.token = "token_revoked"
    assert await client.refused("auth.test") == "token_revoked"


async def test_a_method_needs_its_scope(slack: FakeSlack, client: Client) -> None:
    slack.work.scopes -= {"chat:write", "users:read", "channels:history"}
    assert await client.refused("chat.postMessage", channel=OPS, text="x") == "missing_scope"
    assert await client.refused("users.info", user=ALICE) == "missing_scope"
    assert await client.refused("conversations.history", channel=OPS) == "missing_scope"
    told = slack.calls("users.info")[0].answer
    assert told is not None
    assert told["needed"] == "users:read"


async def test_the_scopes_that_were_granted_are_told(slack: FakeSlack, client: Client) -> None:
    slack.work.scopes = {"chat:write", "commands"}
    answer = await client.sdk.auth_test()
    assert answer.headers["X-OAuth-Scopes"] == "chat:write,commands"


async def test_a_socket_needs_a_scope_of_its_own(slack: FakeSlack, client: Client) -> None:
    slack.web.app_scopes.clear()
    refused = await client.refused("apps.connections.open", app_token=slack.app_token)
    assert refused == "missing_scope"


async def test_the_app_posts_only_where_it_may(slack: FakeSlack, client: Client) -> None:
    slack.work.channel("C0OTHER", joined=False)
    slack.work.channel("C0SECRET", joined=False, is_private=True)
    slack.work.channel("C0OLD", is_archived=True)
    refused = {
        channel: await client.refused("chat.postMessage", channel=channel, text="x")
        for channel in ("C0OTHER", "C0SECRET", "C0OLD", "C0NONE", "U0NOBODY")
    }
    assert refused == {
        "C0OTHER": "not_in_channel",
        "C0SECRET": "channel_not_found",
        "C0OLD": "is_archived",
        "C0NONE": "channel_not_found",
        "U0NOBODY": "channel_not_found",
    }


async def test_somebody_is_written_to_by_their_id(slack: FakeSlack, client: Client) -> None:
    posted = await client("chat.postMessage", channel=ALICE, text="hello")
    assert posted["channel"] == (await client("conversations.open", users=ALICE))["channel"]["id"]
    assert slack.thread(ALICE, posted["ts"]) == ["hello"]


async def test_a_thread_is_read_in_order_with_its_metadata(
    slack: FakeSlack, client: Client
) -> None:
    root = (await client("chat.postMessage", channel=OPS, text="root"))["ts"]
    metadata = {"event_type": "sayso", "event_payload": {"key": "post:1"}}
    for text in ("one", "two"):
        await client(
            "chat.postMessage", channel=OPS, text=text, thread_ts=root, metadata=metadata
        )  # fmt: skip
    assert slack.thread(OPS, root) == ["root", "one", "two"]
    where: Json = {"channel": OPS, "ts": root}
    full = await client("conversations.replies", **where, include_all_metadata=True)
    assert [each.get("metadata") for each in full["messages"]] == [None, metadata, metadata]
    bare = await client("conversations.replies", **where)
    assert bare["messages"][1]["metadata"] == {"event_type": "sayso"}
    page = await client("conversations.replies", **where, limit=2)
    rest = await client(
        "conversations.replies", **where, cursor=page["response_metadata"]["next_cursor"]
    )
    assert [each["text"] for each in page["messages"] + rest["messages"]] == ["root", "one", "two"]
    assert page["has_more"]
    assert not rest["has_more"]
    outside = await client("conversations.history", channel=OPS, include_all_metadata=True)
    assert [each["text"] for each in outside["messages"]] == ["root"]


async def test_a_reply_needs_a_root(client: Client) -> None:
    reply: Json = {"channel": OPS, "text": "x", "thread_ts": "1.000001"}
    assert await client.refused("chat.postMessage", **reply) == "thread_not_found"
    assert (
        await client.refused("conversations.replies", channel=OPS, ts="1.0") == "thread_not_found"
    )


async def test_an_edit_keeps_what_was_there_before(slack: FakeSlack, client: Client) -> None:
    ts = (await client("chat.postMessage", channel=OPS, text="waits"))["ts"]
    await client("chat.update", channel=OPS, ts=ts, text="ran")
    assert slack.edits(OPS, ts) == ["waits", "ran"]
    assert slack.thread(OPS, ts) == ["ran"]


async def test_only_what_the_app_posted_can_be_edited(slack: FakeSlack, client: Client) -> None:
    theirs = slack.work.add(OPS, {"user": ALICE, "text": "mine"})["ts"]
    edit: Json = {"channel": OPS, "text": "x"}
    assert await client.refused("chat.update", ts=theirs, **edit) == "cant_update_message"
    assert await client.refused("chat.update", ts="1.0", **edit) == "message_not_found"
    own = (await client("chat.postMessage", channel=OPS, text="x"))["ts"]
    await client("chat.delete", channel=OPS, ts=own)
    assert await client.refused("chat.update", ts=own, **edit) == "message_not_found"


async def test_what_one_person_is_shown_is_no_message(slack: FakeSlack, client: Client) -> None:
    shown = await client("chat.postEphemeral", channel=OPS, user=ALICE, text="only you")
    assert slack.ephemerals(ALICE) == ["only you"]
    assert slack.ephemerals(BOB) == []
    assert slack.messages(OPS) == []
    edit: Json = {"channel": OPS, "ts": shown["message_ts"], "text": "x"}
    assert await client.refused("chat.update", **edit) == "message_not_found"
    stranger: Json = {"channel": OPS, "user": EXTERNAL, "text": "x"}
    assert await client.refused("chat.postEphemeral", **stranger) == "user_not_in_channel"


async def test_people_and_groups_are_as_a_test_says(slack: FakeSlack, client: Client) -> None:
    slack.work.person("U0GONE", deleted=True)
    slack.work.groups["S0SRE"] = [ALICE]
    assert (await client("users.info", user="U0GONE"))["user"]["deleted"]
    assert (await client("users.info", user=EXTERNAL))["user"]["team_id"] == "T0ELSE"
    assert await client.refused("users.info", user="U0NOBODY") == "user_not_found"
    assert (await client("usergroups.users.list", usergroup="S0SRE"))["users"] == [ALICE]
    assert await client.refused("usergroups.users.list", usergroup="S0X") == "no_such_subteam"
    assert [each["id"] for each in (await client("usergroups.list"))["usergroups"]] == ["S0SRE"]
    slack.work.has_paid_plan = False
    refused = await client.refused("usergroups.users.list", usergroup="S0SRE")
    assert refused == "plan_upgrade_required"


async def test_a_channel_is_described_with_its_members(slack: FakeSlack, client: Client) -> None:
    described = (await client("conversations.info", channel=OPS))["channel"]
    assert described["is_member"]
    assert not described["is_ext_shared"]
    page = await client("conversations.members", channel=OPS, limit=2)
    rest = await client(
        "conversations.members", channel=OPS, cursor=page["response_metadata"]["next_cursor"]
    )
    assert {*page["members"], *rest["members"]} == {ALICE, BOB, slack.work.bot}
    assert (await client("team.info"))["team"]["id"] == slack.work.team
    bot = await client("bots.info", bot=slack.work.bot_id)
    assert bot["bot"]["app_id"] == slack.work.app


async def test_a_rate_limit_says_when_to_come_again(slack: FakeSlack, client: Client) -> None:
    slack.faults.rate_limited("chat.postMessage", after=7)
    with pytest.raises(SlackApiError) as raised:
        await client("chat.postMessage", channel=OPS, text="x")
    response = answer_of(raised.value)
    assert (response.status_code, response.headers["Retry-After"]) == (429, "7")
    assert slack.messages(OPS) == []
    await client("chat.postMessage", channel=OPS, text="x")


async def test_the_retry_handler_of_the_sdk_gets_through(slack: FakeSlack, client: Client) -> None:
    client.sdk.retry_handlers.append(AsyncRateLimitErrorRetryHandler(max_retry_count=1))
    slack.faults.rate_limited("chat.postMessage", after=0)
    await client("chat.postMessage", channel=OPS, text="x")
    assert [each.answer is None for each in slack.calls("chat.postMessage")] == [True, False]


async def test_two_hundred_may_still_say_no(slack: FakeSlack, client: Client) -> None:
    ts = (await client("chat.postMessage", channel=OPS, text="x"))["ts"]
    slack.faults.says("chat.update", "ratelimited")
    assert await client.refused("chat.update", channel=OPS, ts=ts, text="y") == "ratelimited"
    assert slack.thread(OPS, ts) == ["x"]


async def test_a_server_can_fail(slack: FakeSlack, client: Client) -> None:
    slack.faults.fails("chat.postMessage", 502)
    with pytest.raises(SlackApiError) as raised:
        await client("chat.postMessage", channel=OPS, text="x")
    assert answer_of(raised.value).status_code == 502


@pytest.mark.parametrize(("lost", "posted"), [(True, ["x"]), (False, [])])
async def test_a_connection_can_end_before_or_after_the_post(
    slack: FakeSlack, client: Client, lost: bool, posted: list[str]  # noqa: FBT001
) -> None:  # fmt: skip
    client.sdk.retry_handlers.clear()
    fault = slack.faults.loses_reply if lost else slack.faults.drops
    fault("chat.postMessage")
    with pytest.raises(aiohttp.ClientError):
        await client("chat.postMessage", channel=OPS, text="x")
    assert [each["text"] for each in slack.messages(OPS)] == posted


async def test_all_of_slack_can_be_down(slack: FakeSlack, client: Client) -> None:
    client.sdk.retry_handlers.clear()
    slack.faults.down = True
    with pytest.raises(aiohttp.ClientError):
        await client("auth.test")
    slack.faults.down = False
    assert (await client("auth.test"))["ok"]


async def test_a_call_can_be_held(slack: FakeSlack, client: Client) -> None:
    gate = slack.faults.holds("chat.postMessage")
    task = asyncio.create_task(client("chat.postMessage", channel=OPS, text="x"))
    await slack.until(lambda: slack.faults.held.get("chat.postMessage"))
    assert slack.messages(OPS) == []
    gate.set()
    await task
    assert len(slack.messages(OPS)) == 1


async def test_posts_and_edits_are_counted_by_slacks_time(client: Client, slack: FakeSlack) -> None:
    slack.work.time.read = lambda: 1000.0
    ts = (await client("chat.postMessage", channel=OPS, text="x"))["ts"]
    await client("chat.postMessage", channel=OPS, text="x")
    slack.work.time.pass_by(1)
    await client("chat.postMessage", channel=OPS, text="x")
    assert slack.rates.fast_posts == 1
    for _ in range(51):
        await client("chat.update", channel=OPS, ts=ts, text="y")
    assert slack.rates.most_updates == 51


async def test_rates_can_be_held_to(client: Client, slack: FakeSlack) -> None:
    slack.work.time.read = lambda: 1000.0
    slack.rates.enforced = True
    ts = (await client("chat.postMessage", channel=OPS, text="x"))["ts"]
    assert await client.refused("chat.postMessage", channel=OPS, text="x") == "ratelimited"
    slack.work.time.pass_by(1)
    await client("chat.postMessage", channel=OPS, text="x")
    for _ in range(50):
        await client("chat.update", channel=OPS, ts=ts, text="y")
    assert await client.refused("chat.update", channel=OPS, ts=ts, text="y") == "ratelimited"


async def test_a_trigger_opens_one_modal_within_three_seconds(client: Client) -> None:
    time = Time(read=lambda: 1000.0)
    async with FakeSlack(time=time) as slack:
        slack.work.person(ALICE)
        client = client_of(slack)
        trigger = slack.work.trigger(ALICE)
        time.pass_by(3)
        await client("views.open", trigger_id=trigger, view=modal())
        again: Json = {"trigger_id": trigger, "view": modal()}
        assert await client.refused("views.open", **again) == "exchanged_trigger_id"
        late = slack.work.trigger(ALICE)
        time.pass_by(3.1)
        assert (
            await client.refused("views.open", trigger_id=late, view=modal())
            == "expired_trigger_id"
        )
        assert (
            await client.refused("views.open", trigger_id="x", view=modal()) == "invalid_trigger_id"
        )
        assert len(slack.views(ALICE)) == 1


async def test_a_modal_is_replaced_while_it_is_what_one_thinks(
    slack: FakeSlack, client: Client
) -> None:
    opened = await client("views.open", trigger_id=slack.work.trigger(ALICE), view=modal())
    view = {"view_id": opened["view"]["id"], "hash": opened["view"]["hash"]}
    await client("views.update", view=modal("Denied"), **view)
    assert slack.views(ALICE)[0]["title"]["text"] == "Denied"
    assert await client.refused("views.update", view=modal(), **view) == "hash_conflict"
    gone: Json = {"view_id": "V0", "view": modal()}
    assert await client.refused("views.update", **gone) == "not_found"


async def test_three_modals_lie_over_one_another_at_most(slack: FakeSlack, client: Client) -> None:
    await client("views.open", trigger_id=slack.work.trigger(ALICE), view=modal())
    for _ in range(2):
        await client("views.push", trigger_id=slack.work.trigger(ALICE), view=modal())
    trigger = slack.work.trigger(ALICE)
    refused = await client.refused("views.push", trigger_id=trigger, view=modal())
    assert refused == "push_limit_reached"


async def test_a_stream_dies_after_five_minutes(slack: FakeSlack, client: Client) -> None:
    root = (await client("chat.postMessage", channel=OPS, text="root"))["ts"]
    to: Json = {"recipient_team_id": slack.work.team, "recipient_user_id": ALICE}
    assert (
        await client.refused("chat.startStream", channel=OPS, thread_ts=root) == "invalid_arguments"
    )
    ts = (await client("chat.startStream", channel=OPS, thread_ts=root, **to))["ts"]
    stream: Json = {"channel": OPS, "ts": ts}
    await client("chat.appendStream", **stream, markdown_text="so far")
    slack.work.time.pass_by(301)
    for method in ("chat.appendStream", "chat.stopStream"):
        refused = await client.refused(method, **stream, markdown_text="more")
        assert refused == "message_not_in_streaming_state"
    await client("chat.update", **stream, text="all of it")
    assert slack.thread(OPS, root) == ["root", "all of it"]


async def test_a_stream_ends_with_what_was_written(slack: FakeSlack, client: Client) -> None:
    root = (await client("chat.postMessage", channel=ALICE, text="root"))["ts"]
    dm = slack.work.dm(ALICE)
    ts = (await client("chat.startStream", channel=dm, thread_ts=root, markdown_text="a"))["ts"]
    await client("chat.stopStream", channel=dm, ts=ts, markdown_text="b")
    assert slack.thread(dm, root) == ["root", "ab"]
    refused = await client.refused("chat.appendStream", channel=dm, ts=ts, markdown_text="c")
    assert refused == "message_not_in_streaming_state"


async def test_a_file_is_announced_sent_and_shared(slack: FakeSlack, client: Client) -> None:
    root = (await client("chat.postMessage", channel=OPS, text="root"))["ts"]
    await client(
        "files_upload_v2", channel=OPS, thread_ts=root, filename="plan.txt", content="all of it",
        initial_comment="The whole plan",
    )  # fmt: skip
    assert slack.thread(OPS, root) == ["root", "The whole plan"]
    file = slack.messages(OPS, root)[1]["files"][0]
    assert slack.work.files[file["id"]]["content"] == b"all of it"


async def test_a_file_that_was_never_sent_cannot_be_shared(client: Client) -> None:
    told = await client("files.getUploadURLExternal", filename="a", length=3)
    files = [{"id": told["file_id"], "title": "a"}]
    refused = await client.refused("files.completeUploadExternal", files=files, channel_id=OPS)
    assert refused == "file_not_found"


async def test_sessions_prompts_reactions_and_links(slack: FakeSlack, client: Client) -> None:
    ts = (await client("chat.postMessage", channel=OPS, text="x"))["ts"]
    await client("agents.sessions.setStatus", channel_id=OPS, thread_ts=ts, status="processing")
    assert [each["status"] for each in slack.work.sessions[OPS, ts]] == ["processing"]
    refused = await client.refused(
        "agents.sessions.setStatus", channel_id=OPS, thread_ts=ts, status="thinking"
    )
    assert refused == "invalid_arguments"
    prompts = [{"title": "Help", "message": "help"}]
    await client(
        "assistant.threads.setSuggestedPrompts", channel_id=OPS, thread_ts=ts, prompts=prompts
    )
    assert slack.work.prompts[OPS] == prompts
    where: Json = {"channel_id": OPS, "thread_ts": ts}
    await client("assistant.threads.setSuggestedPrompts", **where, prompts=prompts * 4)
    for wrong in (prompts * 5, [{"title": "Help"}]):
        refused = await client.refused(
            "assistant.threads.setSuggestedPrompts", **where, prompts=wrong
        )
        assert refused == "invalid_arguments"
    reaction: Json = {"channel": OPS, "timestamp": ts, "name": "eyes"}
    await client("reactions.add", **reaction)
    assert await client.refused("reactions.add", **reaction) == "already_reacted"
    await client("reactions.remove", **reaction)
    assert await client.refused("reactions.remove", **reaction) == "no_reaction"
    link = await client("chat.getPermalink", channel=OPS, message_ts=ts)
    assert link["permalink"].endswith(f"/archives/{OPS}/p{ts.replace('.', '')}")
    refused = await client.refused("chat.getPermalink", channel=OPS, message_ts="1.0")
    assert refused == "message_not_found"


async def test_a_method_that_is_not_there_is_unknown(client: Client) -> None:
    with pytest.raises(SlackApiError, match="unknown_method"):
        await client.raw("chat.whisper", channel=OPS)


async def test_a_home_is_published_to_somebody(slack: FakeSlack, client: Client) -> None:
    home: Json = {"type": "home", "blocks": []}
    assert await client.refused("views.publish", user_id="U0NO", view=home) == "user_not_found"
    refused = await client.refused("views.publish", user_id=ALICE, view=modal())
    assert refused == "invalid_arguments"
    await client("views.publish", user_id=ALICE, view=home)
    assert set(slack.work.homes) == {ALICE}


async def test_what_is_asked_wrongly_is_refused_by_name(slack: FakeSlack, client: Client) -> None:
    root = (await client("chat.postMessage", channel=OPS, text="x"))["ts"]
    reply = (await client("chat.postMessage", channel=OPS, text="x", thread_ts=root))["ts"]
    theirs = slack.work.add(OPS, {"user": ALICE, "text": "mine"})["ts"]
    slack.work.person("U0GONE", deleted=True)
    slack.work.channel("C0OTHER", joined=False)
    slack.work.channel("C0SECRET", joined=False, is_private=True)
    long = "x" * 12_001
    asked: list[tuple[str, Json, str]] = [
        ("chat.delete", {"channel": OPS, "ts": theirs}, "cant_delete_message"),
        ("chat.postMessage", {"channel": OPS, "text": "x", "thread_ts": reply}, "cannot_reply_to_message"),
        ("chat.postMessage", {"channel": OPS, "text": "x", "metadata": {"event_type": "x"}}, "invalid_metadata_format"),
        ("chat.postMessage", {"channel": OPS, "text": "x", "markdown_text": "x"}, "markdown_text_conflict"),
        ("chat.postMessage", {"channel": OPS, "markdown_text": long}, "msg_too_long"),
        ("chat.postMessage", {"text": "x"}, "invalid_arguments"),
        ("chat.appendStream", {"channel": OPS, "ts": root, "markdown_text": "x"}, "message_not_found"),
        ("conversations.open", {"users": "U0NOBODY"}, "user_not_found"),
        ("conversations.open", {"users": "U0GONE"}, "user_disabled"),
        ("conversations.info", {"channel": "C0SECRET"}, "channel_not_found"),
        ("conversations.history", {"channel": "C0OTHER"}, "not_in_channel"),
        ("conversations.history", {"channel": "C0SECRET"}, "channel_not_found"),
        ("bots.info", {"bot": "B0OTHER"}, "bot_not_found"),
        ("reactions.add", {"channel": OPS, "timestamp": "1.0", "name": "eyes"}, "message_not_found"),
    ]  # fmt: skip
    await client("chat.postMessage", channel=OPS, markdown_text=long[1:])
    for method, body, error in asked:
        with pytest.raises(SlackApiError) as raised:
            await client.raw(method, **body)
        assert answer_of(raised.value)["error"] == error, (method, body)


async def test_a_thread_goes_on_below_a_root_that_is_gone(slack: FakeSlack, client: Client) -> None:
    root = (await client("chat.postMessage", channel=OPS, text="root"))["ts"]
    await client("chat.postMessage", channel=OPS, text="one", thread_ts=root)
    await client("chat.delete", channel=OPS, ts=root)
    await client("chat.postMessage", channel=OPS, text="two", thread_ts=root)
    assert slack.thread(OPS, root) == ["one", "two"]


async def test_a_stream_takes_five_minutes_and_twelve_thousand_characters_at_once(
    slack: FakeSlack, client: Client
) -> None:
    slack.work.time.read = lambda: 1000.0
    root = (await client("chat.postMessage", channel=ALICE, text="root"))["ts"]
    dm = slack.work.dm(ALICE)
    ts = (await client("chat.startStream", channel=dm, thread_ts=root))["ts"]
    stream: Json = {"channel": dm, "ts": ts}
    slack.work.time.pass_by(300)
    await client("chat.appendStream", **stream, markdown_text="x" * 12_000)
    long = "x" * 12_001
    assert await client.refused("chat.appendStream", **stream, markdown_text=long) == "msg_too_long"


async def test_a_call_without_a_token_is_told_so(slack: FakeSlack) -> None:
    url = f"{slack.base_url}auth.test"
    async with aiohttp.ClientSession() as session, session.post(url) as got:
        assert (await got.json())["error"] == "not_authed"
