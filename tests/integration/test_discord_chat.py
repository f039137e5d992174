"""What Sayso posts on Discord, through the real client: once, in order, within what Discord takes."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from discord import Client
from discord.http import Route

from adapters.discord import chat
from adapters.discord.buttons import Button as OurButton
from adapters.discord.drawn import Drawn
from adapters.discord.messages import draw
from adapters.platforms.waits import Waits
from core.deliveries import Drafted, Message, Opening, Progress, Text
from core.errors import Refused, Unavailable
from core.events import OPENS, Place
from tests.discord_outgoing import unsafe
from tests.discord_posts import (
    DELETE,
    EDIT,
    OPEN,
    PLACE,
    POST,
    READ,
    Posting,
    asking,
    card,
    posting,
    thread_in,
    who,
)
from tests.fakes.clock import START
from tests.standins.discord import ALICE, BOB, BOT, OPS, FakeDiscord

LONG = "\n\n".join(f"Paragraph {n}: " + "word " * 100 for n in range(8))
HUGE = "\n\n".join(f"Paragraph {n}: " + "word " * 300 for n in range(80))
HOSTILE = (
    "@everyone @here <@500000000000000002> <@&700000000000000001> <#600000000000000001>\n"
    "https://evil.example/?q=1 [safe](https://evil.example/) ![x](https://evil.example/x.png)"
)


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


def thread(place: Place) -> str:
    return str(place.thread)


async def test_a_text_is_posted_into_its_thread(scene: Posting, place: Place) -> None:
    posted = await scene.chat.post(place, Text(text="Done."), key="post:c:1")

    assert scene.ours(thread(place)) == [posted]
    [call] = scene.discord.calls(POST)
    assert call.body["enforce_nonce"] is True
    assert len(call.body["nonce"]) <= 25


async def test_p18_p48_nobody_is_told_and_nothing_is_fetched_whatever_a_text_says(
    scene: Posting, place: Place
) -> None:
    chat = scene.chat
    posted = await chat.post(place, Text(text=HOSTILE), key="post:c:1")
    await chat.edit(place, posted, Text(text=f"{HOSTILE} more"))
    draft = await chat.draft(place, HOSTILE, drafted=Drafted(key="draft:t", message=None))
    drafted = Drafted(key="draft:t", message=draft)
    await chat.draft(place, f"{HOSTILE} more", drafted=drafted)
    await chat.post(place, Text(text=f"{HOSTILE}\n\n{HUGE}"), key="post:c:2", drafted=drafted)
    note = await chat.post(place, Text(text=HOSTILE, is_note=True), key="post:c:3")
    await chat.edit(place, note, Text(text=f"{HOSTILE} more", is_note=True))
    await chat.post(
        replace(place, thread=f"{OPENS}i1"), Opening(author=HOSTILE, text=HOSTILE), key="open:c:0"
    )
    await chat.post(replace(PLACE, channel=BOB), Text(text=HOSTILE), key="post:c:4")

    assert scene.discord.pinged == []
    assert scene.discord.previews == []
    sent = [*scene.discord.calls(POST), *scene.discord.calls(EDIT)]
    assert {str(call.body["allowed_mentions"].get("parse")) for call in sent} == {"[]"}
    assert all(call.body["flags"] & 4 for call in sent if call.body.get("content"))


async def test_whoever_sayso_itself_means_is_told_and_by_no_edit(
    scene: Posting, place: Place
) -> None:
    posted = await scene.chat.post(place, asking("Waits.", BOB), key="post:c:1")
    await scene.chat.edit(place, posted, asking("Still waits.", BOB))

    [pings] = scene.discord.pinged
    assert pings.users == {BOB}
    assert not pings.everyone
    assert not pings.roles


async def test_a_question_in_a_channel_is_answered_in_a_thread_of_its_own(scene: Posting) -> None:
    asked = await scene.discord.people.mentions(ALICE, OPS, "restart\nweb, please")
    place = replace(PLACE, thread=f"{OPENS}{asked['id']}")

    opened = await scene.chat.post(
        place,
        Opening(author="Alice", text="restart\nweb, please", asker=who(ALICE)),
        key="open:c:0",
    )

    assert opened == asked["id"]
    assert scene.discord.threads(OPS) == [opened]
    assert scene.discord.world.channels[opened]["name"] == "restart web, please"
    await scene.discord.until(lambda: ALICE in scene.discord.world.thread_members[opened])
    assert scene.ours(OPS) == []


async def test_a_thread_that_there_is_already_is_the_thread(scene: Posting) -> None:
    asked = await scene.discord.people.mentions(ALICE, OPS, "restart web")
    place = replace(PLACE, thread=f"{OPENS}{asked['id']}")
    opening = Opening(author="Alice", text="restart web")

    first = await scene.chat.post(place, opening, key="open:c:0")
    again = await scene.chat.post(place, opening, key="open:c:0", again=True)

    assert (first, again) == (asked["id"], asked["id"])
    assert scene.discord.threads(OPS) == [first]


async def test_where_the_question_is_gone_it_is_asked_anew_by_sayso(scene: Posting) -> None:
    asked = await scene.discord.people.mentions(ALICE, OPS, "restart web")
    await scene.discord.people.deletes(asked)

    opened = await scene.chat.post(
        replace(PLACE, thread=f"{OPENS}{asked['id']}"),
        Opening(author="Alice", text="restart web"),
        key="open:c:0",
    )

    assert scene.ours(OPS) == [opened]
    assert "restart web" in scene.said(OPS)[0]
    assert scene.discord.threads(OPS) == [opened]


@pytest.mark.parametrize("thread", [f"{OPENS}i123", OPENS, f"{OPENS}٣"])
async def test_what_no_message_asked_stands_above_its_thread(scene: Posting, thread: str) -> None:
    place = replace(PLACE, thread=thread)
    opening = Opening(author="Alice", text="restart web", asker=who(ALICE))

    opened = await scene.chat.post(place, opening, key="open:c:0")
    await scene.chat.post(replace(place, thread=opened), Text(text="Yes."), key="post:c:1")

    assert scene.ours(OPS) == [opened]
    assert scene.said(opened) == ["Yes."]
    assert [pings.users for pings in scene.discord.pinged] == [{ALICE}]


async def test_the_same_asked_again_is_another_thread(discord: FakeDiscord) -> None:
    opening = Opening(author="Alice", text="health")
    opened = list[str]()
    for number in range(2):
        async with posting(discord) as process:
            place = replace(PLACE, thread=f"{OPENS}i{number}")
            opened.append(
                await process.chat.post(place, opening, key=f"open:c{number}:0", again=True)
            )
            discord.passes(600)

    assert discord.threads(OPS) == opened
    assert len(set(opened)) == 2


async def test_a_crash_before_the_thread_was_opened_leaves_one_opening(
    discord: FakeDiscord,
) -> None:
    opening, place = Opening(author="Alice", text="health"), replace(PLACE, thread=f"{OPENS}i1")
    discord.faults.drops(OPEN)
    async with posting(discord) as process:
        with pytest.raises(Unavailable):
            await process.chat.post(place, opening, key="open:c:0")
    discord.passes(600)
    await discord.people.writes(BOB, OPS, "Lunch?")
    async with posting(discord) as other:
        opened = await other.chat.post(place, opening, key="open:c:0", again=True)

        assert other.ours(OPS) == [opened]
        assert discord.threads(OPS) == [opened]


async def test_a_name_that_discord_does_not_take_hinders_no_thread(scene: Posting) -> None:
    scene.discord.faults.says(OPEN, 400, 50035, "Invalid Form Body")

    opened = await scene.chat.post(
        replace(PLACE, thread=f"{OPENS}i1"), Opening(author="Alice", text="rude"), key="open:c:0"
    )

    assert scene.discord.world.channels[opened]["name"] == "Sayso"


async def test_somebody_who_cannot_be_brought_into_a_thread_finds_it(scene: Posting) -> None:
    scene.discord.faults.says(
        "PUT /channels/{channel}/thread-members/{user}", 403, 50013, "Missing Permissions"
    )

    opened = await scene.chat.post(
        replace(PLACE, thread=f"{OPENS}i1"),
        Opening(author="Alice", text="health", asker=who(ALICE)),
        key="open:c:0",
    )

    assert scene.discord.threads(OPS) == [opened]
    await scene.chat.tasks.drain(10.0)
    assert not scene.discord.world.thread_members[opened].keys() & {ALICE}


async def test_whose_thread_it_is_can_be_noted_before_anybody_was_brought_into_it(
    scene: Posting,
) -> None:
    go_on = scene.discord.faults.holds("PUT /channels/{channel}/thread-members/{user}")
    opened = await scene.chat.post(
        replace(PLACE, thread=f"{OPENS}i1"),
        Opening(author="Alice", text="health", asker=who(ALICE)),
        key="open:c:0",
    )
    assert ALICE not in scene.discord.world.thread_members[opened]
    go_on.set()
    await scene.discord.until(lambda: ALICE in scene.discord.world.thread_members[opened])


async def test_a_long_answer_comes_in_pieces_in_order(scene: Posting, place: Place) -> None:
    ids = await scene.chat.post(place, Text(text=LONG), key="post:c:1")

    assert ids.count(",") >= 1
    assert ids.split(",") == scene.ours(thread(place))
    read = "\n".join(scene.said(thread(place)))
    assert [f"Paragraph {n}:" in read for n in range(8)] == [True] * 8
    assert read.index("Paragraph 0:") < read.index("Paragraph 7:")


async def test_an_answer_that_got_lost_on_the_way_is_there_once(
    scene: Posting, place: Place
) -> None:
    scene.discord.faults.fails(POST, 502, does=True)

    posted = await scene.chat.post(place, Text(text="Done."), key="post:c:1")

    assert scene.ours(thread(place)) == [posted]
    nonces = {call.body["nonce"] for call in scene.discord.calls(POST)}
    assert len(scene.discord.calls(POST)) == 2
    assert len(nonces) == 1


@pytest.mark.parametrize("is_note", [True, False], ids=["a note", "words"])
async def test_a_lost_reply_does_not_post_twice(
    scene: Posting, place: Place, *, is_note: bool
) -> None:
    scene.discord.faults.loses_reply(POST)

    with pytest.raises(Unavailable):
        await scene.chat.post(place, Text(text="Done.", is_note=is_note), key="post:c:1")
    scene.discord.passes(600)
    posted = await scene.chat.post(place, Text(text="Done.", is_note=is_note), key="post:c:1")

    assert scene.ours(thread(place)) == [posted]


MESSAGES: dict[str, Message] = {
    "words": Text(text="Done."),
    "long words": Text(text=LONG),
    "words with suggestions": Text(text="Done.", suggestions=("Again?",), turn="t_" + "a" * 32),
    "a note": Text(text="Stopped.", is_note=True),
    "a report": Text(text="Run r-1 done.", is_report=True),
    "a card": asking(),
    "progress": Progress(run="r-1", title="Restart web", status="Step 1 of 2", began_at=START),
    "all as a file": Text(text=HUGE),
}


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)
async def test_another_process_finds_what_one_before_it_posted(
    discord: FakeDiscord, scene: Posting, place: Place, message: Message
) -> None:
    ids = await scene.chat.post(place, message, key="post:c:1")
    there = scene.ours(thread(place))
    discord.passes(600)
    async with posting(discord) as other:
        again = await other.chat.post(place, message, key="post:c:1", again=True)

    assert again == ids
    assert scene.ours(thread(place)) == there


@pytest.mark.parametrize("message", list(MESSAGES.values())[3:7], ids=list(MESSAGES)[3:7])
async def test_what_software_wrote_is_found_whatever_was_said_since(
    discord: FakeDiscord, scene: Posting, place: Place, message: Message
) -> None:
    ids = await scene.chat.post(place, message, key="post:c:1")
    discord.passes(600)
    await discord.people.writes(ALICE, thread(place), "Are you there?")
    async with posting(discord) as other:
        assert await other.chat.post(place, message, key="post:c:1", again=True) == ids
        assert await other.chat.post(place, message, key="post:c:2", again=True) != ids


async def test_a_card_that_has_changed_since_is_the_same_card(
    discord: FakeDiscord, scene: Posting, place: Place
) -> None:
    posted = await scene.chat.post(place, asking(), key="post:c:1")
    discord.passes(600)
    async with posting(discord) as other:
        again = await other.chat.post(place, asking("Denied."), key="post:c:1", again=True)

    assert again == posted


async def test_the_same_words_are_said_again_where_somebody_asked_again(
    discord: FakeDiscord, scene: Posting, place: Place
) -> None:
    first = await scene.chat.post(place, Text(text="All is well."), key="post:c:1")
    await discord.people.writes(ALICE, thread(place), "And now?")
    async with posting(discord) as other:
        second = await other.chat.post(place, Text(text="All is well."), key="post:c:2", again=True)

    assert scene.ours(thread(place)) == [first, second]


async def test_in_one_process_the_same_words_are_never_taken_for_others(
    scene: Posting, place: Place
) -> None:
    first = await scene.chat.post(place, Text(text="All is well."), key="post:c:1")
    second = await scene.chat.post(place, Text(text="All is well."), key="post:c:2", again=True)

    assert scene.ours(thread(place)) == [first, second]


async def test_words_of_somebody_else_do_not_pass_for_what_was_posted(
    scene: Posting, place: Place
) -> None:
    await scene.discord.people.writes(ALICE, thread(place), "Done.")

    posted = await scene.chat.post(place, Text(text="Done."), key="post:c:1", again=True)

    assert scene.ours(thread(place)) == [posted]


async def test_pieces_that_are_missing_are_posted_and_no_others(
    scene: Posting, place: Place
) -> None:
    scene.discord.faults.loses_reply(POST)
    with pytest.raises(Unavailable):
        await scene.chat.post(place, Text(text=LONG), key="post:c:1")
    assert len(scene.ours(thread(place))) == 1
    scene.discord.passes(600)

    ids = await scene.chat.post(place, Text(text=LONG), key="post:c:1")

    assert ids.split(",") == scene.ours(thread(place))


async def test_a_piece_before_one_that_is_refused_is_not_posted_again(
    scene: Posting, place: Place
) -> None:
    faults = scene.discord.faults
    first = faults.holds(POST)
    tried = asyncio.create_task(scene.chat.post(place, Text(text=LONG), key="post:c:1"))
    await scene.discord.until(lambda: faults.held.get(POST) == 1)
    del faults.gates[POST]
    second = faults.holds(POST)
    first.set()
    await scene.discord.until(lambda: faults.held.get(POST) == 2)
    faults.says(POST, 403, 50013, "Missing Permissions")
    second.set()
    with pytest.raises(Refused):
        await tried
    scene.discord.passes(600)

    ids = await scene.chat.post(place, Text(text=LONG), key="post:c:1")

    assert ids.split(",") == scene.ours(thread(place))


async def test_told_to_wait_a_moment_it_is_waited(scene: Posting, place: Place) -> None:
    scene.discord.faults.rate_limited(POST, after=1)

    posted = await scene.chat.post(place, Text(text="Done."), key="post:c:1")

    assert scene.ours(thread(place)) == [posted]
    assert len(scene.discord.calls(POST)) == 2


@pytest.mark.parametrize("seconds", [30, 600])
async def test_told_to_wait_it_waits_as_long_and_asks_discord_nothing_meanwhile(
    scene: Posting, place: Place, seconds: int
) -> None:
    now = 0.0
    scene.rest.waits = Waits(now=lambda: now)
    scene.discord.faults.rate_limited(POST, after=seconds)
    with pytest.raises(Unavailable) as first:
        await scene.chat.post(place, Text(text="Done."), key="post:c:1")
    now = seconds - 0.5
    with pytest.raises(Unavailable) as second:
        await scene.chat.post(place, Text(text="Done."), key="post:c:1")
    now = float(seconds)
    await scene.chat.post(place, Text(text="Done."), key="post:c:1")

    assert first.value.after == timedelta(seconds=seconds)
    assert second.value.after == timedelta(seconds=0.5)
    assert len(scene.discord.calls(POST)) == 2
    assert len(scene.ours(thread(place))) == 1
    assert scene.discord.calls(READ) == []  # Discord had said that nothing was done


async def test_one_channel_that_waits_holds_up_no_other(scene: Posting, place: Place) -> None:
    other = await thread_in(scene.discord)
    scene.discord.faults.rate_limited(POST, after=600)
    with pytest.raises(Unavailable):
        await scene.chat.post(place, Text(text="Done."), key="post:c:1")

    await scene.chat.post(other, Text(text="Done."), key="post:d:1")


async def test_where_the_network_before_discord_has_had_enough_nothing_is_asked_at_all(
    scene: Posting, place: Place
) -> None:
    other = await thread_in(scene.discord)
    scene.discord.faults.rate_limited(POST, after=600, via=False)
    with pytest.raises(Unavailable) as first:
        await scene.chat.post(place, Text(text="Done."), key="post:c:1")
    with pytest.raises(Unavailable) as second:
        await scene.chat.post(other, Text(text="Done."), key="post:d:1")

    assert first.value.after == timedelta(seconds=600)
    assert second.value.after is not None
    assert len(scene.discord.calls(POST)) == 1


async def test_an_outage_is_unavailable(scene: Posting, place: Place) -> None:
    scene.discord.faults.fails(POST, 503)

    with pytest.raises(Unavailable) as caught:
        await scene.chat.post(place, Text(text="Done."), key="post:c:1")

    assert caught.value.after is None


async def test_a_call_that_hangs_ends_by_itself(scene: Posting, place: Place) -> None:
    await scene.rest.user()
    scene.rest.deadline = 0.1
    gate = scene.discord.faults.holds(POST)

    with pytest.raises(Unavailable):
        await scene.chat.post(place, Text(text="Done."), key="post:c:1")
    gate.set()


LACKING = [
    ("send_messages_in_threads", "thread", "“Send Messages in Threads”"),
    ("send_messages", "channel", "“Send Messages”"),
    ("create_public_threads", "channel", "“Create Public Threads”"),
    ("view_channel", "thread", "“View Channel”"),
    ("view_channel", "channel", "“View Channel”"),
]


@pytest.mark.parametrize(("lacks", "where", "named"), LACKING)
async def test_p44_a_permission_that_is_missing_is_named(
    scene: Posting, place: Place, lacks: str, where: str, named: str
) -> None:
    scene.discord.world.deny(OPS, lacks)
    message: Message = Text(text="Done.")
    if where == "channel":
        place, message = replace(PLACE, thread=f"{OPENS}i1"), Opening(author="A", text="health")

    with pytest.raises(Refused) as caught:
        await scene.chat.post(place, message, key="post:c:1")

    assert f"lacks the permission {named}" in caught.value.shown


async def test_without_the_right_to_read_it_is_posted_all_the_same(
    scene: Posting, place: Place
) -> None:
    scene.discord.world.deny(OPS, "read_message_history")
    await scene.chat.post(place, Text(text="Done."), key="post:c:1", again=True)
    scene.discord.faults.says(READ, 403, 50013, "Missing Permissions")
    await scene.chat.post(place, Text(text="Done."), key="post:c:2", again=True)
    scene.discord.faults.says(READ, 404, 10003, "Unknown Channel")
    await scene.chat.post(place, Text(text="Done."), key="post:c:3", again=True)

    assert len(scene.ours(thread(place))) == 3


async def test_where_it_cannot_be_posted_the_reason_is_a_sentence(
    scene: Posting, place: Place
) -> None:
    scene.discord.world.shut_to_bot.add(BOB)
    await scene.discord.people.locks(thread(place))
    for at, word in (
        (replace(PLACE, channel=BOB), "privacy settings"),
        (replace(PLACE, thread="123"), "no longer on Discord"),
        (place, "locked"),
    ):
        with pytest.raises(Refused) as caught:
            await scene.chat.post(at, Text(text="Done."), key=f"post:{at.thread}:1")
        assert word in caught.value.shown


async def test_one_person_alone_is_told_by_direct_message(scene: Posting) -> None:
    for number in range(2):
        await scene.chat.post(
            replace(PLACE, channel=BOB), Text(text=f"Alone {number}."), key=f"post:c:{number}"
        )

    alone = scene.discord.world.dm(BOB)
    assert scene.said(alone) == ["Alone 0.", "Alone 1."]
    assert len(scene.discord.calls("POST /users/@me/channels")) == 1
    in_it = replace(PLACE, channel=alone, thread=alone)
    await scene.chat.post(in_it, Text(text="Here."), key="post:d:1")
    assert scene.said(alone)[-1] == "Here."
    await scene.chat.post(in_it, asking(), key="post:d:2")
    assert scene.discord.buttons(scene.discord.messages(alone)[-1]) == []


async def test_an_archived_thread_is_opened_again_for_what_is_said_and_changed(
    scene: Posting, place: Place
) -> None:
    posted = await scene.chat.post(place, asking(), key="post:c:1")
    scene.discord.world.thread_members[thread(place)][BOT] = {}  # since it has posted there
    await scene.discord.people.archives(thread(place))
    await scene.chat.edit(place, posted, asking("Approved by Bob."))
    await scene.discord.people.archives(thread(place))
    await scene.chat.post(place, Text(text="Done."), key="post:c:2")

    assert "Approved by Bob." in scene.discord.edits(posted)[-1]
    assert scene.said(thread(place))[-1] == "Done."


async def test_a_locked_thread_says_that_it_is(scene: Posting, place: Place) -> None:
    posted = await scene.chat.post(place, asking(), key="post:c:1")
    await scene.discord.people.archives(thread(place), locked=True)

    with pytest.raises(Refused, match="locked"):
        await scene.chat.edit(place, posted, asking("Approved by Bob."))
    with pytest.raises(Refused, match="locked"):
        await scene.chat.post(place, Text(text="Done."), key="post:c:2")


async def test_what_is_too_long_for_messages_comes_as_a_file_once(
    discord: FakeDiscord, scene: Posting, place: Place
) -> None:
    words = await scene.chat.post(place, Text(text=HUGE), key="post:c:1")
    await discord.people.deletes(discord.message(words))
    discord.passes(600)
    async with posting(discord) as other:
        again = await other.chat.post(place, Text(text=HUGE), key="post:c:1", again=True)

    assert again != words
    files = [discord.files(message) for message in discord.messages(thread(place))]
    [(name, data)] = [item for each in files for item in each.items()]
    assert name.startswith("answer-")
    assert name.endswith(".txt")
    assert data.decode() == HUGE


@pytest.mark.parametrize("why", ["Attach Files", "larger than Discord takes"])
async def test_without_the_file_it_says_that_the_rest_is_cut(
    scene: Posting, place: Place, why: str
) -> None:
    if why == "Attach Files":
        scene.discord.world.deny(OPS, "attach_files")
        text = HUGE
    else:
        text = "x" * (11 * 2**20)
    await scene.chat.post(place, Text(text=text), key="post:c:1")

    assert why in scene.discord.seen_in(thread(place))[-1]
    assert not any(m["attachments"] for m in scene.discord.messages(thread(place)))


async def test_a_card_is_edited_where_it_stands_and_not_for_nothing(
    scene: Posting, place: Place
) -> None:
    posted = await scene.chat.post(place, asking(), key="post:c:1")

    await scene.chat.edit(place, posted, asking())
    assert scene.discord.calls(EDIT) == []
    for _ in range(2):
        await scene.chat.edit(place, posted, asking("Approved by Bob."))

    assert len(scene.discord.calls(EDIT)) == 1
    assert "Approved by Bob." in scene.discord.edits(posted)[-1]


async def test_an_edit_that_failed_is_not_taken_for_done(scene: Posting, place: Place) -> None:
    posted = await scene.chat.post(place, asking(), key="post:c:1")
    for status in ("Approved by Bob.", "Waits for a vote."):
        scene.discord.faults.loses_reply(EDIT)
        with pytest.raises(Unavailable):
            await scene.chat.edit(place, posted, asking(status))
        await scene.chat.edit(place, posted, asking(status))
        assert status in scene.discord.edits(posted)[-1]

    assert len(scene.discord.calls(EDIT)) == 4


async def test_after_an_edit_that_failed_what_was_shown_before_is_drawn_again(
    scene: Posting, place: Place
) -> None:
    posted = await scene.chat.post(place, asking("Waits."), key="post:c:1")
    scene.discord.faults.loses_reply(EDIT)
    with pytest.raises(Unavailable):
        await scene.chat.edit(place, posted, asking("Approved by Bob."))

    await scene.chat.edit(place, posted, asking("Waits."))

    assert "Waits." in scene.discord.edits(posted)[-1]


async def test_a_message_that_is_gone_needs_no_edit(scene: Posting, place: Place) -> None:
    posted = await scene.chat.post(place, asking(), key="post:c:1")
    await scene.discord.people.deletes(scene.discord.message(posted))
    await scene.chat.edit(place, posted, asking("Approved by Bob."))
    await scene.chat.edit(replace(place, thread="123"), posted, asking("Runs."))

    assert len(scene.discord.calls(EDIT)) == 2


async def test_buttons_go_where_there_is_nothing_to_press_any_more(
    scene: Posting, place: Place
) -> None:
    done = replace(asking("Denied."), card=replace(card(), buttons=()))
    posted = await scene.chat.post(place, asking(), key="post:c:1")
    assert "Approve" in scene.discord.buttons(scene.discord.message(posted))

    await scene.chat.edit(place, posted, done)

    assert scene.discord.buttons(scene.discord.message(posted)) == []


async def test_an_edit_may_be_longer_and_shorter_than_before(scene: Posting, place: Place) -> None:
    ids = await scene.chat.post(place, Text(text="Short."), key="post:c:1")

    await scene.chat.edit(place, ids, Text(text=LONG))
    longer = scene.ours(thread(place))
    assert len(longer) > 1
    await scene.chat.edit(place, ids, Text(text=LONG + "\n\nAnd more."))
    assert scene.ours(thread(place)) == longer
    await scene.chat.edit(place, ids, Text(text="Short again."))

    assert scene.ours(thread(place)) == [ids]
    assert scene.said(thread(place)) == ["Short again."]


async def test_pieces_that_an_edit_does_not_need_are_taken_back(
    scene: Posting, place: Place
) -> None:
    ids = await scene.chat.post(place, Text(text=LONG), key="post:c:1")

    await scene.chat.edit(place, ids, Text(text="Short."))

    assert scene.ours(thread(place)) == [ids.split(",")[0]]
    assert len(scene.discord.calls(DELETE)) == ids.count(",")


async def test_that_it_writes_is_shown_and_hinders_nothing(scene: Posting, place: Place) -> None:
    await scene.chat.typing(place)
    scene.discord.world.deny(OPS, "send_messages_in_threads")
    await scene.chat.typing(place)

    typed = scene.discord.calls("POST /channels/{channel}/typing")
    assert [call.status for call in typed] == [204, 403]


async def test_other_people_are_answered_while_a_message_is_drawn(
    scene: Posting, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, goes_on = threading.Event(), threading.Event()

    def slow(message: Message, *, guild: str) -> tuple[Drawn, ...]:
        began.set()
        assert goes_on.wait(5)
        return draw(message, guild=guild)

    monkeypatch.setattr(chat, "draw", slow)
    task = asyncio.create_task(scene.chat.post(place, Text(text="Done."), key="post:c:1"))
    assert await asyncio.to_thread(began.wait, 5)
    assert await scene.rest.user()
    goes_on.set()

    posted = await task
    assert scene.ours(thread(place)) == [posted]


async def test_i14_nothing_is_posted_for_a_server_that_is_nobodys_here(
    scene: Posting, place: Place
) -> None:
    posted = await scene.chat.post(place, Text(text="Done."), key="post:c:1")
    foreign = replace(place, workspace="700000000000000002")

    for tried in (
        scene.chat.post(foreign, Text(text="Theirs."), key="post:c:2"),
        scene.chat.edit(foreign, posted, Text(text="Theirs.")),
    ):
        with pytest.raises(Unavailable, match="nobody here"):
            await tried

    assert scene.said(thread(place)) == ["Done."]


def _inside(thing: object, name: str) -> Any:  # noqa: ANN401 - the SDK's own affair
    return vars(thing)[name]


async def test_the_client_keeps_nothing_of_a_thousand_cards_and_forgets_no_button(
    scene: Posting, place: Place
) -> None:
    async def kept(client: Client) -> list[int]:
        store = _inside(_inside(client, "_connection"), "_view_store")
        return [
            len(_inside(store, name))
            for name in ("_views", "_synced_message_views", "_dynamic_items")
        ]

    async def registers(client: Client) -> None:
        client.add_dynamic_items(OurButton)

    await scene.rest.call("log in", registers)
    for number in range(1000):
        message = asking(request=f"r-{number}")
        posted = await scene.chat.post(place, message, key=f"post:c:{number}")
        if number % 2:
            await scene.chat.edit(place, posted, asking("Denied.", request=f"r-{number}"))

    assert await scene.rest.call("log in", kept) == [0, 0, 1]


async def test_nothing_that_is_said_and_no_token_is_logged(
    scene: Posting, place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    scene.discord.faults.rate_limited(POST, after=600)
    with pytest.raises(Unavailable):
        await scene.chat.post(place, Text(text="Swordfish."), key="post:c:1")
    posted = await scene.chat.post(
        await thread_in(scene.discord), Text(text="Swordfish."), key="post:d:1"
    )

    assert posted
    assert "Swordfish" not in caplog.text
    assert scene.discord.token not in caplog.text
    assert not [each for each in caplog.records if each.name.startswith("discord")]
