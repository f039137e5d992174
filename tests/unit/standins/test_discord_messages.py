"""Messages on our own Discord, as the real discord.py posts, edits and hears them."""

import io

import aiohttp
import discord as dpy
import pytest

from tests.standins.discord import ALICE, BOB, BOT, MALLORY, OPS, FakeDiscord, Json
from tests.standins.discordpy import Listening, connected, logged_in

POST = "POST /channels/{channel}/messages"
NONE = dpy.AllowedMentions.none()


def ops(client: Listening) -> dpy.PartialMessageable:
    return client.get_partial_messageable(int(OPS))


async def test_a_client_comes_to_know_the_server_and_what_it_may_do(
    discord: FakeDiscord, listening: Listening
) -> None:
    [guild] = listening.guilds
    channel = guild.get_channel(int(OPS))
    assert isinstance(channel, dpy.TextChannel)
    assert (channel.name, str(guild.me.id)) == ("ops", BOT)
    assert channel.permissions_for(guild.me).send_messages_in_threads
    assert not channel.permissions_for(guild.me).manage_threads
    assert len(discord.gateway.connected) == 1


async def test_what_people_write_is_heard_and_what_the_bot_writes_too(
    discord: FakeDiscord, listening: Listening
) -> None:
    await discord.people.mentions(ALICE, OPS, "restart web")
    await discord.people.dms(BOB, "psst")
    await ops(listening).send("working on it")
    await discord.until(lambda: len(listening.heard) == 3)
    mention, direct, own = listening.heard
    assert (mention.content, str(mention.author.id)) == (f"<@{BOT}> restart web", ALICE)
    assert [str(each.id) for each in mention.mentions] == [BOT]
    assert (direct.guild, direct.content) == (None, "psst")
    assert isinstance(direct.channel, dpy.DMChannel)
    assert own.author == listening.user
    assert discord.seen_in(OPS) == [f"<@{BOT}> restart web", "working on it"]


async def test_a_message_with_the_same_nonce_is_posted_once(
    discord: FakeDiscord, rest: Listening
) -> None:
    first = await ops(rest).send("once", nonce="n1")
    again = await ops(rest).send("once", nonce="n1")
    other = await ops(rest).send("once", nonce="n2")
    assert first.id == again.id != other.id
    assert discord.seen_in(OPS) == ["once", "once"]


async def test_a_nonce_is_forgotten_after_some_minutes(
    discord: FakeDiscord, rest: Listening
) -> None:
    await ops(rest).send("once", nonce="n1")
    discord.passes(200)
    await ops(rest).send("once", nonce="n1")
    assert len(discord.seen_in(OPS)) == 2


async def test_an_answer_lost_after_the_effect_makes_no_second_message(
    discord: FakeDiscord, rest: Listening
) -> None:
    discord.faults.fails(POST, 502, does=True)
    await ops(rest).send("once")
    assert discord.seen_in(OPS) == ["once"]
    assert [call.status for call in discord.calls(POST)] == [502, 200]


async def test_a_connection_that_ends_before_the_effect_leaves_nothing(
    discord: FakeDiscord, rest: Listening
) -> None:
    discord.faults.drops(POST)
    with pytest.raises(aiohttp.ClientError):
        await ops(rest).send("never")
    assert discord.seen_in(OPS) == []


@pytest.mark.parametrize("limit", ["of one route", "of everything"])
async def test_the_client_waits_where_discord_says_that_it_is_too_much(
    discord: FakeDiscord, rest: Listening, limit: str
) -> None:
    discord.faults.rate_limited(POST, after=0.1, everywhere=limit == "of everything")
    await ops(rest).send("late")
    assert [call.status for call in discord.calls(POST)] == [429, 200]


async def test_without_via_the_client_gives_up_at_once(
    discord: FakeDiscord, rest: Listening
) -> None:
    discord.faults.rate_limited(POST, via=False)
    with pytest.raises(dpy.HTTPException) as refused:
        await ops(rest).send("never")
    assert refused.value.status == 429
    assert discord.seen_in(OPS) == []


