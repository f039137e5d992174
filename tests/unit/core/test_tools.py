"""Tools: strict arguments, careful defaults, stable bytes, and errors that repeat no value."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import runbooks
from core.canonical import Json
from core.errors import Incorrect, Invalid
from core.tools import Checked, Effect, Tool, Toolbox, of_runbook
from tests.builders import a_tool

TEXT = """\
name: note
summary: Write a note.
params:
  text: {type: string, description: What to write, max_length: 20, pattern: "[a-z ]+"}
  env: {type: string, enum: [staging, prod], default: staging}
  level: {type: integer, minimum: 1, maximum: 3, default: 2}
  ratio: {type: number, default: 0.5}
  loud: {type: boolean, default: false}
steps:
  - run: [echo, "{text}", "{env}", "{level}", "{ratio}", "{loud}"]
"""
CANARY = "zqCANARYqz"


def note() -> Tool:
    return runbooks.tool(TEXT, "note.yml")


def wrong(arguments: dict[str, Json], session: dict[str, Json] | None = None) -> str:
    with pytest.raises(Incorrect) as incorrect:
        note().check(arguments, session or {})
    return incorrect.value.shown


def test_c17_the_schema_is_the_same_bytes_however_often_it_is_built() -> None:
    one, other = json.dumps(note().schema()), json.dumps(note().schema())
    assert one == other
    assert note().schema() == {
        "title": "note",
        "type": "object",
        "additionalProperties": False,
        "required": ["text", "env", "level", "ratio", "loud"],
        "properties": {
            "text": {
                "type": "string",
                "title": "Text",
                "description": "What to write",
                "minLength": 1,
                "maxLength": 20,
            },
            "env": {"type": "string", "title": "Env", "enum": ["staging", "prod"]},
            "level": {"type": "integer", "title": "Level", "minimum": 1, "maximum": 3},
            "ratio": {"type": "number", "title": "Ratio", "minimum": 0},
            "loud": {"type": "boolean", "title": "Loud"},
        },
    }


def test_c17_an_unknown_argument_is_refused_by_its_name() -> None:
    assert wrong({"text": "hi", "txt": CANARY}) == (
        "note: `txt`: there is no such argument. Call it again with that corrected."
    )


@pytest.mark.parametrize("name", ["te\nxt", "\u202etext", "x\0", "\x1b[2J"])
def test_an_unknown_argument_with_a_hidden_character_in_its_name_is_not_repeated(name: str) -> None:
    assert wrong({"text": "hi", name: CANARY}) == (
        "note: `an argument`: there is no such argument. Call it again with that corrected."
    )


def test_an_unknown_argument_with_an_endless_name_is_cut() -> None:
    assert len(wrong({"text": "hi", "x" * 100_000: 1})) < 150


def test_the_inner_name_of_a_parameter_is_no_argument() -> None:
    assert "`p_text`: there is no such argument" in wrong({"text": "hi", "p_text": "x"})


def test_c90_a_missing_argument_without_a_default_is_named() -> None:
    assert wrong({}) == (
        "note: `text`: it is required and has no default. Call it again with that corrected."
    )


def test_c18_whatever_is_not_declared_to_read_is_a_write() -> None:
    assert note().effect is Effect.WRITE
    assert runbooks.tool(f"{TEXT}effect: read\n", "note.yml").effect is Effect.READ
    bare = Tool(
        name="x",
        summary="s",
        definition="",
        parameters=note().parameters,
        defaults={},
        expand=note().expand,
    )
    assert bare.effect is Effect.WRITE


def test_a_tool_is_a_resource_of_the_policy() -> None:
    assert note().resource == "runbook:note"


@pytest.mark.parametrize(
    ("arguments", "session", "complete", "filled"),
    [
        ({"text": "hi"}, {}, ("hi", "staging", 2, 0.5, False), ("env", "level", "ratio", "loud")),
        ({"text": "hi", "env": "prod", "level": 3, "ratio": 1, "loud": True}, {}, ("hi", "prod", 3, 1.0, True), ()),
        ({"text": "hi"}, {"env": "prod"}, ("hi", "prod", 2, 0.5, False), ("env", "level", "ratio", "loud")),
        ({"text": "hi", "env": "staging"}, {"env": "prod"}, ("hi", "staging", 2, 0.5, False), ("level", "ratio", "loud")),
        ({}, {"text": "hi", "user": "root"}, ("hi", "staging", 2, 0.5, False), ("text", "env", "level", "ratio", "loud")),
    ],
)  # fmt: skip
def test_c90_defaults_fill_in_what_was_left_out_and_are_marked(
    arguments: dict[str, Json],
    session: dict[str, Json],
    complete: tuple[Json, ...],
    filled: tuple[str, ...],
) -> None:
    checked = note().check(arguments, session)
    assert tuple(checked.arguments.values()) == complete
    assert tuple(checked.arguments) == note().names
    assert checked.filled == filled


def test_a_session_default_that_does_not_fit_is_refused_by_name() -> None:
    assert wrong({"text": "hi"}, {"level": 9}).startswith("note: `level`: it must be less")


def test_what_was_checked_once_is_accepted_again_as_it_is() -> None:
    checked = note().check({"text": "hi", "ratio": 1}, {"env": "prod"})
    assert note().check(checked.arguments, {"env": "staging"}).arguments == checked.arguments


def holding(canary: Json) -> st.SearchStrategy[Json]:
    """Return values of any shape that hold this somewhere."""
    shapes: st.SearchStrategy[Json] = st.recursive(
        st.just(canary),
        lambda inner: (
            st.lists(inner, min_size=1, max_size=2)
            | st.dictionaries(st.just(CANARY), inner, min_size=1)
        ),
        max_leaves=4,
    )
    return shapes


@settings(deadline=None)
@given(
    st.sampled_from(["text", "env", "level", "ratio", "loud"]),
    holding(CANARY) | st.text().map(lambda text: CANARY + text) | st.just(981_276_354),
)
def test_c95_no_error_repeats_the_value_that_was_wrong(name: str, value: Json) -> None:
    if (name, value) == ("ratio", 981_276_354):
        return  # the only one of them that fits
    told = wrong({"text": "hi", name: value})
    assert CANARY not in told
    assert "981276354" not in told
    assert f"`{name}" in told
    assert told.endswith("Call it again with that corrected.")


def test_the_tools_of_a_box_stand_in_one_order() -> None:
    names = ["beta", "alpha", "gamma"]
    box = Toolbox.of(a_tool(name) for name in names)
    assert [tool.name for tool in box] == sorted(names)
    assert box == Toolbox.of(sorted(box, key=lambda tool: tool.name, reverse=True))


def test_two_tools_of_one_name_are_refused_at_the_start() -> None:
    with pytest.raises(Invalid, match=r"Two runbooks are called alpha\. Rename one of them\."):
        Toolbox.of([a_tool("alpha"), a_tool("beta"), a_tool("alpha")])


def test_c21_only_what_somebody_may_use_is_in_the_box_and_nothing_may_be_nothing() -> None:
    box = Toolbox.of([a_tool("alpha"), a_tool("beta")])
    assert [tool.name for tool in box.offered(lambda tool: tool.name == "beta")] == ["beta"]
    assert list(box.offered(lambda _: False)) == []
    assert box["alpha"].name == "alpha"


@pytest.mark.parametrize("name", ["alpha", "no-such", "", "ALPHA", "alpha ", CANARY])
def test_c25_what_is_forbidden_or_missing_is_refused_in_the_same_words(name: str) -> None:
    def refusal(box: Toolbox) -> str:
        with pytest.raises(Incorrect) as incorrect:
            _ = box[name]
        return incorrect.value.shown

    forbidden = Toolbox.of([a_tool("alpha")]).offered(lambda _: False)
    words = "There is no such tool here. Use one of those that are listed."
    assert refusal(forbidden) == refusal(Toolbox.of([])) == words


ATTEMPTS: list[Callable[[Tool], Checked]] = [
    lambda tool: tool.check({"text": "hi", "user": "root"}, {}),
    lambda tool: tool.check({"text": "hi", "token": CANARY}, {}),
    lambda tool: tool.check({"text": "hi", "tenant": "globex"}, {"tenant": "acme"}),
]


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_c23_who_acts_is_no_argument_of_any_tool(attempt: Callable[[Tool], Checked]) -> None:
    with pytest.raises(Incorrect, match="there is no such argument"):
        attempt(note())


def test_a_policy_about_runbooks_is_none_about_tools_of_mcp_servers() -> None:
    assert of_runbook("append-word") == "runbook:append-word"
    assert of_runbook("notes__add") == "mcp:notes__add"
