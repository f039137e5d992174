"""Buttons and modals: what they carry is passed on, and believed by nobody here."""

import json
from typing import Any

import pytest

from adapters.slack.inbound import Act, Bot, Finding, Ignored, OpenModal, Route, private, read
from adapters.slack.payload import of
from core.events import (
    Approve,
    AskAgain,
    Deny,
    LinkWish,
    Place,
    ResolveRun,
    RevokeGrant,
    StopRun,
    TakeUp,
    UndoRun,
)
from core.platforms import Event
from core.principals import Identity
from tests.slack_payloads import BOT, ID, ROOT, TRIGGER, TS, URL, Body, press, submitted

BOB = Identity(platform="slack", workspace="T0TEAM", user="U0BOB")
THREAD = Place(platform="slack", workspace="T0TEAM", channel="C0OPS", thread=ROOT)
ROUTE = Route(
    channel="C0OPS", user="U0BOB", thread=ROOT, response_url=URL, trigger=TRIGGER, message=TS
)
ONCE = (f"trigger:{TRIGGER}",)
PRESSED: dict[str, Event] = {
    "sayso:approve": Approve(identity=BOB, request=ID),
    "sayso:approve:12": Approve(identity=BOB, request=ID),
    "sayso:again": AskAgain(identity=BOB, request=ID, place=THREAD, deliveries=ONCE),
    "sayso:link_yes": LinkWish(identity=BOB, what="confirm", given=ID),
    "sayso:link_no": LinkWish(identity=BOB, what="refuse", given=ID),
    "sayso:undo": UndoRun(identity=BOB, run=ID, place=THREAD, deliveries=ONCE),
    "sayso:stop": StopRun(identity=BOB, request=ID),
    "sayso:stop:2": StopRun(identity=BOB, request=ID),
    "sayso:verify": ResolveRun(identity=BOB, request=ID, found="verify"),
    "sayso:happened": ResolveRun(identity=BOB, request=ID, found="happened"),
    "sayso:did_not": ResolveRun(identity=BOB, request=ID, found="did_not"),
    "sayso:revoke": RevokeGrant(identity=BOB, grant=ID),
}


def did(body: Body, bot: Bot = BOT) -> Act:
    found = read(body, bot)
    assert isinstance(found, Act), found
    return found


@pytest.mark.parametrize("action", PRESSED)
def test_a_button_means_one_thing(action: str) -> None:
    assert read(press(action), BOT) == Act(event=PRESSED[action], route=ROUTE, kind="action")


def test_a_suggestion_is_taken_up_once_where_it_stands() -> None:
    assert did(press("sayso:suggest:2", "t_1")).event == TakeUp(
        identity=BOB, place=THREAD, turn="t_1", number=2, deliveries=ONCE
    )


def test_below_the_root_of_a_thread_the_thread_is_that_of_the_message() -> None:
    body = press(
        "sayso:again",
        message={"ts": TS, "team": "T0TEAM"},
        container={"message_ts": TS, "channel_id": "C0OPS"},
    )
    event = did(body).event
    assert isinstance(event, AskAgain)
    assert event.place is not None
    assert event.place.thread == TS


def test_a_button_only_one_person_sees_is_reached_by_its_container() -> None:
    body = press("sayso:stop")
    del body["message"]
    assert did(body).route == ROUTE
    del body["channel"]
    assert did(body).route == ROUTE


def test_a_button_in_the_app_home_has_no_place() -> None:
    body = press("sayso:again", container={"type": "view", "view_id": "V0HOME"})
    del body["channel"], body["message"], body["response_url"]
    assert did(body) == Act(
        event=AskAgain(identity=BOB, request=ID, deliveries=ONCE),
        route=Route(channel="", user="U0BOB", trigger=TRIGGER),
        kind="action",
    )
    assert isinstance(read({**body, "actions": press("sayso:suggest:1")["actions"]}, BOT), Ignored)


def test_without_a_trigger_a_button_has_no_id_of_its_own() -> None:
    event = did(press("sayso:again", trigger_id=None)).event
    assert isinstance(event, AskAgain)
    assert event.deliveries == ()


@pytest.mark.parametrize("value", ["", "nonsense", ID.upper(), ID + "0", "\u202e", "'; --"])
def test_p09_what_is_no_id_is_passed_on_for_the_gate_to_refuse(value: str) -> None:
    assert did(press("sayso:approve", value)).event == Approve(identity=BOB, request=value)


def test_what_a_button_carries_is_bounded() -> None:
    assert did(press("sayso:approve", "x" * 2000)).event == Approve(identity=BOB, request="x" * 64)


