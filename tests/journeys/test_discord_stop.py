"""P-03 and X9 on Discord: a stop in every state, by every way there is, with counts that are true."""

import re
import time
from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from tests.server import Server, server
from tests.standins.discord import ALICE, BOB, BOT, CAROL, MALLORY, OPS, Json
from tests.standins.discord.plain import buttons_of, text_of
from tests.team import THREE

pytestmark = pytest.mark.asyncio(loop_scope="module")
ELSEWHERE = "600000000000000002"
WAYS = ["word", "mark", "mention", "command", "all"]
SOON = 5.0
"""Seconds: a second is what is promised on a machine that has nothing else to do."""
TOLD = re.compile(
    r"-# (\d+ .*(?:stopped|withdrawn)\b.*|Nothing to stop\.|You may not stop that\..*)"
)
RUN = "1 run stopped, 1 command killed, 1 step unknown"
ANSWER = "1 answer stopped, 1 command killed"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def serving(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Server]:
    async with server(tmp_path_factory.mktemp("stop") / "acme") as made:
        made.declared()
        made.discord.world.channel(ELSEWHERE, "else")
        made.sayso.runbook("three", THREE)
        await made.serve()
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def acme(serving: Server) -> AsyncGenerator[Server]:
    """Give a server on which nothing runs or waits, and leave it so."""
    yield serving
    act = await serving.discord.people.slash(BOB, OPS, "stop", what="all")
    await serving.discord.over(act)


def told(acme: Server, thread: str) -> list[str]:
    """Return what Sayso said of stopping in a thread: there, a message has no other answer."""
    there = [one for one in acme.discord.messages(thread) if one["author"]["id"] == BOT]
    return [found[1] for one in there if (found := TOLD.fullmatch(text_of(one)))]


async def stops(acme: Server, who: str, thread: str, way: str) -> str:
    """Have somebody stop; return what they are told."""
    people, began, before = acme.discord.people, time.monotonic(), len(told(acme, thread))
    match way:
        case "word" | "mark":
            await acme.says(who, thread, {"word": "Stop", "mark": "!stop"}[way])
        case "mention":
            await people.mentions(who, thread, "stop")
        case _:
            options = {"what": "all"} if way == "all" else {}
            act = await acme.discord.over(await people.slash(who, thread, "stop", **options))
            assert time.monotonic() - began < SOON
            [said] = act.alone
            return said
    await acme.discord.until(lambda: len(told(acme, thread)) > before)
    assert time.monotonic() - began < SOON
    return told(acme, thread)[before]


async def taken(acme: Server, thread: str, count: int) -> None:
    """Wait until so many messages of a thread were taken in."""
    await acme.until(lambda: acme.turns(thread) == count)


async def running(acme: Server, word: str) -> str:
    """Have bob run three steps, up to the second; return the thread."""
    thread, card = await acme.proposed(BOB, f"three {word}")
    await acme.presses(BOB, card, "Approve")
    await acme.begun(f"{word}2")
    return thread


@pytest.mark.parametrize("way", WAYS)
async def test_p03c_what_looks_is_killed(acme: Server, way: str) -> None:
    thread = await acme.asks(ALICE, f"look at {way} 60")
    await acme.begun(way)
    assert await stops(acme, ALICE, thread, way) == ANSWER
    await acme.reads(thread, "Stopped")
    assert way not in acme.sayso.ledger()
    assert acme.sayso.sql("SELECT count(*) FROM turn WHERE reason IS NULL") == [(0,)]


@pytest.mark.parametrize("way", WAYS)
async def test_p03f_the_second_of_three_steps_is_killed_and_unknown(acme: Server, way: str) -> None:
    thread = await running(acme, f"f{way}")
    assert await stops(acme, BOB, thread, way) == RUN
    await acme.reads(thread, "A step may or may not have happened.")
    report = next(one for one in acme.discord.seen_in(thread) if "may or may not" in one)
    assert "0. three succeeded" in report
    assert "1. three unknown" in report
    assert "2. three not run" in report
    mine = [line for line in acme.sayso.ledger() if f"f{way}" in line]
    assert mine == [f"f{way}1", f"begin f{way}2"]


@pytest.mark.parametrize("way", WAYS)
async def test_p03e_a_card_that_waits_is_withdrawn(acme: Server, way: str) -> None:
    thread, card = await acme.proposed(ALICE, f"append e{way}")
    assert await stops(acme, ALICE, thread, way) == "1 request withdrawn"
    await acme.discord.until(lambda: not acme.cards(thread))
    await acme.reads(thread, "Revoked: alice stopped it.")
    # Somebody whose screen is old.
    late = await acme.discord.people.presses(BOB, card, "Approve", stale=True)
    await acme.told(late, "Revoked: alice stopped it.")
    assert f"e{way}" not in acme.sayso.ledger()


