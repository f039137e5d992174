"""What was written while nobody was connected: asked once, the oldest first, and nothing but asks."""

from collections.abc import AsyncIterator

import pytest

from core.errors import Refused
from core.events import Ask
from tests.discord_scene import Scene, connected, discord_of_four
from tests.fakes.desk import FakeDesk
from tests.standins.discord import ALICE, GUILD, OPS, FakeDiscord, Json, Time
from tests.standins.discord.gateway import created

HISTORY = "GET /channels/{channel}/messages"


@pytest.fixture
async def discord() -> AsyncIterator[FakeDiscord]:
    async with discord_of_four() as discord:
        yield discord


def texts(scene: Scene) -> list[str]:
    return [event.text for event in scene.desk.events if isinstance(event, Ask)]


async def test_what_was_asked_shortly_before_a_start_is_taken_oldest_first(
    discord: FakeDiscord,
) -> None:
    for text in ("one", "two", "three"):
        await discord.people.mentions(ALICE, OPS, text)

    async with connected(discord) as scene:
        await discord.people.mentions(ALICE, OPS, "four")
        await scene.taken(4)
        await scene.settled()

    assert texts(scene) == ["one", "two", "three", "four"]


async def test_what_was_asked_long_before_a_start_is_left_alone() -> None:
    async with FakeDiscord(time=Time(ahead=-16 * 60)) as discord:
        await discord.people.mentions(ALICE, OPS, "long ago")
        discord.passes(16 * 60)
        await discord.people.mentions(ALICE, OPS, "just now")

        async with connected(discord) as scene:
            await scene.taken()
            await scene.settled()

    assert texts(scene) == ["just now"]


async def test_where_nothing_was_written_nothing_is_fetched(discord: FakeDiscord) -> None:
    discord.world.channel("600000000000000009", "quiet")
    await discord.people.mentions(ALICE, OPS, "one")

    async with connected(discord) as scene:
        await scene.taken()

    assert {call.path for call in discord.calls(HISTORY)} == {f"/channels/{OPS}/messages"}


async def test_threads_are_looked_through_as_well(discord: FakeDiscord) -> None:
    thread = await discord.people.opens_thread(ALICE, OPS, "web")
    await discord.people.writes(ALICE, thread, "and db?")

    async with connected(discord) as scene:
        await scene.taken()

    [event] = scene.desk.events
    assert isinstance(event, Ask)
    assert (event.place.channel, event.place.thread, event.known_only) == (OPS, thread, True)


async def test_nothing_but_asks_is_taken_late(discord: FakeDiscord) -> None:
    for text in ("stop", "help", "approve it", f"approve {'a' * 32}"):
        await discord.people.mentions(ALICE, OPS, text)
    await discord.people.mentions(ALICE, OPS, "restart web")

    async with connected(discord) as scene:
        await scene.taken()
        await scene.settled()

    assert texts(scene) == ["restart web"]
    assert len(scene.desk.events) == 1
    assert len(discord.messages(OPS)) == 5


async def test_more_than_one_page_is_fetched(discord: FakeDiscord) -> None:
    for number in range(130):
        await discord.people.mentions(ALICE, OPS, f"restart {number}")

    async with connected(discord) as scene:
        await scene.taken(130)

    assert texts(scene) == [f"restart {number}" for number in range(130)]


async def test_a_channel_that_cannot_be_read_keeps_nothing_else_from_being_read(
    discord: FakeDiscord,
) -> None:
    other = discord.world.channel("600000000000000009", "other")
    await discord.people.mentions(ALICE, OPS, "one")
    await discord.people.mentions(ALICE, other, "two")
    discord.faults.says(HISTORY, 403, 50001, "Missing Access")

    async with connected(discord) as scene:
        await scene.taken()

    assert texts(scene) == ["one"]


async def test_a_refusal_is_said_once_however_often_it_is_fetched(discord: FakeDiscord) -> None:
    await discord.people.mentions(ALICE, OPS, "restart web")

    for _ in range(2):
        discord.world.nonces.clear()  # as after some minutes
        async with connected(discord, desk=FakeDesk(says=[Refused("You may not.")])) as scene:
            await scene.taken()
            await scene.settled()

    assert len(discord.messages(OPS)) == 2


async def test_a_server_that_was_out_of_order_is_looked_through_once_it_is_back(
    discord: FakeDiscord,
) -> None:
    async with connected(discord) as scene:
        await discord.people.mentions(ALICE, OPS, "one")
        await scene.taken()
        await scene.settled()
        discord.gateway.tell("GUILD_DELETE", {"id": GUILD, "guild_id": GUILD, "unavailable": True})
        discord.world.tell = _nobody
        await discord.people.mentions(ALICE, OPS, "two")
        discord.gateway.tell("GUILD_CREATE", {**created(discord.world, GUILD), "guild_id": GUILD})
        await scene.taken(2)

    assert texts(scene) == ["one", "two"]


async def test_what_comes_in_meanwhile_waits_and_is_not_fetched_as_well(
    discord: FakeDiscord,
) -> None:
    thread = await discord.people.opens_thread(ALICE, OPS, "web")
    await discord.people.writes(ALICE, thread, "one")
    fetched = discord.faults.holds(HISTORY)
    async with connected(discord) as scene:
        await discord.until(lambda: discord.faults.held.get(HISTORY))
        await discord.people.writes(ALICE, thread, "two")
        await discord.until(lambda: len(discord.gateway.sessions[0].told("MESSAGE_CREATE")) == 1)
        assert scene.desk.events == []
        fetched.set()
        await scene.taken(2)
        await scene.settled()

    assert texts(scene) == ["one", "two"]
    assert len(discord.calls("POST /channels/{channel}/typing")) == 1


async def test_a_message_that_was_lost_before_another_one_is_fetched_too(
    discord: FakeDiscord,
) -> None:
    async with connected(discord) as scene:
        await discord.people.mentions(ALICE, OPS, "one")
        await scene.taken()
        tells, discord.world.tell = discord.world.tell, _nobody
        await discord.people.mentions(ALICE, OPS, "two")
        discord.world.tell = tells
        await discord.people.mentions(ALICE, OPS, "three")
        await scene.taken(2)
        await discord.gateway.invalidate()
        await scene.taken(3)

    assert texts(scene) == ["one", "three", "two"]


def _nobody(_: str, __: Json) -> None:
    """Tell nobody."""
