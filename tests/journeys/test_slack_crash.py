"""Slack and processes that die, leave, or are two: no button is dead, and nothing is done twice."""

import asyncio
import signal
import sys
import time
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.sayso import marked
from tests.standins.slack import Json, payloads
from tests.standins.slack.plain import text_of
from tests.team import ALICE, BOB, CAROL, OPS, Team, team

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
PAST = "2020-01-01T00:00:00.000000Z"
STOPPED = "1 run stopped, 1 command killed, 1 step unknown"


@pytest.fixture
async def acme(tmp_path: Path) -> AsyncGenerator[Team]:
    async with team(tmp_path / "acme") as made:
        yield made


async def test_p06_a_button_works_after_a_kill_and_two_restarts(acme: Team) -> None:
    server = await acme.serve()
    thread, card = await acme.proposed(ALICE, "restart web in staging")
    _, old = await acme.proposed(ALICE, "restart web in prod")
    await acme.ends(server, signal.SIGKILL)
    assert not (await acme.clicks(BOB, card, "Approve")).acked
    server = await acme.serve()
    await acme.ends(server)
    # While nobody was there, the time of one of them has come.
    request = acme.request(old)
    acme.sayso.sql("UPDATE request SET expires_at = ? WHERE id = ?", PAST, request)
    acme.sayso.sql("UPDATE job SET run_at = ? WHERE id = ?", PAST, f"expire:{request}")
    await acme.serve()
    await acme.slack.until(
        lambda: "Expired at 2020" in text_of(acme.slack.work.message(OPS, old["ts"]).now),
        within=30,
    )
    assert (await acme.clicks(BOB, card, "Approve")).acked
    await acme.reads(thread, "succeeded")
    assert acme.sayso.ledger() == ["web-staging"]


async def test_p06_a_kill_between_the_click_and_the_run_loses_and_repeats_nothing(
    acme: Team,
) -> None:
    server = await acme.serve()
    thread, card = await acme.proposed(ALICE, "restart web in staging")
    with acme.sayso.locked():
        # It is acknowledged, and not stored yet: the button is there to be pressed again.
        assert (await acme.clicks(BOB, card, "Approve")).acked
        await acme.ends(server, signal.SIGKILL)
    await acme.serve()
    assert acme.sayso.state(acme.request(card)) == "open"
    await acme.clicks(BOB, card, "Approve")
    await acme.reads(thread, "succeeded")
    assert acme.sayso.ledger() == ["web-staging"]


async def test_p15_a_server_that_is_killed_in_the_middle_of_a_run_is_told_of_by_the_next(
    acme: Team,
) -> None:
    server = await acme.serve()
    thread, card = await acme.proposed(BOB, "slow append beta 30")
    await acme.clicks(BOB, card, "Approve")
    await acme.begun("beta")
    await acme.ends(server, signal.SIGKILL)
    await acme.serve()
    await acme.reads(thread, "A step may or may not have happened.")
    [(run,)] = acme.sayso.sql("SELECT id FROM run")
    assert marked(run) == []
    [report] = [
        one
        for one in acme.slack.messages(OPS, thread)
        if "It did not" in acme.slack.buttons(one) and "may or may not" in text_of(one)
    ]
    assert acme.slack.buttons(report) == ["Verify", "It happened", "It did not", "Plan again"]
    await acme.clicks(ALICE, report, "It did not")
    await acme.slack.until(lambda: acme.alone(ALICE, thread))
    assert acme.sayso.sql("SELECT state FROM run") == [("unknown",)]
    await acme.clicks(BOB, report, "Verify")
    await acme.reads(thread, "This decides nothing.")
    await plans_again(acme, thread, report, run)
    await acme.clicks(CAROL, report, "It did not")
    await acme.until(lambda: acme.sayso.sql("SELECT state FROM run") == [("failed",)])
    assert acme.sayso.ledger() == ["begin beta"]


async def plans_again(acme: Team, thread: str, report: Json, run: str) -> None:
    """X2, I4: the same plan is asked about anew, with a warning, and is never done by itself."""
    await acme.clicks(BOB, report, "Plan again")
    await acme.slack.until(lambda: acme.cards(thread))
    [card] = acme.cards(thread)
    assert f"A step of run {run} may have happened already." in text_of(card)
    states = acme.sayso.sql("SELECT state FROM request ORDER BY opened_at")
    assert (states, acme.sayso.ledger()) == ([("spent",), ("open",)], ["begin beta"])


async def test_p15_a_server_that_is_told_to_end_does_so_within_ten_seconds_and_the_next_tells(
    acme: Team,
) -> None:
    server = await acme.serve()
    thread, card = await acme.proposed(BOB, "slow append beta 60")
    asked = await acme.asks(ALICE, "look at gamma 60")
    await acme.clicks(BOB, card, "Approve")
    await acme.begun("beta")
    await acme.begun("gamma")
    began = time.monotonic()
    done = await acme.ends(server)
    assert time.monotonic() - began < 10
    assert (done.code, done.json) == (0, {"served": True})
    assert sorted(acme.sayso.ledger()) == ["begin beta", "begin gamma"]
    lost, _ = await acme.slack.people.mention(ALICE, OPS, "say later")
    assert not lost.acked
    await acme.serve()
    await acme.slack.redeliver(lost)
    await acme.reads(lost.ts, "said later")
    await acme.reads(thread, "A step may or may not have happened.")
    # What only looks is done again: nothing came of the first time.
    await acme.until(lambda: acme.sayso.ledger().count("begin gamma") == 2)
    assert acme.sayso.ledger().count("begin beta") == 1
    await acme.says(ALICE, asked, "stop")
    await acme.reads(asked, "Stopped")