async def test_p03d_messages_that_wait_are_kept_and_answered_next(acme: Server) -> None:
    thread = await acme.asks(ALICE, "look at queue 60")
    await acme.begun("queue")
    await acme.says(ALICE, thread, "say kept")
    assert await stops(acme, ALICE, thread, "word") == (
        f"{ANSWER}, 1 message kept and answered next"
    )
    await acme.reads(thread, "said kept")


async def test_p03b_a_message_that_waits_alone_is_stopped_too(acme: Server) -> None:
    thread = await acme.asks(ALICE, "look at alone 60")
    await acme.begun("alone")
    await acme.says(ALICE, thread, "say never")
    await taken(acme, thread, 2)
    assert "2 answers stopped, 1 command killed" in await stops(acme, ALICE, thread, "all")
    assert "said never" not in acme.discord.seen_in(thread)


async def test_p03_the_button_below_a_run_stops_exactly_that_run(acme: Server) -> None:
    thread = await running(acme, "button")
    other, card = await acme.proposed(BOB, "append survivor")

    def shown() -> list[Json]:
        return [m for m in acme.discord.messages(thread) if "Stop" in acme.discord.buttons(m)]

    await acme.discord.until(shown)
    [progress] = shown()
    refused = await acme.presses(ALICE, progress, "Stop")
    assert "You may not stop that." in refused.alone[0]
    stopped = await acme.presses(BOB, progress, "Stop")
    assert stopped.alone == [RUN]
    await acme.reads(thread, "A step may or may not have happened.")
    await acme.discord.until(lambda: not shown())
    assert acme.sayso.state(acme.request(card)) == "open"
    assert len(acme.cards(other)) == 1


async def test_p03g_from_another_channel_one_thing_is_stopped_and_of_several_one_says_which(
    acme: Server,
) -> None:
    first = await acme.asks(BOB, "look at first 60")
    await acme.begun("first")
    second = await running(acme, "second")
    people = acme.discord.people
    listed = await acme.discord.over(await people.slash(BOB, ELSEWHERE, "stop"))
    assert "Several things run or wait." in listed.alone[0]
    assert len(buttons_of(listed.shown[0].now)) == 2
    assert acme.sayso.sql("SELECT count(*) FROM turn WHERE reason IS NULL") == [(1,)]
    named = await people.slash(BOB, ELSEWHERE, "stop", what=acme.conversation(first))
    assert (await acme.discord.over(named)).alone == [ANSWER]
    await acme.reads(first, "Stopped")
    assert not any("may or may not" in one for one in acme.discord.seen_in(second))
    alone = await acme.discord.over(await people.slash(BOB, ELSEWHERE, "stop"))
    assert alone.alone == [RUN]
    await acme.reads(second, "A step may or may not have happened.")


async def test_p03g_a_button_of_that_list_stops_what_it_names(acme: Server) -> None:
    looks = await acme.asks(BOB, "look at listed 60")
    await acme.begun("listed")
    runs = await running(acme, "chosen")
    listed = await acme.discord.people.slash(BOB, OPS, "stop")
    message = (await acme.discord.over(listed)).shown[0].now
    done = [await acme.presses(BOB, message, button["custom_id"]) for button in buttons_of(message)]
    assert sorted(said for one in done for said in one.alone) == [ANSWER, RUN]
    await acme.reads(looks, "Stopped")
    await acme.reads(runs, "A step may or may not have happened.")


async def test_p03h_somebody_else_stops_only_with_the_right_to(acme: Server) -> None:
    thread = await running(acme, "other")
    for way in ("word", "command"):
        assert "You may not stop that." in await stops(acme, ALICE, thread, way)
    await acme.says(MALLORY, thread, "stop")
    await acme.reads(thread, "Sayso does not know you here")
    assert "Sayso does not know you here" in await stops(acme, MALLORY, thread, "all")
    assert acme.sayso.sql("SELECT count(*) FROM run WHERE state = 'running'") == [(1,)]
    assert await stops(acme, CAROL, thread, "word") == RUN


async def test_p03i_a_second_stop_is_harmless(acme: Server) -> None:
    thread = await acme.asks(ALICE, "look at twice 60")
    await acme.begun("twice")
    assert await stops(acme, ALICE, thread, "word") == ANSWER
    for way in WAYS:
        assert await stops(acme, ALICE, thread, way) == "Nothing to stop."
    await acme.says(ALICE, thread, "say on")
    await acme.reads(thread, "said on")


async def test_p03_what_only_looks_like_a_stop_is_a_message(acme: Server) -> None:
    thread, card = await acme.proposed(ALICE, "append kept")
    for number, text in enumerate(("stop the deploy", "st\u200bop", "please stop", "stop?")):
        await acme.says(ALICE, thread, text)
        await taken(acme, thread, number + 2)
    assert told(acme, thread) == []
    assert acme.sayso.state(acme.request(card)) == "open"
