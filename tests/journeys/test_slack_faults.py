"""C60 and P-44: Slack that refuses, slows down or forgets. Nothing is lost, doubled or out of order."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from tests.standins.slack.plain import text_of
from tests.team import ALICE, BOB, OPS, Team, served, team

pytestmark = pytest.mark.asyncio(loop_scope="module")
COUNT = """
summary: Print two hundred lines within four seconds.
risk: low
phrases: ["count"]
steps:
  - run: [python3, -u, -c, "import time\\nfor n in range(200): print('line', n); time.sleep(0.02)"]
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def acme(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Team]:
    async with served(tmp_path_factory.mktemp("faults") / "acme") as made:
        yield made


def direct(acme: Team, user: str) -> list[str]:
    """Return what Sayso wrote to somebody directly."""
    here = acme.slack.work.dm(user)
    return [text_of(one) for one in acme.slack.messages(here) if one.get("bot_id")]


def posted(acme: Team, thread: str, channel: str = OPS) -> list[str]:
    """Return what Sayso posted below the root of a thread, in order."""
    return [
        text_of(one)
        for one in acme.slack.messages(channel, thread)
        if one.get("bot_id") and one["ts"] != thread
    ]


async def settled(acme: Team) -> None:
    """Wait until nothing is left to be posted or drawn anew."""
    left = "SELECT 1 FROM job WHERE kind IN ('post', 'edit', 'open') AND state IN (?, ?)"
    await acme.until(lambda: not acme.sayso.sql(left, "queued", "running"))


# A channel that is not there any more


@pytest.mark.parametrize("what", ["archived", "removed"])
async def test_what_cannot_be_posted_any_more_is_told_to_whoever_asked(
    acme: Team, what: str
) -> None:
    channel = acme.channel(f"C0{what.upper()}")
    thread, card = await acme.proposed(ALICE, f"append {what}", channel=channel)
    before = len(direct(acme, ALICE))
    if what == "archived":
        acme.slack.work.channels[channel].is_archived = True
    else:
        acme.slack.work.channels[channel].members.discard(acme.slack.work.bot)
    clicked = await acme.slack.hands.click(BOB, channel, card["ts"], "Approve")
    assert clicked.acked
    await acme.slack.until(
        lambda: any("succeeded" in one for one in direct(acme, ALICE)[before:]), within=15
    )
    [told] = [one for one in direct(acme, ALICE)[before:] if "succeeded" in one]
    assert "This could not be posted where you asked. " in told
    why = {
        "archived": "That channel is archived, so nothing can be posted there.",
        "removed": "Sayso is not in that channel. Type /invite there and name it.",
    }
    assert why[what] in told
    assert what in acme.sayso.ledger()
    await settled(acme)
    assert len([one for one in direct(acme, ALICE)[before:] if "succeeded" in one]) == 1
    assert thread


async def test_a_card_that_cannot_be_posted_says_so_and_cannot_be_decided_there(
    acme: Team,
) -> None:
    channel = acme.channel("C0GONE")
    thread = await acme.asks(ALICE, "say hello", channel=channel)
    await acme.reads(thread, "said hello", channel=channel)
    before = len(direct(acme, ALICE))
    acme.slack.work.channels[channel].is_archived = True
    # Whoever asks there all the same, as with a screen that is old.
    await acme.says(ALICE, thread, "append gone", channel=channel)
    await acme.slack.until(lambda: direct(acme, ALICE)[before:], within=30)
    [told] = direct(acme, ALICE)[before:]
    assert "This could not be posted where you asked." in told
    assert "Ask for it again elsewhere." in told
    here = acme.slack.work.dm(ALICE)
    assert acme.slack.buttons(acme.slack.messages(here)[-1]) == []


# Too much


async def test_c60_what_slack_slows_down_for_a_second_comes_once_and_in_order(acme: Team) -> None:
    thread = await acme.asks(ALICE, "say first")
    await acme.reads(thread, "said first")
    acme.slack.faults.rate_limited("chat.postMessage", after=1, times=2)
    for word in ("one", "two", "three"):
        await acme.says(ALICE, thread, f"say {word}")
    await acme.reads(thread, "said three")
    assert posted(acme, thread) == ["said first", "said one", "said two", "said three"]