@pytest.mark.parametrize("what", ["opening", "answer", "card"])
async def test_c60_a_post_that_was_under_way_at_a_kill_is_there_once(acme: Team, what: str) -> None:
    server = await acme.serve()
    text = "restart web in staging" if what == "card" else "say hello"
    known = await acme.asks(ALICE, "say first")
    await acme.reads(known, "said first")
    gate = acme.slack.faults.holds("chat.postMessage")
    if what == "opening":
        await acme.slack.people.slash(ALICE, OPS, "/ask", text)
    else:
        await acme.says(ALICE, known, text)
    await acme.slack.until(lambda: acme.slack.faults.held.get("chat.postMessage"), within=30)
    before = len(acme.slack.messages(OPS))
    await acme.ends(server, signal.SIGKILL)
    gate.set()  # Slack had it already, and nobody is there to be told
    await acme.slack.until(lambda: len(acme.slack.messages(OPS)) == before + 1)
    thread = acme.slack.messages(OPS)[-1]["ts"] if what == "opening" else known
    await acme.serve()
    await acme.reads(thread, "Approve to run" if what == "card" else "said hello")
    left = "SELECT 1 FROM job WHERE kind IN ('turn', 'open', 'post') AND state IN (?, ?)"
    await acme.until(lambda: not acme.sayso.sql(left, "queued", "running"))
    said = [text_of(one) for one in acme.slack.messages(OPS)]
    assert len(said) == len(set(said))
    assert len(said) == 4


async def test_sockets_that_are_refreshed_closed_or_cut_lose_nothing(acme: Team) -> None:
    await acme.serve()
    sockets = acme.slack.sockets
    thread = await acme.asks(ALICE, "say one")
    opened = sockets.opened
    await sockets.disconnect("refresh_requested", socket=0)
    for number in range(8):
        told = await acme.says(ALICE, thread, f"say refresh{number}")
        assert told.acked
    await sockets.until_opened(opened + 1, within=40)
    await sockets.disconnect("warning", socket=1)
    await acme.says(ALICE, thread, "say warned")
    await sockets.drop(0)
    for number in range(4):
        told = await acme.says(ALICE, thread, f"say cut{number}")
        again = told if told.acked else await acme.slack.redeliver(told)
        assert again.acked
    for word in (*(f"refresh{n}" for n in range(8)), "warned", *(f"cut{n}" for n in range(4))):
        await acme.reads(thread, f"said {word}")
        assert sum(f"said {word}" in one for one in acme.slack.thread(OPS, thread)) == 1


async def test_p35_of_two_servers_either_takes_what_comes_and_each_thing_is_done_once(
    acme: Team,
) -> None:
    await acme.serve()
    await acme.serve()
    people, hands = acme.slack.people, acme.slack.hands
    assert len(acme.slack.sockets.open) == 4
    asked = [await people.mention(ALICE, OPS, f"append w{number}") for number in range(4)]
    for number, (told, _) in enumerate(asked):
        card = await acme.card(told.ts)
        clicks = [hands.click(BOB, OPS, card["ts"], "Approve") for _ in range(2)]
        delivered = await asyncio.gather(*clicks)
        for socket in range(4):
            again = await acme.slack.redeliver(delivered[0], socket=socket)
            assert again.acked
            assert (await acme.slack.redeliver(told, socket=socket)).acked
        await acme.reads(told.ts, "succeeded")
        assert acme.turns(told.ts) == 1
        assert acme.sayso.ledger().count(f"w{number}") == 1
    left = "SELECT 1 FROM job WHERE kind IN ('turn', 'run', 'post') AND state IN (?, ?)"
    await acme.until(lambda: not acme.sayso.sql(left, "queued", "running"))
    for told, _ in asked:
        texts = acme.slack.thread(OPS, told.ts)
        assert len(texts) == len(set(texts))
    assert set(acme.slack.sockets.sent) == {0, 1, 2, 3}


async def test_p35_a_suggestion_and_a_command_are_taken_once_whichever_server_hears_of_them(
    acme: Team,
) -> None:
    await acme.serve()
    await acme.serve()
    direct = await acme.slack.people.say(ALICE, ALICE, "blub")
    await acme.reads(direct.ts, "You could ask:", channel=ALICE)
    suggests = acme.slack.messages(ALICE, direct.ts)[-1]
    pressed = await acme.slack.hands.click(ALICE, ALICE, suggests["ts"], "show ledger")
    typed = await acme.slack.people.slash(ALICE, OPS, "/ask", "say typed")
    for socket in range(4):
        assert (await acme.slack.redeliver(pressed, socket=socket)).acked
        assert (await acme.slack.redeliver(typed, socket=socket)).acked
    assert acme.turns(direct.ts) == 2
    assert acme.turns() == 2 + 1


async def test_p35_what_one_server_began_another_stops_and_ends(acme: Team) -> None:
    first = await acme.serve()
    thread, card = await acme.proposed(BOB, "slow append beta 60")
    await acme.clicks(BOB, card, "Approve")
    await acme.begun("beta")
    await acme.serve()
    stopped = await acme.slack.deliver(
        "events_api", _stop(acme, thread), socket=len(acme.slack.sockets.open) - 1
    )
    assert stopped.acked
    await acme.reads(thread, "A step may or may not have happened.")
    await acme.slack.until(lambda: acme.alone(BOB, thread)[-1:] == [STOPPED])
    await acme.ends(first)
    await acme.says(BOB, thread, "say here")
    await acme.reads(thread, "said here")


def _stop(acme: Team, thread: str) -> Json:
    """Return the event of somebody who presses Slack's own Stop."""
    return payloads.event(
        acme.slack.work,
        {"type": "agent_session_stopped", "channel": OPS, "thread_ts": thread, "user": BOB},
    )
