"""The form in which somebody edits, as Discord takes it, and what was typed in the last one."""

from dataclasses import replace
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from adapters.discord import edit_forms
from adapters.discord.edit_forms import Typed
from core.canonical import JsonObject
from core.cards import Button
from core.errors import Incorrect, Refused
from core.events import Edit
from core.forms import Field, Form
from core.platforms import Told
from core.principals import Identity
from tests.discord_limits import CUSTOM_ID, every, refused_form
from tests.drawn_samples import FORM, ID
from tests.said import long

ALICE = Identity(platform="discord", workspace="7", user="8")
BOB = replace(ALICE, user="9")
FIELDS = st.lists(
    st.builds(
        Field,
        name=st.text(min_size=1, max_size=80),
        value=long,
        hint=long,
        choices=st.lists(long, max_size=30, unique=True).map(tuple),
    ),
    min_size=1,
    max_size=7,
    unique_by=lambda field: field.name,
)


def event(who: Identity = ALICE, **values: str | None) -> Edit:
    """Return what somebody sent."""
    return Edit(identity=who, request=ID, values=tuple(values.items()))


@given(FIELDS)
def test_discord_takes_the_form_whatever_is_edited(fields: list[Field]) -> None:
    form = edit_forms.drawn(replace(FORM, fields=tuple(fields)))
    if isinstance(form, Told):
        assert len(fields) > 5 or any(len(field.value) > 4000 for field in fields)
        assert form.text.endswith(f"edit {ID} NAME=VALUE")
    else:
        assert [*refused_form(form)] == []
        assert CUSTOM_ID.fullmatch(str(form["custom_id"]))


def test_what_is_chosen_is_chosen_among_few() -> None:
    form = cast("JsonObject", edit_forms.drawn(FORM))
    chosen = [one for one in every(form) if one.get("type") == 3]
    assert [one["custom_id"] for one in chosen] == ["arg:loud"]
    assert [*edit_forms.values({"arg:loud": "", "arg:word": "x", "reason": "y"})] == [
        ("loud", None),
        ("word", "x"),
    ]


def test_five_fields_leave_no_room_for_words_above_them() -> None:
    five = tuple(replace(FORM.fields[0], name=f"n{number}") for number in range(5))
    form = cast("JsonObject", edit_forms.drawn(replace(FORM, fields=five)))
    parts = cast("list[JsonObject]", form["components"])
    assert [one["type"] for one in parts] == [18] * 5


def test_what_has_to_be_corrected_is_kept_for_whoever_typed_it_until_it_is_taken() -> None:
    typed = Typed()
    told = typed.heard(event(word="tw o", env=None), Incorrect("wrong"))
    anew = Button(label="Edit what you typed", verb="edit", request=ID)
    assert told == Told(text="wrong", buttons=(anew,))
    assert [f.value for f in typed.into(FORM, ALICE).fields] == ["tw o", "", "true"]
    assert typed.into(FORM, BOB) == FORM
    late = Refused("too late")
    assert typed.heard(event(word="x"), late) is late
    assert typed.into(FORM, ALICE) == FORM


def test_only_the_last_ones_are_kept() -> None:
    typed = Typed()
    for number in range(201):
        typed.heard(event(replace(ALICE, user=str(number)), word="x"), Incorrect("wrong"))
    kept = [n for n in range(201) if typed.into(FORM, replace(ALICE, user=str(n))) != FORM]
    assert kept == list(range(1, 201))
    assert isinstance(FORM, Form)
