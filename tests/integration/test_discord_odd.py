"""What is odd about Discord: what cannot be read, what is not known, what nobody told anybody of."""

import asyncio
from collections.abc import AsyncIterator

import discord as discordpy
import pytest

from adapters.discord import catching_up
from core.errors import Refused, Unavailable
from core.events import Approve, Ask
from tests.discord_scene import REQUEST, Scene, connected, discord_of_four
from tests.fakes.desk import FakeDesk
from tests.standins.discord import ALICE, GUILD, OPS, FakeDiscord, Json, Time
from tests.standins.discord.gateway import created
from tests.standins.discord.wire import copied

CHANNEL = "GET /channels/{channel}"
HISTORY = "GET /channels/{channel}/messages"
TYPING = "POST /channels/{channel}/typing"
OTHER = "600000000000000009"
DOWN = Unavailable("The database is away.")


@pytest.fixture
async def discord() -> AsyncIterator[FakeDiscord]:
    async with discord_of_four() as discord:
        yield discord


def texts(scene: Scene) -> list[str]:
    return [event.text for event in scene.desk.events if isinstance(event, Ask)]


def unreadable() -> Json:
    return {"channel_id": OPS, "guild_id": GUILD, "mentions": [], "author": {"id": ALICE}}


async def test_what_discord_py_cannot_read_costs_no_session(
    discord: FakeDiscord, caplog: pytest.LogCaptureFixture
) -> None:
    async with connected(discord) as scene:
        for _ in range(12):
            discord.gateway.tell("MESSAGE_CREATE", {**unreadable(), "content": "my-s3cret"})
        await discord.people.mentions(ALICE, OPS, "one")
        await scene.taken()

    assert texts(scene) == ["one"]
    assert len(discord.gateway.identified) == 1
    assert "my-s3cret" not in caplog.text


async def test_a_press_below_a_message_that_cannot_be_read_is_taken(discord: FakeDiscord) -> None:
    async with connected(discord) as scene:
        card = await scene.card()
        kept = discord.world.messages[str(card["id"])]
        kept.now["attachments"] = [{"id": "no number"}]
        act = await discord.people.presses(ALICE, card, "Approve")
        await discord.over(act)

    [event] = scene.desk.events
    assert isinstance(event, Approve)
    assert event.request == REQUEST


async def test_a_press_below_components_of_tomorrow_is_taken(discord: FakeDiscord) -> None:
    async with connected(discord) as scene:
        card = await scene.card()
        kept = discord.world.messages[str(card["id"])]
        kept.now["components"] = [{"type": 77, "id": 99, "what": {}}, *kept.now["components"]]
        act = await discord.people.presses(ALICE, card, "Approve")
        await discord.over(act)

    [event] = scene.desk.events
    assert isinstance(event, Approve)


async def test_in_a_thread_of_which_nothing_is_known_software_is_told_nothing(
    discord: FakeDiscord,
) -> None:
    thread = await discord.people.opens_thread(ALICE, OPS, "web")
    await discord.people.archives(thread)
    async with connected(discord) as scene:
        await scene.settled()
        said = dict(await discord.people.bot_writes(OPS, "x"))
        said |= {"id": discord.world.time.snowflake(), "channel_id": thread, "guild_id": GUILD}
        discord.gateway.tell("MESSAGE_CREATE", said)
        await discord.people.mentions(ALICE, OPS, "one")
        await scene.taken()
        await scene.settled()

    assert discord.calls(CHANNEL) == []


async def test_what_is_written_in_a_thread_that_becomes_known_stays_in_order(
    discord: FakeDiscord,
) -> None:
    thread = await discord.people.opens_thread(ALICE, OPS, "web")
    await discord.people.archives(thread)
    async with connected(discord) as scene:
        await scene.settled()
        asked = discord.faults.holds(CHANNEL)
        said = dict(await discord.people.writes(ALICE, OPS, "x"))
        said |= {"id": discord.world.time.snowflake(), "channel_id": thread, "content": "one"}
        discord.gateway.tell("MESSAGE_CREATE", {**said, "guild_id": GUILD})
        await discord.until(lambda: discord.faults.held.get(CHANNEL))
        await discord.people.writes(ALICE, thread, "two")
        await asyncio.sleep(0.2)
        asked.set()
        await scene.taken(2)

    assert texts(scene) == ["one", "two"]


