"""Votes in Slack: two people, a reason, another try, and the end of time, as the card tells them."""

import asyncio
from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from tests.standins.slack import Json
from tests.standins.slack.plain import text_of
from tests.team import ALICE, BOB, CAROL, OPS, Team, served

pytestmark = pytest.mark.asyncio(loop_scope="module")
PAST = "2020-01-01T00:00:00.000000Z"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def acme(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Team]:
    async with served(tmp_path_factory.mktemp("votes") / "acme") as made:
        yield made


def now(acme: Team, card: Json) -> Json:
    """Return a message as it stands there now."""
    return acme.slack.work.message(OPS, card["ts"]).now


async def shows(acme: Team, card: Json, text: str) -> list[str]:
    """Wait until a card says something; return the buttons that it then has."""
    await acme.slack.until(lambda: text in text_of(now(acme, card)), within=30)
    return acme.slack.buttons(now(acme, card))


async def denied(acme: Team, who: str, card: Json, reason: str) -> None:
    """Have somebody deny in the window that the button opens."""
    await acme.clicks(who, card, "Deny")
    await acme.slack.until(lambda: acme.slack.views(who))
    [view] = acme.slack.views(who)
    done = await acme.slack.hands.submit_view(who, view["id"], {"reason": reason})
    assert done.acked
    assert acme.slack.views(who) == []


async def test_p32_two_different_people_have_to_agree_and_the_card_counts_them(acme: Team) -> None:
    thread, card = await acme.proposed(ALICE, "deploy v1")
    assert "Open: 0 of 2 votes, not the requester." in text_of(card)
    await acme.slack.until(lambda: acme.status(thread) == "suspended")
    await acme.clicks(BOB, card, "Approve")
    assert await shows(acme, card, "Open: 1 of 2 votes, not the requester (bob).") == [
        "Approve",
        "Edit",
        "Deny",
    ]
    await acme.clicks(BOB, card, "Approve")
    await acme.slack.until(lambda: len(acme.alone(BOB, thread)) == 2)
    assert acme.alone(BOB, thread) == [
        "Your yes counts: 1 of 2 votes.",
        "Your yes was there already: 1 of 2 votes.",
    ]
    assert acme.sayso.ledger() == []
    await acme.clicks(CAROL, card, "Approve")
    assert await shows(acme, card, "Approved by bob and carol. Run") == []
    await acme.reads(thread, "succeeded")
    assert acme.sayso.ledger() == ["build-v1", "release-v1"]
    await acme.slack.until(lambda: acme.status(thread) == "active")


async def test_p32_both_yes_in_the_same_moment_run_it_once(acme: Team) -> None:
    before = len(acme.sayso.ledger())
    thread, card = await acme.proposed(ALICE, "deploy v2")
    await asyncio.gather(*(acme.clicks(who, card, "Approve") for who in (BOB, CAROL) * 2))
    await acme.reads(thread, "succeeded")
    assert acme.sayso.ledger()[before:] == ["build-v2", "release-v2"]


async def test_p32_one_no_after_a_yes_ends_it(acme: Team) -> None:
    thread, card = await acme.proposed(ALICE, "deploy v3")
    await acme.clicks(BOB, card, "Approve")
    await shows(acme, card, "1 of 2 votes")
    await denied(acme, CAROL, card, "freeze until Monday")
    assert await shows(acme, card, "Denied by carol: freeze until Monday.") == ["Ask again"]
    await acme.reads(thread, "freeze until Monday")
    assert "build-v3" not in acme.sayso.ledger()


async def test_p07_at_its_time_a_card_ends_by_itself_with_one_of_two_votes(acme: Team) -> None:
    thread, card = await acme.proposed(ALICE, "deploy v4")
    await acme.clicks(BOB, card, "Approve")
    await shows(acme, card, "1 of 2 votes")
    request = acme.request(card)
    acme.sayso.sql("UPDATE request SET expires_at = ? WHERE id = ?", PAST, request)
    acme.sayso.sql("UPDATE job SET run_at = ? WHERE id = ?", PAST, f"expire:{request}")
    assert await shows(acme, card, "with 1 of 2 votes. Ask again") == ["Ask again"]
    await acme.slack.hands.click_forged(CAROL, OPS, card["ts"], "sayso:approve", request)
    await acme.slack.until(lambda: acme.alone(CAROL, thread))
    assert "Expired at 2020-01-01" in acme.alone(CAROL, thread)[0]
    assert acme.sayso.state(request) == "expired"
    assert "build-v4" not in acme.sayso.ledger()


