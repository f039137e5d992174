"""What Sayso posts in Slack, through the real SDK: once, in order, within what Slack takes."""

import asyncio
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest

from adapters.platforms.waits import Waits
from adapters.slack import chat
from adapters.slack.messages import Drawn, draw
from core.deliveries import Message, Opening, Progress, Text
from core.errors import Invalid, Refused, Unavailable
from core.events import OPENS, Place
from tests.fakes.clock import START
from tests.slack import ALICE, OPS, PLACE, Scene, asking, card, connected, slack_of_two
from tests.standins.slack import FakeSlack
from tests.standins.slack.faults import Fault

LONG = "\n\n".join(f"Paragraph {n}: " + "word " * 300 for n in range(14))
HUGE = "\n\n".join(f"Paragraph {n}: " + "word " * 300 for n in range(80))


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with slack_of_two() as slack:
        yield slack


@pytest.fixture
async def scene(slack: FakeSlack) -> AsyncIterator[Scene]:
    async with connected(slack) as scene:
        yield scene


@pytest.fixture
async def place(scene: Scene) -> Place:
    return await scene.root()


def ours(scene: Scene) -> list[str]:
    """Return the ids of everything that Sayso has posted and that is still there."""
    return [m["ts"] for m in scene.slack.messages(OPS) if m["user"] == scene.slack.work.bot]


async def test_a_text_is_posted_into_its_thread_with_nothing_fetched(
    scene: Scene, place: Place
) -> None:
    ts = await scene.platform.chat.post(place, Text(text="Done: http://a.b"), key="post:c:1")

    [call] = scene.slack.calls("chat.postMessage")
    assert call.body["thread_ts"] == place.thread
    assert (call.body["unfurl_links"], call.body["unfurl_media"]) == (False, False)
    assert call.body["parse"] == "none"
    assert ours(scene) == [ts]


async def test_an_opening_is_the_thread(scene: Scene) -> None:
    place = replace(PLACE, thread=f"{OPENS}123.trigger")

    thread = await scene.platform.chat.post(
        place, Opening(author="Alice", text="restart web"), key="post:c:0"
    )

    await scene.slack.until(lambda: scene.slack.work.sessions)
    assert scene.slack.work.sessions[OPS, thread][0]["status"] == "processing"
    await scene.platform.chat.post(replace(place, thread=thread), Text(text="Yes."), key="post:c:1")
    assert len(scene.slack.thread(OPS, thread)) == 2
    assert "thread_ts" not in scene.slack.calls("chat.postMessage")[0].body


async def test_a_long_answer_comes_in_pieces_in_order(scene: Scene, place: Place) -> None:
    ids = await scene.platform.chat.post(place, Text(text=LONG), key="post:c:1")

    assert ids.count(",") >= 1
    assert ids.split(",") == ours(scene)
    read = "\n".join(scene.slack.thread(OPS, str(place.thread)))
    assert [f"Paragraph {n}:" in read for n in range(14)] == [True] * 14
    assert read.index("Paragraph 0:") < read.index("Paragraph 13:")


async def test_a_lost_reply_does_not_post_twice(scene: Scene, place: Place) -> None:
    scene.slack.faults.loses_reply("chat.postMessage")

    with pytest.raises(Unavailable):
        await scene.platform.chat.post(place, Text(text="Done."), key="post:c:1")
    ts = await scene.platform.chat.post(place, Text(text="Done."), key="post:c:1")

    assert ours(scene) == [ts]


async def test_another_process_finds_what_one_before_it_posted(
    slack: FakeSlack, scene: Scene, place: Place
) -> None:
    ids = await scene.platform.chat.post(place, Text(text=LONG), key="post:c:1")
    slack.work.message(OPS, ids.split(",")[1]).gone = True
    async with connected(slack) as other:
        again = await other.platform.chat.post(place, Text(text=LONG), key="post:c:1", again=True)

    assert again.split(",")[0] == ids.split(",")[0]
    assert again.split(",")[1] != ids.split(",")[1]
    assert sorted(again.split(",")) == ours(scene)


async def test_an_opening_is_found_in_its_channel(scene: Scene) -> None:
    opening = Opening(author="Alice", text="restart web")
    scene.slack.faults.loses_reply("chat.postMessage")
    with pytest.raises(Unavailable):
        await scene.platform.chat.post(PLACE, opening, key="post:c:0")

    ts = await scene.platform.chat.post(PLACE, opening, key="post:c:0", again=True)

    assert ours(scene) == [ts]


