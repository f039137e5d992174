"""An answer that is still being written, in Slack through the real SDK: one message, which becomes the answer."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from adapters.platforms.waits import Waits
from core.deliveries import Drafted, Text
from core.errors import Refused, Unavailable
from core.events import Place
from tests.slack import OPS, Scene, asking, connected, slack_of_two
from tests.standins.slack import FakeSlack

KEY = "draft:t_1"
UNKNOWN = Drafted(key=KEY, message=None)
LONG = "\n\n".join(f"Paragraph {n}: " + "word " * 300 for n in range(10))
HOSTILE = (
    "<!channel> <@U0BOB> @here <!subteam^S1> [safe](http://evil.example/?q=1) ![x](https://evil.example/x)\n\n"
    "https://evil.example/?q=secret *bold*"
)


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


def read(scene: Scene, place: Place) -> list[str]:
    """Return what Sayso says in the thread."""
    return scene.slack.thread(OPS, str(place.thread))[1:]


async def test_a_draft_grows_in_one_message_that_says_that_it_is_unfinished(
    scene: Scene, place: Place
) -> None:
    chat = scene.platform.chat
    ts = await chat.draft(place, "It is", drafted=UNKNOWN)
    drafted = Drafted(key=KEY, message=ts)
    assert await chat.draft(place, "It is **over** there", drafted=drafted) == ts
    [text] = read(scene, place)
    assert "It is over there" in text
    assert "This is still being written." in text


async def test_the_answer_takes_its_place_and_the_rest_follows(scene: Scene, place: Place) -> None:
    chat = scene.platform.chat
    ts = await chat.draft(place, "Paragraph 0: word", drafted=UNKNOWN)
    drafted = Drafted(key=KEY, message=ts)
    ids = (await chat.post(place, Text(text=LONG), key="post:c:1", drafted=drafted)).split(",")
    assert ids[0] == ts
    assert len(ids) > 1
    found = read(scene, place)
    assert len(found) == len(ids)
    assert [f"Paragraph {n}:" in "\n".join(found) for n in range(10)] == [True] * 10
    assert "still being written" not in "\n".join(found)


async def test_a_note_takes_its_place(scene: Scene, place: Place) -> None:
    chat = scene.platform.chat
    ts = await chat.draft(place, "Let me", drafted=UNKNOWN)
    drafted = Drafted(key=KEY, message=ts)
    note = Text(text="Stopped.", is_note=True)
    assert await chat.post(place, note, key="post:c:1", drafted=drafted) == ts
    assert read(scene, place) == ["Stopped."]


@pytest.mark.parametrize("known", [True, False], ids=["known", "to be looked for"])
async def test_a_card_is_a_new_message_so_that_who_is_mentioned_is_told_and_the_draft_goes(
    scene: Scene, place: Place, *, known: bool
) -> None:
    chat = scene.platform.chat
    ts = await chat.draft(place, "Let me", drafted=UNKNOWN)
    drafted = Drafted(key=KEY, message=ts if known else None)
    posted = await chat.post(place, asking("Open."), key="post:c:1", drafted=drafted)
    assert posted != ts
    assert len(read(scene, place)) == 1
    assert (
        await chat.post(place, asking("Open."), key="post:c:1", again=True, drafted=drafted)
        == posted
    )


async def test_a_draft_that_somebody_removed_is_answered_below(scene: Scene, place: Place) -> None:
    chat = scene.platform.chat
    ts = await chat.draft(place, "It is", drafted=UNKNOWN)
    drafted = Drafted(key=KEY, message=ts)
    scene.slack.work.message(OPS, ts).gone = True
    assert await chat.draft(place, "It is over", drafted=drafted) == ts
    posted = await chat.post(place, Text(text="It is there."), key="post:c:1", drafted=drafted)
    assert posted != ts
    assert read(scene, place) == ["It is there."]


async def test_another_process_finds_a_draft_of_which_nobody_was_told(
    slack: FakeSlack, scene: Scene, place: Place
) -> None:
    slack.faults.loses_reply("chat.postMessage")
    with pytest.raises(Unavailable):
        await scene.platform.chat.draft(place, "It is", drafted=UNKNOWN)
    async with connected(slack) as other:
        ts = await other.platform.chat.draft(place, "Well", drafted=UNKNOWN, again=True)
    async with connected(slack) as third:
        posted = await third.platform.chat.post(
            place, Text(text="It is there."), key="post:c:1", drafted=UNKNOWN
        )
    assert posted == ts
    assert read(scene, place) == ["It is there."]


async def test_where_there_was_no_draft_after_all_it_is_posted(scene: Scene, place: Place) -> None:
    chat = scene.platform.chat
    await chat.draft(place, "It is", drafted=UNKNOWN, again=True)
    other = Drafted(key="draft:t_2", message=None)
    await chat.post(place, Text(text="There."), key="post:c:1", drafted=other)
    assert len(read(scene, place)) == 2


async def test_an_answer_whose_reply_is_lost_is_there_once(
    slack: FakeSlack, scene: Scene, place: Place
) -> None:
    ts = await scene.platform.chat.draft(place, "It is", drafted=UNKNOWN)
    drafted = Drafted(key=KEY, message=ts)
    slack.faults.loses_reply("chat.update")
    with pytest.raises(Unavailable):
        await scene.platform.chat.post(place, Text(text=LONG), key="post:c:1", drafted=drafted)
    async with connected(slack) as other:
        ids = await other.platform.chat.post(
            place, Text(text=LONG), key="post:c:1", again=True, drafted=drafted
        )
    assert ids.split(",")[0] == ts
    assert len(read(scene, place)) == len(ids.split(","))
    assert len(slack.calls("chat.update")) == 1


async def test_p16_told_to_slow_down_for_a_while_the_end_takes_its_place_then(
    slack: FakeSlack, scene: Scene, place: Place
) -> None:
    now = [0.0]
    chat = scene.platform.chat
    chat.waits = Waits(now=lambda: now[0])
    ts = await chat.draft(place, "It is", drafted=UNKNOWN)
    drafted = Drafted(key=KEY, message=ts)
    slack.faults.rate_limited("chat.update", after=5)
    with pytest.raises(Unavailable):
        await chat.draft(place, "It is over", drafted=drafted)
    with pytest.raises(Unavailable) as told:
        await chat.post(place, Text(text="It is there."), key="post:c:1", drafted=drafted)
    assert told.value.after is not None
    now[0] += 5.1
    assert await chat.post(place, Text(text="It is there."), key="post:c:1", drafted=drafted) == ts
    assert read(scene, place) == ["It is there."]


async def test_p16_told_to_slow_down_for_long_the_end_is_posted_at_once_and_the_draft_goes(
    slack: FakeSlack, scene: Scene, place: Place
) -> None:
    chat = scene.platform.chat
    ts = await chat.draft(place, "It is", drafted=UNKNOWN)
    drafted = Drafted(key=KEY, message=ts)
    slack.faults.says("chat.update", "ratelimited")
    slack.faults.rate_limited("chat.delete", after=30)
    with pytest.raises(Unavailable):
        await chat.post(place, Text(text="It is there."), key="post:c:1", drafted=drafted)
    async with connected(slack) as other:
        posted = await other.platform.chat.post(
            place, Text(text="It is there."), key="post:c:1", again=True, drafted=drafted
        )
    assert posted != ts
    assert read(scene, place) == ["It is there."]


async def test_a_channel_that_takes_no_edits_refuses_it(
    slack: FakeSlack, scene: Scene, place: Place
) -> None:
    ts = await scene.platform.chat.draft(place, "It is", drafted=UNKNOWN)
    slack.faults.says("chat.update", "is_archived")
    with pytest.raises(Refused):
        await scene.platform.chat.draft(place, "It", drafted=Drafted(key=KEY, message=ts))


async def test_a_draft_for_another_workspace_is_not_shown_in_this_one(
    slack: FakeSlack, scene: Scene, place: Place
) -> None:
    with pytest.raises(Unavailable):
        await scene.platform.chat.draft(
            replace(place, workspace="T0OTHER"), "It is", drafted=UNKNOWN
        )
    assert slack.calls("chat.postMessage") == []


async def test_p18_p48_nothing_in_a_draft_mentions_links_or_fetches(
    slack: FakeSlack, scene: Scene, place: Place
) -> None:
    chat = scene.platform.chat
    ts = await chat.draft(place, HOSTILE, drafted=UNKNOWN)
    await chat.draft(place, f"{HOSTILE} more", drafted=Drafted(key=KEY, message=ts))
    for call in (slack.calls("chat.postMessage")[-1], slack.calls("chat.update")[-1]):
        assert (call.body["unfurl_links"], call.body["unfurl_media"]) == (False, False)
        assert call.body["parse"] == "none"
        assert "<!" not in call.body["text"]
        assert "<@" not in call.body["text"]
        blocks = str(call.body["blocks"])
        assert "'broadcast'" not in blocks
        assert "'user'" not in blocks
        assert "mrkdwn" not in blocks
        assert "markdown" not in blocks


async def test_a_very_long_draft_is_one_message(scene: Scene, place: Place) -> None:
    await scene.platform.chat.draft(place, "word " * 2400, drafted=UNKNOWN)
    await scene.platform.chat.draft(place, "```\n" + "é<&> " * 2400, drafted=UNKNOWN)
    assert len(read(scene, place)) == 2


@pytest.mark.parametrize("text", [" ", "\n", "---", "[", "```", "> ", "- ", "|a|\n|-|"])
async def test_whatever_there_is_of_a_draft_can_be_shown(
    scene: Scene, place: Place, text: str
) -> None:
    assert await scene.platform.chat.draft(place, text, drafted=UNKNOWN)
