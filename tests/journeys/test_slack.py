"""The journey in Slack: asked, shown, approved by the right person, run once, reported."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.team import ALICE, BOB, CAROL, MALLORY, OPS, Team, team


@pytest.fixture
async def acme(tmp_path: Path) -> AsyncGenerator[Team]:
    async with team(tmp_path / "acme") as made:
        yield made


async def test_x1_asked_shown_approved_by_the_right_person_run_and_reported(acme: Team) -> None:
    await acme.serve()
    slack, hands = acme.slack, acme.slack.hands
    thread = await acme.asks(ALICE, "restart web in staging")
    assert "restart web in staging" in slack.thread(OPS, thread)[0]
    card = await acme.card(thread)
    assert slack.buttons(card) == ["Approve", "Edit", "Deny"]
    await hands.click(MALLORY, OPS, card["ts"], "Approve")
    await acme.told(MALLORY, "There is no such request")
    await hands.click(ALICE, OPS, card["ts"], "Approve")
    await acme.told(ALICE, "You may not approve this; bob and carol may.")
    assert acme.sayso.ledger() == []
    await hands.click(BOB, OPS, card["ts"], "Approve")
    await acme.reads(thread, "succeeded")
    assert acme.sayso.ledger() == ["web-staging"]
    await slack.until(lambda: acme.cards(thread) == [])


async def test_c43_two_clicks_at_once_run_it_once(acme: Team) -> None:
    await acme.serve()
    thread = await acme.asks(ALICE, "restart web in staging")
    card = await acme.card(thread)
    await asyncio.gather(
        *(acme.slack.hands.click(who, OPS, card["ts"], "Approve") for who in (BOB, BOB, CAROL))
    )
    await acme.reads(thread, "succeeded")
    assert acme.sayso.ledger() == ["web-staging"]