async def test_a_text_of_somebody_else_does_not_pass_for_what_was_posted(
    scene: Scene, place: Place
) -> None:
    marks = {"event_type": "sayso", "event_payload": {"key": "post:c:1", "n": 0}}
    scene.slack.work.add(
        OPS,
        {"user": "U0EVIL", "bot_id": "B0EVIL", "thread_ts": place.thread, "metadata": marks},
    )

    ts = await scene.platform.chat.post(place, Text(text="Done."), key="post:c:1", again=True)

    assert ours(scene) == [ts]


async def test_pieces_that_are_missing_are_posted_and_no_others(scene: Scene, place: Place) -> None:
    scene.slack.faults.add("chat.postMessage", Fault(cuts=True, does=True))
    with pytest.raises(Unavailable):
        await scene.platform.chat.post(place, Text(text=LONG), key="post:c:1")
    assert len(ours(scene)) == 1

    ids = await scene.platform.chat.post(place, Text(text=LONG), key="post:c:1")

    assert ids.split(",") == ours(scene)


@pytest.mark.parametrize("seconds", [1, 30, 600])
async def test_told_to_wait_it_waits_as_long_and_asks_slack_nothing_meanwhile(
    scene: Scene, place: Place, seconds: int
) -> None:
    now = 0.0
    scene.platform.chat.waits = Waits(now=lambda: now)
    scene.slack.faults.rate_limited("chat.postMessage", after=seconds)
    with pytest.raises(Unavailable) as first:
        await scene.platform.chat.post(place, Text(text="Done."), key="post:c:1")
    now = seconds - 0.5
    with pytest.raises(Unavailable) as second:
        await scene.platform.chat.post(place, Text(text="Done."), key="post:c:1")
    now = float(seconds)
    await scene.platform.chat.post(place, Text(text="Done."), key="post:c:1")

    assert first.value.after == timedelta(seconds=seconds)
    assert second.value.after == timedelta(seconds=0.5)
    assert len(scene.slack.calls("chat.postMessage")) == 2
    assert len(ours(scene)) == 1
    assert scene.slack.calls("conversations.replies") == []  # Slack had said that nothing was done


async def test_one_channel_that_waits_holds_up_no_other(scene: Scene, place: Place) -> None:
    scene.slack.work.channel("C0ELSE", "U0ALICE")
    scene.slack.faults.rate_limited("chat.postMessage", after=600)
    with pytest.raises(Unavailable):
        await scene.platform.chat.post(place, Text(text="Done."), key="post:c:1")

    await scene.platform.chat.post(
        replace(PLACE, channel="C0ELSE"), Text(text="Done."), key="post:d:1"
    )


@pytest.mark.parametrize("status", [500, 503])
async def test_an_outage_is_unavailable(scene: Scene, place: Place, status: int) -> None:
    scene.slack.faults.fails("chat.postMessage", status)

    with pytest.raises(Unavailable) as caught:
        await scene.platform.chat.post(place, Text(text="Done."), key="post:c:1")

    assert caught.value.after is None


async def test_a_call_that_hangs_ends_by_itself(scene: Scene, place: Place) -> None:
    scene.platform.web.deadline = 0.1
    gate = scene.slack.faults.holds("chat.postMessage")

    with pytest.raises(Unavailable):
        await scene.platform.chat.post(place, Text(text="Done."), key="post:c:1")
    gate.set()


async def test_where_it_cannot_be_posted_the_reason_is_a_sentence(scene: Scene) -> None:
    scene.slack.work.channel("C0OLD", is_archived=True)
    scene.slack.work.channel("C0OUT", joined=False)

    for channel, word in (("C0OLD", "archived"), ("C0OUT", "/invite"), ("C0NONE", "no such")):
        with pytest.raises(Refused) as caught:
            await scene.platform.chat.post(
                replace(PLACE, channel=channel), Text(text="Done."), key=f"post:{channel}:1"
            )
        assert word in caught.value.shown


async def test_a_revoked_token_is_named(scene: Scene, place: Place) -> None:
    scene.slack.faults.token = "token_revoked"

    with pytest.raises(Invalid) as caught:
        await scene.platform.chat.post(place, Text(text="Done."), key="post:c:1")

    assert "slack.bot_token" in caught.value.shown
    assert scene.slack.bot_token not in str(caught.value.__dict__)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


async def test_what_is_too_long_for_messages_comes_as_a_file_once(
    scene: Scene, place: Place
) -> None:
    scene.slack.faults.loses_reply("files.completeUploadExternal")
    with pytest.raises(Unavailable):
        await scene.platform.chat.post(place, Text(text=HUGE), key="post:c:1")
    await scene.platform.chat.post(place, Text(text=HUGE), key="post:c:1")

    shared = [m for m in scene.slack.messages(OPS, place.thread) if m.get("files")]
    assert len(shared) == 1
    [kept] = [f for f in scene.slack.work.files.values() if f["content"]]
    assert kept["content"].decode() == HUGE