async def test_c60_an_edit_that_slack_slows_down_is_made_in_the_end(acme: Team) -> None:
    thread, card = await acme.proposed(ALICE, "restart web in staging")
    acme.slack.faults.rate_limited("chat.update", after=1)
    await acme.clicks(BOB, card, "Approve")
    await acme.slack.until(
        lambda: "Run r_" in text_of(acme.slack.work.message(OPS, card["ts"]).now), within=15
    )
    await settled(acme)
    assert "succeeded" in text_of(acme.slack.work.message(OPS, card["ts"]).now)
    assert acme.cards(thread) == []


@pytest.mark.parametrize("seconds", [30, 600])
async def test_c60_for_as_long_as_slack_says_nothing_is_tried_and_nothing_overtakes(
    tmp_path: Path, seconds: int
) -> None:
    async with team(tmp_path / "slow") as slow:
        server = await slow.serve()
        thread = await slow.asks(ALICE, "say first")
        await slow.reads(thread, "said first")
        slow.slack.faults.rate_limited("chat.postMessage", after=seconds)
        limited = datetime.now(UTC)
        await slow.says(ALICE, thread, "say one")
        await slow.slack.until(lambda: not slow.slack.faults.waiting["chat.postMessage"], within=30)
        await slow.says(ALICE, thread, "say two")
        await slow.until(lambda: _waits(slow, seconds, limited))
        await slow.until(lambda: _answered(slow) == 3)
        tries = len(slow.slack.calls("chat.postMessage"))
        assert posted(slow, thread) == ["said first"]
        # The time has come, and somebody else is there by then.
        await slow.ends(server)
        assert len(slow.slack.calls("chat.postMessage")) == tries
        slow.sayso.sql("UPDATE job SET run_at = ? WHERE state = 'queued'", _text(limited))
        await slow.serve()
        await slow.reads(thread, "said two")
        assert posted(slow, thread) == ["said first", "said one", "said two"]


def _answered(acme: Team) -> int:
    [(count,)] = acme.sayso.sql("SELECT count(*) FROM turn WHERE reason IS NOT NULL")
    return int(count)


def _waits(acme: Team, seconds: int, since: datetime) -> bool:
    """Whether something waits to be posted for as long as Slack wants it to."""
    at = "SELECT max(run_at) FROM job WHERE kind = 'post' AND state = 'queued'"
    [(run_at,)] = acme.sayso.sql(at)
    return bool(run_at) and datetime.fromisoformat(run_at) >= since + timedelta(seconds=seconds)


