"""An answer that is still being written, on Discord through the real client: one message, which becomes the answer."""

from collections.abc import AsyncIterator

import pytest
from discord.http import Route

from adapters.platforms.waits import Waits
from core.deliveries import Drafted, Message, Text
from core.errors import Refused, Unavailable
from core.events import Place
from tests.discord_outgoing import unsafe
from tests.discord_posts import DELETE, EDIT, POST, Posting, asking, posting, thread_in, who
from tests.standins.discord import ALICE, BOB, FakeDiscord

KEY = "draft:t_1"
UNKNOWN = Drafted(key=KEY, message=None)
LONG = "\n\n".join(f"Paragraph {n}: " + "word " * 100 for n in range(8))


@pytest.fixture
async def discord(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[FakeDiscord]:
    monkeypatch.setattr(Route, "BASE", Route.BASE)
    async with FakeDiscord() as discord:
        yield discord
        assert unsafe(discord) == []


@pytest.fixture
async def scene(discord: FakeDiscord) -> AsyncIterator[Posting]:
    async with posting(discord) as scene:
        yield scene


@pytest.fixture
async def place(discord: FakeDiscord) -> Place:
    return await thread_in(discord)


def read(scene: Posting, place: Place) -> list[str]:
    """Return what Sayso says in the thread."""
    return scene.discord.seen_in(str(place.thread))


async def test_a_draft_grows_in_one_message_that_says_that_it_is_unfinished(
    scene: Posting, place: Place
) -> None:
    chat = scene.chat
    message = await chat.draft(place, "It is", drafted=UNKNOWN)
    drafted = Drafted(key=KEY, message=message)
    assert await chat.draft(place, "It is **over** there", drafted=drafted) == message
    [text] = read(scene, place)
    assert "It is **over** there" in text
    assert "This is still being written." in text


async def test_the_answer_takes_its_place_and_the_rest_follows(
    scene: Posting, place: Place
) -> None:
    chat = scene.chat
    message = await chat.draft(place, "Paragraph 0: word", drafted=UNKNOWN)
    drafted = Drafted(key=KEY, message=message)
    ids = (await chat.post(place, Text(text=LONG), key="post:c:1", drafted=drafted)).split(",")
    assert ids[0] == message
    assert len(ids) > 1
    found = read(scene, place)
    assert len(found) == len(ids)
    assert [f"Paragraph {n}:" in "\n".join(found) for n in range(8)] == [True] * 8
    assert "still being written" not in "\n".join(found)


@pytest.mark.parametrize("kind", ["note", "report", "suggestions"])
async def test_what_is_no_card_takes_its_place(scene: Posting, place: Place, kind: str) -> None:
    chat = scene.chat
    message = await chat.draft(place, "Let me", drafted=UNKNOWN)
    drafted = Drafted(key=KEY, message=message)
    text = {
        "note": Text(text="Stopped.", is_note=True),
        "report": Text(text="Stopped.", is_report=True),
        "suggestions": Text(text="Stopped.", suggestions=("Again",), turn="t_" + "a" * 32),
    }[kind]
    assert await chat.post(place, text, key="post:c:1", drafted=drafted) == message
    assert await chat.post(place, text, key="post:c:1", again=True, drafted=drafted) == message
    [said] = read(scene, place)
    assert "Stopped." in said
    assert "Let me" not in said


@pytest.mark.parametrize(
    "said",
    [asking("Open.", BOB), Text(text="It waits.", is_note=True, wanted=(who(BOB),))],
    ids=["a card", "a reminder"],
)
@pytest.mark.parametrize("known", [True, False], ids=["known", "to be looked for"])
async def test_what_mentions_somebody_is_a_new_message_so_that_they_are_told_and_the_draft_goes(
    scene: Posting, place: Place, *, known: bool, said: Message
) -> None:
    chat = scene.chat
    message = await chat.draft(place, "Let me", drafted=UNKNOWN)
    drafted = Drafted(key=KEY, message=message if known else None)
    posted = await chat.post(place, said, key="post:c:1", drafted=drafted)
    assert posted != message
    assert scene.ours(str(place.thread)) == [posted]
    assert [pings.users for pings in scene.discord.pinged] == [{BOB}]
    again = await chat.post(place, said, key="post:c:1", again=True, drafted=drafted)
    assert again == posted


async def test_a_draft_that_somebody_removed_is_answered_below(
    scene: Posting, place: Place
) -> None:
    chat = scene.chat
    message = await chat.draft(place, "It is", drafted=UNKNOWN)
    drafted = Drafted(key=KEY, message=message)
    await scene.discord.people.deletes(scene.discord.message(message))
    assert await chat.draft(place, "It is over", drafted=drafted) == message
    posted = await chat.post(place, Text(text="It is there."), key="post:c:1", drafted=drafted)
    assert posted != message
    assert read(scene, place) == ["It is there."]


async def test_another_process_finds_a_draft_of_which_nobody_was_told(
    discord: FakeDiscord, scene: Posting, place: Place
) -> None:
    discord.faults.loses_reply(POST)
    with pytest.raises(Unavailable):
        await scene.chat.draft(place, "It is", drafted=UNKNOWN)
    discord.passes(600)
    await discord.people.writes(ALICE, str(place.thread), "Well?")
    async with posting(discord) as other:
        message = await other.chat.draft(place, "Well", drafted=UNKNOWN, again=True)
    async with posting(discord) as third:
        posted = await third.chat.post(
            place, Text(text="It is there."), key="post:c:1", drafted=UNKNOWN
        )
    assert posted == message
    assert read(scene, place) == ["It is there.", "Well?"]


async def test_where_there_was_no_draft_after_all_it_is_posted(
    scene: Posting, place: Place
) -> None:
    await scene.chat.draft(place, "It is", drafted=UNKNOWN, again=True)
    other = Drafted(key="draft:t_2", message=None)
    await scene.chat.post(place, Text(text="There."), key="post:c:1", drafted=other)
    assert len(read(scene, place)) == 2


async def test_an_answer_whose_reply_is_lost_is_there_once(
    discord: FakeDiscord, scene: Posting, place: Place
) -> None:
    message = await scene.chat.draft(place, "It is", drafted=UNKNOWN)
    drafted = Drafted(key=KEY, message=message)
    discord.faults.loses_reply(EDIT)
    with pytest.raises(Unavailable):
        await scene.chat.post(place, Text(text=LONG), key="post:c:1", drafted=drafted)
    discord.passes(600)
    async with posting(discord) as other:
        ids = await other.chat.post(
            place, Text(text=LONG), key="post:c:1", again=True, drafted=drafted
        )
    assert ids.split(",")[0] == message
    assert len(read(scene, place)) == len(ids.split(","))
    assert len(discord.calls(EDIT)) == 1


async def test_p16_told_to_slow_down_for_a_while_the_end_takes_its_place_then(
    discord: FakeDiscord, scene: Posting, place: Place
) -> None:
    now = [0.0]
    scene.rest.waits = Waits(now=lambda: now[0])
    message = await scene.chat.draft(place, "It is", drafted=UNKNOWN)
    drafted = Drafted(key=KEY, message=message)
    discord.faults.rate_limited(EDIT, after=10)
    with pytest.raises(Unavailable):
        await scene.chat.draft(place, "It is over", drafted=drafted)
    now[0] += 6
    with pytest.raises(Unavailable) as told:
        await scene.chat.post(place, Text(text="There."), key="post:c:1", drafted=drafted)
    assert told.value.after is not None
    now[0] += 4.1
    posted = await scene.chat.post(place, Text(text="There."), key="post:c:1", drafted=drafted)
    assert posted == message
    assert read(scene, place) == ["There."]


async def test_p16_told_to_slow_down_for_long_the_end_is_posted_at_once_and_the_draft_goes(
    discord: FakeDiscord, scene: Posting, place: Place
) -> None:
    message = await scene.chat.draft(place, "It is", drafted=UNKNOWN)
    drafted = Drafted(key=KEY, message=message)
    discord.faults.rate_limited(EDIT, after=60)
    discord.faults.rate_limited(DELETE, after=60)
    with pytest.raises(Unavailable):
        await scene.chat.post(place, Text(text="There."), key="post:c:1", drafted=drafted)
    async with posting(discord) as other:
        posted = await other.chat.post(
            place, Text(text="There."), key="post:c:1", again=True, drafted=drafted
        )
    assert posted != message
    assert read(scene, place) == ["There."]


async def test_a_thread_that_takes_no_edits_refuses_it(
    discord: FakeDiscord, scene: Posting, place: Place
) -> None:
    message = await scene.chat.draft(place, "It is", drafted=UNKNOWN)
    await discord.people.locks(str(place.thread))
    with pytest.raises(Refused, match="locked"):
        await scene.chat.draft(place, "It", drafted=Drafted(key=KEY, message=message))


async def test_a_very_long_draft_is_one_message(scene: Posting, place: Place) -> None:
    await scene.chat.draft(place, "word " * 2400, drafted=UNKNOWN)
    await scene.chat.draft(
        place, "```\n" + "é<&> " * 2400, drafted=Drafted(key="draft:t_2", message=None)
    )
    assert len(read(scene, place)) == 2


@pytest.mark.parametrize("text", [" ", "\n", "---", "[", "```", "> ", "- ", "|a|\n|-|"])
async def test_whatever_there_is_of_a_draft_can_be_shown(
    scene: Posting, place: Place, text: str
) -> None:
    assert await scene.chat.draft(place, text, drafted=UNKNOWN)