async def test_without_the_right_to_upload_it_says_that_the_rest_is_cut(
    scene: Scene, place: Place
) -> None:
    scene.slack.work.scopes.discard("files:write")

    for number in range(2):
        await scene.platform.chat.post(place, Text(text=HUGE), key=f"post:c:{number}")

    said = [text for text in scene.slack.thread(OPS, str(place.thread)) if "files:write" in text]
    assert len(said) == 2
    assert len(scene.slack.calls("files.getUploadURLExternal")) == 1


async def test_without_the_right_to_read_it_is_posted_all_the_same(
    scene: Scene, place: Place
) -> None:
    scene.slack.work.scopes.discard("channels:history")

    await scene.platform.chat.post(place, Text(text="Done."), key="post:c:1", again=True)

    assert len(ours(scene)) == 1


async def test_a_card_is_edited_where_it_stands_and_not_for_nothing(
    scene: Scene, place: Place
) -> None:
    ts = await scene.platform.chat.post(place, asking(), key="post:c:1")

    await scene.platform.chat.edit(place, ts, asking())
    assert scene.slack.calls("chat.update") == []
    for _ in range(2):
        await scene.platform.chat.edit(place, ts, asking("Approved by Bob."))

    [call] = scene.slack.calls("chat.update")
    assert (call.body["unfurl_links"], call.body["parse"]) == (False, "none")
    assert "Approved by Bob." in scene.slack.edits(OPS, ts)[-1]


async def test_an_edit_that_failed_is_not_taken_for_done(scene: Scene, place: Place) -> None:
    ts = await scene.platform.chat.post(place, asking(), key="post:c:1")
    scene.slack.faults.fails("chat.update")
    with pytest.raises(Unavailable):
        await scene.platform.chat.edit(place, ts, asking("Approved by Bob."))

    await scene.platform.chat.edit(place, ts, asking("Approved by Bob."))

    assert "Approved by Bob." in scene.slack.edits(OPS, ts)[-1]


async def test_back_to_what_it_was_is_an_edit_where_nobody_knows_what_it_is(
    scene: Scene, place: Place
) -> None:
    ts = await scene.platform.chat.post(place, asking(), key="post:c:1")
    scene.slack.faults.loses_reply("chat.update")
    with pytest.raises(Unavailable):
        await scene.platform.chat.edit(place, ts, asking("Approved by Bob."))

    await scene.platform.chat.edit(place, ts, asking())

    assert "Approved by Bob." not in scene.slack.edits(OPS, ts)[-1]


async def test_a_message_that_is_gone_needs_no_edit(scene: Scene, place: Place) -> None:
    ts = await scene.platform.chat.post(place, asking(), key="post:c:1")
    scene.slack.work.message(OPS, ts).gone = True

    await scene.platform.chat.edit(place, ts, asking("Approved by Bob."))

    assert len(scene.slack.calls("chat.update")) == 1


async def test_edits_wait_as_long_as_they_are_told(scene: Scene, place: Place) -> None:
    ts = await scene.platform.chat.post(place, asking(), key="post:c:1")
    scene.slack.faults.rate_limited("chat.update", after=30)

    for status in ("Approved by Bob.", "Runs."):
        with pytest.raises(Unavailable) as caught:
            await scene.platform.chat.edit(place, ts, asking(status))
        assert caught.value.after is not None

    assert len(scene.slack.calls("chat.update")) == 1


async def test_an_edit_may_be_longer_and_shorter_than_before(scene: Scene, place: Place) -> None:
    ids = await scene.platform.chat.post(place, Text(text="Short."), key="post:c:1")

    await scene.platform.chat.edit(place, ids, Text(text=LONG))
    longer = ours(scene)
    assert len(longer) > 1
    await scene.platform.chat.edit(place, ids, Text(text=LONG + "\n\nAnd more."))
    assert ours(scene) == longer
    await scene.platform.chat.edit(place, ids, Text(text="Short again."))

    assert ours(scene) == [ids]
    assert scene.slack.thread(OPS, str(place.thread))[1:] == ["Short again."]


async def test_pieces_that_an_edit_does_not_need_are_taken_back(scene: Scene, place: Place) -> None:
    ids = await scene.platform.chat.post(place, Text(text=LONG), key="post:c:1")

    await scene.platform.chat.edit(place, ids, Text(text="Short."))

    assert ours(scene) == [ids.split(",")[0]]


