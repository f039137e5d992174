"""P-03 and X9 in Slack: a stop in every state, by every way there is, with counts that are true."""

import time
from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from tests.standins.slack.plain import buttons_of, text_of
from tests.team import ALICE, BOB, CAROL, MALLORY, OPS, THREE, Team, served

pytestmark = pytest.mark.asyncio(loop_scope="module")
WAYS = ["word", "mark", "mention", "command", "all", "native"]
SOON = 5.0
"""Seconds: a second is what is promised on a machine that has nothing else to do."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def serving(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Team]:
    async with served(tmp_path_factory.mktemp("stop") / "acme") as made:
        made.sayso.runbook("three", THREE)
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def acme(serving: Team) -> AsyncGenerator[Team]:
    """Give a team for whom nothing runs or waits, and leave it so."""
    yield serving
    await serving.slack.people.slash(BOB, OPS, "/stop", "all")


async def stops(acme: Team, who: str, thread: str, way: str) -> str:
    """Have somebody stop; return what they alone are told."""
    people, began, before = acme.slack.people, time.monotonic(), len(acme.alone(who, thread))
    match way:
        case "word" | "mark":
            await acme.says(who, thread, {"word": "Stop", "mark": "!stop"}[way])
        case "mention":
            await people.mention(who, OPS, "stop", thread=thread)
        case "native":
            await acme.slack.hands.native_stop(who, OPS, thread)
        case _:
            done = await people.slash(who, OPS, "/stop", way.removeprefix("command"))
            assert time.monotonic() - began < SOON
            assert done.answer is not None
            return text_of(done.answer)
    await acme.slack.until(lambda: len(acme.alone(who, thread)) > before)
    assert time.monotonic() - began < SOON
    return acme.alone(who, thread)[before]


async def told_more(acme: Team, who: str, thread: str, before: list[str]) -> None:
    """Wait until somebody alone is told one thing more."""
    await acme.slack.until(lambda: acme.alone(who, thread) != before, within=30)


async def running(acme: Team, word: str) -> str:
    """Have bob run three steps, up to the second; return the thread."""
    thread, card = await acme.proposed(BOB, f"three {word}")
    await acme.clicks(BOB, card, "Approve")
    await acme.begun(f"{word}2")
    return thread


@pytest.mark.parametrize("way", WAYS)
async def test_p03c_what_looks_is_killed(acme: Team, way: str) -> None:
    thread = await acme.asks(ALICE, f"look at {way} 60")
    await acme.begun(way)
    assert await stops(acme, ALICE, thread, way) == "1 answer stopped, 1 command killed"
    await acme.reads(thread, "Stopped")
    await acme.slack.until(lambda: acme.status(thread) == "active")
    assert way not in acme.sayso.ledger()
    assert acme.sayso.sql("SELECT count(*) FROM turn WHERE reason IS NULL") == [(0,)]


@pytest.mark.parametrize("way", WAYS)
async def test_p03f_the_second_of_three_steps_is_killed_and_unknown(acme: Team, way: str) -> None:
    thread = await running(acme, f"f{way}")
    told = await stops(acme, BOB, thread, way)
    assert told == "1 run stopped, 1 command killed, 1 step unknown"
    await acme.reads(thread, "A step may or may not have happened.")
    report = next(one for one in acme.slack.thread(OPS, thread) if "may or may not" in one)
    assert "0. three succeeded" in report
    assert "1. three unknown" in report
    assert "2. three not run" in report
    mine = [line for line in acme.sayso.ledger() if f"f{way}" in line]
    assert mine == [f"f{way}1", f"begin f{way}2"]


@pytest.mark.parametrize("way", WAYS)
async def test_p03e_a_card_that_waits_is_withdrawn(acme: Team, way: str) -> None:
    thread, card = await acme.proposed(ALICE, f"append e{way}")
    assert await stops(acme, ALICE, thread, way) == "1 request withdrawn"
    await acme.slack.until(lambda: not acme.cards(thread))
    await acme.reads(thread, "Revoked: alice stopped it.")
    await acme.slack.hands.click_forged(
        BOB, OPS, card["ts"], "sayso:approve", acme.request(card)
    )  # somebody whose screen is old
    await acme.slack.until(lambda: acme.alone(BOB, thread))
    assert "Revoked: alice stopped it." in acme.alone(BOB, thread)[0]
    assert f"e{way}" not in acme.sayso.ledger()


async def test_p03d_messages_that_wait_are_kept_and_answered_next(acme: Team) -> None:
    thread = await acme.asks(ALICE, "look at queue 60")
    await acme.begun("queue")
    await acme.says(ALICE, thread, "say kept")
    told = await stops(acme, ALICE, thread, "word")
    assert told == "1 answer stopped, 1 command killed, 1 message kept and answered next"
    await acme.reads(thread, "said kept")


async def test_p03b_a_message_that_waits_alone_is_stopped_too(acme: Team) -> None:
    thread = await acme.asks(ALICE, "look at alone 60")
    await acme.begun("alone")
    await acme.says(ALICE, thread, "say never")
    told = await stops(acme, ALICE, thread, "all")
    assert "2 answers stopped, 1 command killed" in told
    assert "said never" not in acme.slack.thread(OPS, thread)


async def test_p03_the_button_below_a_run_stops_exactly_that_run(acme: Team) -> None:
    thread = await running(acme, "button")
    other, card = await acme.proposed(BOB, "append survivor")
    await acme.slack.until(
        lambda: any("Stop" in acme.slack.buttons(m) for m in acme.slack.messages(OPS, thread)),
        within=30,
    )
    [shown] = [m for m in acme.slack.messages(OPS, thread) if "Stop" in acme.slack.buttons(m)]
    await acme.clicks(BOB, shown, "Stop")
    await acme.slack.until(lambda: len(acme.alone(BOB, thread)) > 1)
    assert "1 run stopped, 1 command killed, 1 step unknown" in acme.alone(BOB, thread)
    await acme.reads(thread, "A step may or may not have happened.")
    assert acme.sayso.state(acme.request(card)) == "open"
    assert len(acme.cards(other)) == 1


async def test_p03g_from_another_channel_one_thing_is_stopped_and_of_several_one_says_which(
    acme: Team,
) -> None:
    elsewhere = acme.channel("C0ELSE")
    first = await acme.asks(BOB, "look at first 60")
    await acme.begun("first")
    second = await acme.asks(BOB, "look at second 60")
    await acme.begun("second")
    listed = await acme.slack.people.slash(BOB, elsewhere, "/stop")
    assert listed.answer is not None
    assert "Several things run or wait." in text_of(listed.answer)
    buttons = acme.slack.buttons(listed.answer)
    assert len(buttons) == 2
    assert acme.sayso.sql("SELECT count(*) FROM turn WHERE reason IS NULL") == [(2,)]
    await acme.slack.people.slash(BOB, elsewhere, "/stop", acme.conversation(first))
    await acme.reads(first, "Stopped")
    assert "second" not in acme.sayso.ledger()
    assert not any("Stopped" in one for one in acme.slack.thread(OPS, second))
    done = await acme.slack.people.slash(BOB, elsewhere, "/stop")
    assert done.answer is not None
    assert text_of(done.answer) == "1 answer stopped, 1 command killed"
    await acme.reads(second, "Stopped")


async def test_p03g_a_button_of_that_list_stops_what_it_names(acme: Team) -> None:
    looks = await acme.asks(BOB, "look at listed 60")
    await acme.begun("listed")
    runs = await running(acme, "chosen")
    listed = await acme.slack.people.slash(BOB, OPS, "/stop")
    assert listed.answer is not None
    for button in buttons_of(listed.answer):
        before = acme.alone(BOB, runs)
        await acme.slack.hands.click_forged(
            BOB, OPS, runs, button["action_id"], button["value"]
        )  # an answer to a command is nowhere: this says what pressing it sends
        await told_more(acme, BOB, runs, before)
    assert sorted(acme.alone(BOB, runs)[-2:]) == [
        "1 answer stopped, 1 command killed",
        "1 run stopped, 1 command killed, 1 step unknown",
    ]
    await acme.reads(looks, "Stopped")
    await acme.reads(runs, "A step may or may not have happened.")


async def test_p03h_somebody_else_stops_only_with_the_right_to(acme: Team) -> None:
    thread = await running(acme, "other")
    assert "You may not stop that." in await stops(acme, ALICE, thread, "word")
    assert await stops(acme, MALLORY, thread, "word") == "Nothing to stop."
    assert await stops(acme, MALLORY, thread, "all") == "Nothing to stop."
    assert acme.sayso.sql("SELECT count(*) FROM run WHERE state = 'running'") == [(1,)]
    told = await stops(acme, CAROL, thread, "word")
    assert told == "1 run stopped, 1 command killed, 1 step unknown"


async def test_p03i_a_second_stop_is_harmless(acme: Team) -> None:
    thread = await acme.asks(ALICE, "look at twice 60")
    await acme.begun("twice")
    await stops(acme, ALICE, thread, "word")
    assert await stops(acme, ALICE, thread, "word") == "Nothing to stop."
    assert await stops(acme, ALICE, thread, "native") == "Nothing to stop."
    assert await stops(acme, ALICE, thread, "command") == "Nothing to stop."
    await acme.says(ALICE, thread, "say on")
    await acme.reads(thread, "said on")


@pytest.mark.parametrize("text", ["stop the deploy", "st\u200bop", "please stop", "stop?"])
async def test_p03_what_only_looks_like_a_stop_is_a_message(acme: Team, text: str) -> None:
    thread, card = await acme.proposed(ALICE, "append kept")
    await acme.says(ALICE, thread, text)
    assert acme.turns(thread) == 2
    await acme.reads(thread, "I act only on texts like these")
    assert acme.sayso.state(acme.request(card)) == "open"
