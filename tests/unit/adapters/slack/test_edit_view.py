"""The window in which somebody edits, as Slack takes it, and what comes back out of it."""

from dataclasses import replace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack import acks, edit_view
from adapters.slack.inbound import Act, OpenModal, private, read
from core.errors import Incorrect, Refused
from core.events import Approve, Edit
from core.forms import Field, Form
from core.principals import Identity
from tests.drawn_samples import FORM
from tests.said import long
from tests.slack_limits import refused_view
from tests.slack_payloads import BOT, ID, press, submitted
from tests.unit.adapters.slack.test_pressed import BOB, ROUTE

FIELDS = st.lists(
    st.builds(
        Field,
        name=st.text(min_size=1, max_size=80),
        value=long,
        hint=long,
        choices=st.lists(long, max_size=120, unique=True).map(tuple),
    ),
    max_size=8,
    unique_by=lambda field: field.name,
)


def edited(state: object) -> Edit:
    """Return what a window means that was sent with this in its fields."""
    body = submitted("sayso:edit", private(ID, ROUTE))
    cast("Any", body)["view"]["state"] = {"values": state}
    found = read(body, BOT)
    assert isinstance(found, Act)
    assert isinstance(found.event, Edit)
    assert (found.kind, found.event.request, found.event.identity) == ("view", ID, BOB)
    return found.event


def test_the_button_opens_a_window() -> None:
    found = read(press("sayso:edit"), BOT)
    assert isinstance(found, OpenModal)
    assert (found.what, found.request, found.identity) == ("edit", ID, BOB)


@given(FIELDS, st.lists(long, max_size=3).map(tuple))
def test_slack_takes_the_window_whatever_is_edited(
    fields: list[Field], names: tuple[str, ...]
) -> None:
    form = Form(request=ID, tool="restart-web", plan="p_1", fields=tuple(fields), in_words=names)
    view = edit_view.drawn(form, private(ID, ROUTE))
    if view is None:
        assert all(len(field.value) > 3000 for field in fields)
    else:
        assert [*refused_view(view)] == []


def test_what_is_longer_than_a_field_takes_is_edited_in_words() -> None:
    fields = (replace(FORM.fields[0], value="x" * 3001), *FORM.fields[1:])
    view = edit_view.drawn(replace(FORM, fields=fields), "{}")
    assert view is not None
    assert "Not shown here: file, word." in str(view["blocks"])
    assert edit_view.drawn(replace(FORM, fields=fields[:1]), "{}") is None


def test_each_field_comes_back_under_its_name_and_empty_is_nothing() -> None:
    state = {
        "arg:word": {"arg:word": {"type": "plain_text_input", "value": "two words\0"}},
        "arg:env": {"arg:env": {"type": "static_select", "selected_option": {"value": "prod"}}},
        "arg:file": {"arg:file": {"type": "plain_text_input", "value": None}},
        "arg:loud": {"arg:loud": {"type": "static_select", "selected_option": None}},
        "other": {"other": {"value": "x"}},
    }
    assert edited(state).values == (
        ("word", "two words\ufffd"),
        ("env", "prod"),
        ("file", None),
        ("loud", None),
    )


@pytest.mark.parametrize(
    "state", [None, [], "x", {"arg:word": None}, {"arg:word": {"arg:word": 3}}]
)
def test_whatever_else_comes_back_is_nothing(state: object) -> None:
    assert {value for _, value in edited(state).values} <= {None}


@pytest.mark.parametrize(
    ("argument", "at"), [("env", "arg:env"), ("nope", "arg:word"), (None, "arg:word")]
)
def test_what_is_to_be_corrected_stands_beside_its_field(argument: str | None, at: str) -> None:
    event = Edit(identity=BOB, request=ID, values=(("word", "x"), ("env", "y")))
    answer = acks.in_window(Incorrect("say: `env`: wrong.", argument=argument), event)
    body = cast("Any", answer.body)
    assert '"response_action": "errors"' in body or "errors" in body
    assert at in str(body)


def test_any_other_refusal_takes_the_place_of_the_window() -> None:
    event = Edit(identity=BOB, request=ID, values=(("word", "x"),))
    who = Identity(platform="slack", workspace="T0TEAM", user="U0BOB")
    for outcome, about in (
        (Refused("Too late."), event),
        (Incorrect("Say what."), replace(event, values=())),
        (Incorrect("No."), Approve(identity=who, request=ID)),
    ):
        assert "update" in str(acks.in_window(outcome, about).body)