async def test_the_thread_shows_what_sayso_is_at(scene: Scene, place: Place) -> None:
    running = Progress(run="r-1", title="Restart web", status="Step 1 of 2", began_at=START)
    at = (OPS, str(place.thread))

    messages: tuple[Message, ...] = (asking(), running, Text(text="Done."))
    for number, message in enumerate(messages):
        await scene.platform.chat.post(place, message, key=f"post:c:{number}")
        shown = number + 1
        await scene.slack.until(lambda: len(scene.slack.work.sessions.get(at, ())) == shown)  # noqa: B023

    statuses = [each["status"] for each in scene.slack.work.sessions[at]]
    assert statuses == ["suspended", "processing", "active"]


async def test_of_statuses_that_come_at_once_the_last_is_shown(scene: Scene, place: Place) -> None:
    gate = scene.slack.faults.holds("agents.sessions.setStatus")
    for number in range(3):
        await scene.platform.chat.post(place, asking(), key=f"post:c:{number}")
    await scene.platform.chat.post(place, Text(text="Done."), key="post:c:9")
    gate.set()
    await scene.platform.tasks.drain(5)

    shown = [each["status"] for each in scene.slack.work.sessions[OPS, str(place.thread)]]
    assert shown[-1] == "active"
    assert len(shown) <= 2


async def test_an_app_that_is_no_agent_is_told_so_once(scene: Scene, place: Place) -> None:
    scene.slack.faults.says("agents.sessions.setStatus", "unknown_method")

    for number in range(3):
        await scene.platform.chat.post(place, Text(text="Done."), key=f"post:c:{number}")
        await scene.platform.tasks.drain(1.0)

    assert len(scene.slack.calls("agents.sessions.setStatus")) == 1


async def test_a_status_that_hangs_holds_up_nothing(scene: Scene, place: Place) -> None:
    gate = scene.slack.faults.holds("agents.sessions.setStatus")

    async with asyncio.timeout(2):
        await scene.platform.chat.post(place, Text(text="Done."), key="post:c:1")
    gate.set()


async def test_a_card_too_long_for_a_window_has_all_of_it_in_a_file(
    scene: Scene, place: Place
) -> None:
    plan = tuple(f"restart web-{n} " + "x" * 200 for n in range(2000))

    await scene.platform.chat.post(place, replace(asking(), card=card(plan=plan)), key="post:c:1")

    [kept] = [f for f in scene.slack.work.files.values() if f["content"]]
    assert "restart web-1999" in kept["content"].decode()


async def test_other_people_are_answered_while_a_message_is_drawn(
    scene: Scene, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, answered = threading.Event(), threading.Event()

    def slow(message: Message, *, team: str) -> tuple[Drawn, ...]:
        began.set()
        assert answered.wait(5)
        return draw(message, team=team)

    monkeypatch.setattr(chat, "draw", slow)
    posting = asyncio.create_task(
        scene.platform.chat.post(place, Text(text="Done."), key="post:c:1")
    )
    assert await asyncio.to_thread(began.wait, 5)

    assert (await scene.slack.people.say(ALICE, ALICE, "restart web")).acked
    answered.set()

    ts = await posting
    assert ours(scene) == [ts]


async def test_i14_nothing_is_posted_for_a_workspace_whose_token_this_is_not(
    scene: Scene, place: Place
) -> None:
    ts = await scene.platform.chat.post(place, Text(text="Done."), key="post:c:1")
    foreign = replace(place, workspace="T0OTHER")

    with pytest.raises(Unavailable, match="no token here"):
        await scene.platform.chat.post(foreign, Text(text="Theirs."), key="post:c:2")
    with pytest.raises(Unavailable, match="no token here"):
        await scene.platform.chat.edit(foreign, ts, Text(text="Theirs."))

    assert "Theirs." not in str(scene.slack.messages(OPS))


@pytest.mark.parametrize("odd", ["", "x", 7, None])
async def test_a_message_whose_id_slack_does_not_say_is_looked_for(
    scene: Scene, place: Place, odd: object
) -> None:
    answer = Fault(body={"ok": True, "ts": odd}, does=True)
    scene.slack.faults.add("chat.postMessage", answer)
    with pytest.raises(Unavailable):
        await scene.platform.chat.post(place, Text(text="Done."), key="post:c:1")

    ts = await scene.platform.chat.post(place, Text(text="Done."), key="post:c:1", again=True)

    assert ours(scene) == [ts]


async def test_a_thread_that_slack_answers_in_an_odd_shape_is_read_as_far_as_it_goes(
    scene: Scene, place: Place
) -> None:
    for odd in ({"messages": "x", "response_metadata": "y"}, {"messages": [7, {"files": [7]}]}):
        scene.slack.faults.add("conversations.replies", Fault(body={"ok": True, **odd}))
        await scene.platform.chat.post(place, Text(text="Done."), key=f"{odd}", again=True)

    assert len(ours(scene)) == 2