async def test_a_thread_whose_channel_is_unknown_keeps_nothing_else_from_being_read(
    discord: FakeDiscord,
) -> None:
    await discord.people.mentions(ALICE, OPS, "one")
    hidden = discord.world.channel(OTHER, "hidden")
    thread = await discord.people.opens_thread(ALICE, hidden, "web")
    await discord.people.mentions(ALICE, thread, "two")
    discord.world.channels[hidden]["type"] = 99  # a kind that discord.py has never heard of
    async with connected(discord) as scene:
        await scene.taken(2)
        await scene.settled()

    assert sorted(texts(scene)) == ["one", "two"]


async def test_a_message_that_cannot_be_read_keeps_no_other_one_from_being_fetched(
    discord: FakeDiscord,
) -> None:
    other = discord.world.channel(OTHER, "other")
    await discord.people.mentions(ALICE, other, "one")
    await discord.people.mentions(ALICE, OPS, "two")
    odd = await discord.people.mentions(ALICE, OPS, "odd")
    await discord.people.mentions(ALICE, OPS, "three")
    discord.world.messages[str(odd["id"])].now["attachments"] = [{"id": "no number"}]
    async with connected(discord) as scene:
        await scene.taken(2)
        await scene.settled()

    assert set(texts(scene)) == {"one", "two", "three"}


async def test_after_an_outage_of_a_server_nothing_older_than_that_is_looked_at() -> None:
    async with FakeDiscord(time=Time(ahead=-5 * 60)) as discord, connected(discord) as scene:
        tells, discord.world.tell = discord.world.tell, _nobody
        await discord.people.mentions(ALICE, OPS, "of five minutes ago")
        discord.world.tell = tells
        discord.passes(5 * 60)
        discord.gateway.tell("GUILD_DELETE", {"id": GUILD, "guild_id": GUILD, "unavailable": True})
        discord.world.tell = _nobody
        await discord.people.mentions(ALICE, OPS, "meanwhile")
        discord.world.tell = tells
        discord.gateway.tell("GUILD_CREATE", {**created(discord.world, GUILD), "guild_id": GUILD})
        await scene.taken()
        await scene.settled()

    assert texts(scene) == ["meanwhile"]


async def test_whoever_was_told_to_send_it_again_is_not_taken_up_later(
    discord: FakeDiscord,
) -> None:
    desk = FakeDesk(says=[DOWN])
    async with connected(discord, desk=desk, pauses=()) as scene:
        await discord.people.mentions(ALICE, OPS, "one")
        await scene.taken()
        await scene.settled()
        await discord.gateway.invalidate()
        await discord.gateway.until_identified(2)
        await discord.people.mentions(ALICE, OPS, "two")
        await scene.taken(2)
        await scene.settled()

    assert texts(scene) == ["one", "two"]


async def test_in_other_peoples_threads_nobody_is_told_that_the_database_is_away(
    discord: FakeDiscord,
) -> None:
    theirs = await discord.people.opens_thread(ALICE, OPS, "web")
    async with connected(discord, desk=FakeDesk(says=[DOWN] * 3), pauses=()) as scene:
        said = await discord.people.writes(ALICE, theirs, "hi bob")
        await scene.taken()
        await discord.people.edits(said, "hello bob")
        await scene.taken(2)
        await discord.people.mentions(ALICE, theirs, "and you?")
        await scene.taken(3)
        await scene.settled()

    told = [said for said in discord.seen_in(theirs) if "Not now." in said]
    assert told == discord.seen_in(theirs)[-1:]  # whoever mentioned it, and nobody else


async def test_what_was_written_alone_while_nobody_was_connected_is_fetched(
    discord: FakeDiscord,
) -> None:
    async with connected(discord) as scene:
        await discord.people.dms(ALICE, "one")
        await scene.taken()
        await scene.settled()
        tells, discord.world.tell = discord.world.tell, _nobody
        await discord.people.dms(ALICE, "two")
        discord.world.tell = tells
        await discord.gateway.invalidate()
        await scene.taken(2)

    assert texts(scene) == ["one", "two"]


