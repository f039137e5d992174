"""The journey on Discord: asked, shown, approved by the right person, run once, reported."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.server import Server, served
from tests.standins.discord import ALICE, BOB, CAROL, MALLORY


@pytest.fixture
async def acme(tmp_path: Path) -> AsyncGenerator[Server]:
    async with served(tmp_path / "acme") as made:
        yield made


async def test_x1_asked_shown_approved_by_the_right_person_run_and_reported(acme: Server) -> None:
    thread = await acme.asks(ALICE, "restart web in staging")
    card = await acme.card(thread)
    assert acme.discord.buttons(card) == ["Approve", "Edit", "Deny"]
    await acme.told(await acme.presses(MALLORY, card, "Approve"), "Sayso does not know you here")
    own = await acme.presses(ALICE, card, "Approve")
    await acme.told(own, "You may not approve this; bob and carol may.")
    assert acme.sayso.ledger() == []
    await acme.presses(BOB, card, "Approve")
    await acme.reads(thread, "succeeded")
    assert acme.sayso.ledger() == ["web-staging"]
    await acme.discord.until(lambda: acme.cards(thread) == [])


async def test_c43_two_clicks_at_once_run_it_once(acme: Server) -> None:
    thread, card = await acme.proposed(ALICE, "restart web in staging")
    await asyncio.gather(*(acme.presses(who, card, "Approve") for who in (BOB, BOB, CAROL)))
    await acme.reads(thread, "succeeded")
    assert acme.sayso.ledger() == ["web-staging"]
