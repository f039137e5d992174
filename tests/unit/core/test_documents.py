"""Files as people write them: every error is one line that says where, what, and what to do."""

from typing import Annotated, cast

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from core import documents
from core.canonical import Json
from core.errors import Invalid


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    name: str
    size: Annotated[int, Field(ge=1)] = 1


class Whole(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    title: str
    parts: list[Part] = []
    named: dict[str, Part] = {}

    @field_validator("title")
    @classmethod
    def _is_allowed(cls, title: str, info: ValidationInfo) -> str:
        context = cast("dict[str, list[str]]", info.context)
        if title in context.get("taken", []):
            raise ValueError("this title is taken.")
        return title


def problem(text: str, **context: object) -> str:
    with pytest.raises(Invalid) as invalid:
        documents.load(text, "a.yml").build(Whole, **context)
    shown = invalid.value.shown
    assert shown.splitlines() == [shown]
    return shown


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("# only a remark", None),
        ("a: 1\nb: 1.5\nc: yes\nd: null\ne: 'on'\nf: [x, 2]\ng: {h: ~}", {
            "a": 1, "b": 1.5, "c": True, "d": None, "e": "on", "f": ["x", 2], "g": {"h": None},
        }),
        ("- 1\n-\n  - 2\n", [1, [2]]),
        ("a: |\n  two\n  lines\n", {"a": "two\nlines\n"}),
        ("'1': text\n", {"1": "text"}),
        ("just text", "just text"),
    ],
)  # fmt: skip
def test_a_document_is_its_plain_values(text: str, value: Json) -> None:
    assert documents.load(text, "a.yml").value == value


def test_every_value_knows_its_line() -> None:
    document = documents.load("a: 1\n\nb:\n  - x\n  - {c: 2}\n", "a.yml")
    assert dict(document.lines) == {
        (): 1,
        ("a",): 1,
        ("b",): 3,
        ("b", 0): 4,
        ("b", 1): 5,
        ("b", 1, "c"): 5,
    }


def test_values_that_fit_become_the_model() -> None:
    document = documents.load("title: t\nparts: [{name: a, size: 2}]\n", "a.yml")
    assert document.build(Whole).model_dump() == {
        "title": "t",
        "parts": [{"name": "a", "size": 2}],
        "named": {},
    }


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("title: ]", "a.yml:1: not valid YAML: "),
        ("title: t\n  x: 1", "a.yml:2: not valid YAML: "),
        ("a: 1\n---\nb: 2", "a.yml:2: not valid YAML: "),
        ("a: \x07", "a.yml:1: not valid YAML: "),
        ("a: \ud800", "a.yml:1: not valid YAML: "),
        ("a: !!int x", "a.yml:1: this is not what its form or its tag says. Put it in quotes."),
        ("a: 2026-13-45", "a.yml:1: this is not what its form or its tag says. Put it in quotes."),
        ("a:\n  - !!bool maybe", "a.yml:2: this is not what its form or its tag says. Put it in quotes."),
        ("a: !!timestamp abc", "a.yml:1: this is not what its form or its tag says. Put it in quotes."),
        ("a: !!python/object:os.system x", "a.yml:1: not valid YAML: "),
        ("[" * 100_000, "a.yml:1: not valid YAML: "),
        ("a: 1\nb: 2\na: 3", "a.yml:3: a: this name stands here twice. Remove one."),
        ("x:\n  - {b: 1, b: 1}", "a.yml:2: b: this name stands here twice. Remove one."),
        ("a: &x {c: 1}\nb: *x", "a.yml:1: anchors and aliases are not supported. Write the values out."),
        ("a: &x [1]\nb: *x", "a.yml:1: anchors and aliases are not supported. Write the values out."),
        ("&a [*a]", "a.yml:1: anchors and aliases are not supported. Write the values out."),
        ("a: 1\nwhen: 2026-03-01", "a.yml:2: this would be read as a date or as bytes. Put it in quotes."),
        ("when: 2026-03-01 09:30:00", "a.yml:1: this would be read as a date or as bytes. Put it in quotes."),
        ("a: !!binary aGk=", "a.yml:1: this would be read as a date or as bytes. Put it in quotes."),
        ("a: 1\n2: x", "a.yml:2: a name must be text. Put it in quotes."),
        ("yes: x", "a.yml:1: a name must be text. Put it in quotes."),
        ("[a, b]: x", "a.yml:1: a name must be text. Put it in quotes."),
        ("2026-03-01: x", "a.yml:1: this would be read as a date or as bytes. Put it in quotes."),
    ],
    ids=lambda value: repr(value)[:30],
)  # fmt: skip
def test_what_is_ambiguous_or_broken_is_refused_in_one_line(text: str, shown: str) -> None:
    with pytest.raises(Invalid) as invalid:
        documents.load(text, "a.yml")
    told = invalid.value.shown
    # What libyaml and the YAML of pure Python call an error is not ours to choose.
    assert told.startswith(shown) if shown.endswith(": ") else told == shown
    assert told.splitlines() == [told]
    assert told.endswith(
        (". Correct it.", "Put it in quotes.", "Remove one.", "Write the values out.")
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("parts: []", "a.yml:1: title: Field required. Add it."),
        ("title: t\ncolour: red", "a.yml:2: colour: Extra inputs are not permitted. Sayso does not know this name. Correct its spelling or remove it."),
        ("title: 5", "a.yml:1: title: it must be a valid string. Put it in quotes."),
        ("title: t\nparts:\n  - name: a\n  - size: 2\n", "a.yml:4: parts.1.name: Field required. Add it."),
        ("title: t\nparts:\n  - name: a\n    size: 0\n", "a.yml:4: parts.0.size: it must be greater than or equal to 1. Correct it."),
        ("title: t\nparts:\n  - {name: a, colour: red}\n", "a.yml:3: parts.0.colour: Extra inputs are not permitted. Sayso does not know this name. Correct its spelling or remove it."),
        ("title: t\nnamed:\n\n  one: {name: 1}\n", "a.yml:4: named.one.name: it must be a valid string. Put it in quotes."),
        ("title: taken", "a.yml:1: title: this title is taken. Correct it."),
        ("- 1", "a.yml:1: expected a mapping, which is names with values. Correct it."),
        ("", "a.yml:1: expected a mapping, which is names with values. Correct it."),
    ],
    ids=lambda value: repr(value)[:30],
)  # fmt: skip
def test_a_wrong_value_is_told_with_file_line_field_and_what_to_do(text: str, shown: str) -> None:
    assert problem(text, taken=["taken"]) == shown


def test_a_name_that_could_break_the_line_is_shown_escaped() -> None:
    assert problem('title: t\n"evil\\n\\e[31m\\u202Ename": 1\n').startswith(
        "a.yml:2: evil \\u001b[31m\\u202ename: Extra inputs"
    )


def test_an_error_about_the_whole_file_needs_no_field() -> None:
    document = documents.load("\n\na: 1", "a.yml")
    assert document.error((), "it is odd.").shown == "a.yml:3: it is odd."
    assert document.error(("b", "c"), "odd.").shown == "a.yml:3: b.c: odd."


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["", "behind a byte order mark"])
def test_a_tab_is_said_to_be_one(mark: str) -> None:
    with pytest.raises(Invalid) as caught:
        documents.load(f"{mark}\ta: 1\n", "a.yml")
    assert caught.value.shown == (
        "a.yml:1: not valid YAML: a tab stands where only spaces may. Correct it."
    )
