"""Editing in Slack: the window that the button opens, what it refuses, and the card that comes of it."""

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.standins.slack import Json
from tests.standins.slack.plain import text_of
from tests.team import ALICE, BOB, CAROL, MALLORY, OPS, Team, served, team

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def acme(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Team]:
    async with served(tmp_path_factory.mktemp("edit") / "acme") as made:
        yield made


async def window(acme: Team, who: str, card: Json) -> Json:
    """Have somebody press Edit, and return the window that opens."""
    before = {view["id"] for view in acme.slack.views(who)}
    await acme.clicks(who, card, "Edit")
    await acme.slack.until(lambda: {v["id"] for v in acme.slack.views(who)} - before)
    return next(view for view in acme.slack.views(who) if view["id"] not in before)


def inputs(view: Json) -> dict[str, Json]:
    """Return the inputs of a window by their block."""
    return {b["block_id"]: b["element"] for b in view["blocks"] if b["type"] == "input"}


async def newest(acme: Team, thread: str, count: int) -> Json:
    """Wait for that many cards in a thread, and return the last one."""
    await acme.slack.until(lambda: len(acme.cards(thread)) >= count, within=30)
    return acme.cards(thread)[-1]


async def shows(acme: Team, card: Json, text: str) -> list[str]:
    """Wait until a card says something; return the buttons that it then has."""
    now = acme.slack.work.message(OPS, card["ts"])
    await acme.slack.until(lambda: text in text_of(now.now), within=30)
    return acme.slack.buttons(now.now)


async def test_a_window_shows_what_is_there_takes_another_value_and_makes_a_new_card(
    acme: Team,
) -> None:
    thread, card = await acme.proposed(ALICE, "deploy v1")
    await acme.clicks(BOB, card, "Approve")
    assert await shows(acme, card, "1 of 2 votes") == ["Approve", "Edit", "Deny"]
    view = await window(acme, ALICE, card)
    request = acme.request(card)
    assert json.loads(view["private_metadata"])["request"] == request
    assert "v1" not in view["private_metadata"]
    assert inputs(view)["arg:version"]["initial_value"] == "v1"

    bad = await acme.slack.hands.submit_view(ALICE, view["id"], {"arg:version": "two"})
    answer = bad.answer or {}
    assert answer["response_action"] == "errors"
    assert answer["errors"]["arg:version"].startswith("deploy: `version`: it must match ")
    same = await acme.slack.hands.submit_view(ALICE, view["id"], {"arg:version": "v1"})
    assert "Nothing changed" in (same.answer or {})["errors"]["arg:version"]

    good = await acme.slack.hands.submit_view(ALICE, view["id"], {"arg:version": "v2"})
    assert good.acked
    assert acme.slack.views(ALICE) == []
    assert await shows(acme, card, "Superseded: alice edited it") == []
    [(new,)] = acme.sayso.sql("SELECT id FROM request WHERE edits = ?", request)
    edited = await newest(acme, thread, 1)
    assert acme.request(edited) == new
    assert "Edited by: alice, from p_" in text_of(edited)
    assert 'The edit changed: deploy version from "v1" to "v2"' in text_of(edited)
    assert "Open: 0 of 2 votes" in text_of(edited)
    await acme.told(ALICE, f"Your edit stands, as another request: {new}.")
    await acme.clicks(BOB, edited, "Approve")
    await acme.clicks(CAROL, edited, "Approve")
    await acme.reads(thread, "succeeded")
    assert acme.sayso.ledger() == ["build-v2", "release-v2"]


async def test_who_may_not_edit_gets_no_window(acme: Team) -> None:
    _, card = await acme.proposed(ALICE, "deploy v3")
    await acme.clicks(MALLORY, card, "Edit")
    await acme.told(MALLORY, "There is no such request.")
    assert acme.slack.views(MALLORY) == []
    assert acme.sayso.state(acme.request(card)) == "open"


async def test_choices_are_chosen_and_a_window_that_comes_too_late_says_so(acme: Team) -> None:
    thread, card = await acme.proposed(ALICE, "restart web in staging")
    early, late = await window(acme, CAROL, card), await window(acme, ALICE, card)
    assert inputs(early)["arg:env"]["type"] == "static_select"
    assert inputs(early)["arg:env"]["initial_option"]["value"] == "staging"
    done = await acme.slack.hands.submit_view(CAROL, early["id"], {"arg:env": "prod"})
    assert done.acked
    await shows(acme, card, "Superseded: carol edited it")
    told = await acme.slack.hands.submit_view(ALICE, late["id"], {"arg:env": "prod"})
    assert (told.answer or {})["response_action"] == "update"
    assert "Superseded: carol edited it" in json.dumps((told.answer or {})["view"])
    edited = await newest(acme, thread, 1)
    await acme.clicks(CAROL, edited, "Approve")
    await acme.told(CAROL, "You edited this, so somebody else has to approve it: bob may.")
    await acme.clicks(BOB, edited, "Approve")
    await acme.reads(thread, "succeeded")


async def test_words_edit_too_and_several_calls_are_edited_in_words(acme: Team) -> None:
    thread, card = await acme.proposed(ALICE, "append one and append two")
    await acme.clicks(ALICE, card, "Edit")
    request = acme.request(card)
    await acme.told(ALICE, f"edit {request} NUMBER NAME=VALUE (1 append-word, 2 append-word)")
    await acme.says(ALICE, thread, f"!edit {request} 2 word=three")
    assert await shows(acme, card, "Superseded: alice edited it") == []
    assert 'append-word word from "two" to "three"' in text_of(await newest(acme, thread, 1))


async def test_the_same_window_sent_twice_at_once_makes_one_card(acme: Team) -> None:
    thread, card = await acme.proposed(ALICE, "append six")
    one, two = await window(acme, ALICE, card), await window(acme, ALICE, card)
    submit = acme.slack.hands.submit_view
    await asyncio.gather(
        submit(ALICE, one["id"], {"arg:word": "seven"}),
        submit(ALICE, two["id"], {"arg:word": "seven"}),
    )
    await shows(acme, card, "Superseded: alice edited it")
    request = acme.request(card)
    assert acme.sayso.sql("SELECT count(*) FROM request WHERE edits = ?", request) == [(1,)]
    assert "seven" in text_of(await newest(acme, thread, 1))


async def test_a_window_that_somebody_forged_decides_nothing(acme: Team) -> None:
    _, card = await acme.proposed(ALICE, "append eight")
    view = await window(acme, ALICE, card)
    acme.slack.work.views[view["id"]]["private_metadata"] = json.dumps({"request": "0" * 32})
    told = await acme.slack.hands.submit_view(ALICE, view["id"], {"arg:word": "nine"})
    assert "There is no such request." in json.dumps((told.answer or {})["view"])
    assert acme.sayso.state(acme.request(card)) == "open"


async def test_a_window_of_before_a_restart_still_saves(tmp_path: Path) -> None:
    async with team(tmp_path / "acme") as there:
        server = await there.serve()
        thread, card = await there.proposed(ALICE, "append four")
        view = await window(there, ALICE, card)
        await there.ends(server)
        await there.serve()
        done = await there.slack.hands.submit_view(ALICE, view["id"], {"arg:word": "five"})
        assert done.acked
        await shows(there, card, "Superseded: alice edited it")
        assert "five" in text_of(await newest(there, thread, 1))
