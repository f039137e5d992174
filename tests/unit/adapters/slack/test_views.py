"""The windows of Slack, and the home of the app."""

import json
from dataclasses import replace
from typing import Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.slack import views
from core.cards import Button
from core.deliveries import Asking
from core.platforms import Home
from tests.drawn_samples import ID
from tests.slack_drawings import PRIVATE, TEAM, asking
from tests.slack_limits import refused_view

words = st.text(alphabet="ab<&>\n\u202e😀", max_size=3_000) | st.text(max_size=100)


def actions(view: object) -> list[tuple[str, str]]:
    found = list[tuple[str, str]]()
    for block in cast("Any", view)["blocks"]:
        if block["type"] == "actions":
            found += [(one["action_id"], one["value"]) for one in block["elements"]]
    return found


def test_a_window_carries_what_it_was_given_and_nothing_else() -> None:
    for view in (views.deny(ID, PRIVATE), views.review(asking(), PRIVATE)):
        assert view["private_metadata"] == PRIVATE
    assert views.deny(ID, PRIVATE)["callback_id"] == "sayso:deny"
    assert views.review(asking(), PRIVATE)["callback_id"] == "sayso:review"


def test_the_reason_is_asked_for_as_it_is_read_and_not_longer_than_it_is_kept() -> None:
    view = cast("Any", views.deny(ID, PRIVATE, "Approve to run: deploy"))
    asked = view["blocks"][-1]
    assert (asked["block_id"], asked["element"]["action_id"]) == ("reason", "reason")
    assert asked["optional"] is True
    assert asked["element"]["multiline"] is True
    assert asked["element"]["max_length"] == 300
    assert "Approve to run: deploy" in json.dumps(view["blocks"][0])
    assert ID in json.dumps(view["blocks"][0])


def test_the_home_lets_nobody_approve_what_it_does_not_show() -> None:
    ids = [f"{n:032x}" for n in range(2)]
    waits = [with_request(one) for one in ids]
    view = views.home(Home(greeting="Hello.", waits=tuple(waits), runs=("r_1 running",)), TEAM)
    assert actions(view) == [
        ("sayso:review:0", ids[0]),
        ("sayso:deny:0", ids[0]),
        ("sayso:review:1", ids[1]),
        ("sayso:deny:1", ids[1]),
    ]


def with_request(request: str) -> Asking:
    one = asking()
    buttons = tuple(replace(button, request=request) for button in one.card.buttons)
    return replace(one, card=replace(one.card, buttons=buttons))


def test_a_home_with_more_than_fits_says_how_many_more() -> None:
    waits = tuple(with_request(f"{n:032x}") for n in range(70))
    view = views.home(Home(greeting="Hello.", waits=waits, runs=("r_1 running",) * 300), TEAM)
    assert [*refused_view(view)] == []
    assert "50 more wait." in json.dumps(view)
    assert len(actions(view)) == 40


def test_a_home_without_anything_says_so() -> None:
    view = json.dumps(views.home(Home(greeting="Hello.", waits=(), runs=()), TEAM))
    assert "Nothing waits for you." in view
    assert "Nothing runs." in view


@given(words, words, st.lists(words, max_size=30).map(tuple), st.integers(0, 30))
@settings(max_examples=60, deadline=None)
def test_slack_takes_every_window(one: str, other: str, lines: tuple[str, ...], many: int) -> None:
    card = replace(asking(), card=replace(asking().card, title=one, plan=lines), status=other)
    for view in (
        views.deny(one or "x", PRIVATE, other),
        views.says(one, other),
        views.review(card, PRIVATE),
        views.home(Home(greeting=one, waits=(card,) * many, runs=lines), TEAM),
    ):
        assert [*refused_view(view)] == []


def test_c41_the_window_asks_for_a_code_and_carries_nothing_of_it() -> None:
    view = cast("Any", views.code(ID, PRIVATE))
    assert (view["callback_id"], view["private_metadata"]) == ("sayso:approve_code", PRIVATE)
    asked = view["blocks"][-1]
    assert (asked["block_id"], asked["element"]["action_id"]) == ("code", "code")
    assert "optional" not in asked
    assert ID in json.dumps(view["blocks"][0])


def test_c41_a_plan_that_takes_a_code_is_approved_from_its_window_with_one() -> None:
    one = asking()
    buttons = (Button(label="Approve", verb="approve_code", request=ID),)
    guarded = replace(one, card=replace(one.card, buttons=buttons))
    asked = cast("Any", views.review(guarded, PRIVATE))
    assert [b["block_id"] for b in asked["blocks"] if b["type"] == "input"] == ["code"]
    assert "submit" in asked
    plain = cast("Any", views.review(one, PRIVATE))
    assert not [b for b in plain["blocks"] if b["type"] == "input"]