async def test_a_limit_of_ones_own_is_kept(discord: FakeDiscord, rest: Listening) -> None:
    discord.rates.limit(POST, 2, 0.3)
    for number in range(3):
        await ops(rest).send(str(number))
    assert discord.seen_in(OPS) == ["0", "1", "2"]
    assert discord.rates.most(POST, within=0.3) == 2


async def test_edits_and_deletions_are_told_and_remembered(
    discord: FakeDiscord, listening: Listening
) -> None:
    message = await ops(listening).send("one")
    await message.edit(content="two")
    assert discord.edits(str(message.id)) == ["one", "two"]
    await message.delete()
    assert discord.seen_in(OPS) == []
    [session] = discord.gateway.connected
    assert len(session.told("MESSAGE_UPDATE")) == 1
    assert len(session.told("MESSAGE_DELETE")) == 1


async def test_history_is_read_in_both_directions(discord: FakeDiscord, rest: Listening) -> None:
    made = [await discord.people.writes(ALICE, OPS, str(number)) for number in range(5)]
    after = dpy.Object(int(made[1]["id"]))
    newest = [each.content async for each in ops(rest).history(limit=2)]
    later = [each.content async for each in ops(rest).history(after=after, oldest_first=True)]
    earlier = [each.content async for each in ops(rest).history(before=after)]
    assert (newest, later, earlier) == (["4", "3"], ["2", "3", "4"], ["0"])
    path = f"/channels/{OPS}/messages?limit=2&after={made[1]['id']}"
    assert [each["content"] for each in await rest.listed(path)] == ["3", "2"]


async def test_a_bot_cannot_hide_its_own_message_nor_reply_to_a_notice(
    discord: FakeDiscord, rest: Listening
) -> None:
    own = await rest.call("POST", f"/channels/{OPS}/messages", {"content": "x", "flags": 1 << 6})
    assert own["flags"] == 0
    thread = await discord.people.opens_thread(ALICE, OPS, "one", own)
    [first] = await rest.listed(f"/channels/{thread}/messages")
    reply: Json = {"content": "x", "message_reference": {"message_id": first["id"]}}
    with pytest.raises(dpy.HTTPException) as refused:
        await rest.call("POST", f"/channels/{thread}/messages", reply)
    assert refused.value.code == 50035


async def test_previews_can_be_taken_away_and_given_back(
    discord: FakeDiscord, rest: Listening
) -> None:
    message = await ops(rest).send("https://example.com/a")
    path = f"/channels/{OPS}/messages/{message.id}"
    assert (await rest.call("PATCH", path, {"flags": 1 << 2}))["flags"] == 1 << 2
    assert discord.previews == []
    assert (await rest.call("PATCH", path, {"flags": 0}))["flags"] == 0
    assert discord.previews == ["https://example.com/a"]


async def test_nobody_elses_message_can_be_edited(discord: FakeDiscord, rest: Listening) -> None:
    theirs = await discord.people.writes(ALICE, OPS, "mine")
    with pytest.raises(dpy.Forbidden) as refused:
        await rest.call("PATCH", f"/channels/{OPS}/messages/{theirs['id']}", {"content": "ours"})
    assert refused.value.code == 50005


async def test_a_file_arrives_under_a_name_that_discord_allows(
    discord: FakeDiscord, rest: Listening
) -> None:
    file = dpy.File(io.BytesIO(b"all of it"), filename="the plan (1).txt")
    message = await ops(rest).send("see", file=file)
    [shown] = discord.messages(OPS)
    assert discord.files(shown) == {"the_plan_1.txt": b"all of it"}
    assert await message.attachments[0].read() == b"all of it"


