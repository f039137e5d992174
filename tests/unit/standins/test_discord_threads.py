"""Threads on our own Discord: how they begin, are put away and come back, and who may do what."""

import discord as dpy
import pytest

from tests.standins.discord import ALICE, BOB, OPS, FakeDiscord, Json
from tests.standins.discordpy import Listening

FORUM = "600000000000000002"


async def code(client: Listening, method: str, path: str, body: Json | None = None) -> int:
    """Return the code that Discord refuses with."""
    with pytest.raises(dpy.HTTPException) as refused:
        await client.call(method, path, body)
    return refused.value.code


async def test_a_thread_has_the_id_of_the_message_it_began_with_and_there_is_one(
    discord: FakeDiscord, listening: Listening
) -> None:
    asked = await discord.people.mentions(ALICE, OPS, "restart web")
    made = await listening.call(
        "POST", f"/channels/{OPS}/messages/{asked['id']}/threads", {"name": "restart web"}
    )
    assert made["id"] == asked["id"]
    assert discord.threads(OPS) == [made["id"]]
    path = f"/channels/{OPS}/messages/{asked['id']}/threads"
    assert await code(listening, "POST", path, {"name": "again"}) == 160004
    await discord.until(lambda: listening.guilds[0].get_thread(int(made["id"])))
    await discord.people.writes(BOB, made["id"], "go on")
    await discord.until(lambda: listening.words[-1:] == ["go on"])
    assert discord.seen_in(made["id"]) == ["go on"]
    kinds = [each.type for each in listening.heard]
    assert dpy.MessageType.thread_starter_message in kinds


async def test_a_thread_without_a_message_is_announced_in_its_channel(
    discord: FakeDiscord, listening: Listening
) -> None:
    await listening.call("POST", f"/channels/{OPS}/threads", {"name": "alone", "type": 11})
    await discord.until(lambda: listening.heard)
    assert listening.heard[0].type is dpy.MessageType.thread_created
    assert discord.seen_in(OPS) == []


async def test_a_post_in_a_forum_is_a_thread_with_a_first_message(
    discord: FakeDiscord, listening: Listening
) -> None:
    discord.world.channel(FORUM, "help", forum=True)
    thread = await discord.people.opens_post(ALICE, FORUM, "web is down", "please look")
    await discord.until(lambda: listening.heard)
    [first] = listening.heard
    assert str(first.id) == str(first.channel.id) == thread
    assert await code(
        listening, "POST", f"/channels/{FORUM}/messages", {"content": "not here"}
    ) == 50008  # fmt: skip
    made = await listening.call(
        "POST", f"/channels/{FORUM}/threads", {"name": "ours", "message": {"content": "hello"}}
    )
    assert discord.seen_in(str(made["id"])) == ["hello"]


async def test_a_message_brings_an_archived_thread_back(
    discord: FakeDiscord, rest: Listening
) -> None:
    thread = await discord.people.opens_thread(ALICE, OPS, "old")
    own = await rest.call("POST", f"/channels/{thread}/messages", {"content": "before"})
    await discord.people.archives(thread)
    there = await rest.call("GET", f"/channels/{OPS}/threads/archived/public")
    assert [each["id"] for each in there["threads"]] == [thread]
    edit = f"/channels/{thread}/messages/{own['id']}"
    assert await code(rest, "PATCH", edit, {"content": "after"}) == 50083
    assert await code(rest, "PATCH", f"/channels/{thread}", {"locked": True}) == 50013
    await rest.call("POST", f"/channels/{thread}/messages", {"content": "back"})
    found = await rest.call("GET", f"/channels/{thread}")
    assert found["thread_metadata"]["archived"] is False


async def test_a_locked_thread_takes_nothing_without_the_permission(
    discord: FakeDiscord, rest: Listening
) -> None:
    thread = await discord.people.opens_thread(ALICE, OPS, "closed")
    await discord.people.locks(thread)
    post = f"/channels/{thread}/messages"
    assert await code(rest, "POST", post, {"content": "x"}) == 160005
    await discord.people.archives(thread, locked=True)
    assert await code(rest, "POST", post, {"content": "x"}) == 50083
    assert await code(rest, "PATCH", f"/channels/{thread}", {"archived": False}) == 50013
    discord.world.allow(OPS, "manage_threads")
    await rest.call("POST", post, {"content": "as a moderator"})
    assert discord.seen_in(thread) == ["as a moderator"]


