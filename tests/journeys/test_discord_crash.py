"""Discord and processes that die, leave, or are two: no button is dead, and nothing is done twice."""

import asyncio
import signal
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path

import pytest

from tests.sayso import marked
from tests.server import Server, server
from tests.standins.discord import ALICE, BOB, CAROL, OPS, Json
from tests.standins.discord.pings import V2
from tests.standins.discord.plain import buttons_of, text_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
PAST = "2020-01-01T00:00:00.000000Z"
POST, THREAD = (
    "POST /channels/{channel}/messages",
    ("POST /channels/{channel}/messages/{message}/threads"),
)


@pytest.fixture
async def acme(tmp_path: Path) -> AsyncGenerator[Server]:
    async with server(tmp_path / "acme") as made:
        made.declared()
        yield made


def older(acme: Server, card: Json, *, is_words: bool) -> None:
    """Have a card be as an older version drew it: other components, or words with buttons below."""
    kept = acme.discord.world.messages[card["id"]]
    row: Json = {"type": 1, "id": 1, "components": buttons_of(card)}
    if is_words:
        kept.now |= {"content": "**An older card**", "components": [row]}
        kept.now["flags"] &= ~V2
    else:
        kept.now["components"] = [{"type": 10, "id": 2, "content": "An older card"}, row]


async def settled(acme: Server) -> None:
    """Wait until nothing is left to be answered, posted or drawn anew."""
    left = (
        "SELECT 1 FROM job WHERE kind IN ('turn', 'run', 'open', 'post', 'edit')"
        " AND state IN ('queued', 'running')"
    )
    await acme.until(lambda: not acme.sayso.sql(left))


async def test_p06_every_button_works_after_a_kill_two_restarts_and_an_upgrade(
    acme: Server,
) -> None:
    running = await acme.serve()
    cards = [await acme.proposed(ALICE, f"append w{number}") for number in range(3)]
    _, old = await acme.proposed(ALICE, "restart web in prod")
    await acme.ends(running, signal.SIGKILL)
    lost = await acme.discord.people.presses(BOB, cards[0][1], "Approve")
    assert lost.sessions == 0
    older(acme, cards[1][1], is_words=False)
    older(acme, cards[2][1], is_words=True)
    running = await acme.serve()
    await acme.ends(running)
    # While nobody was there, the time of one of them has come.
    request = acme.request(old)
    acme.sayso.sql("UPDATE request SET expires_at = ? WHERE id = ?", PAST, request)
    acme.sayso.sql("UPDATE job SET run_at = ? WHERE id = ?", PAST, f"expire:{request}")
    await acme.serve()
    await acme.discord.until(lambda: "Expired at" in text_of(acme.discord.message(old["id"])))
    for thread, card in cards:
        await acme.presses(BOB, card, "Approve")
        await acme.reads(thread, "succeeded")
    await settled(acme)
    assert sorted(acme.sayso.ledger()) == ["w0", "w1", "w2"]
    for _, card in cards:
        now = acme.discord.message(card["id"])
        assert acme.discord.buttons(now) == []
        assert "An older card" not in text_of(now)


async def test_p06_a_kill_between_the_click_and_the_run_loses_and_repeats_nothing(
    acme: Server,
) -> None:
    running = await acme.serve()
    thread, card = await acme.proposed(ALICE, "restart web in staging")
    with acme.sayso.locked():
        # It is acknowledged, and not stored yet: the button is there to be pressed again.
        pressed = await acme.discord.people.presses(BOB, card, "Approve")
        await acme.discord.until(lambda: pressed.answered)
        await acme.ends(running, signal.SIGKILL)
    await acme.serve()
    assert acme.sayso.state(acme.request(card)) == "open"
    await acme.presses(BOB, card, "Approve")
    await acme.reads(thread, "succeeded")
    assert acme.sayso.ledger() == ["web-staging"]


async def test_p15_a_server_that_is_killed_in_the_middle_of_a_run_is_told_of_by_the_next(
    acme: Server,
) -> None:
    running = await acme.serve()
    thread, card = await acme.proposed(BOB, "slow append beta 30")
    await acme.presses(BOB, card, "Approve")
    await acme.begun("beta")
    await acme.ends(running, signal.SIGKILL)
    await acme.serve()
    await acme.reads(thread, "A step may or may not have happened.")
    [(run,)] = acme.sayso.sql("SELECT id FROM run")
    assert marked(run) == []
    [report] = [
        one
        for one in acme.discord.messages(thread)
        if "It did not" in acme.discord.buttons(one) and "may or may not" in text_of(one)
    ]
    assert acme.discord.buttons(report) == ["Verify", "It happened", "It did not", "Plan again"]
    assert (await acme.presses(ALICE, report, "It did not")).alone != []
    assert acme.sayso.sql("SELECT state FROM run") == [("unknown",)]
    await acme.presses(BOB, report, "Verify")
    await acme.reads(thread, "This decides nothing.")
    # X2, I4: the same plan is asked about anew, with a warning, and is never done by itself.
    await acme.presses(BOB, report, "Plan again")
    anew = await acme.card(thread)
    escaped = run.replace("_", r"\_")
    await acme.shows(anew, f"A step of run {escaped} may have happened already.")
    assert acme.sayso.ledger() == ["begin beta"]
    await acme.presses(CAROL, report, "It did not")
    await acme.until(lambda: acme.sayso.sql("SELECT state FROM run") == [("failed",)])
    assert acme.sayso.ledger() == ["begin beta"]