async def test_who_is_pinged_is_what_discord_would_do(
    discord: FakeDiscord, rest: Listening
) -> None:
    text = f"@everyone <@{ALICE}> <@{BOB}>"
    await ops(rest).send(text, allowed_mentions=NONE)
    assert discord.pinged == []
    only_bob = dpy.AllowedMentions(everyone=False, roles=False, users=[dpy.Object(int(BOB))])
    await ops(rest).send(text, allowed_mentions=only_bob)
    [one] = discord.pinged
    assert (set(one.users), one.everyone) == ({BOB}, False)
    await ops(rest).send(text)
    everybody = discord.pinged[-1]
    assert (set(everybody.users), everybody.everyone) == ({ALICE, BOB}, True)


async def test_everybody_is_reached_only_with_the_permission(
    discord: FakeDiscord, rest: Listening
) -> None:
    discord.world.deny(OPS, "mention_everyone")
    await ops(rest).send("@everyone")
    assert discord.pinged == []
    await discord.people.writes(ALICE, OPS, "@everyone")
    assert discord.messages(OPS)[-1]["mention_everyone"] is False


async def test_an_edit_that_mentions_is_counted_as_well(
    discord: FakeDiscord, rest: Listening
) -> None:
    message = await ops(rest).send("quiet", allowed_mentions=NONE)
    await rest.call(
        "PATCH", f"/channels/{OPS}/messages/{message.id}", {"content": f"<@{ALICE}>"}
    )  # fmt: skip
    [told] = discord.pinged
    assert (told.edited, set(told.users)) == (True, {ALICE})


async def test_text_in_components_pings_too(discord: FakeDiscord, rest: Listening) -> None:
    display: Json = {"type": 10, "content": f"<@{ALICE}>"}
    body: Json = {"flags": 1 << 15, "components": [display]}
    await rest.call("POST", f"/channels/{OPS}/messages", body)
    [told] = discord.pinged
    assert told.users == {ALICE}


async def test_links_have_previews_unless_that_is_said(
    discord: FakeDiscord, rest: Listening
) -> None:
    await ops(rest).send("https://example.com/a", suppress_embeds=True)
    await ops(rest).send("<https://example.com/b>")
    assert discord.previews == []
    await ops(rest).send("see https://example.com/c")
    assert discord.previews == ["https://example.com/c"]


async def test_without_the_intent_only_what_is_meant_for_the_bot_is_readable(
    discord: FakeDiscord,
) -> None:
    intents = dpy.Intents(guilds=True, guild_messages=True, dm_messages=True)
    async with connected(discord, intents) as client:
        own = await ops(client).send("mine")
        shown = discord.message(str(own.id))
        await discord.people.writes(ALICE, OPS, "for nobody")
        await discord.people.mentions(ALICE, OPS, "for the bot")
        await discord.people.replies(ALICE, shown, "a reply")
        await discord.people.replies(ALICE, shown, "a quiet reply", ping=False)
        await discord.people.dms(ALICE, "direct")
        await discord.until(lambda: len(client.heard) == 6)
        assert client.words == ["mine", "", f"<@{BOT}> for the bot", "a reply", "", "direct"]


async def test_what_the_portal_does_not_allow_is_not_readable_by_rest_either(
    discord: FakeDiscord,
) -> None:
    discord.world.privileged = 0
    await discord.people.writes(ALICE, OPS, "for nobody")
    async with logged_in(discord) as client:
        assert [each.content async for each in ops(client).history()] == [""]


async def test_direct_messages_go_to_a_channel_with_a_number(
    discord: FakeDiscord, rest: Listening
) -> None:
    user = await rest.fetch_user(int(ALICE))
    message = await user.send("between us")
    assert discord.seen_in(str(message.channel.id)) == ["between us"]
    discord.world.shut_to_bot.add(MALLORY)
    shut = await rest.fetch_user(int(MALLORY))
    with pytest.raises(dpy.Forbidden) as refused:
        await shut.send("hello?")
    assert refused.value.code == 50007


async def test_other_software_is_marked_as_such(discord: FakeDiscord, listening: Listening) -> None:
    await discord.people.bot_writes(OPS, "beep")
    await discord.people.webhook_writes(OPS, "hook")
    await discord.until(lambda: len(listening.heard) == 2)
    bot, hook = listening.heard
    assert bot.author.bot
    assert hook.webhook_id is not None
