"""Sessions on our own Discord: what is missed is told again, what is over begins anew."""

import asyncio

import discord as dpy
import pytest

from tests.standins.discord import ALICE, BOB, OPS, FakeDiscord
from tests.standins.discordpy import INTENTS, Listening, connected, pointed_at

ELSEWHERE = str(700000000000000001 + (1 << 22))
"""A server of the other one of two shards."""


async def test_what_was_missed_is_told_once_the_session_is_taken_up_again(
    discord: FakeDiscord, listening: Listening
) -> None:
    await discord.people.writes(ALICE, OPS, "before")
    await discord.until(lambda: listening.words == ["before"])
    await discord.gateway.drop()
    await discord.people.writes(ALICE, OPS, "meanwhile")
    await discord.gateway.until_resumed()
    await discord.people.writes(ALICE, OPS, "after")
    await discord.until(lambda: len(listening.words) >= 3)
    assert listening.words == ["before", "meanwhile", "after"]
    assert len(discord.gateway.identified) == 1


async def test_told_to_connect_again_it_takes_up_its_session(
    discord: FakeDiscord, listening: Listening
) -> None:
    await discord.gateway.reconnect()
    await discord.gateway.until_resumed()
    await discord.people.writes(ALICE, OPS, "after")
    await discord.until(lambda: listening.words == ["after"])


async def test_a_session_that_may_be_taken_up_is(
    discord: FakeDiscord, listening: Listening
) -> None:
    await discord.gateway.invalidate(resumable=True)
    await discord.gateway.until_resumed()
    await discord.people.writes(ALICE, OPS, "after")
    await discord.until(lambda: listening.words == ["after"])


async def test_a_session_that_is_over_begins_anew_and_misses_what_was(
    discord: FakeDiscord, listening: Listening
) -> None:
    await discord.gateway.invalidate()
    await discord.people.writes(ALICE, OPS, "meanwhile")
    await discord.gateway.until_identified(2)
    await discord.people.writes(ALICE, OPS, "after")
    await discord.until(lambda: listening.words == ["after"])
    assert discord.gateway.resumed == []
    assert discord.gateway.sessions == discord.gateway.connected


async def test_a_session_that_was_forgotten_cannot_be_taken_up(
    discord: FakeDiscord, listening: Listening
) -> None:
    discord.gateway.forget()
    await discord.gateway.drop()
    await discord.people.writes(ALICE, OPS, "meanwhile")
    await discord.gateway.until_identified(2)
    await discord.people.writes(ALICE, OPS, "after")
    await discord.until(lambda: listening.words == ["after"])
    assert len(discord.gateway.resumed) == 1


async def test_who_gets_no_acknowledgements_connects_again(discord: FakeDiscord) -> None:
    discord.gateway.heartbeat = 0.2
    async with connected(discord, heartbeat_timeout=1.0):
        discord.gateway.acks = False
        await discord.until(lambda: discord.gateway.opened >= 2)
        discord.gateway.acks = True
        await discord.gateway.until_resumed()
        assert discord.gateway.heartbeats > 0


@pytest.mark.parametrize(
    ("token", "intents", "error"),
    [
        ("fake-discord-token", INTENTS | dpy.Intents(members=True), dpy.PrivilegedIntentsRequired),
        ("another", INTENTS, dpy.LoginFailure),
    ],
)
async def test_who_is_not_allowed_does_not_get_in(
    discord: FakeDiscord, token: str, intents: dpy.Intents, error: type[Exception]
) -> None:
    with pointed_at(discord):
        async with Listening(intents) as client:
            with pytest.raises(error):
                await asyncio.wait_for(client.start(token), 10)
    assert discord.gateway.connected == []


async def test_a_token_that_is_no_more_closes_the_session(discord: FakeDiscord) -> None:
    with pytest.raises(dpy.ConnectionClosed) as closed:  # noqa: PT012 - the client says it on its end
        async with connected(discord) as client:
            discord.gateway.token = "a new one"
            await discord.gateway.drop()
            await discord.until(client.is_closed)
    assert closed.value.code == 4004
    assert discord.gateway.connected == []


async def test_each_shard_is_told_of_its_own_servers(discord: FakeDiscord) -> None:
    discord.world.guild(ELSEWHERE, "elsewhere")
    discord.world.person(ALICE, "alice", guild=ELSEWHERE)
    discord.world.channel("600000000000000009", "there", guild=ELSEWHERE)
    mine = (int(ELSEWHERE) >> 22) % 2
    async with connected(discord, shard=(mine, 2)) as client:
        assert [each.name for each in client.guilds] == ["elsewhere"]
        await discord.people.writes(ALICE, OPS, "not there")
        await discord.people.writes(ALICE, "600000000000000009", "there")
        await discord.until(lambda: client.words)
        assert client.words == ["there"]


async def test_every_session_of_a_shard_is_told_of_everything(discord: FakeDiscord) -> None:
    async with connected(discord) as one, connected(discord) as other:
        await discord.people.writes(ALICE, OPS, "to both")
        await discord.until(lambda: one.words == other.words == ["to both"])


async def test_a_change_of_roles_is_told_only_to_who_asks_for_members(
    discord: FakeDiscord,
) -> None:
    discord.world.privileged |= 1 << 1
    asking = INTENTS | dpy.Intents(members=True)
    async with connected(discord), connected(discord, asking):
        await discord.people.changes_roles(BOB)
        without, with_members = discord.gateway.connected
        assert without.told("GUILD_MEMBER_UPDATE") == []
        assert len(with_members.told("GUILD_MEMBER_UPDATE")) == 1


async def test_nothing_is_told_of_a_channel_that_the_bot_does_not_see(
    discord: FakeDiscord, listening: Listening
) -> None:
    discord.world.deny(OPS, "view_channel")
    await discord.people.writes(ALICE, OPS, "hidden")
    discord.world.allow(OPS, "view_channel")
    await discord.people.writes(ALICE, OPS, "shown")
    await discord.until(lambda: listening.words)
    assert listening.words == ["shown"]


async def test_a_new_session_knows_the_threads_and_the_last_message_of_each_channel(
    discord: FakeDiscord,
) -> None:
    thread = await discord.people.opens_thread(ALICE, OPS, "open")
    last = await discord.people.writes(ALICE, thread, "in it")
    old = await discord.people.opens_thread(ALICE, OPS, "old")
    await discord.people.archives(old)
    async with connected(discord) as client:
        [guild] = client.guilds
        [known] = guild.threads
        assert (str(known.id), str(known.last_message_id)) == (thread, last["id"])


async def test_nobody_gets_in_while_it_is_down(discord: FakeDiscord) -> None:
    discord.gateway.down = True
    with pointed_at(discord):
        async with Listening() as client:
            running = asyncio.create_task(client.start(discord.token))
            await discord.until(lambda: discord.calls("GET /users/@me"))
            discord.gateway.down = False
            await discord.gateway.until_connected()
            await client.close()
            await running
