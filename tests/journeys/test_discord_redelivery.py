"""P-02: whatever Discord tells of more than once is done once, and what nobody heard is caught up."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.server import Server, served, server
from tests.standins.discord import ALICE, BOB, CAROL, OPS

pytestmark = pytest.mark.asyncio(loop_scope="module")
PAST = "2020-01-01T00:00:00.000000Z"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def acme(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Server]:
    async with served(tmp_path_factory.mktemp("again") / "acme") as made:
        yield made


async def answered_once(acme: Server, thread: str, text: str) -> None:
    """Check that a thread has one turn, which was answered once, and that nothing more is coming."""
    await acme.reads(thread, text)
    await heard(acme)
    assert acme.turns(thread) == 1
    assert sum(text in one for one in acme.discord.seen_in(thread)) == 1


async def heard(acme: Server) -> None:
    """Wait until everything that was told so far was heard and done."""
    last = await acme.mentions(BOB, "say last")
    await acme.reads(last, "said last")
    await acme.settled()


async def test_p02_a_message_that_is_told_of_again_is_done_once(acme: Server) -> None:
    asked = await acme.discord.people.mentions(ALICE, OPS, "say once")
    for _ in range(3):
        acme.discord.tells_again(asked)  # at the same moment
    thread = str(asked["id"])
    await acme.reads(thread, "said once")
    acme.discord.tells_again(asked)
    await answered_once(acme, thread, "said once")
    reply = await acme.says(ALICE, thread, "append word")
    await acme.card(thread)
    acme.discord.tells_again(reply)
    await heard(acme)
    assert len(acme.cards(thread)) == 1
    assert acme.turns(thread) == 2


async def test_p02_what_comes_again_while_it_is_still_answered_starts_nothing(
    acme: Server,
) -> None:
    asked = await acme.discord.people.mentions(ALICE, OPS, "look at slow 1")
    await acme.begun("slow")
    acme.discord.tells_again(asked)
    await answered_once(acme, str(asked["id"]), "appended slow")
    assert acme.sayso.ledger().count("begin slow") == 1


async def test_p02_a_session_that_is_taken_up_again_loses_and_repeats_nothing(
    acme: Server,
) -> None:
    before = len(acme.discord.gateway.resumed)
    known = await acme.mentions(ALICE, "say before")
    await acme.reads(known, "said before")
    await acme.discord.gateway.drop()
    asked = await acme.discord.people.mentions(ALICE, OPS, "say meanwhile")
    await acme.says(ALICE, known, "say below")
    await acme.discord.gateway.until_resumed(before + 1)
    await answered_once(acme, str(asked["id"]), "said meanwhile")
    await acme.reads(known, "said below")
    assert acme.turns(known) == 2


async def test_p02_after_a_session_that_is_lost_what_was_asked_meanwhile_is_caught_up(
    acme: Server,
) -> None:
    before = len(acme.discord.gateway.identified)
    known = await acme.mentions(ALICE, "say before")
    await acme.reads(known, "said before")
    acme.discord.gateway.down = True
    acme.discord.gateway.forget()
    await acme.discord.gateway.drop()
    asked = await acme.discord.people.mentions(ALICE, OPS, "say missed")
    await acme.says(ALICE, known, "say below")
    acme.discord.gateway.down = False
    await acme.discord.gateway.until_identified(before + 1)
    await answered_once(acme, str(asked["id"]), "said missed")
    await acme.reads(known, "said below")
    assert acme.turns(known) == 2


async def test_p02_a_command_a_button_and_a_form_that_come_again_are_done_once(
    acme: Server,
) -> None:
    before, turns = set(acme.discord.threads(OPS)), acme.turns()
    asked = await acme.discord.people.slash(ALICE, OPS, "ask", text="append command")
    acme.discord.sends_again(asked)
    await acme.discord.until(lambda: set(acme.discord.threads(OPS)) - before)
    [thread] = set(acme.discord.threads(OPS)) - before
    card = await acme.card(thread)
    acme.discord.sends_again(asked)
    await heard(acme)
    assert acme.turns() == turns + 2
    assert len(acme.discord.threads(OPS)) == len(before) + 2
    form = (await acme.presses(BOB, card, "Deny")).modal
    denied = await acme.discord.people.submits(BOB, form, reason="no")
    acme.discord.sends_again(denied)
    await acme.shows(card, "Denied by bob: no.")
    again = await acme.presses(BOB, card, "Ask again")
    acme.discord.sends_again(again)
    second = await acme.card(thread)
    pressed = await acme.discord.people.presses(CAROL, second, "Approve")
    for _ in range(2):
        acme.discord.sends_again(pressed)
    await acme.told(pressed, "Your yes counts: 1 of 1 vote.")
    await acme.reads(thread, "succeeded")
    await heard(acme)
    assert len(pressed.alone) == len(denied.shown) == 1
    assert acme.cards(thread) == []
    assert acme.sayso.ledger().count("command") == 1


async def test_p02_a_message_while_the_database_is_busy_is_done_once(acme: Server) -> None:
    with acme.sayso.locked():
        asked = await acme.discord.people.mentions(ALICE, OPS, "say stored")
        later = await acme.discord.people.slash(ALICE, OPS, "ask", text="say after")
        await acme.discord.until(lambda: later.answered)  # so it was heard, and is tried
    await answered_once(acme, str(asked["id"]), "said stored")


async def test_p02_what_was_asked_while_nobody_was_there_is_caught_up_and_no_stop_is(
    tmp_path: Path,
) -> None:
    async with server(tmp_path / "late") as late:
        await late.sync()
        asked = await late.discord.people.mentions(ALICE, OPS, "say early")
        first = await late.serve()
        await answered_once(late, str(asked["id"]), "said early")
        thread, card = await late.proposed(ALICE, "append kept")
        await late.ends(first)
        missed = await late.discord.people.mentions(ALICE, OPS, "say missed")
        await late.says(ALICE, thread, "say below")
        await late.says(ALICE, thread, "stop")
        await late.discord.people.mentions(ALICE, thread, "stop all")
        await late.says(BOB, thread, f"!deny {late.request(card)} no")
        pressed = await late.discord.people.presses(BOB, card, "Approve")
        assert pressed.sessions == 0
        await late.serve()
        await answered_once(late, str(missed["id"]), "said missed")
        await late.reads(thread, "said below")
        assert late.turns(thread) == 2
        assert late.turns(str(asked["id"])) == 1  # which was fetched once more
        assert late.sayso.state(late.request(card)) == "open"
        await late.presses(BOB, card, "Approve")
        await late.reads(thread, "succeeded")


async def test_p02_two_sessions_that_are_told_of_the_same_do_it_once(tmp_path: Path) -> None:
    async with served(tmp_path / "two") as two:
        thread, card = await two.proposed(ALICE, "append both")
        first = two.sayso.started[-1].process
        with two.sayso.locked():  # so that it stops with the database free
            first.send_signal(signal.SIGSTOP)
            await asyncio.to_thread(os.waitpid, first.pid, os.WUNTRACED)
        # It hears nothing, and does not know that its time is over.
        two.sayso.sql("UPDATE lease SET until = ?", PAST)
        await two.serve()
        assert len(two.discord.gateway.connected) == 2
        asked = await two.discord.people.mentions(ALICE, OPS, "say twice")
        pressed = await two.discord.people.presses(BOB, card, "Approve")
        typed = await two.discord.people.slash(ALICE, OPS, "ask", text="say typed")
        assert pressed.sessions == typed.sessions == 2
        await two.told(pressed, "Your yes counts: 1 of 1 vote.")
        await two.told(typed, "What comes of it is shown in the thread.")
        first.send_signal(signal.SIGCONT)  # then it hears of both as well
        await two.reads(thread, "succeeded")
        await two.discord.gateway.until_connected(1)
        await answered_once(two, str(asked["id"]), "said twice")
        assert two.turns() == 4  # those three, and the one that shows that all of it was heard
        assert two.sayso.ledger() == ["both"]
        assert len(pressed.alone) == 1
