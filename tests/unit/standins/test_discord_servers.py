"""Servers of our own Discord: what is known of them, and how the bot comes in and goes."""

import asyncio

import discord as dpy
import pytest

from tests.standins.discord import ALICE, BOB, BOT, GUILD, MALLORY, OPS, FakeDiscord
from tests.standins.discord.world import BOT_ROLE, OWNER
from tests.standins.discordpy import Listening

OTHER = "710000000000000001"


async def test_the_roles_of_a_member_are_their_ids(discord: FakeDiscord, rest: Listening) -> None:
    discord.world.role("800000000000000001", "approvers")
    await discord.people.changes_roles(BOB, "800000000000000001")
    member = await rest.call("GET", f"/guilds/{GUILD}/members/{BOB}")
    assert member["roles"] == ["800000000000000001"]
    roles = await rest.listed(f"/guilds/{GUILD}/roles")
    assert [each["id"] for each in roles] == [GUILD, BOT_ROLE, "800000000000000001"]


@pytest.mark.parametrize(("who", "code"), [(MALLORY, 10007), ("1", 10013)])
async def test_who_is_not_there_is_not_found(
    discord: FakeDiscord, rest: Listening, who: str, code: int
) -> None:
    await discord.people.leaves(MALLORY)
    with pytest.raises(dpy.NotFound) as refused:
        await rest.call("GET", f"/guilds/{GUILD}/members/{who}")
    assert refused.value.code == code


async def test_the_application_and_its_servers_are_named(
    discord: FakeDiscord, rest: Listening
) -> None:
    discord.world.guild(OTHER, "other")
    guilds = await rest.listed("/users/@me/guilds")
    assert [each["name"] for each in guilds] == ["acme", "other"]
    flags = (await rest.call("GET", "/oauth2/applications/@me"))["flags"]
    assert flags & dpy.ApplicationFlags.gateway_message_content_limited.flag
    discord.world.privileged = 0
    assert (await rest.call("GET", f"/applications/{BOT}"))["flags"] == 0


async def test_the_gateway_says_how_often_one_may_come(
    discord: FakeDiscord, rest: Listening
) -> None:
    discord.state.shards, discord.state.sessions_left = 2, 0
    told = await rest.call("GET", "/gateway/bot")
    assert (told["url"], told["shards"]) == (discord.gateway_url, 2)
    assert told["session_start_limit"]["remaining"] == 0


async def test_without_the_token_nothing_is_told(discord: FakeDiscord, rest: Listening) -> None:
    rest.http.token = "another"
    with pytest.raises(dpy.HTTPException) as refused:
        await rest.call("GET", f"/channels/{OPS}")
    assert refused.value.status == 401
    assert [call.authorized for call in discord.calls("GET /channels/{channel}")] == [False]


async def test_the_bot_is_brought_in_and_sent_away(
    discord: FakeDiscord, listening: Listening
) -> None:
    discord.world.guild(OTHER, "other")
    discord.world.lets(BOT_ROLE, "view_audit_log", guild=OTHER)
    joined = asyncio.ensure_future(listening.wait_for("guild_join", timeout=10))
    await asyncio.sleep(0)
    await discord.people.brings(ALICE, OTHER)
    guild: dpy.Guild = await joined
    assert str(guild.owner_id) == OWNER
    entries = [each async for each in guild.audit_logs(action=dpy.AuditLogAction.bot_add)]
    assert [str(each.user_id) for each in entries] == [ALICE]
    left = asyncio.ensure_future(listening.wait_for("guild_remove", timeout=10))
    await asyncio.sleep(0)
    await discord.people.sends_away(OTHER)
    assert await left == guild
    with pytest.raises(dpy.Forbidden) as refused:
        await listening.call("GET", f"/guilds/{OTHER}")
    assert refused.value.code == 50001


async def test_who_brought_the_bot_is_nothing_for_everybody(
    discord: FakeDiscord, rest: Listening
) -> None:
    await discord.people.brings(ALICE, GUILD)
    with pytest.raises(dpy.Forbidden):
        await rest.call("GET", f"/guilds/{GUILD}/audit-logs")


async def test_a_slow_answer_comes_after_the_effect(discord: FakeDiscord, rest: Listening) -> None:
    gate = discord.faults.holds("POST /channels/{channel}/messages")
    place = rest.get_partial_messageable(int(OPS))
    posting = asyncio.create_task(place.send("late"))
    await discord.until(lambda: discord.faults.held)
    assert discord.seen_in(OPS) == []
    discord.faults.delays("POST /channels/{channel}/messages", 0.2)
    gate.set()
    await discord.until(lambda: discord.seen_in(OPS))
    assert not posting.done()
    await posting


async def test_a_fault_of_a_route_that_there_is_not_is_a_mistake_of_the_test(
    discord: FakeDiscord,
) -> None:
    with pytest.raises(AssertionError, match="is none of"):
        discord.faults.fails("POST /channels/messages")
