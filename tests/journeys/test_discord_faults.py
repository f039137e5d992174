"""C60 and P-45: a Discord that refuses, slows down, cuts or forgets. Nothing is lost, doubled or out of order."""

import asyncio
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest
import pytest_asyncio

from tests.server import Server, server
from tests.standins.discord import ALICE, BOB, BOT, OPS
from tests.standins.discord.faults import Faults
from tests.standins.discord.plain import text_of

pytestmark = pytest.mark.asyncio(loop_scope="module")
OTHER = "600000000000000002"
POST = "POST /channels/{channel}/messages"
PATCH = "PATCH /channels/{channel}/messages/{message}"
THREAD = "POST /channels/{channel}/messages/{message}/threads"
COUNT = """
summary: Print two hundred lines within four seconds.
risk: low
phrases: ["count"]
steps:
  - run: [python3, -u, -c, "import time\\nfor n in range(200): print('line', n); time.sleep(0.02)"]
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def acme(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Server]:
    async with server(tmp_path_factory.mktemp("faults") / "acme") as made:
        made.declared()
        made.discord.world.channel(OTHER, "other")
        made.sayso.runbook("count", COUNT)
        await made.serve()
        yield made


def posted(acme: Server, channel: str) -> list[str]:
    """Return what Sayso posted in a thread or a channel, in order, but for what waits its turn."""
    there = [one for one in acme.discord.messages(channel) if one["author"]["id"] == BOT]
    return [said for said in map(text_of, there) if not said.startswith("-# Queued:")]


async def settled(acme: Server) -> None:
    """Wait until nothing is left to be posted or drawn anew."""
    left = "SELECT 1 FROM job WHERE kind IN ('post', 'edit', 'open') AND state IN (?, ?)"
    await acme.until(lambda: not acme.sayso.sql(left, "queued", "running"))


async def begun(acme: Server, *, channel: str = OPS) -> str:
    """Have Alice ask; return the thread, with one answer in it."""
    thread = await acme.asks(ALICE, "say first", channel=channel)
    await acme.reads(thread, "said first")
    return thread


# The gateway


def sessions(acme: Server) -> int:
    """Return how often a session began or was taken up again."""
    return len(acme.discord.gateway.resumed) + len(acme.discord.gateway.identified)


async def connected_anew(acme: Server, began: int) -> None:
    """Wait until one more did."""
    gateway = acme.discord.gateway
    await acme.discord.until(lambda: sessions(acme) > began and gateway.connected, within=40)


async def test_a_gateway_that_is_refreshed_cut_closed_or_forgets_loses_and_doubles_nothing(
    acme: Server,
) -> None:
    gateway = acme.discord.gateway
    thread, card = await acme.proposed(ALICE, "append kept")
    taken, words = acme.turns(thread), list[str]()
    goes: tuple[tuple[str, Callable[[], Awaitable[None]]], ...] = (
        ("refreshed", gateway.reconnect),
        ("cut", gateway.drop),
        ("paused", lambda: gateway.invalidate(resumable=True)),
        ("closed", lambda: gateway.kick(4000)),
        ("over", lambda: gateway.kick(4009)),
        ("forgotten", gateway.invalidate),
    )
    for word, happens in goes:
        began = sessions(acme)
        await happens()
        await acme.says(ALICE, thread, f"say {word}")
        words.append(f"said {word}")
        await connected_anew(acme, began)
        await acme.says(ALICE, thread, f"say {word}2")
        words.append(f"said {word}2")
        await acme.reads(thread, words[-1])
    await settled(acme)
    assert [one for one in posted(acme, thread) if one.startswith("said")] == words
    assert acme.turns(thread) == taken + len(words)
    assert len(gateway.identified) == 2
    assert len(gateway.resumed) >= len(goes) - 1
    await acme.presses(BOB, card, "Approve")
    await acme.reads(thread, "succeeded")
    assert acme.sayso.ledger().count("kept") == 1


# Too much


async def test_c60_what_discord_slows_down_for_a_second_comes_once_and_in_order(
    acme: Server,
) -> None:
    thread = await begun(acme)
    acme.discord.faults.rate_limited(POST, after=1, times=2)
    for word in ("one", "two", "three"):
        await acme.says(ALICE, thread, f"say {word}")
    await acme.reads(thread, "said three")
    assert posted(acme, thread) == ["said first", "said one", "said two", "said three"]
    acme.discord.faults.rate_limited(POST, after=0.5, everywhere=True)
    await acme.says(ALICE, thread, "say everywhere")
    await acme.reads(thread, "said everywhere")
    assert posted(acme, thread).count("said everywhere") == 1


async def test_c60_an_edit_that_discord_slows_down_is_made_in_the_end(acme: Server) -> None:
    thread, card = await acme.proposed(ALICE, "restart web in staging")
    acme.discord.faults.rate_limited(PATCH, after=1)
    await acme.presses(BOB, card, "Approve")
    await acme.reads(thread, "### Report")
    await settled(acme)
    assert "succeeded" in text_of(acme.discord.message(card["id"]))
    assert acme.cards(thread) == []


async def test_c60_discord_slows_down_one_channel_and_others_go_on(acme: Server) -> None:
    thread = await begun(acme)
    acme.discord.faults.rate_limited(POST, after=2)
    await acme.says(ALICE, thread, "say slow")
    await acme.discord.until(lambda: not acme.discord.faults.waiting[POST])
    asked = await acme.asks(BOB, "say quick", channel=OTHER)
    await acme.reads(asked, "said quick")
    assert posted(acme, thread) == ["said first"]
    await acme.reads(thread, "said slow")


async def test_c60_where_the_network_before_discord_has_had_enough_nothing_at_all_is_asked(
    acme: Server,
) -> None:
    thread, other = await begun(acme), await begun(acme, channel=OTHER)
    acme.discord.faults.rate_limited(POST, after=2, via=False)
    before = acme.discord.world.time.now()
    await acme.says(ALICE, thread, "say one")
    await acme.discord.until(lambda: not acme.discord.faults.waiting[POST])
    await acme.says(ALICE, other, "say two")
    await acme.reads(thread, "said one")
    await acme.reads(other, "said two")
    came = [at for times in acme.discord.rates.came.values() for at in times if at > before]
    # Whatever came after what was refused, to whatever channel, came two seconds later.
    refused = min(at for at in acme.discord.rates.came[POST, thread] if at > before)
    assert min(at for at in came if at > refused) >= refused + 1.9
    await settled(acme)
    assert posted(acme, thread) == ["said first", "said one"]
    assert posted(acme, other) == ["said first", "said two"]


async def test_c61_what_a_run_prints_is_shown_by_one_edit_a_second_at_most(acme: Server) -> None:
    thread, card = await acme.proposed(BOB, "count")
    before = len(acme.discord.calls(PATCH))
    await acme.presses(BOB, card, "Approve")
    await acme.reads(thread, "line")
    await acme.reads(thread, "succeeded (exit code 0)")
    await settled(acme)
    [shown] = [
        each
        for each in acme.discord.world.history(thread)
        if any("Stop" in acme.discord.buttons(one) for one in each.before)
    ]
    assert acme.discord.buttons(shown.now) == []
    assert 1 <= len(shown.before) <= 6
    assert len(acme.discord.calls(PATCH)) - before < 12


# No answer


@pytest.mark.parametrize("fault", ["bad gateway", "no reply", "nothing done"])
async def test_c60_what_has_no_answer_is_there_once_wherever_it_was_lost(
    acme: Server, fault: str
) -> None:
    def goes_wrong(route: str) -> None:
        faults: Faults = acme.discord.faults
        match fault:
            case "bad gateway":
                faults.fails(route, 502, does=True)
            case "no reply":
                faults.loses_reply(route)
            case _:
                faults.drops(route)

    word = fault.replace(" ", "")
    goes_wrong(POST)  # what was asked, in the channel
    thread = await acme.asks(ALICE, f"say {word}", channel=OTHER)
    await acme.reads(thread, f"said {word}")
    goes_wrong(POST)
    await acme.says(ALICE, thread, "say answered")
    await acme.reads(thread, "said answered")
    goes_wrong(THREAD)
    mentioned = await acme.mentions(ALICE, f"append {word}", channel=OTHER)
    card = await acme.card(mentioned)
    goes_wrong(PATCH)
    await acme.presses(BOB, card, "Approve")
    await acme.reads(mentioned, "succeeded")
    await settled(acme)
    assert posted(acme, thread) == [f"said {word}", "said answered"]
    assert sum(word in one for one in posted(acme, OTHER)) == 1
    assert len([one for one in posted(acme, mentioned) if one.startswith("### Report")]) == 1
    now = acme.discord.message(card["id"])
    assert acme.discord.buttons(now) == []
    assert "succeeded" in text_of(now)
    assert acme.sayso.ledger().count(word) == 1


@pytest.mark.parametrize("how", ["down", "sick"])
async def test_c60_while_discord_is_away_what_happens_is_told_when_it_is_back(
    acme: Server, how: str
) -> None:
    thread, card = await acme.proposed(BOB, f"slow append {how} 1")
    await acme.presses(BOB, card, "Approve")
    await acme.begun(how)
    setattr(acme.discord.faults, how, True)
    await acme.until(
        lambda: acme.sayso.sql(
            "SELECT 1 FROM run WHERE request = ? AND state = 'succeeded'", acme.request(card)
        )
    )
    assert not any("succeeded" in one for one in posted(acme, thread))
    setattr(acme.discord.faults, how, False)
    await acme.reads(thread, "succeeded")
    await settled(acme)
    assert acme.cards(thread) == []
    reports = [one for one in posted(acme, thread) if one.startswith("### Report")]
    assert len(reports) == 1


async def test_twenty_messages_at_once_are_each_answered_once(acme: Server) -> None:
    thread = await begun(acme)
    await asyncio.gather(*(acme.says(ALICE, thread, f"say m{n}") for n in range(19)))
    await acme.discord.until(lambda: len(posted(acme, thread)) == 20, within=40)
    await settled(acme)
    assert posted(acme, thread) == ["said first", *(f"said m{n}" for n in range(19))]


# For long: these end the server


@pytest.mark.parametrize("seconds", [30, 600])
async def test_c60_for_as_long_as_discord_says_nothing_is_tried_and_nothing_overtakes(
    acme: Server, seconds: int
) -> None:
    thread = await begun(acme)
    acme.discord.faults.rate_limited(POST, after=seconds)
    limited = datetime.now(UTC)
    await acme.says(ALICE, thread, "say one")
    await acme.discord.until(lambda: not acme.discord.faults.waiting[POST])
    await acme.says(ALICE, thread, "say two")
    conversation = acme.conversation(thread)
    await acme.until(lambda: waits(acme, seconds, limited))
    await acme.until(lambda: answered(acme, conversation) == 3)
    tries = len(acme.discord.calls(POST))
    assert posted(acme, thread) == ["said first"]
    # The time has come, and somebody else is there by then.
    await acme.ends(acme.sayso.started[-1])
    assert len(acme.discord.calls(POST)) == tries
    acme.sayso.sql("UPDATE job SET run_at = ? WHERE state = 'queued'", text(limited))
    await acme.serve()
    await acme.reads(thread, "said two")
    assert posted(acme, thread) == ["said first", "said one", "said two"]


def answered(acme: Server, conversation: str) -> int:
    """Return how many messages have an answer, posted or not."""
    counted = "SELECT count(*) FROM turn WHERE reason IS NOT NULL AND conversation = ?"
    [(count,)] = acme.sayso.sql(counted, conversation)
    return int(count)


def waits(acme: Server, seconds: int, since: datetime) -> bool:
    """Whether something waits to be posted for as long as Discord wants it to."""
    at = "SELECT max(run_at) FROM job WHERE kind = 'post' AND state = 'queued'"
    [(run_at,)] = acme.sayso.sql(at)
    return bool(run_at) and datetime.fromisoformat(run_at) >= since + timedelta(seconds=seconds)


def text(at: datetime) -> str:
    """Return a time as the database has it."""
    return at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


async def test_p45_what_happens_while_the_token_is_not_valid_is_told_once_there_is_another(
    acme: Server,
) -> None:
    thread, card = await acme.proposed(BOB, "slow append revoked 1")
    await acme.presses(BOB, card, "Approve")
    await acme.begun("revoked")
    old = acme.discord.token
    await acme.discord.resets_token("fake-second-token")
    await acme.until(lambda: "revoked" in acme.sayso.ledger())
    await acme.discord.until(lambda: any(one.status == 401 for one in acme.discord.web.calls))
    refused = acme.sayso.started[-1]
    assert refused.process.poll() is None
    done = await asyncio.to_thread(refused.signal, signal.SIGTERM)
    assert done.code == 0
    assert "Discord does not accept discord.token." in done.err
    assert old not in done.err
    assert not any("exit code 0" in one for one in posted(acme, thread))
    await acme.serve()
    await acme.reads(thread, "succeeded (exit code 0)")
    await settled(acme)
    assert acme.cards(thread) == []
    assert sum("exit code 0" in one for one in posted(acme, thread)) == 1