def _text(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


async def test_c60_slack_slows_down_one_channel_and_others_go_on(acme: Team) -> None:
    quick = acme.channel("C0QUICK")
    thread = await acme.asks(ALICE, "say first")
    await acme.reads(thread, "said first")
    acme.slack.faults.rate_limited("chat.postMessage", after=2)
    await acme.says(ALICE, thread, "say slow")
    await acme.slack.until(lambda: not acme.slack.faults.waiting["chat.postMessage"], within=30)
    asked = await acme.asks(BOB, "say quick", channel=quick)
    await acme.reads(asked, "said quick", channel=quick)
    assert posted(acme, thread) == ["said first"]
    await acme.reads(thread, "said slow")


async def test_c61_what_a_run_prints_is_shown_by_one_edit_a_second_at_most(
    tmp_path: Path,
) -> None:
    async with team(tmp_path / "busy") as busy:
        busy.sayso.runbook("count", COUNT)
        await busy.serve()
        thread, card = await busy.proposed(BOB, "count")
        await busy.clicks(BOB, card, "Approve")
        await busy.reads(thread, "line")
        await busy.reads(thread, "succeeded (exit code 0)")
        await settled(busy)
        progress = [
            each
            for each in busy.slack.work.thread(OPS, thread)
            if any("Stop" in busy.slack.buttons(one) for one in each.before)
        ]
        [shown] = progress
        assert busy.slack.buttons(shown.now) == []
        assert 1 <= len(shown.before) <= 6
        ended = busy.slack.rates.updates
        assert busy.slack.rates.most_updates <= 50
        assert len(ended) < 12


# No answer


@pytest.mark.parametrize("fault", ["loses_reply", "drops", "fails"])
async def test_c60_a_post_without_an_answer_is_there_once(acme: Team, fault: str) -> None:
    thread = await acme.asks(ALICE, "say first")
    await acme.reads(thread, "said first")
    getattr(acme.slack.faults, fault)("chat.postMessage")
    await acme.says(ALICE, thread, f"say {fault}")
    await acme.reads(thread, f"said {fault}")
    await settled(acme)
    assert posted(acme, thread) == ["said first", f"said {fault}"]


async def test_c60_an_opening_whose_answer_is_lost_opens_one_thread(acme: Team) -> None:
    channel = acme.channel("C0LOST")
    acme.slack.faults.loses_reply("chat.postMessage")
    await acme.slack.people.slash(ALICE, channel, "/ask", "say once")
    await acme.slack.until(
        lambda: any("said once" in text_of(m) for m in acme.slack.messages(channel)), within=15
    )
    await settled(acme)
    assert [text_of(one) for one in acme.slack.messages(channel)] == [
        "<@U0ALICE> asked:\n> say once",
        "said once",
    ]


async def test_c60_while_slack_is_away_what_happens_is_told_when_it_is_back(
    tmp_path: Path,
) -> None:
    async with team(tmp_path / "away") as away:
        await away.serve()
        thread, card = await away.proposed(BOB, "slow append away 1")
        await away.clicks(BOB, card, "Approve")
        await away.begun("away")
        away.slack.faults.down = True
        await away.until(lambda: away.sayso.sql("SELECT 1 FROM run WHERE state = 'succeeded'"))
        before = posted(away, thread)
        assert not any("succeeded" in one for one in before)
        away.slack.faults.down = False
        await away.reads(thread, "succeeded")
        await settled(away)
        assert away.cards(thread) == []
        reports = [one for one in posted(away, thread) if one.startswith("Report\nRun r_")]
        assert len(reports) == 1


@pytest.mark.parametrize("code", ["token_revoked", "account_inactive"])
async def test_p45_what_happens_while_the_token_is_not_valid_is_told_once_it_is(
    acme: Team, code: str
) -> None:
    word = code.replace("_", "")
    thread, card = await acme.proposed(BOB, f"slow append {word} 1")
    await acme.clicks(BOB, card, "Approve")
    await acme.begun(word)
    acme.slack.faults.token = code
    await acme.until(lambda: word in acme.sayso.ledger())
    refused = len([one for one in acme.slack.web.calls if (one.answer or {}).get("error") == code])
    await acme.slack.until(
        lambda: (
            len([one for one in acme.slack.web.calls if one.answer and not one.answer["ok"]])
            > refused + 1
        )
    )
    assert not any("exit code 0" in one for one in posted(acme, thread))
    acme.slack.faults.token = None
    await acme.reads(thread, "succeeded (exit code 0)")
    await settled(acme)
    assert acme.cards(thread) == []
    assert sum("exit code 0" in one for one in posted(acme, thread)) == 1


async def test_c60_a_window_that_could_not_be_opened_says_so_and_the_button_stays(
    acme: Team,
) -> None:
    thread, card = await acme.proposed(ALICE, "append window")
    acme.slack.faults.says("views.open", "expired_trigger_id")
    await acme.clicks(BOB, card, "Deny")
    await acme.slack.until(lambda: acme.alone(BOB, thread))
    assert "Press it again." in acme.alone(BOB, thread)[0]
    await acme.clicks(BOB, card, "Deny")
    await acme.slack.until(lambda: acme.slack.views(BOB))
    [view] = acme.slack.views(BOB)
    await acme.slack.hands.submit_view(BOB, view["id"], {"reason": "no"})
    await acme.slack.until(lambda: not acme.cards(thread))
    assert acme.sayso.state(acme.request(card)) == "denied"


async def test_twenty_messages_at_once_are_each_answered_once(acme: Team) -> None:
    channel = acme.channel("C0MANY")
    thread = await acme.asks(ALICE, "say start", channel=channel)
    sent = [acme.says(ALICE, thread, f"say m{n}", channel=channel) for n in range(19)]
    assert all(one.acked for one in await asyncio.gather(*sent))
    await acme.slack.until(lambda: len(posted(acme, thread, channel)) == 20, within=40)
    await settled(acme)
    assert sorted(posted(acme, thread, channel)) == sorted(
        ["said start", *(f"said m{n}" for n in range(19))]
    )