async def test_p15_a_server_that_is_told_to_end_does_so_within_ten_seconds_and_the_next_tells(
    acme: Server,
) -> None:
    running = await acme.serve()
    thread, card = await acme.proposed(BOB, "slow append beta 60")
    asked = await acme.asks(ALICE, "look at gamma 60")
    await acme.presses(BOB, card, "Approve")
    await acme.begun("beta")
    await acme.begun("gamma")
    began = time.monotonic()
    done = await acme.ends(running)
    assert time.monotonic() - began < 10
    assert (done.code, done.json) == (0, {"served": True})
    assert sorted(acme.sayso.ledger()) == ["begin beta", "begin gamma"]
    # What is written while nobody is there is fetched by whoever comes next.
    before = set(acme.discord.threads(OPS))
    await acme.discord.people.mentions(ALICE, OPS, "say later")
    await acme.serve()
    await acme.discord.until(lambda: set(acme.discord.threads(OPS)) - before)
    [later] = set(acme.discord.threads(OPS)) - before
    await acme.reads(later, "said later")
    await acme.reads(thread, "A step may or may not have happened.")
    # What only looks is done again: nothing came of the first time.
    await acme.until(lambda: acme.sayso.ledger().count("begin gamma") == 2)
    assert acme.sayso.ledger().count("begin beta") == 1
    await acme.says(ALICE, asked, "stop")
    await acme.reads(asked, "Stopped")


async def killed_at(acme: Server, route: str, does: Callable[[], Awaitable[object]]) -> None:
    """Have something done, and the server killed while Discord does what it asked for that."""
    discord, faults = acme.discord, acme.discord.faults
    gate, held, done = faults.holds(route), faults.held.get(route, 0), len(discord.calls(route))
    await does()
    await discord.until(lambda: faults.held.get(route, 0) > held)
    await acme.ends(acme.sayso.started[-1], signal.SIGKILL)
    faults.gates.clear()
    gate.set()  # Discord had it already, and nobody is there to be told
    await discord.until(lambda: len(discord.calls(route)) > done)


async def test_c60_whatever_was_under_way_at_a_kill_is_there_once(acme: Server) -> None:
    acme.discord.world.nonce_seconds = 0  # as if more than minutes had passed since
    await acme.serve()
    known = await acme.asks(ALICE, "say first")
    await acme.reads(known, "said first")
    people = acme.discord.people
    threads = set(acme.discord.threads(OPS))
    acts: tuple[tuple[str, Callable[[], Awaitable[object]]], ...] = (
        (POST, lambda: people.slash(ALICE, OPS, "ask", text="say opened")),
        (THREAD, lambda: people.mentions(ALICE, OPS, "say mentioned")),
        (POST, lambda: acme.says(ALICE, known, "say answered")),
        (POST, lambda: acme.says(ALICE, known, "restart web in staging")),
    )
    for route, does in acts:
        await killed_at(acme, route, does)
        await acme.serve()
        await settled(acme)
    first, second = sorted(set(acme.discord.threads(OPS)) - threads)
    assert acme.discord.seen_in(first)[-1:] == ["said opened"]
    assert acme.discord.seen_in(second)[-1:] == ["said mentioned"]
    assert [one for one in acme.discord.seen_in(known) if one.startswith("said")] == [
        "said first",
        "said answered",
    ]
    assert len(acme.cards(known)) == 1
    for place in (OPS, first, second, known):
        said = acme.discord.seen_in(place)
        assert len(said) == len(set(said))


async def test_p35_of_two_servers_one_is_connected_and_the_other_takes_over_whatever_ends_it(
    acme: Server,
) -> None:
    gateway, people = acme.discord.gateway, acme.discord.people
    first = await acme.serve()
    second = await acme.stands_by()
    assert len(gateway.identified) == 1
    thread, card = await acme.proposed(ALICE, "append one")
    typed = await people.slash(ALICE, OPS, "ask", text="say typed")
    await acme.discord.over(typed)
    taken = acme.turns()
    await asyncio.to_thread(first.signal, signal.SIGKILL)
    await gateway.until_connected(0)
    missed = await acme.says(ALICE, thread, "say missed")
    assert missed["id"]
    await gateway.until_identified(2, within=10)
    # Whoever takes over knows what was taken before.
    gateway.interact(typed.sent)
    pressed = await acme.presses(BOB, card, "Approve")
    gateway.interact(pressed.sent)
    await acme.reads(thread, "succeeded")
    await acme.reads(thread, "said missed")
    third = await acme.stands_by()
    assert len(gateway.identified) == 2
    await asyncio.to_thread(second.signal, signal.SIGTERM)
    await gateway.until_identified(3, within=10)
    gateway.interact(pressed.sent)
    await acme.says(ALICE, thread, "say third")
    await acme.reads(thread, "said third")
    await settled(acme)
    assert acme.turns() == taken + 2
    assert acme.sayso.ledger() == ["one"]
    said = acme.discord.seen_in(thread)
    assert len(said) == len(set(said))
    assert third.process.poll() is None
