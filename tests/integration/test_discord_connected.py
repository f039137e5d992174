"""Being connected to Discord: what is set up wrongly, who holds a shard, leaving."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest

from adapters.discord.platform import DiscordPlatform
from core.deliveries import Text
from core.errors import Invalid, SaysoError, Unavailable
from core.events import Ask, Invited
from core.platforms import Told
from tests.discord_scene import BRIEF, QUICK, Scene, connected, discord_of_four, platform_of
from tests.fakes.desk import FakeDesk
from tests.fakes.leases import FakeLeases
from tests.standins.discord import ALICE, GUILD, OPS, FakeDiscord
from tests.standins.discord.gateway import created

SHARD = "discord:900000000000000001:0:1"
DAY = timedelta(days=1)


@pytest.fixture
async def discord() -> AsyncIterator[FakeDiscord]:
    async with discord_of_four() as discord:
        yield discord


async def why_not(platform: DiscordPlatform) -> SaysoError:
    """Return why it does not connect."""
    with pytest.raises(SaysoError) as caught:
        async with platform.connected(FakeDesk()):
            pass
    return caught.value


async def test_a_wrong_token_is_named(discord: FakeDiscord) -> None:
    error = await why_not(platform_of(discord, token="wrong-token"))

    assert isinstance(error, Invalid)
    assert "discord.token" in error.shown
    assert "wrong-token" not in error.shown


async def test_a_token_that_only_the_gateway_refuses_is_named(discord: FakeDiscord) -> None:
    discord.gateway.token = "another"

    error = await why_not(platform_of(discord))

    assert isinstance(error, Invalid)
    assert "discord.token" in error.shown


async def test_a_missing_intent_is_named_with_what_to_do(discord: FakeDiscord) -> None:
    discord.world.privileged = 0

    error = await why_not(platform_of(discord))

    assert isinstance(error, Invalid)
    assert "Message Content Intent" in error.shown
    assert "discord.threads: mentions" in error.shown


async def test_without_that_intent_mentions_alone_are_enough(discord: FakeDiscord) -> None:
    discord.world.privileged = 0

    async with connected(discord, mentions_only=True) as scene:
        await discord.people.mentions(ALICE, OPS, "restart web")
        await scene.taken()

    [event] = scene.desk.events
    assert isinstance(event, Ask)
    assert event.text == "restart web"


async def test_discord_away_is_unavailable(discord: FakeDiscord) -> None:
    discord.faults.down = True

    assert isinstance(await why_not(platform_of(discord)), Unavailable)


async def test_a_gateway_that_lets_nobody_in_is_unavailable(discord: FakeDiscord) -> None:
    discord.gateway.down = True

    error = await why_not(platform_of(discord, tempo=replace(QUICK, opens=0.3)))

    assert isinstance(error, Unavailable)


async def test_where_no_session_is_left_it_says_when_there_is(discord: FakeDiscord) -> None:
    discord.state.sessions_left = 0

    error = await why_not(platform_of(discord))

    assert isinstance(error, Unavailable)
    assert error.after is not None
    assert "no further session" in error.shown
    assert discord.gateway.identified == []


async def test_what_is_asked_for_is_no_more_than_is_needed(discord: FakeDiscord) -> None:
    async with connected(discord):
        [identified] = discord.gateway.identified

    assert identified["intents"] == 1 << 0 | 1 << 9 | 1 << 12 | 1 << 15
    assert identified["shard"] == [0, 1]


async def test_every_shard_is_held_by_one_connection(discord: FakeDiscord) -> None:
    discord.state.shards = 3

    async with connected(discord) as scene:
        assert [each["shard"] for each in discord.gateway.identified] == [[0, 3], [1, 3], [2, 3]]
        await discord.people.mentions(ALICE, OPS, "restart web")
        await scene.taken()
        await scene.settled()

    assert len(scene.desk.events) == 1


async def test_of_two_processes_one_holds_the_shard_and_the_other_takes_over(
    discord: FakeDiscord,
) -> None:
    leases, desk = FakeLeases(), FakeDesk()
    first = platform_of(discord, leases=leases, owner="1:1")
    async with connected(discord, desk=desk, leases=leases, owner="2:2") as second:
        async with first.connected(desk):
            assert len(discord.gateway.identified) == 1
            await discord.people.mentions(ALICE, OPS, "restart web")
            await second.taken()
        assert await leases.holder(SHARD) == "2:2"
        assert len(desk.events) == 1


async def test_whoever_stands_by_takes_over_once_the_other_has_left(discord: FakeDiscord) -> None:
    leases, desk = FakeLeases(), FakeDesk()
    second = platform_of(discord, leases=leases, owner="2:2")
    async with connected(discord, desk=desk, leases=leases, owner="1:1"):
        standing_by = second.connected(desk)
        await standing_by.__aenter__()
        assert len(discord.gateway.identified) == 1
    await discord.gateway.until_identified(2)
    await discord.people.mentions(ALICE, OPS, "restart web")
    await Scene(discord=discord, platform=second, desk=desk).taken()
    await standing_by.__aexit__(None, None, None)

    assert len(desk.events) == 1
    assert await leases.holder(SHARD) is None


async def test_whoever_stands_by_delivers_all_the_same(discord: FakeDiscord) -> None:
    leases = FakeLeases()
    await leases.take(SHARD, "9:9", DAY)

    async with connected(discord, leases=leases) as scene:
        place = await scene.thread()
        await scene.platform.chat.post(place, Text(text="Done."), key="post:c:1")

        assert discord.gateway.identified == []
        assert "Done." in discord.seen_in(str(place.thread))[-1]


async def test_a_lease_that_was_lost_closes_the_connection_at_once(discord: FakeDiscord) -> None:
    leases = FakeLeases()
    async with connected(discord, leases=leases):
        leases.kept[SHARD] = ("9:9", leases.clock.now() + DAY)
        await discord.gateway.until_connected(0)

        assert await leases.holder(SHARD) == "9:9"
    assert await leases.holder(SHARD) == "9:9"


async def test_a_lease_that_comes_back_connects_again(discord: FakeDiscord) -> None:
    leases = FakeLeases()
    async with connected(discord, leases=leases) as scene:
        leases.kept[SHARD] = ("9:9", leases.clock.now() + DAY)
        await discord.gateway.until_connected(0)
        del leases.kept[SHARD]
        await discord.gateway.until_identified(2)
        await discord.people.mentions(ALICE, OPS, "restart web")
        await scene.taken()


class Silent(FakeLeases):
    """Leases of a database that does not answer any more."""

    is_silent: bool = False

    async def take(self, name: str, owner: str, lasts: timedelta) -> bool:
        if self.is_silent:
            await asyncio.Event().wait()
        return await super().take(name, owner, lasts)


async def test_while_nobody_knows_whose_the_lease_is_the_connection_is_closed_before_it_ends(
    discord: FakeDiscord,
) -> None:
    leases = Silent()
    loop = asyncio.get_running_loop()
    async with connected(discord, leases=leases, terms=replace(BRIEF, lasts=1.0, spare=0.6)):
        leases.is_silent, at = True, loop.time()
        await discord.gateway.until_connected(0)

        assert loop.time() - at < 1.0
        leases.is_silent = False
        await discord.gateway.until_identified(2)


async def test_leaving_gives_the_shard_back_and_leaves_no_task(discord: FakeDiscord) -> None:
    leases, before = FakeLeases(), asyncio.all_tasks()
    async with connected(discord, leases=leases):
        assert await leases.holder(SHARD) == "1:1"

    assert await leases.holder(SHARD) is None
    await discord.gateway.until_connected(0)
    left = {task for task in asyncio.all_tasks() - before if "adapters" in repr(task)}
    assert left == set()


async def test_on_leaving_what_was_taken_in_comes_to_its_end(discord: FakeDiscord) -> None:
    desk = FakeDesk(gate=asyncio.Event(), says=[Told(text="Stopped one run.")])
    async with connected(discord, desk=desk) as scene:
        stopped = await discord.people.slash(ALICE, OPS, "stop")
        await scene.taken()
        asyncio.get_running_loop().call_later(0.2, desk.gate.set)  # type: ignore[union-attr]

    assert stopped.alone == ["Stopped one run."]


async def test_on_leaving_nothing_new_is_taken_in_and_people_are_told(discord: FakeDiscord) -> None:
    desk = FakeDesk(gate=asyncio.Event())
    async with connected(discord, desk=desk) as scene:
        await discord.people.slash(ALICE, OPS, "stop")
        await scene.taken()
        leaving = asyncio.create_task(_later(discord, desk))

    late = await leaving
    assert "started anew" in late.alone[0]
    assert len(desk.events) == 1


async def _later(discord: FakeDiscord, desk: FakeDesk):  # type: ignore[no-untyped-def] # noqa: ANN202
    """Ask while Sayso is leaving, then let it leave."""
    await asyncio.sleep(0.05)
    late = await discord.people.slash(ALICE, OPS, "ask", text="restart web")
    await discord.people.mentions(ALICE, OPS, "restart web")
    await discord.over(late)
    assert desk.gate is not None
    desk.gate.set()
    return late


async def test_a_server_into_which_sayso_is_brought_is_greeted_once(discord: FakeDiscord) -> None:
    guild = "710000000000000001"
    desk = FakeDesk(says=[Told(text="Hello, ask me.")])
    guilds = frozenset({GUILD, guild})
    async with connected(discord, desk=desk, guilds=guilds) as scene:
        await discord.until(lambda: not scene.platform.tasks.running)
        discord.world.guild(guild, "other")
        channel = discord.world.channel("610000000000000001", "general", guild=guild)
        await joins(discord, guild)
        await joins(discord, guild)
        await scene.taken()
        await scene.settled()

    [event] = desk.events
    assert isinstance(event, Invited)
    assert (event.place.workspace, event.place.channel) == (guild, channel)
    assert [text for text in discord.seen_in(channel) if "Hello, ask me." in text]


async def joins(discord: FakeDiscord, guild: str) -> None:
    """Have a session told that the bot was brought into a server."""
    told = created(discord.world, guild)
    del told["unavailable"]
    discord.gateway.tell("GUILD_CREATE", {**told, "guild_id": guild})


async def test_at_a_start_no_server_is_greeted(discord: FakeDiscord) -> None:
    async with connected(discord) as scene:
        await discord.people.mentions(ALICE, OPS, "restart web")
        await scene.taken()

    assert [type(event) for event in scene.desk.events] == [Ask]


async def test_the_chat_works_without_being_connected(discord: FakeDiscord) -> None:
    scene = Scene(discord=discord, platform=platform_of(discord))
    place = await scene.thread()

    await scene.platform.chat.post(place, Text(text="Done."), key="post:c:1")

    assert "Done." in discord.seen_in(str(place.thread))[-1]


async def test_a_check_finds_nothing_wrong_and_opens_no_session(discord: FakeDiscord) -> None:
    said = await platform_of(discord).check()

    assert [one for one in said if "permission" not in one] == []
    assert discord.gateway.opened == 0
