"""P-02: whatever Slack delivers more than once is done once, and what nobody took is done at all."""

import asyncio
import signal
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.standins.slack import Json
from tests.standins.slack.wire import copied
from tests.team import ALICE, BOB, OPS, Team, served, team

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def acme(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Team]:
    async with served(tmp_path_factory.mktemp("again") / "acme") as made:
        yield made


async def answered_once(acme: Team, thread: str, text: str) -> None:
    """Check that a thread has one turn, which was answered once, and that nothing more is coming."""
    await acme.reads(thread, text)
    await settled(acme)
    assert acme.turns(thread) == 1
    assert sum(text in one for one in acme.slack.thread(OPS, thread)) == 1


async def settled(acme: Team) -> None:
    """Wait until nothing is left to be answered or delivered."""
    left = "SELECT 1 FROM job WHERE kind IN ('turn', 'post', 'open') AND state IN (?, ?)"
    await acme.until(lambda: not acme.sayso.sql(left, "queued", "running"))


@pytest.mark.parametrize("seconds", [0, 61])
async def test_p02_an_event_that_comes_again_is_done_once(acme: Team, seconds: int) -> None:
    first, _ = await acme.slack.people.mention(ALICE, OPS, "say once")
    acme.slack.work.time.pass_by(seconds)
    again = await acme.slack.redeliver(first)
    assert again.acked
    await answered_once(acme, first.ts, "said once")


async def test_p02_one_message_under_eleven_ids_is_done_once(acme: Team) -> None:
    first, _ = await acme.slack.people.mention(ALICE, OPS, "append eleven")
    ids = [f"EvELEVEN{number}" for number in range(11)]
    event = first.payload["event"]
    told = await asyncio.gather(*(acme.slack.people.event(copied(event), id=i) for i in ids))
    assert all(one.acked for one in told)
    await acme.card(first.ts)
    await answered_once(acme, first.ts, "Approve to run: append-word")


@pytest.mark.parametrize("first", ["app_mention", "message"])
@pytest.mark.parametrize("in_thread", [False, True], ids=["outside", "in a thread"])
async def test_p02_a_mention_that_is_told_of_twice_is_done_once(
    acme: Team, first: str, *, in_thread: bool
) -> None:
    root = await acme.slack.people.say(BOB, OPS, "lunch?") if in_thread else None
    thread = root.ts if root else None
    both = await acme.slack.people.mention(ALICE, OPS, "say both", thread=thread, first=first)
    assert all(one.acked for one in both)
    await answered_once(acme, thread or both[0].ts, "said both")


async def test_p02_both_events_of_a_mention_at_the_same_moment_are_one(acme: Team) -> None:
    known, _ = await acme.slack.people.mention(ALICE, OPS, "say before")
    await acme.reads(known.ts, "said before")
    event = copied(known.payload["event"]) | {"ts": acme.slack.work.time.ts()}
    spoken = event | {"text": "<@U0BOT> say now", "event_ts": event["ts"], "thread_ts": known.ts}
    kinds: list[Json] = [{"type": "message", "channel_type": "channel"}, {"type": "app_mention"}]
    await asyncio.gather(*(acme.slack.people.event(spoken | kind) for kind in kinds * 2))
    await acme.reads(known.ts, "said now")
    await settled(acme)
    assert acme.turns(known.ts) == 2


async def test_p02_a_retry_while_it_is_still_answered_starts_nothing(acme: Team) -> None:
    first, _ = await acme.slack.people.mention(ALICE, OPS, "look at slow 1")
    await acme.begun("slow")
    for attempt in (1, 2, 3):
        assert (await acme.slack.redeliver(first, attempt=attempt)).acked
    await answered_once(acme, first.ts, "appended slow")
    assert acme.sayso.ledger().count("begin slow") == 1


async def test_p02_a_command_or_a_form_that_comes_again_is_done_once(acme: Team) -> None:
    asked = await acme.slack.people.slash(ALICE, OPS, "/ask", "append command")
    again = await acme.slack.redeliver(asked)
    assert asked.acked
    assert again.acked
    await acme.until(lambda: acme.sayso.sql("SELECT 1 FROM request WHERE state = 'open'"))
    await settled(acme)
    counted = "SELECT count(*) FROM turn WHERE wish LIKE '%append command%'"
    assert acme.sayso.sql(counted) == [(1,)]
    [thread] = [
        str(one["ts"])
        for one in acme.slack.messages(OPS)
        if any("append command" in text for text in acme.slack.thread(OPS, one["ts"])[:1])
    ]
    card = await acme.card(thread)
    clicked = await acme.clicks(BOB, card, "Deny")
    assert (await acme.slack.redeliver(clicked)).acked
    await acme.slack.until(lambda: acme.slack.views(BOB))
    [view] = acme.slack.views(BOB)
    denied = await acme.slack.hands.submit_view(BOB, view["id"], {"reason": "no"})
    assert (await acme.slack.redeliver(denied)).answer in (None, {})
    assert acme.sayso.state(acme.request(card)) == "denied"


async def test_p02_what_nobody_took_is_done_when_it_comes_again(tmp_path: Path) -> None:
    async with team(tmp_path / "late") as late:
        lost, _ = await late.slack.people.mention(ALICE, OPS, "say late")
        assert not lost.acked
        first = await late.serve()
        assert (await late.slack.redeliver(lost)).acked
        await answered_once(late, lost.ts, "said late")
        # Another process knows it too.
        await late.ends(first)
        await late.serve()
        assert (await late.slack.redeliver(lost, attempt=2)).acked
        await answered_once(late, lost.ts, "said late")


async def test_c51_c48_what_comes_five_times_over_a_crash_is_one_turn_and_one_card(
    tmp_path: Path,
) -> None:
    async with team(tmp_path / "crash") as made:
        first = await made.serve()
        told, _ = await made.slack.people.mention(ALICE, OPS, "append five")
        assert (await made.slack.redeliver(told)).acked
        await made.ends(first, signal.SIGKILL)
        await made.serve()
        for attempt in (2, 3, 4):
            assert (await made.slack.redeliver(told, attempt=attempt)).acked
        card = await made.card(told.ts)
        await answered_once(made, told.ts, "Approve to run: append-word")
        assert made.sayso.sql("SELECT count(*) FROM turn") == [(1,)]
        assert made.sayso.sql("SELECT id, times_asked FROM request") == [(made.request(card), 1)]


async def test_p02_what_could_not_be_stored_is_not_acknowledged_and_done_by_the_retry(
    acme: Team,
) -> None:
    with acme.sayso.locked():
        lost, _ = await acme.slack.people.mention(ALICE, OPS, "say stored")
        assert not lost.acked
    again = await acme.slack.redeliver(lost)
    assert again.acked
    await answered_once(acme, lost.ts, "said stored")