@pytest.mark.parametrize(
    ("action", "value"),
    [
        ("sayso:dance", ID),
        ("sayso:approve:", ID),
        ("sayso:approve:x", ID),
        ("other:approve", ID),
        ("approve", ID),
        ("", ID),
        ("sayso:approve", None),
        ("sayso:approve", {"request": ID}),
        ("sayso:suggest", "t_1"),
        ("sayso:suggest:1000", "t_1"),
    ],
)
def test_what_is_no_button_of_ours_is_ignored(action: str, value: object) -> None:
    assert isinstance(read(press(action, value), BOT), Ignored)


def test_a_button_that_nobody_pressed_is_ignored() -> None:
    assert isinstance(read(press("sayso:approve", user={"team_id": "T0TEAM"}), BOT), Ignored)
    assert isinstance(read(press("sayso:approve", actions=[]), BOT), Ignored)
    assert isinstance(read(submitted("sayso:deny", "{}", user={}), BOT), Ignored)


@pytest.mark.parametrize("what", ["deny", "review", "approve_code"])
def test_deny_review_and_a_code_open_a_modal(what: str) -> None:
    found = read(press(f"sayso:{what}"), BOT)
    assert isinstance(found, OpenModal)
    assert (found.what, found.request, found.identity, found.route) == (what, ID, BOB, ROUTE)


BACK = Route(channel="C0OPS", user="U0BOB", thread=ROOT, trigger=TRIGGER, message=TS)


def test_a_modal_comes_back_to_where_it_was_opened() -> None:
    kept = private(ID, ROUTE)
    assert len(kept) < 3000
    assert read(submitted("sayso:deny", kept, "  not <now> &amp; here "), BOT) == Act(
        event=Deny(identity=BOB, request=ID, reason="not <now> &amp; here"), route=BACK, kind="view"
    )
    assert read(submitted("sayso:deny", kept), BOT) == Act(
        event=Deny(identity=BOB, request=ID), route=BACK, kind="view"
    )
    assert read(submitted("sayso:review", kept), BOT) == Act(
        event=Approve(identity=BOB, request=ID), route=BACK, kind="view"
    )
    assert isinstance(read(submitted("sayso:other", kept), BOT), Ignored)


def test_a_modal_from_the_app_home_leads_nowhere_but_to_the_person() -> None:
    kept = private(ID, Route(channel="", user="U0BOB"))
    assert json.loads(kept) == {"request": ID}
    assert did(submitted("sayso:deny", kept)).route == Route(
        channel="", user="U0BOB", trigger=TRIGGER
    )


@pytest.mark.parametrize("kept", ["", "no JSON", "[]", "[" * 100_000, '{"request": 7}'])
def test_a_modal_that_carries_nonsense_names_no_request(kept: str) -> None:
    assert did(submitted("sayso:review", kept)).event == Approve(identity=BOB, request="")


def found_identity(found: Finding) -> Identity:
    assert isinstance(found, Act)
    return found.event.identity


def test_p17_who_presses_is_known_by_their_own_workspace() -> None:
    stranger = {"id": "U0BOB", "team_id": "T0OTHER"}
    for body in (
        press("sayso:approve", user=stranger),
        submitted("sayso:deny", "{}", user=stranger),
    ):
        assert found_identity(read(body, BOT)).workspace == "T0OTHER"
    view = {**submitted("sayso:deny", "{}"), "team": {"id": "T0OTHER"}, "user": stranger}
    assert found_identity(read(view, BOT)).workspace == "T0OTHER"


def test_a_modal_of_another_installation_is_not_ours() -> None:
    body = submitted("sayso:deny", private(ID, ROUTE))
    view = {**of(body["view"]), "app_installed_team_id": "T0OTHER"}
    assert isinstance(read({**body, "view": view}, BOT), Ignored)


def test_p17_who_presses_without_a_workspace_is_nobody() -> None:
    body = press("sayso:approve", user={"id": "U0BOB"})
    assert found_identity(read(body, BOT)) == Identity(platform="slack", workspace="", user="U0BOB")


def test_a_button_in_an_organisation_may_come_without_the_team() -> None:
    assert did(press("sayso:approve", team=None)).event == Approve(identity=BOB, request=ID)


@pytest.mark.parametrize("callback", ["sayso:approve_code", "sayso:review"])
def test_c41_the_code_that_was_typed_comes_with_the_yes(callback: str) -> None:
    body: dict[str, Any] = dict(submitted(callback, private(ID, ROUTE)))
    typed = {"code": {"code": {"value": "123 456" + " " * 99}}}
    body["view"] = {**body["view"], "state": {"values": typed}}
    event = did(body).event
    assert isinstance(event, Approve)
    assert (event.request, event.code.strip(), len(event.code)) == (ID, "123 456", 64)
    assert "123 456" not in repr(event)