@pytest.mark.parametrize(
    "silent", [{"pending": True}, {"communication_disabled_until": "2099-01-01T00:00:00+00:00"}]
)
async def test_a_press_teaches_nothing_of_whoever_counts_for_nothing(
    discord: FakeDiscord, silent: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    discord.world.guilds[GUILD].members[ALICE] |= silent
    taught: list[object] = []

    def is_taught(*told: object, **_: object) -> None:
        taught.append(told)

    async with connected(discord) as scene:
        monkeypatch.setattr(scene.platform.roster, "seen", is_taught)
        await discord.over(await discord.people.presses(ALICE, await scene.card(), "Approve"))

    assert taught == []


async def test_what_comes_in_waits_for_a_long_look_even_once_all_servers_are_there(
    discord: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready, is_there = asyncio.Event(), catching_up.CatchingUp.is_there

    def all_there(self: catching_up.CatchingUp, client: discordpy.Client) -> None:
        is_there(self, client)
        ready.set()

    monkeypatch.setattr(catching_up.CatchingUp, "is_there", all_there)
    thread = await discord.people.opens_thread(ALICE, OPS, "web")
    await discord.people.writes(ALICE, thread, "one")
    fetched = discord.faults.holds(HISTORY)
    async with connected(discord) as scene:
        await discord.until(lambda: discord.faults.held.get(HISTORY))
        await discord.people.writes(ALICE, thread, "two")
        await asyncio.wait_for(ready.wait(), 10)
        fetched.set()
        await scene.taken(2)
        await scene.settled()

    assert texts(scene) == ["one", "two"]


async def test_what_a_connection_that_ended_had_not_looked_at_is_looked_at_by_the_next(
    discord: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catching_up, "OVERLAP", 0.0)
    async with connected(discord) as scene:
        await discord.people.mentions(ALICE, OPS, "one")
        await scene.taken()
        await scene.settled()
        tells, discord.world.tell = discord.world.tell, _nobody
        await discord.people.mentions(ALICE, OPS, "two")
        discord.world.tell = tells
        looked = discord.faults.holds(HISTORY)
        await discord.gateway.invalidate()
        await discord.until(lambda: discord.faults.held.get(HISTORY))
        await discord.people.mentions(ALICE, OPS, "three")
        _polling().cancel()
        await discord.gateway.until_identified(3)
        looked.set()
        await scene.taken(3)

    assert set(texts(scene)) == {"one", "two", "three"}


async def test_whoever_is_told_something_holds_nobody_up(discord: FakeDiscord) -> None:
    desk = FakeDesk(says=[Refused("You may not.")] * 3)
    async with connected(discord, desk=desk) as scene:
        told = discord.faults.holds("POST /channels/{channel}/messages")
        for text in ("one", "two", "three", "four"):
            await discord.people.mentions(ALICE, OPS, text)
        await scene.taken(4)
        told.set()
        await scene.settled()

    assert texts(scene) == ["one", "two", "three", "four"]
    assert len(discord.messages(OPS)) == 4 + 3


async def test_showing_that_sayso_writes_holds_nobody_up(discord: FakeDiscord) -> None:
    async with connected(discord) as scene:
        shown = discord.faults.holds(TYPING)
        thread = str((await scene.thread()).thread)
        for text in ("one", "two", "three"):
            await discord.people.mentions(ALICE, thread, text)
        await scene.taken(3)
        assert discord.faults.held[TYPING] == 1
        shown.set()
        await scene.settled()
        await discord.people.mentions(ALICE, thread, "four")
        await discord.until(lambda: len(discord.calls(TYPING)) == 2)

    assert texts(scene) == ["one", "two", "three", "four"]


async def test_a_press_in_a_channel_of_a_kind_of_tomorrow_is_answered(
    discord: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with connected(discord) as scene:
        card = await scene.card()
        tells = discord.gateway.interact

        def odd(data: Json) -> int:
            sent = copied(data)
            sent["channel"] = {**sent["channel"], "type": 99, "id": OTHER}
            sent["channel_id"] = OTHER
            return tells(sent)

        monkeypatch.setattr(discord.gateway, "interact", odd)
        act = await discord.people.presses(ALICE, card, "Approve")
        await discord.over(act)
        assert act.answer is not None


def _nobody(_: str, __: Json) -> None:
    """Tell nobody."""


def _polling() -> "asyncio.Task[object]":
    """Return what runs discord.py's client."""
    return next(task for task in asyncio.all_tasks() if "coro=<Gateway._run()" in repr(task))
