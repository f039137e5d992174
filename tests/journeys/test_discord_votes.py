"""Votes on Discord: two people, a reason, another try, and the end of time, as the card tells them."""

import asyncio
from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from tests.server import Server, served
from tests.standins.discord import ALICE, BOB, CAROL, MALLORY

pytestmark = pytest.mark.asyncio(loop_scope="module")
PAST = "2020-01-01T00:00:00.000000Z"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def acme(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Server]:
    async with served(tmp_path_factory.mktemp("votes") / "acme") as made:
        yield made


async def test_p32_two_different_people_have_to_agree_and_the_card_counts_them(
    acme: Server,
) -> None:
    thread, card = await acme.proposed(ALICE, "deploy v1")
    assert "Open: 0 of 2 votes, not the requester." in acme.now(card)
    bob = await acme.presses(BOB, card, "Approve")
    await acme.told(bob, "Your yes counts: 1 of 2 votes.")
    counted = await acme.shows(card, "Open: 1 of 2 votes, not the requester (bob).")
    assert counted == ["Approve", "Edit", "Deny"]
    again = await acme.presses(BOB, card, "Approve")
    await acme.told(again, "Your yes was there already: 1 of 2 votes.")
    assert acme.sayso.ledger() == []
    await acme.presses(CAROL, card, "Approve")
    assert await acme.shows(card, "Approved by bob and carol. Run") == []
    await acme.reads(thread, "succeeded")
    assert acme.sayso.ledger() == ["build-v1", "release-v1"]


async def test_p32_both_yes_in_the_same_moment_run_it_once(acme: Server) -> None:
    before = len(acme.sayso.ledger())
    thread, card = await acme.proposed(ALICE, "deploy v2")
    await asyncio.gather(*(acme.presses(who, card, "Approve") for who in (BOB, CAROL) * 2))
    await acme.reads(thread, "succeeded")
    assert acme.sayso.ledger()[before:] == ["build-v2", "release-v2"]


async def test_p32_one_no_after_a_yes_ends_it(acme: Server) -> None:
    thread, card = await acme.proposed(ALICE, "deploy v3")
    await acme.presses(BOB, card, "Approve")
    await acme.shows(card, "1 of 2 votes")
    await acme.denies(CAROL, card, "freeze until Monday")
    assert await acme.shows(card, "Denied by carol: freeze until Monday.") == ["Ask again"]
    await acme.reads(thread, "freeze until Monday")
    assert "build-v3" not in acme.sayso.ledger()


async def test_p07_at_its_time_a_card_ends_by_itself_with_one_of_two_votes(acme: Server) -> None:
    _, card = await acme.proposed(ALICE, "deploy v4")
    await acme.presses(BOB, card, "Approve")
    await acme.shows(card, "1 of 2 votes")
    request = acme.request(card)
    acme.sayso.sql("UPDATE request SET expires_at = ? WHERE id = ?", PAST, request)
    acme.sayso.sql("UPDATE job SET run_at = ? WHERE id = ?", PAST, f"expire:{request}")
    # Nobody presses anything.
    assert await acme.shows(card, "with 1 of 2 votes. Ask again") == ["Ask again"]
    late = await acme.discord.people.presses(CAROL, card, "Approve", stale=True)
    await acme.told(late, "with 1 of 2 votes")
    assert acme.sayso.state(request) == "expired"
    assert "build-v4" not in acme.sayso.ledger()


async def test_p07_a_click_just_after_its_time_finds_it_expired(acme: Server) -> None:
    _, card = await acme.proposed(ALICE, "restart web in prod")
    acme.sayso.sql("UPDATE request SET expires_at = ? WHERE id = ?", PAST, acme.request(card))
    await acme.told(await acme.presses(BOB, card, "Approve"), "Expired")
    assert await acme.shows(card, "Expired") == ["Ask again"]
    assert "web-prod" not in acme.sayso.ledger()


async def test_p07_halfway_whoever_may_vote_is_reminded_in_the_thread(acme: Server) -> None:
    thread, card = await acme.proposed(ALICE, "restart web in prod")
    request = acme.request(card)
    reminded = "UPDATE job SET run_at = ? WHERE kind = 'remind' AND id LIKE ? RETURNING id"
    assert len(acme.sayso.sql(reminded, PAST, f"%{request}%")) == 1
    await acme.reads(thread, "Still waiting: 0 of 1 vote, not the requester, until")
    assert any({BOB, CAROL} <= one.users for one in acme.discord.pinged)
    await acme.presses(BOB, card, "Approve")
    await acme.reads(thread, "succeeded (exit code 0)")


async def test_p07_what_is_decided_elsewhere_is_shown_on_the_card(acme: Server) -> None:
    thread, card = await acme.proposed(ALICE, "append elsewhere")
    _, other = await acme.proposed(ALICE, "append nowhere")
    does = acme.sayso.run
    for command in (
        ["approve", "--no-wait", acme.request(card)],
        ["deny", "--reason", "not today", acme.request(other)],
    ):
        done = await asyncio.to_thread(does, *command, as_="bob", env=acme.tokens)
        assert done.code == 0, done
    assert await acme.shows(card, "Approved by bob. Run") == []
    assert await acme.shows(other, "Denied by bob: not today.") == ["Ask again"]
    await acme.reads(thread, "succeeded (exit code 0)")


async def test_p04_a_denial_tells_why_pings_nobody_and_stands_however_it_is_worded(
    acme: Server,
) -> None:
    thread, card = await acme.proposed(ALICE, "restart web in staging")
    pinged = [one for one in acme.discord.pinged if MALLORY in one.users or one.everyone]
    await acme.denies(BOB, card, f"  wrong environment\n@everyone <@{MALLORY}>  ")
    await acme.reads(thread, "Denied by bob: wrong environment")
    for text in ("!restart-web env=staging", '!restart-web "staging"', "restart web in staging"):
        await acme.says(ALICE, thread, text)
    await acme.discord.until(lambda: acme.turns(thread) == 4)
    await acme.settled()
    assert acme.cards(thread) == []
    assert "web-staging" not in acme.sayso.ledger()
    assert [one for one in acme.discord.pinged if MALLORY in one.users or one.everyone] == pinged


async def test_p07_ask_again_makes_a_new_card_that_can_be_approved(acme: Server) -> None:
    thread, card = await acme.proposed(ALICE, "restart web in staging")
    await acme.denies(BOB, card, "")
    assert await acme.shows(card, "Denied by bob, no reason given.") == ["Ask again"]
    refused = await acme.presses(ALICE, card, "Ask again")
    await acme.told(refused, "only who may approve it may ask for it again: bob and carol")
    assert acme.cards(thread) == []
    await acme.presses(BOB, card, "Ask again")
    again = await acme.card(thread)
    assert acme.request(again) != acme.request(card)
    await acme.presses(CAROL, again, "Approve")
    await acme.reads(thread, "succeeded")
    assert acme.sayso.ledger().count("web-staging") == 1


async def test_a_form_that_comes_too_late_says_what_became_of_it(acme: Server) -> None:
    thread, card = await acme.proposed(ALICE, "append late")
    form = (await acme.presses(CAROL, card, "Deny")).modal
    await acme.presses(BOB, card, "Approve")
    await acme.reads(thread, "succeeded")
    late = await acme.discord.people.submits(CAROL, form, reason="no")
    await acme.told(late, "Already decided. Approved by bob.")
