"""Asking in Slack: by every way there is, each in the right conversation, and by nobody else's words."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.standins.slack.plain import text_of
from tests.team import ALICE, BOB, MALLORY, OPS, Team, served

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def acme(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Team]:
    async with served(tmp_path_factory.mktemp("asking") / "acme") as made:
        yield made


async def test_c58_a_command_a_mention_and_a_direct_message_each_begin_a_conversation(
    acme: Team,
) -> None:
    people = acme.slack.people
    asked = await acme.asks(ALICE, "say one")
    mentioned, _ = await people.mention(ALICE, OPS, "say two")
    written = await people.say(ALICE, ALICE, "say three")
    another = await people.say(ALICE, ALICE, "say four")
    await acme.reads(asked, "said one")
    await acme.reads(mentioned.ts, "said two")
    await acme.reads(written.ts, "said three", channel=ALICE)
    await acme.reads(another.ts, "said four", channel=ALICE)
    threads = (asked, mentioned.ts, written.ts, another.ts)
    assert len({acme.conversation(one) for one in threads}) == 4
    assert [acme.turns(one) for one in threads] == [1, 1, 1, 1]


async def test_c58_a_reply_without_a_mention_goes_on_in_the_conversation_of_its_thread(
    acme: Team,
) -> None:
    thread = await acme.asks(ALICE, "say hello")
    await acme.says(ALICE, thread, "say again")
    await acme.reads(thread, "said again")
    await acme.slack.people.mention(BOB, OPS, "say more", thread=thread)
    await acme.reads(thread, "said more")
    direct = await acme.slack.people.say(ALICE, ALICE, "say hello")
    await acme.slack.people.say(ALICE, ALICE, "say below", thread=direct.ts)
    await acme.reads(direct.ts, "said below", channel=ALICE)
    assert (acme.turns(thread), acme.turns(direct.ts)) == (3, 2)


async def test_p46_a_command_in_a_direct_message_opens_its_thread_there(acme: Team) -> None:
    here = acme.slack.work.dm(BOB)
    thread = await acme.asks(BOB, "say hello", channel=here)
    await acme.reads(thread, "said hello", channel=here)
    await acme.slack.people.say(BOB, here, "say below", thread=thread)
    await acme.reads(thread, "said below", channel=here)
    assert acme.turns(thread) == 2


@pytest.mark.parametrize("text", ["say no", "stop", "!say no", "!help", "what do you think?"])
async def test_c58_what_people_say_in_a_thread_of_their_own_is_nobodys_business(
    acme: Team, text: str
) -> None:
    root = await acme.slack.people.say(BOB, OPS, "lunch?")
    before, told = acme.turns(), len(acme.slack.ephemerals(ALICE))
    reply = await acme.says(ALICE, root.ts, text)
    assert reply.acked
    assert acme.turns() == before
    assert acme.slack.thread(OPS, root.ts) == ["lunch?", text]
    assert len(acme.slack.ephemerals(ALICE)) == told


async def test_c58_a_mention_in_a_thread_of_theirs_makes_it_a_conversation(acme: Team) -> None:
    root = await acme.slack.people.say(BOB, OPS, "lunch?")
    await acme.slack.people.mention(ALICE, OPS, "say yes", thread=root.ts)
    await acme.reads(root.ts, "said yes")
    await acme.says(ALICE, root.ts, "say unmentioned")
    await acme.reads(root.ts, "said unmentioned")


async def test_p22_commands_work_in_a_thread_with_a_mark_or_a_mention(acme: Team) -> None:
    thread = await acme.asks(ALICE, "say hello")
    await acme.says(ALICE, thread, "!echo marked")
    await acme.reads(thread, "said marked")
    await acme.slack.people.mention(ALICE, OPS, "!echo both", thread=thread)
    await acme.reads(thread, "said both")
    await acme.slack.people.mention(ALICE, OPS, "help", thread=thread)
    await acme.told(ALICE, "echo: Say a word. You may look.")
    await acme.told(
        ALICE, "behind a !: requests, runs, grants, grant, edit, undo, output, handover, lift"
    )
    await acme.says(ALICE, thread, "!requests")
    await acme.told(ALICE, "Nothing waits that you may know of.")
    taken = acme.turns(thread)
    await acme.says(ALICE, thread, "!nice work")
    await acme.slack.until(lambda: "only on texts like these" in acme.slack.thread(OPS, thread)[-1])
    assert (taken, acme.turns(thread)) == (3, 4)


async def test_a_command_where_sayso_is_no_member_explains_itself_and_starts_nothing(
    acme: Team,
) -> None:
    acme.slack.work.channel("C0OUT", ALICE, joined=False)
    before = acme.turns()
    done = await acme.slack.people.slash(ALICE, "C0OUT", "/ask", "say hello")
    assert done.acked
    assert done.answer is not None
    assert "Sayso is not in this channel, so nothing was started. Type /invite" in text_of(
        done.answer
    )
    assert acme.turns() == before
    assert acme.slack.messages("C0OUT") == []
    await acme.slack.hands.invite(ALICE, "C0OUT")
    thread = await acme.asks(ALICE, "say hello", channel="C0OUT")
    assert thread


async def test_a_command_in_a_private_channel_without_sayso_starts_nothing_either(
    acme: Team,
) -> None:
    acme.slack.work.channel("C0HIDDEN", ALICE, joined=False, is_private=True)
    before = acme.turns()
    done = await acme.slack.people.slash(ALICE, "C0HIDDEN", "/ask", "say hello")
    assert done.answer is not None
    assert "Sayso is not in this channel, so nothing was started." in text_of(done.answer)
    assert acme.turns() == before
    looked = await acme.slack.people.slash(ALICE, "C0HIDDEN", "/sayso", "help")
    assert looked.answer is not None
    assert "You may look." in text_of(looked.answer)


async def test_what_is_asked_in_an_archived_channel_is_answered_directly(acme: Team) -> None:
    acme.slack.work.channel("C0OLD", ALICE, is_archived=True)
    assert (await acme.slack.people.slash(ALICE, "C0OLD", "/ask", "say archived")).acked
    here = acme.slack.work.dm(ALICE)
    await acme.slack.until(
        lambda: any("said archived" in text_of(one) for one in acme.slack.messages(here)),
        within=30,
    )
    assert acme.slack.messages("C0OLD") == []


async def test_p14_threads_go_on_beside_one_another_and_one_thread_in_order(acme: Team) -> None:
    slow = await acme.asks(ALICE, "look at ahead 60")
    await acme.begun("ahead")
    await acme.says(ALICE, slow, "say behind")
    await acme.told(ALICE, "Queued: 1 message of this conversation comes first.")
    quick = await acme.asks(ALICE, "say beside")
    await acme.reads(quick, "said beside")
    assert not any("said behind" in one for one in acme.slack.thread(OPS, slow))
    await acme.says(ALICE, slow, "stop")
    await acme.reads(slow, "said behind")


async def test_a_channel_is_greeted_with_what_can_be_done_and_by_whom(acme: Team) -> None:
    acme.slack.work.channel("C0NEW", ALICE, BOB, joined=False)
    await acme.slack.hands.invite(ALICE, "C0NEW")
    await acme.slack.until(lambda: acme.slack.messages("C0NEW"))
    [greeting] = acme.slack.messages("C0NEW")
    said = text_of(greeting)
    assert "Hello, I am Sayso." in said
    assert "approved by bob and carol." in said
    await acme.slack.hands.invite(ALICE, "C0NEW", MALLORY)
    assert len(acme.slack.messages("C0NEW")) == 1


async def test_the_home_tab_shows_what_waits_for_whoever_looks(acme: Team) -> None:
    thread, card = await acme.proposed(ALICE, "restart web in staging")
    homes = acme.slack.work.homes
    await acme.slack.hands.open_home(BOB)
    await acme.slack.until(lambda: BOB in homes)
    waits, _, runs = text_of(homes[BOB]).partition("Waits for you")[2].partition("Runs\n")
    assert "Approve to run: restart-web\nOpen: 0 of 1 vote" in waits
    assert "Nothing runs" in runs
    await acme.slack.hands.click_home(BOB, "review")
    await acme.slack.until(lambda: acme.slack.views(BOB))
    [view] = acme.slack.views(BOB)
    await acme.slack.hands.submit_view(BOB, view["id"], {})
    await acme.reads(thread, "succeeded")
    assert acme.sayso.state(acme.request(card)) == "spent"
    await acme.slack.hands.open_home(BOB)
    await acme.slack.until(lambda: "succeeded" in text_of(homes[BOB]))
    assert "Nothing waits for you." in text_of(homes[BOB])


async def test_whoever_opens_the_conversation_with_sayso_is_offered_what_to_ask(
    acme: Team,
) -> None:
    here = acme.slack.work.dm(BOB)
    await acme.slack.hands.open_home(BOB, tab="messages")
    await acme.slack.until(lambda: here in acme.slack.work.prompts)
    turns = acme.turns()
    for offered in acme.slack.work.prompts[here]:
        told = len(acme.slack.ephemerals(BOB))
        await acme.slack.people.say(BOB, here, offered["message"])
        await more(acme, BOB, told)
    assert acme.turns() == turns


async def more(acme: Team, who: str, told: int) -> None:
    """Wait until somebody alone was told more than so many things."""
    await acme.slack.until(lambda: len(acme.slack.ephemerals(who)) > told)


async def test_a_stranger_learns_nothing_from_the_home_tab(acme: Team) -> None:
    await acme.proposed(ALICE, "restart web in prod")
    stranger = acme.slack.work.person("U0TRUDY")
    await acme.slack.hands.open_home(stranger)
    await acme.slack.hands.open_home(MALLORY)
    await acme.slack.until(lambda: MALLORY in acme.slack.work.homes)
    for who in (stranger, MALLORY):
        assert "restart-web" not in text_of(acme.slack.work.homes.get(who, {}))


async def test_a_suggestion_is_a_button_that_asks_for_what_it_says(acme: Team) -> None:
    direct = await acme.slack.people.say(ALICE, ALICE, "blub")
    await acme.reads(direct.ts, "You could ask:", channel=ALICE)
    answer = acme.slack.messages(ALICE, direct.ts)[-1]
    pressed = await acme.slack.hands.click(ALICE, ALICE, answer["ts"], "show ledger")
    await acme.slack.until(lambda: acme.turns(direct.ts) == 2)
    assert (await acme.slack.redeliver(pressed)).acked
    await acme.slack.until(lambda: len(acme.slack.messages(ALICE, direct.ts)) == 3)
    assert acme.turns(direct.ts) == 2


async def test_p12_software_starts_nothing(acme: Team) -> None:
    thread = await acme.asks(ALICE, "say hello")
    await acme.reads(thread, "said hello")
    people, before = acme.slack.people, acme.turns()
    told = [
        await people.echo(OPS, acme.slack.messages(OPS, thread)[-1]["ts"]),
        await people.echo(OPS, thread),
        await people.other_bot(OPS, "<@U0BOT> say bot", mentions=True, raw=True),
        await people.other_bot(OPS, "say bot", thread=thread),
        await people.other_bot(OPS, "stop", thread=thread),
        await people.webhook(OPS, "say hook", thread=thread),
        await people.say(ALICE, OPS, "say flow", thread=thread, workflow_id="Wf0"),
        await people.say(ALICE, OPS, "has joined", subtype="channel_join"),
        await people.unfurl(OPS, thread),
    ]
    assert all(one.acked for one in told)
    assert acme.turns() == before


async def test_what_can_be_heard_beside_words_is_a_message_too(acme: Team) -> None:
    thread = await acme.asks(ALICE, "say hello")
    await acme.slack.people.share_file(ALICE, OPS, "say file", thread=thread)
    await acme.reads(thread, "said file")
    await acme.slack.people.broadcast(ALICE, OPS, "say loud", thread=thread)
    await acme.reads(thread, "said loud")
    assert acme.turns(thread) == 3


async def test_where_only_mentions_count_a_reply_is_nothing_and_stop_still_stops(
    tmp_path: Path,
) -> None:
    async with served(tmp_path / "quiet", slack_section="threads: mentions") as quiet:
        thread, card = await quiet.proposed(ALICE, "restart web in staging")
        assert (await quiet.says(ALICE, thread, "say no")).acked
        assert quiet.turns(thread) == 1
        await quiet.slack.people.mention(ALICE, OPS, "say yes", thread=thread)
        await quiet.reads(thread, "said yes")
        assert quiet.turns(thread) == 2
        direct = await quiet.slack.people.say(ALICE, ALICE, "say here")
        await quiet.reads(direct.ts, "said here", channel=ALICE)
        await quiet.says(ALICE, thread, "stop")
        await quiet.reads(thread, "Revoked: alice stopped it.")
        assert quiet.sayso.state(quiet.request(card)) == "revoked"
