"""Asking on Discord: by every way there is, each in the right conversation, and by nobody else's words."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.server import Server, server
from tests.standins.discord import ALICE, BOB, BOT, CAROL, GUILD, OPS

pytestmark = pytest.mark.asyncio(loop_scope="module")
FORUM, SHUT = "600000000000000002", "600000000000000003"
JOIN = "PUT /channels/{channel}/thread-members/{user}"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def acme(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Server]:
    """Give a server with a forum and a channel in which Sayso may not answer."""
    async with server(tmp_path_factory.mktemp("asking") / "acme") as made:
        made.discord.world.channel(FORUM, "questions", forum=True)
        made.discord.world.channel(SHUT, "shut")
        await made.sync()
        await made.serve()
        yield made


async def test_c58_a_command_a_mention_and_a_reply_each_begin_a_conversation(acme: Server) -> None:
    asked = await acme.asks(ALICE, "say one")
    mentioned = await acme.mentions(ALICE, "say two")
    await acme.reads(asked, "said one")
    await acme.reads(mentioned, "said two")
    opening = next(one for one in acme.discord.messages(OPS) if one["id"] == asked)
    replied = await acme.discord.people.replies(BOB, opening, "say three", ping=False)
    await acme.reads(str(replied["id"]), "said three")
    threads = (asked, mentioned, str(replied["id"]))
    assert len({acme.conversation(one) for one in threads}) == 3
    assert [acme.turns(one) for one in threads] == [1, 1, 1]


async def test_c58_what_follows_in_a_thread_goes_on_in_its_conversation(acme: Server) -> None:
    thread = await acme.asks(ALICE, "say hello")
    await acme.reads(thread, "said hello")
    await acme.says(ALICE, thread, "say again")
    await acme.reads(thread, "said again")
    await acme.discord.people.mentions(BOB, thread, "say more")
    await acme.reads(thread, "said more")
    await acme.discord.people.replies(ALICE, acme.discord.messages(thread)[-1], "say below")
    await acme.reads(thread, "said below")
    command = await acme.discord.people.slash(ALICE, thread, "ask", text="say typed")
    await acme.reads(thread, "said typed")
    await acme.told(command, "What comes of it is shown in the thread.")
    assert acme.turns(thread) == 5


async def test_p46_all_of_a_direct_message_is_one_conversation(acme: Server) -> None:
    here = acme.discord.world.dm(BOB)
    await acme.discord.people.dms(BOB, "say hello")
    await acme.reads(here, "said hello")
    await acme.discord.people.slash(BOB, here, "ask", text="say below")
    await acme.reads(here, "said below")
    await acme.discord.people.dms(BOB, "help")
    await acme.reads(here, "echo: Say a word. You may look.")
    other = acme.discord.world.dm(ALICE)
    await acme.discord.people.dms(ALICE, "say mine")
    await acme.reads(other, "said mine")
    assert acme.conversation(here) != acme.conversation(other)
    assert (acme.turns(here), acme.turns(other)) == (2, 1)


async def test_p14_what_is_said_before_it_is_known_whose_a_new_thread_is_is_not_lost(
    acme: Server,
) -> None:
    joins = acme.discord.faults.holds(JOIN)
    before = acme.discord.faults.held.get(JOIN, 0)
    thread = await acme.asks(ALICE, "say hello")
    await acme.discord.until(lambda: acme.discord.faults.held.get(JOIN, 0) > before)
    await acme.says(ALICE, thread, "say again")
    after = await acme.discord.people.slash(BOB, OPS, "sayso", words="help")
    await acme.told(after, "You may look.")  # so the message before it was heard
    joins.set()
    del acme.discord.faults.gates[JOIN]
    await acme.reads(thread, "said again")
    assert acme.turns(thread) == 2


async def test_c58_a_post_in_a_forum_is_a_conversation(acme: Server) -> None:
    post = await acme.discord.people.opens_post(ALICE, FORUM, "Help", f"<@{BOT}> say post")
    await acme.reads(post, "said post")
    await acme.says(ALICE, post, "say more")
    await acme.reads(post, "said more")
    assert acme.turns(post) == 2


async def test_c58_what_people_say_in_a_thread_of_their_own_is_nobodys_business(
    acme: Server,
) -> None:
    people, before = acme.discord.people, acme.turns()
    root = await people.writes(BOB, OPS, "lunch?")
    thread = await people.opens_thread(BOB, OPS, "lunch", root)
    texts = ["say no", "stop", "!say no", "!help", "what do you think?"]
    for text in texts:
        await people.writes(ALICE, thread, text)
    await people.replies(ALICE, acme.discord.messages(thread)[-1], f"<@{BOB}> say no")
    await people.mentions(ALICE, thread, "say yes")  # which makes it a conversation
    await acme.reads(thread, "said yes")
    there = acme.discord.seen_in(thread)
    assert there[: len(texts)] == texts
    assert len(there) == len(texts) + 3
    assert acme.turns() == before + 1
    await people.writes(ALICE, thread, "say unmentioned")
    await acme.reads(thread, "said unmentioned")


async def test_p22_commands_work_in_a_thread_with_a_mark_or_a_mention(acme: Server) -> None:
    thread = await acme.asks(ALICE, "say hello")
    await acme.says(ALICE, thread, "!echo marked")
    await acme.reads(thread, "said marked")
    await acme.discord.people.mentions(ALICE, thread, "!echo both")
    await acme.reads(thread, "said both")
    await acme.discord.people.mentions(ALICE, thread, "help")
    await acme.reads(thread, "echo: Say a word. You may look.")
    await acme.says(ALICE, thread, "!requests")
    await acme.reads(thread, "Nothing waits that you may know of.")
    command = await acme.discord.people.slash(ALICE, thread, "sayso", words="help")
    await acme.told(command, "echo: Say a word. You may look.")
    taken = acme.turns(thread)
    await acme.says(ALICE, thread, "!nice work")
    await acme.reads(thread, "only on texts like these")
    assert (taken, acme.turns(thread)) == (3, 4)


async def test_p14_threads_go_on_beside_one_another_and_one_thread_in_order(acme: Server) -> None:
    slow = await acme.asks(ALICE, "look at ahead 60")
    await acme.begun("ahead")
    await acme.says(ALICE, slow, "say behind")
    await acme.says(BOB, slow, "say last")
    await acme.reads(slow, "Queued: 1 message of this conversation comes first.")
    quick = await acme.asks(ALICE, "say beside")
    await acme.reads(quick, "said beside")
    assert not any("said behind" in one for one in acme.discord.seen_in(slow))
    await acme.says(ALICE, slow, "stop")
    await acme.reads(slow, "said last")
    said = [one for one in acme.discord.seen_in(slow) if one.startswith("said ")]
    assert [one.split()[1] for one in said] == ["behind", "last"]
    assert acme.turns(slow) == 3


async def test_a_suggestion_is_a_button_that_asks_for_what_it_says(acme: Server) -> None:
    thread = await acme.asks(CAROL, "blub")
    await acme.reads(thread, "You could ask:")
    answer = acme.discord.messages(thread)[-1]
    await acme.presses(CAROL, answer, "show ledger")
    await acme.discord.until(lambda: acme.turns(thread) == 2)
    await acme.settled()
    assert len(acme.discord.messages(thread)) == 2


async def test_p12_software_starts_nothing(acme: Server) -> None:
    thread = await acme.asks(ALICE, "say hello")
    await acme.reads(thread, "said hello")
    people, before = acme.discord.people, acme.turns()
    await people.bot_writes(OPS, f"<@{BOT}> say bot")
    await people.bot_writes(thread, "say bot")
    await people.bot_writes(thread, f"<@{BOT}> say bot")
    await people.bot_writes(thread, "stop")
    await people.webhook_writes(thread, f"<@{BOT}> say hook")
    await people.webhook_writes(OPS, f"<@{BOT}> say hook")
    await people.unfurls(acme.discord.messages(thread)[-1])
    await people.mentions(ALICE, OPS, "say last")
    await acme.says(ALICE, thread, "say end")
    await acme.reads(thread, "said end")
    await acme.settled()
    assert acme.turns() == before + 2
    assert len(acme.discord.seen_in(thread)) == 7


async def test_p44_a_permission_that_is_missing_is_named_to_whoever_asked(acme: Server) -> None:
    world = acme.discord.world
    world.deny(SHUT, "send_messages_in_threads")
    asked = await acme.discord.people.mentions(ALICE, SHUT, "say shut")
    here = world.dm(ALICE)
    await acme.reads(here, "Sayso lacks the permission “Send Messages in Threads” there.")
    assert acme.discord.seen_in(str(asked["id"])) == []
    world.deny(SHUT, "create_public_threads")
    await acme.discord.people.mentions(BOB, SHUT, "say shut")
    await acme.reads(world.dm(BOB), "Sayso lacks the permission “Create Public Threads” there.")


async def test_an_archived_thread_goes_on_and_a_locked_one_is_answered_directly(
    acme: Server,
) -> None:
    thread = await acme.asks(ALICE, "look at archive 1")
    await acme.begun("archive")
    await acme.discord.people.archives(thread)
    await acme.reads(thread, "appended archive")
    locked = await acme.asks(ALICE, "look at lock 1")
    await acme.begun("lock")
    await acme.discord.people.archives(locked, locked=True)
    await acme.reads(acme.discord.world.dm(ALICE), "appended lock")
    assert not any("appended lock" in one for one in acme.discord.seen_in(locked))


async def test_a_server_is_greeted_with_what_can_be_done_and_by_whom(acme: Server) -> None:
    before = len(acme.discord.messages(OPS))
    guild = acme.discord.world.guilds[GUILD]
    own = guild.members[BOT]
    await acme.discord.people.sends_away()
    guild.members[BOT] = own
    await acme.discord.people.brings(ALICE, GUILD)
    await acme.reads(OPS, "Hello, I am Sayso.")
    [greeting] = acme.discord.messages(OPS)[before:]
    assert "approved by bob and carol." in acme.now(greeting)
    thread = await acme.mentions(ALICE, "say back")
    await acme.reads(thread, "said back")


async def test_without_the_content_of_messages_only_mentions_count_and_stop_still_stops(
    tmp_path: Path,
) -> None:
    async with server(tmp_path / "quiet", discord_section="threads: mentions") as quiet:
        quiet.discord.world.privileged = 0
        await quiet.sync()
        await quiet.serve()
        thread, card = await quiet.proposed(ALICE, "restart web in staging")
        await quiet.says(ALICE, thread, "say no")
        await quiet.discord.people.mentions(ALICE, thread, "say yes")
        await quiet.reads(thread, "said yes")
        await quiet.discord.people.dms(ALICE, "say here")
        await quiet.reads(quiet.discord.world.dm(ALICE), "said here")
        assert quiet.turns(thread) == 2
        await quiet.discord.people.mentions(ALICE, thread, "stop")
        await quiet.reads(thread, "Revoked: alice stopped it.")
        assert quiet.sayso.state(quiet.request(card)) == "revoked"
