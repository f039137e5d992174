"""What people do on Discord, through the real discord.py: taken once, and answered in time."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator

import pytest

from adapters.discord import intake, outcomes
from adapters.discord.drawn import Drawn
from adapters.discord.intake import Patience
from adapters.platforms.takes import Outcome
from core.errors import Refused, Unavailable
from core.events import Approve, Ask, Deny, Edited, Lookup, Review, Stop, StopHere, TakeUp
from core.platforms import Event, Told
from tests.discord_scene import REQUEST, Scene, asking, connected, discord_of_four
from tests.fakes.desk import FakeDesk
from tests.standins.discord import ALICE, BOB, BOT, GUILD, MALLORY, OPS, FakeDiscord

HURRIED = Patience(person=0.1)
DOWN = Unavailable("The database is away. Try again later.")


@pytest.fixture
async def discord() -> AsyncIterator[FakeDiscord]:
    async with discord_of_four() as discord:
        yield discord


@pytest.fixture
async def scene(discord: FakeDiscord) -> AsyncIterator[Scene]:
    async with connected(discord) as scene:
        yield scene


async def test_a_mention_is_taken_and_answered_by_nothing(scene: Scene) -> None:
    said = await scene.discord.people.mentions(ALICE, OPS, "restart web")
    await scene.taken()
    await scene.settled()

    [event] = scene.desk.events
    assert isinstance(event, Ask)
    assert (event.text, event.identity.user) == ("restart web", ALICE)
    assert (event.place.channel, event.place.thread) == (OPS, f"opens:{said['id']}")
    assert event.deliveries == (f"msg:{said['id']}",)
    assert len(scene.discord.messages(OPS)) == 1


async def test_a_command_is_answered_alone_and_at_once(scene: Scene) -> None:
    scene.desk.says = [Told(text="Nothing runs here.")]

    stopped = await scene.discord.people.slash(ALICE, OPS, "stop")
    await scene.discord.over(stopped)

    assert isinstance(scene.desk.events[0], Stop)
    assert stopped.alone == ["Nothing runs here."]
    assert stopped.answered_after is not None
    assert stopped.answered_after < 1.0


@pytest.fixture
async def hurried(discord: FakeDiscord) -> AsyncIterator[Scene]:
    """Somebody whom the desk lets wait too long."""
    async with connected(discord, patience=HURRIED) as scene:
        scene.desk.gate = asyncio.Event()
        yield scene
        scene.desk.gate.set()


async def test_a_command_with_nothing_to_say_is_answered_with_a_word(scene: Scene) -> None:
    asked = await scene.discord.people.slash(ALICE, OPS, "ask", text="restart web")
    await scene.discord.over(asked)

    [event] = scene.desk.events
    assert isinstance(event, Ask)
    assert event.place.thread == f"opens:i{asked.id}"
    assert event.deliveries == (f"interaction:{asked.id}",)
    assert "Sayso is on it" in asked.alone[0]


async def test_a_command_that_means_nothing_is_answered_with_what_would(scene: Scene) -> None:
    asked = await scene.discord.people.slash(ALICE, OPS, "sayso", words="approve it")
    await scene.discord.over(asked)

    assert "Nothing was approved" in asked.alone[0]
    assert scene.desk.events == []


async def test_a_command_of_another_server_is_answered_all_the_same(scene: Scene) -> None:
    other = scene.discord.world.guild("710000000000000001", "other")
    scene.discord.world.person(ALICE, "alice", guild=other)
    channel = scene.discord.world.channel("610000000000000001", "there", guild=other)

    asked = await scene.discord.people.slash(ALICE, channel, "ask", text="restart web")
    await scene.discord.over(asked)

    assert "Nothing was done" in asked.alone[0]
    assert scene.desk.events == []


async def test_p33_a_slow_command_is_acknowledged_in_time_and_answered_once(scene: Scene) -> None:
    scene.desk.gate = asyncio.Event()
    scene.desk.says = [Told(text="Stopped one run.")]

    stopped = await scene.discord.people.slash(ALICE, OPS, "stop")
    await scene.discord.until(lambda: stopped.answered)
    assert (stopped.answered_after or 9) < 2.5
    assert stopped.is_loading
    scene.desk.gate.set()
    await scene.discord.over(stopped)

    assert stopped.alone == ["Stopped one run."]
    assert len(stopped.shown) == 1
    assert len(scene.desk.events) == 1


async def test_p33_after_15_minutes_nothing_is_said_through_the_token(discord: FakeDiscord) -> None:
    patience = Patience(person=0.1, late=0.3)
    async with connected(discord, patience=patience) as scene:
        scene.desk.gate = asyncio.Event()
        scene.desk.says = [Refused("You may not.")]
        stopped = await discord.people.slash(ALICE, OPS, "stop")
        await discord.over(stopped)
        said = stopped.alone
        discord.passes(16 * 60)
        scene.desk.gate.set()
        await scene.settled()

    edits = discord.calls("PATCH /webhooks/{app}/{token}/messages/{message}")
    assert "unusually long" in said[0]
    assert [each.status for each in edits] == [200]


async def test_p33_a_token_that_is_dead_is_written_down_and_nothing_else(
    hurried: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    hurried.desk.says = [Told(text="my-s3cret")]
    stopped = await hurried.discord.people.slash(ALICE, OPS, "stop")
    await hurried.discord.until(lambda: stopped.answered)
    hurried.discord.passes(16 * 60)
    assert hurried.desk.gate is not None
    hurried.desk.gate.set()
    await hurried.settled()

    assert "10015" in caplog.text
    assert "my-s3cret" not in caplog.text
    assert stopped.token not in caplog.text


async def test_where_even_the_first_answer_is_too_late_the_desk_has_it(scene: Scene) -> None:
    held = scene.discord.faults.holds("POST /interactions/{interaction}/{token}/callback")
    asked = await scene.discord.people.slash(ALICE, OPS, "ask", text="restart web")
    await scene.taken()
    scene.discord.passes(4)
    held.set()
    await scene.settled()

    assert asked.failed
    assert len(scene.desk.events) == 1


async def test_the_answer_to_an_answer_that_was_lost_is_no_second_answer(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    scene.discord.faults.fails("POST /interactions/{interaction}/{token}/callback", 502, does=True)
    scene.desk.says = [Told(text="Stopped one run.")]

    stopped = await scene.discord.people.slash(ALICE, OPS, "stop")
    await scene.discord.over(stopped)
    await scene.settled()

    assert stopped.alone == ["Stopped one run."]
    assert len(scene.desk.events) == 1
    assert "refused" not in caplog.text


async def test_a_click_is_answered_by_nothing_where_the_card_says_it(scene: Scene) -> None:
    clicked = await scene.discord.people.presses(BOB, await scene.card(), "Approve")
    await scene.discord.over(clicked)

    [event] = scene.desk.events
    assert isinstance(event, Approve)
    assert (event.request, event.identity.user) == (REQUEST, BOB)
    assert clicked.answer == {"type": 6}
    await scene.settled()
    callback = "POST /interactions/{interaction}/{token}/callback"
    assert len(scene.discord.calls(callback)) == 1


async def test_a_refused_click_is_told_alone_and_the_card_stays(scene: Scene) -> None:
    card = await scene.card()
    scene.desk.says = [Refused("Somebody else has to approve this.")]

    clicked = await scene.discord.people.presses(BOB, card, "Approve")
    await scene.discord.over(clicked)

    assert "Somebody else has to approve this." in clicked.alone[0]
    assert scene.discord.message(str(card["id"])) == card


async def test_an_unavailable_click_says_so_and_can_be_pressed_again(scene: Scene) -> None:
    card = await scene.card()
    scene.desk.says = [DOWN]

    first = await scene.discord.over(await scene.discord.people.presses(BOB, card, "Approve"))
    again = await scene.discord.over(await scene.discord.people.presses(BOB, card, "Approve"))

    assert "Not now." in first.alone[0]
    assert again.answer == {"type": 6}
    assert len(scene.desk.events) == 2


async def test_a_crash_at_the_desk_is_told_without_what_it_was(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    scene.desk.says = [ValueError("s3cret")]

    asked = await scene.discord.people.slash(ALICE, OPS, "ask", text="my-request")
    await scene.discord.over(asked)

    assert "went wrong inside Sayso" in asked.alone[0]
    assert "unexpected ValueError" in caplog.text
    assert "s3cret" not in caplog.text
    assert "my-request" not in caplog.text


async def test_pressing_twice_before_anything_came_of_it_is_pressing_once(hurried: Scene) -> None:
    card = await hurried.card()
    hurried.desk.says = [Refused("Somebody already decided this."), Refused("Twice.")]

    both = [await hurried.discord.people.presses(BOB, card, "Approve") for _ in range(2)]
    await hurried.discord.until(lambda: all(one.answered for one in both))
    assert hurried.desk.gate is not None
    hurried.desk.gate.set()
    for one in both:
        await hurried.discord.over(one)

    assert len(hurried.desk.events) == 1
    assert ["already decided" in one.alone[0] for one in both] == [True, True]


async def test_two_people_who_press_at_once_are_two(hurried: Scene) -> None:
    card = await hurried.card()

    for one in (ALICE, BOB):
        await hurried.discord.people.presses(one, card, "Approve")
    await hurried.taken(2)

    assert {event.identity.user for event in hurried.desk.events} == {ALICE, BOB}


async def test_one_interaction_that_comes_twice_is_taken_once(scene: Scene) -> None:
    asked = await scene.discord.people.slash(ALICE, OPS, "ask", text="restart web")
    scene.discord.gateway.interact(asked.sent)
    await scene.discord.over(asked)
    calls = scene.discord.calls("POST /interactions/{interaction}/{token}/callback")
    await scene.discord.until(lambda: len(calls) or True)
    await scene.settled()

    assert len(scene.desk.events) == 1


async def test_deny_opens_its_form_at_once_and_what_comes_back_denies(scene: Scene) -> None:
    card = await scene.card()
    scene.desk.gate = asyncio.Event()  # asking why needs no desk

    pressed = await scene.discord.people.presses(BOB, card, "Deny")
    await scene.discord.until(lambda: pressed.modal)
    assert scene.desk.events == []
    assert (pressed.answered_after or 9) < 1.0
    scene.desk.gate = None
    scene.desk.says = [Refused("Somebody already decided this.")]
    sent = await scene.discord.people.submits(BOB, pressed.modal, reason="not on a Friday")
    await scene.discord.over(sent)

    [event] = scene.desk.events
    assert isinstance(event, Deny)
    assert (event.request, event.reason) == (REQUEST, "not on a Friday")
    assert "already decided" in sent.alone[0]


async def test_a_form_that_is_taken_closes_in_silence(scene: Scene) -> None:
    pressed = await scene.discord.people.presses(BOB, await scene.card(), "Deny")
    await scene.discord.until(lambda: pressed.modal)

    sent = await scene.discord.people.submits(BOB, pressed.modal)
    await scene.discord.over(sent)

    assert sent.answer == {"type": 6}


async def test_review_shows_all_of_the_card_to_whoever_asked_and_can_be_approved(
    scene: Scene,
) -> None:
    card = await scene.card()
    scene.desk.says = [Told(card=asking())]

    pressed = await scene.discord.people.presses(BOB, card, "Review full plan")
    await scene.discord.over(pressed)
    assert isinstance(scene.desk.events[0], Review)
    assert "restart web" in pressed.alone[0]
    assert pressed.original is not None
    approved = await scene.discord.people.presses(BOB, pressed.original.now, "Approve")
    await scene.discord.over(approved)

    assert isinstance(scene.desk.events[1], Approve)


async def test_review_of_what_is_too_long_comes_with_a_file(scene: Scene) -> None:
    card = await scene.card()
    scene.desk.says = [Told(card=asking(plan=tuple(f"restart web {n}" for n in range(2_000))))]

    pressed = await scene.discord.people.presses(BOB, card, "Review full plan")
    await scene.discord.over(pressed)

    assert pressed.original is not None
    [(_, file)] = scene.discord.files(pressed.original.now).items()
    assert b"restart web 1999" in file
    assert "Approve" in scene.discord.buttons(pressed.original.now)


async def test_a_huge_plan_is_drawn_while_everything_else_goes_on(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn_in: list[int] = []

    def drawing(outcome: Outcome, event: Event | None = None) -> Drawn:
        drawn_in.append(threading.get_ident())
        return outcomes.drawn(outcome, event)

    monkeypatch.setattr(intake, "drawn", drawing)
    scene.desk.says = [Told(card=asking(plan=tuple(f"word {'y' * 96}" for _ in range(9_000))))]
    looked = await scene.discord.people.presses(BOB, await scene.card(), "Review full plan")
    await scene.discord.over(looked)

    assert looked.original is not None
    assert len(scene.discord.files(looked.original.now)) == 1
    assert drawn_in
    assert threading.get_ident() not in drawn_in


async def test_a_late_review_comes_with_its_file_as_well(hurried: Scene) -> None:
    card = await hurried.card()
    hurried.desk.says = [Told(card=asking(plan=tuple(f"restart web {n}" for n in range(2_000))))]

    pressed = await hurried.discord.people.presses(BOB, card, "Review full plan")
    await hurried.discord.until(lambda: pressed.answered)
    assert hurried.desk.gate is not None
    hurried.desk.gate.set()
    await hurried.discord.over(pressed)

    assert pressed.original is not None
    assert hurried.discord.files(pressed.original.now)


async def test_a_suggestion_is_taken_up_where_it_stands(scene: Scene) -> None:
    card = await scene.card()

    turn = "t_" + "a" * 32
    pressed = await scene.discord.people.forges(ALICE, card, f"sayso:suggest:{turn}:2")
    await scene.discord.over(pressed)

    [event] = scene.desk.events
    assert isinstance(event, TakeUp)
    assert (event.turn, event.number, event.place.thread) == (turn, 2, card["channel_id"])


@pytest.mark.parametrize("custom_id", ["tk1:a:xxxxxxxxxxxxxxxxxxxxxx", "sayso:fly:1", "\N{BOMB}"])
async def test_a_button_that_is_none_of_ours_is_answered_and_does_nothing(
    scene: Scene, custom_id: str
) -> None:
    pressed = await scene.discord.people.forges(MALLORY, await scene.card(), custom_id)
    await scene.discord.over(pressed)

    assert "Nothing was done" in pressed.alone[0]
    assert scene.desk.events == []


async def test_a_click_in_a_direct_message_decides_nothing(scene: Scene) -> None:
    said = await scene.discord.people.dms(BOB, "hello")
    pressed = await scene.discord.people.forges(BOB, said, f"sayso:approve:{REQUEST}")
    await scene.discord.over(pressed)
    await scene.taken()

    assert "Nothing was decided" in pressed.alone[0]
    assert [type(event) for event in scene.desk.events] == [Ask]


async def test_the_roster_learns_the_roles_of_whoever_presses(scene: Scene) -> None:
    scene.discord.world.role("800000000000000001", "approvers")
    await scene.discord.people.changes_roles(BOB, "800000000000000001")
    card = await scene.card()
    seen: list[object] = []
    scene.platform.roster.seen = lambda who, roles, **_: seen.append((who.user, roles))  # type: ignore[method-assign]

    pressed = await scene.discord.people.presses(BOB, card, "Approve")
    await scene.discord.over(pressed)

    assert seen == [(BOB, frozenset({"800000000000000001"}))]


async def test_a_refused_message_is_answered_in_its_thread(scene: Scene) -> None:
    place = await scene.thread()
    scene.desk.says = [Refused("You may not ask here.")]

    await scene.discord.people.mentions(ALICE, str(place.thread), "restart web")
    await scene.taken()
    await scene.settled()

    assert "You may not ask here." in scene.discord.seen_in(str(place.thread))[-1]


async def test_a_refused_mention_outside_of_threads_is_answered_in_the_channel(
    scene: Scene,
) -> None:
    scene.desk.says = [Refused("You may not ask here.")]

    await scene.discord.people.mentions(ALICE, OPS, "restart web")
    await scene.taken()
    await scene.settled()

    assert "You may not ask here." in scene.discord.seen_in(OPS)[-1]
    assert scene.discord.threads(OPS) == []


async def test_where_sayso_may_not_write_they_are_told_directly(scene: Scene) -> None:
    scene.discord.world.deny(OPS, "send_messages")
    scene.desk.says = [Refused("You may not ask here.")]

    await scene.discord.people.mentions(BOB, OPS, "restart web")
    await scene.taken()
    await scene.settled()

    assert "You may not ask here." in scene.discord.seen_in(scene.discord.world.dm(BOB))[-1]


async def test_a_message_that_means_nothing_is_answered_with_what_would(scene: Scene) -> None:
    await scene.discord.people.mentions(ALICE, OPS, "approve it")
    await scene.discord.until(lambda: len(scene.discord.messages(OPS)) == 2)

    assert "Nothing was approved" in scene.discord.seen_in(OPS)[-1]
    assert scene.desk.events == []


async def test_a_lookup_is_answered_in_the_thread(scene: Scene) -> None:
    place = await scene.thread()
    scene.desk.says = [Told(text="Nothing runs.")]

    await scene.discord.people.writes(ALICE, str(place.thread), "!runs")
    await scene.taken()
    await scene.settled()

    assert isinstance(scene.desk.events[0], Lookup)
    assert "Nothing runs." in scene.discord.seen_in(str(place.thread))[-1]


async def test_what_is_not_for_sayso_goes_nowhere(scene: Scene) -> None:
    await scene.discord.people.writes(ALICE, OPS, "good morning")
    await scene.discord.people.bot_writes(OPS, f"<@{scene.discord.world.bot}> deploy")
    await scene.discord.people.webhook_writes(OPS, f"<@{scene.discord.world.bot}> deploy")
    await scene.discord.people.mentions(ALICE, OPS, "restart web")
    await scene.taken()

    [event] = scene.desk.events
    assert isinstance(event, Ask)
    assert event.text == "restart web"


async def test_the_role_that_discord_made_for_sayso_is_sayso(scene: Scene) -> None:
    await scene.discord.people.writes(ALICE, OPS, "<@&800000000000000099> restart web")
    await scene.taken()

    [event] = scene.desk.events
    assert isinstance(event, Ask)
    assert event.text == "restart web"


async def test_a_message_in_a_thread_is_its_conversations(scene: Scene) -> None:
    place = await scene.thread()

    await scene.discord.people.writes(ALICE, str(place.thread), "and db?")
    await scene.taken()

    [event] = scene.desk.events
    assert isinstance(event, Ask)
    assert (event.place, event.known_only) == (place, True)


async def test_a_thread_that_was_archived_is_still_in_its_channel(discord: FakeDiscord) -> None:
    thread = await discord.people.opens_thread(ALICE, OPS, "web")
    await discord.people.archives(thread)
    async with connected(discord) as scene:
        await scene.settled()
        said = dict(await discord.people.writes(ALICE, OPS, "x"))
        said |= {"id": discord.world.time.snowflake(), "channel_id": thread, "content": "and db?"}
        said |= {"guild_id": GUILD}
        discord.gateway.tell("MESSAGE_CREATE", said)
        await scene.taken()

    [event] = scene.desk.events
    assert isinstance(event, Ask)
    assert (event.place.channel, event.place.thread) == (OPS, thread)


async def test_what_is_changed_or_taken_back_is_known(scene: Scene) -> None:
    said = await scene.discord.people.mentions(ALICE, OPS, "restart web")
    await scene.discord.people.edits(said, f"<@{scene.discord.world.bot}> restart db")
    await scene.discord.people.unfurls(said)
    await scene.discord.people.deletes(said)
    await scene.taken(3)
    await scene.settled()

    first, *changes = scene.desk.events
    assert isinstance(first, Ask)
    assert [event.text for event in changes if isinstance(event, Edited)] == ["restart db", ""]
    assert len(changes) == 2


async def test_typing_shows_that_an_ask_in_a_thread_was_taken(scene: Scene) -> None:
    place = await scene.thread()

    await scene.discord.people.mentions(ALICE, str(place.thread), "restart web")

    await scene.discord.until(lambda: scene.discord.calls("POST /channels/{channel}/typing"))


async def test_messages_are_tried_again_in_order_while_the_database_is_away(
    discord: FakeDiscord,
) -> None:
    async with connected(discord, desk=FakeDesk(says=[DOWN, DOWN])) as scene:
        place = await scene.thread()
        for text in ("one", "two", "three"):
            await discord.people.mentions(ALICE, str(place.thread), text)
        await scene.taken(5)
        await scene.settled()

        texts = [event.text for event in scene.desk.events if isinstance(event, Ask)]
        assert texts == ["one", "one", "one", "two", "three"]
        assert discord.seen_in(str(place.thread))[3:] == []


@pytest.mark.parametrize(
    ("opened_by", "began", "tries"),
    [(BOT, None, 3), (ALICE, None, 1), (BOT, "2026-01-01T00:00:00+00:00", 1)],
    ids=["of ours, just now", "of theirs", "of ours, long ago"],
)
async def test_what_is_said_before_it_is_known_whose_a_thread_is_is_tried_again(
    discord: FakeDiscord, opened_by: str, began: str | None, tries: int
) -> None:
    thread = await discord.people.opens_thread(opened_by, OPS, "web")
    if began:
        discord.world.channels[thread]["thread_metadata"]["create_timestamp"] = began
    nobodys = Told(is_nobodys=True)
    async with connected(discord, desk=FakeDesk(says=[nobodys] * 2), pauses=(0.05,) * 5) as scene:
        await discord.people.writes(ALICE, thread, "restart web")
        await scene.taken(tries)
        await scene.settled()

        assert [getattr(event, "text", "") for event in scene.desk.events] == [
            "restart web"
        ] * tries


async def test_a_message_that_can_never_be_stored_is_told_of(discord: FakeDiscord) -> None:
    desk = FakeDesk(says=[DOWN] * 3)
    async with connected(discord, desk=desk, pauses=(0.05, 0.05)) as scene:
        await discord.people.mentions(ALICE, OPS, "restart web")
        await scene.taken(3)
        await scene.settled()

    assert "Not now. The database is away" in discord.seen_in(OPS)[-1]
    assert len(desk.events) == 3


async def test_stopping_does_not_wait_for_what_was_asked_before(scene: Scene) -> None:
    place = await scene.thread()
    scene.desk.gate = asyncio.Event()

    await scene.discord.people.mentions(ALICE, str(place.thread), "restart web")
    await scene.discord.people.writes(ALICE, str(place.thread), "stop")
    await scene.taken(2)

    assert isinstance(scene.desk.events[1], StopHere)
    scene.desk.gate.set()


async def test_a_message_comes_in_once_however_often_it_is_delivered(scene: Scene) -> None:
    said = await scene.discord.people.mentions(ALICE, OPS, "restart web")
    scene.discord.gateway.tell("MESSAGE_CREATE", {**said, "guild_id": GUILD})
    scene.discord.gateway.tell("MESSAGE_CREATE", {**said, "guild_id": GUILD})
    await scene.discord.people.mentions(ALICE, OPS, "and db")
    await scene.taken(2)
    await scene.settled()

    assert [e.text for e in scene.desk.events if isinstance(e, Ask)] == ["restart web", "and db"]


async def test_nothing_that_comes_in_is_logged(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    caplog.set_level(logging.CRITICAL, "aiohttp.access")  # the stand-in's own
    asked = await scene.discord.people.slash(ALICE, OPS, "ask", text="my-s3cret-request")
    await scene.discord.over(asked)
    await scene.discord.people.mentions(ALICE, OPS, "my-s3cret-request")
    await scene.taken(2)
    await scene.settled()

    assert "my-s3cret-request" not in caplog.text
    assert asked.token not in caplog.text
    assert scene.discord.token not in caplog.text


def test_of_discords_three_seconds_two_are_left_to_say_that_it_takes_longer() -> None:
    assert Patience().person <= 1.0
