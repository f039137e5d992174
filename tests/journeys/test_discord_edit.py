"""Editing on Discord: the form that the button opens, what it refuses, and the card that comes of it."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.server import Server, served, server
from tests.standins.discord import ALICE, BOB, CAROL, MALLORY
from tests.standins.discord.interactions import Interaction, Modal
from tests.standins.discord.wire import Json, walk

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def acme(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Server]:
    async with served(tmp_path_factory.mktemp("edit") / "acme") as made:
        yield made


async def form(acme: Server, who: str, card: Json, what: str = "Edit") -> Modal:
    """Have somebody press Edit, and return the form that opens."""
    asked = await acme.presses(who, card, what)
    assert asked.modal is not None
    return asked.modal


def inputs(modal: Modal) -> dict[str, Any]:
    """Return the inputs of a form by their id."""
    return {e["custom_id"]: e for e in walk(modal.now["components"]) if e.get("type") in {3, 4}}


async def sends(acme: Server, who: str, modal: Modal, **fields: str) -> Interaction:
    """Have somebody send a form."""
    named = {f"arg:{name}": text for name, text in fields.items()}
    return await acme.discord.over(await acme.discord.people.submits(who, modal, **named))


async def newest(acme: Server, thread: str) -> Json:
    """Wait until one card of a thread can be approved, and return that."""
    await acme.discord.until(lambda: len(acme.cards(thread)) == 1, within=30)
    return acme.cards(thread)[0]


async def test_a_form_shows_what_is_there_takes_another_value_and_makes_a_new_card(
    acme: Server,
) -> None:
    thread, card = await acme.proposed(ALICE, "deploy v1")
    await acme.presses(BOB, card, "Approve")
    assert await acme.shows(card, "1 of 2 votes") == ["Approve", "Edit", "Deny"]
    modal = await form(acme, ALICE, card)
    request = acme.request(card)
    assert modal.custom_id == f"sayso:edit:{request}"
    assert inputs(modal)["arg:version"]["value"] == "v1"

    bad = await sends(acme, ALICE, modal, version="two")
    await acme.told(bad, "it must match")
    assert acme.sayso.state(request) == "open"
    anew = await form(acme, ALICE, bad.shown[-1].now, "Edit what you typed")
    assert inputs(anew)["arg:version"]["value"] == "two"

    good = await sends(acme, ALICE, anew, version="v2")
    await acme.told(good, "Your edit stands, as another request:")
    assert await acme.shows(card, "Superseded: alice edited it") == []
    edited = await newest(acme, thread)
    [(new,)] = acme.sayso.sql("SELECT id FROM request WHERE edits = ?", request)
    assert acme.request(edited) == new
    assert "Edited by:** alice, from p" in acme.now(edited)
    assert "Open: 0 of 2 votes" in acme.now(edited)
    await acme.presses(BOB, edited, "Approve")
    await acme.presses(CAROL, edited, "Approve")
    await acme.reads(thread, "succeeded")
    assert acme.sayso.ledger() == ["build-v2", "release-v2"]


async def test_who_may_not_edit_gets_no_form(acme: Server) -> None:
    _, card = await acme.proposed(ALICE, "deploy v3")
    asked = await acme.presses(MALLORY, card, "Edit")
    assert asked.modal is None
    await acme.told(asked, "Sayso does not know you here")
    assert acme.sayso.state(acme.request(card)) == "open"


async def test_choices_are_chosen_and_a_form_that_comes_too_late_says_so(acme: Server) -> None:
    thread, card = await acme.proposed(ALICE, "restart web in staging")
    early, late = await form(acme, CAROL, card), await form(acme, ALICE, card)
    chosen = [o["value"] for o in inputs(early)["arg:env"]["options"] if o.get("default")]
    assert chosen == ["staging"]
    await sends(acme, CAROL, early, env="prod")
    await acme.shows(card, "Superseded: carol edited it")
    await acme.told(await sends(acme, ALICE, late, env="prod"), "Superseded: carol edited it")
    edited = await newest(acme, thread)
    own = await acme.presses(CAROL, edited, "Approve")
    await acme.told(own, "You edited this, so somebody else has to approve it: bob may.")
    await acme.presses(BOB, edited, "Approve")
    await acme.reads(thread, "succeeded")


async def test_several_calls_are_edited_in_words(acme: Server) -> None:
    thread, card = await acme.proposed(ALICE, "append one and append two")
    asked = await acme.presses(ALICE, card, "Edit")
    request = acme.request(card)
    assert asked.modal is None
    await acme.told(asked, f"edit {request} NUMBER NAME=VALUE (1 append-word, 2 append-word)")
    await acme.discord.people.writes(ALICE, thread, f"!edit {request} 2 word=three")
    assert await acme.shows(card, "Superseded: alice edited it") == []
    assert "three" in acme.now(await newest(acme, thread))


async def test_the_same_form_sent_twice_at_once_makes_one_card(acme: Server) -> None:
    thread, card = await acme.proposed(ALICE, "append six")
    one, two = await form(acme, ALICE, card), await form(acme, ALICE, card)
    await asyncio.gather(*(sends(acme, ALICE, each, word="seven") for each in (one, two)))
    await acme.shows(card, "Superseded: alice edited it")
    request = acme.request(card)
    assert acme.sayso.sql("SELECT count(*) FROM request WHERE edits = ?", request) == [(1,)]
    assert "seven" in acme.now(await newest(acme, thread))


async def test_a_form_of_before_a_restart_still_saves(tmp_path: Path) -> None:
    async with server(tmp_path / "acme") as there:
        await there.sync()
        running = await there.serve()
        thread, card = await there.proposed(ALICE, "append four")
        modal = await form(there, ALICE, card)
        await there.ends(running)
        await there.serve()
        await sends(there, ALICE, modal, word="five")
        await there.shows(card, "Superseded: alice edited it")
        assert "five" in there.now(await newest(there, thread))