async def test_only_open_threads_that_the_bot_sees_are_listed(
    discord: FakeDiscord, rest: Listening
) -> None:
    first = await discord.people.opens_thread(ALICE, OPS, "one")
    second = await discord.people.opens_thread(ALICE, OPS, "two")
    await discord.people.archives(second)
    guild = discord.world.guild_of(OPS)
    path = f"/guilds/{guild}/threads/active"
    assert [each["id"] for each in (await rest.call("GET", path))["threads"]] == [first]
    discord.world.deny(OPS, "view_channel")
    assert (await rest.call("GET", path))["threads"] == []


async def test_members_of_a_thread_come_and_go(discord: FakeDiscord, rest: Listening) -> None:
    thread = await discord.people.opens_thread(ALICE, OPS, "one")
    members = f"/channels/{thread}/thread-members"
    assert await code(rest, "GET", f"{members}/{BOB}") == 10007
    await rest.call("PUT", f"{members}/{BOB}")
    await rest.call("PUT", f"{members}/@me")
    assert (await rest.call("GET", f"{members}/{BOB}"))["user_id"] == BOB
    await rest.call("DELETE", f"{members}/@me")
    assert await code(rest, "GET", f"{members}/@me") == 10007
    await discord.people.archives(thread)
    assert await code(rest, "PUT", f"{members}/@me") == 50083


POST, THREAD = f"/channels/{OPS}/messages", f"/channels/{OPS}/threads"
LACKING: dict[str, tuple[str, str, str, Json | None, int]] = {
    "sight": ("view_channel", "GET", f"/channels/{OPS}", None, 50001),
    "sight of where to post": ("view_channel", "POST", POST, {"content": "x"}, 50001),
    "posting": ("send_messages", "POST", POST, {"content": "x"}, 50013),
    "threads": ("create_public_threads", "POST", THREAD, {"name": "x", "type": 11}, 50013),
    "channels": ("manage_channels", "PATCH", f"/channels/{OPS}", {"name": "x"}, 50013),
}


@pytest.mark.parametrize("what", LACKING)
async def test_what_the_bot_may_not_do_is_refused(
    discord: FakeDiscord, rest: Listening, what: str
) -> None:
    name, method, path, body, expected = LACKING[what]
    discord.world.deny(OPS, name)
    assert await code(rest, method, path, body) == expected
    discord.world.allow(OPS, name)
    await rest.call(method, path, body)


async def test_posting_in_threads_is_a_permission_of_its_own(
    discord: FakeDiscord, rest: Listening
) -> None:
    thread = await discord.people.opens_thread(ALICE, OPS, "one")
    discord.world.deny(OPS, "send_messages")
    await rest.call("POST", f"/channels/{thread}/messages", {"content": "still"})
    discord.world.deny(OPS, "send_messages_in_threads")
    path = f"/channels/{thread}/messages"
    assert await code(rest, "POST", path, {"content": "x"}) == 50013


async def test_without_history_nothing_is_read_and_nothing_replied_to(
    discord: FakeDiscord, rest: Listening
) -> None:
    there = await discord.people.writes(ALICE, OPS, "before")
    discord.world.deny(OPS, "read_message_history")
    assert await rest.listed(POST) == []
    assert await code(rest, "GET", f"{POST}/{there['id']}") == 50013
    reply: Json = {"content": "x", "message_reference": {"message_id": there["id"]}}
    assert await code(rest, "POST", POST, reply) == 160002


async def test_files_are_a_permission_of_their_own(discord: FakeDiscord, rest: Listening) -> None:
    discord.world.deny(OPS, "attach_files")
    place = rest.get_partial_messageable(int(OPS))
    with pytest.raises(dpy.Forbidden) as refused:
        await place.send("see", file=dpy.File(__file__))
    assert refused.value.code == 50013


async def test_a_role_can_take_away_what_everybody_has(
    discord: FakeDiscord, rest: Listening
) -> None:
    guild = str(discord.world.guild_of(OPS))
    discord.world.deny(OPS, "send_messages", who=guild)
    assert await code(rest, "POST", POST, {"content": "x"}) == 50013
    discord.world.allow(OPS, "send_messages")
    await rest.call("POST", POST, {"content": "x"})
