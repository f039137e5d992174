"""Pause and denials on Discord: whoever may holds everything back with a word, and everybody reads why."""

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from tests.server import Server, served
from tests.standins.discord import ALICE, BOB, CAROL, MALLORY, OPS

GLASS = '    - {effect: allow, action: "plan:break_glass", groups: [leads]}\n'
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def acme(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Server]:
    async with served(tmp_path_factory.mktemp("rules") / "acme") as made:
        yield made


async def test_x6_a_pause_is_told_where_something_waits_and_its_end_too(acme: Server) -> None:
    thread, card = await acme.proposed(ALICE, "restart web in prod")
    why = f"pause an incident @everyone <@{MALLORY}>"
    act = await acme.discord.people.slash(BOB, OPS, "sayso", words=why)
    await acme.told(act, "Paused: bob paused everything")
    await acme.reads(thread, "Held back: bob paused everything")
    assert await acme.shows(card, "Held back: bob paused everything") == ["Approve", "Edit", "Deny"]
    await acme.told(
        await acme.presses(CAROL, card, "Approve"), "Your yes was not counted: bob paused"
    )
    other = await acme.asks(ALICE, "append meanwhile")
    await acme.reads(other, "Not proposed: bob paused everything")
    looks = await acme.asks(ALICE, "say hello")
    await acme.reads(looks, "said hello")
    await acme.says(CAROL, thread, "!resume")
    await acme.reads(thread, "carol resumed: what was approved goes on")
    await acme.discord.until(lambda: "Held back" not in acme.now(card))
    await acme.presses(BOB, card, "Approve")
    await acme.reads(thread, "succeeded (exit code 0)")
    assert not [one for one in acme.discord.pinged if MALLORY in one.users or one.everyone]


async def test_x6_who_may_not_pause_holds_nothing_back(acme: Server) -> None:
    act = await acme.discord.people.slash(ALICE, OPS, "sayso", words="pause")
    await acme.told(act, "You may not pause or resume (tenant:pause); bob and carol may.")
    await acme.proposed(ALICE, "append still")


async def test_p04_three_denials_hold_a_thread_back_until_somebody_says_lift(
    acme: Server,
) -> None:
    thread, card = await acme.proposed(ALICE, "append first")
    await acme.denies(BOB, card, "no")
    await acme.discord.until(lambda: not acme.cards(thread), within=30)
    for word in ("second", "third"):
        await acme.says(ALICE, thread, f"append {word}")
        await acme.denies(BOB, await acme.card(thread), "no")
        await acme.discord.until(lambda: not acme.cards(thread), within=30)
    await acme.reads(thread, "3 requests of this conversation were denied.")
    await acme.says(ALICE, thread, "append fourth")
    await acme.reads(thread, "Not proposed: 3 requests of this conversation were denied.")
    act = await acme.discord.people.slash(BOB, thread, "sayso", words="lift")
    await acme.told(act, "Lifted:")
    await acme.reads(thread, "bob allowed that things are proposed here again")
    await acme.says(ALICE, thread, "append fourth")
    await acme.presses(BOB, await acme.card(thread), "Approve")
    await acme.reads(thread, "succeeded (exit code 0)")


async def test_x6_who_is_asked_to_decide_is_called_and_one_person_breaks_the_glass(
    acme: Server,
) -> None:
    acme.sayso.edit(
        "sayso.yml",
        '    - {effect: allow, action: "run:stop"',
        f'{GLASS}    - {{effect: allow, action: "run:stop"',
    )
    thread, card = await acme.proposed(ALICE, "deploy v7")
    request = acme.request(card)
    await acme.says(ALICE, thread, f"!handover {request} carol")
    await acme.reads(thread, "alice asks carol to decide deploy")
    assert acme.discord.pinged[-1].users == {CAROL}
    act = await acme.discord.people.slash(
        ALICE, thread, "sayso", words=f"handover {request} <@{MALLORY}>"
    )
    await acme.told(act, "Nobody was asked: they may not approve this")
    why = f"it burns @everyone <@{MALLORY}>"
    act = await acme.discord.people.slash(
        BOB, thread, "sayso", words=f"break-glass {request} {why}"
    )
    await acme.told(act, "You may not break the glass for this (plan:break\\_glass); carol may.")
    act = await acme.discord.people.slash(
        CAROL, thread, "sayso", words=f"break-glass {request} {why}"
    )
    await acme.told(act, "You broke the glass: everybody who may approve it is told.")
    await acme.reads(
        thread, "Glass broken: carol alone lets deploy run, with 1 of 2 votes: it burns"
    )
    assert any({BOB, CAROL} <= one.users for one in acme.discord.pinged)
    await acme.shows(card, "Glass broken by carol: it burns")
    await acme.until(lambda: "release-v7" in acme.sayso.ledger())
    assert not [one for one in acme.discord.pinged if MALLORY in one.users or one.everyone]
