"""The form that asks why somebody denies, as Discord takes it."""

from hypothesis import given
from hypothesis import strategies as st

from adapters.discord import forms
from tests.discord_limits import CUSTOM_ID, every, refused_form, words
from tests.discord_reading import kinds
from tests.drawn_samples import ID
from tests.said import long


@given(long, st.sampled_from([ID, "x" * 64]))
def test_discord_takes_the_form_whatever_is_denied(what: str, request: str) -> None:
    form = forms.deny(request, what)
    assert [*refused_form(form)] == []
    assert CUSTOM_ID.fullmatch(str(form["custom_id"]))
    assert kinds(words(form)) <= {"bold"}


def test_it_asks_for_a_reason_that_may_be_left_out() -> None:
    form = forms.deny(ID, "Approve to run: <@1>")
    assert form["custom_id"] == f"sayso:deny:{ID}"
    (field,) = (one for one in every(form) if one.get("type") == 4)
    assert field == {
        "type": 4,
        "custom_id": "reason",
        "style": 2,
        "required": False,
        "max_length": 300,
    }
    assert words(form) == f"**Approve to run: \\<@1>**\nRequest {ID}"


def test_it_names_the_request_where_nothing_else_is_known() -> None:
    assert words(forms.deny(ID)) == f"Request {ID}"


def test_c41_it_asks_for_a_code_which_is_needed() -> None:
    form = forms.code(ID)
    assert [*refused_form(form)] == []
    assert form["custom_id"] == f"sayso:approve_code:{ID}"
    (field,) = (one for one in every(form) if one.get("type") == 4)
    assert (field["custom_id"], field["required"], field["style"]) == ("code", True, 1)