async def test_p07_a_click_just_after_its_time_finds_it_expired(acme: Team) -> None:
    thread, card = await acme.proposed(ALICE, "restart web in prod")
    request = acme.request(card)
    acme.sayso.sql("UPDATE request SET expires_at = ? WHERE id = ?", PAST, request)
    await acme.clicks(BOB, card, "Approve")
    await acme.slack.until(lambda: acme.alone(BOB, thread))
    assert "Expired at 2020-01-01" in acme.alone(BOB, thread)[0]
    assert await shows(acme, card, "Expired at 2020-01-01") == ["Ask again"]
    assert "web-prod" not in acme.sayso.ledger()


async def test_p07_halfway_whoever_may_vote_is_reminded_in_the_thread(acme: Team) -> None:
    thread, card = await acme.proposed(ALICE, "restart web in prod")
    request = acme.request(card)
    reminded = "UPDATE job SET run_at = ? WHERE kind = 'remind' AND id LIKE ? RETURNING id"
    assert len(acme.sayso.sql(reminded, PAST, f"%{request}%")) == 1
    await acme.reads(thread, "Still waiting: 0 of 1 vote, not the requester, until")
    await acme.clicks(BOB, card, "Approve")
    await acme.reads(thread, "succeeded (exit code 0)")


async def test_p07_what_is_decided_elsewhere_is_shown_on_the_card(acme: Team) -> None:
    thread, card = await acme.proposed(ALICE, "append elsewhere")
    _, other = await acme.proposed(ALICE, "append nowhere")
    does = acme.sayso.run
    for command in (
        ["approve", "--no-wait", acme.request(card)],
        ["deny", "--reason", "not today", acme.request(other)],
    ):
        done = await asyncio.to_thread(does, *command, as_="bob", env=acme.tokens)
        assert done.code == 0, done
    assert await shows(acme, card, "Approved by bob. Run") == []
    assert await shows(acme, other, "Denied by bob: not today.") == ["Ask again"]
    await acme.reads(thread, "succeeded (exit code 0)")


async def test_p04_a_denial_tells_why_and_stands_however_it_is_worded(acme: Team) -> None:
    thread, card = await acme.proposed(ALICE, "restart web in staging")
    await denied(acme, BOB, card, "  wrong environment\n<!channel> <@U0CAROL>  ")
    await acme.reads(thread, "Denied by bob: wrong environment")
    told = [one for one in acme.slack.messages(OPS, thread) if "wrong environment" in text_of(one)]
    assert told
    assert "'broadcast'" not in str(told)
    assert "U0CAROL'" not in str([block for one in told for block in one["blocks"]])
    before = len(acme.slack.thread(OPS, thread))
    for text in ("!restart-web env=staging", '!restart-web "staging"', "restart web in staging"):
        await acme.says(ALICE, thread, text)
    await acme.slack.until(lambda: len(acme.slack.thread(OPS, thread)) >= before + 6)
    assert acme.cards(thread) == []
    assert "web-staging" not in acme.sayso.ledger()


async def test_p07_ask_again_makes_a_new_card_that_can_be_approved(acme: Team) -> None:
    thread, card = await acme.proposed(ALICE, "restart web in staging")
    await denied(acme, BOB, card, "")
    assert await shows(acme, card, "Denied by bob, no reason given.") == ["Ask again"]
    await acme.clicks(ALICE, card, "Ask again")
    await acme.slack.until(lambda: acme.alone(ALICE, thread))
    assert "only who may approve it may ask for it again: bob and carol" in str(
        acme.alone(ALICE, thread)
    )
    assert acme.cards(thread) == []
    pressed = await acme.clicks(BOB, card, "Ask again")
    again = await acme.card(thread)
    assert (await acme.slack.redeliver(pressed)).acked
    assert acme.request(again) != acme.request(card)
    await acme.clicks(CAROL, again, "Approve")
    await acme.reads(thread, "succeeded")
    assert acme.sayso.ledger().count("web-staging") == 1


async def test_a_form_that_comes_too_late_says_what_became_of_it(acme: Team) -> None:
    thread, card = await acme.proposed(ALICE, "append late")
    await acme.clicks(CAROL, card, "Deny")
    await acme.slack.until(lambda: acme.slack.views(CAROL))
    [view] = acme.slack.views(CAROL)
    await acme.clicks(BOB, card, "Approve")
    await acme.reads(thread, "succeeded")
    await acme.slack.hands.submit_view(CAROL, view["id"], {"reason": "no"})
    [shown] = acme.slack.views(CAROL)
    assert "Already decided. Approved by bob." in text_of(shown)
    await acme.slack.hands.close_view(CAROL, shown["id"])
