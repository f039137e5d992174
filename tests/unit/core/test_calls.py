"""What is kept of a model's calls: ids, bounds, secrets, and the provider's own blocks."""

import pytest

from core.calls import Names, Step, ids_of, spoken, step
from core.canonical import Json
from core.redaction import Redactor
from core.transcript import Called, ToolCall, Use, Wire
from tests.scene import HEARD, call, use

REDACTOR = Redactor.of(["hunter2hunter2"])
BLOCKS = '[{"type":"tool_use"}]'


def kept(*calls: ToolCall, taken: frozenset[str] = frozenset(), text: str = "") -> Step:
    move = Use(calls=calls, text=text, wire=Wire(content=BLOCKS))
    return step(move, Names(turn="t_1", before=taken), 100, REDACTOR)


def ids(found: Step) -> list[str]:
    assert found.kept.calls == tuple(found.calls)
    return [one.id for one in found.calls]


def test_calls_are_kept_as_they_are_and_so_are_the_blocks() -> None:
    calls = (call("look", name="toolu_01"), call("look", name="call-2"))
    found = kept(*calls, text="I look.")
    assert found.calls == calls
    assert found.kept == Called(calls=calls, text="I look.", content=BLOCKS)
    assert not found.ambiguous


def test_c8_an_id_that_stood_for_two_calls_stands_for_one() -> None:
    found = kept(call("look"), call("look"))
    assert found.ambiguous
    assert ids(found) == ["1", "call_2"]
    assert found.kept.content == ""


def test_an_id_that_the_conversation_has_already_gets_another() -> None:
    before = frozenset({"1", "call_3", "call_4"})
    found = kept(call("look"), call("look", name="2"), call("look", name="2"), taken=before)
    assert ids(found) == ["call_5", "2", "call_6"]


def test_where_nobody_read_what_was_before_a_call_is_named_after_its_turn() -> None:
    names = Names(turn="t_1", before=None)
    made = [step(use(call("look"), call("look")), names, 100, REDACTOR) for _ in range(2)]
    assert [ids(one) for one in made] == [
        ["call_t_1_1", "call_t_1_2"],
        ["call_t_1_3", "call_t_1_4"],
    ]


@pytest.mark.parametrize("name", ["", " ", "a b", "a\n", "\0", "ä", "\ud800", "x" * 201])
def test_an_id_that_no_provider_would_take_back_gets_another(name: str) -> None:
    assert ids(kept(call("look", name=name))) == ["call_1"]


@pytest.mark.parametrize("tool", ["", "a b", "look\n", "\ud800", "x" * 129, "ä"])
def test_a_name_that_no_provider_would_take_back_is_no_tool(tool: str) -> None:
    [one] = kept(call(tool)).calls
    assert one.tool == "_unnamed_"


def nested(depth: int) -> Json:
    return [nested(depth - 1)] if depth else 1


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("x" * 100, "larger than 100 bytes"),
        (float("nan"), "no exact JSON form"),
        (2**60, "no exact JSON form"),
        ("\ud800", "no exact JSON form"),
        (nested(70), "nested more than 64 levels"),
        ({"a": {"b": nested(70)}}, "nested more than 64 levels"),
    ],
)
def test_arguments_that_could_not_be_kept_are_a_fault_without_them(value: Json, fault: str) -> None:
    found = kept(ToolCall(id="1", tool="look", arguments={"word": value}))
    [one] = found.calls
    assert fault in one.fault
    assert (one.arguments, found.kept.content) == ({}, "")


def test_arguments_that_are_just_small_enough_are_none() -> None:
    [one] = kept(call("look", "x" * 89)).calls
    assert one.fault == ""
    [one] = kept(call("look", "x" * 90)).calls
    assert one.fault
    assert (
        kept(ToolCall(id="1", tool="look", arguments={"w": nested(62)}))
        .calls[0]
        .fault.startswith("The arguments are larger")
    )


def test_a_fault_that_the_adapter_found_is_kept_as_one_line() -> None:
    bad = ToolCall(id="1", tool="look", arguments={"word": 1}, fault="Not JSON.\n\0")
    assert kept(bad).calls[0] == ToolCall(
        id="1", tool="look", arguments={}, fault="Not JSON. \\u0000"
    )


def test_i12_no_secret_is_kept_and_the_call_is_made_with_what_the_model_gave() -> None:
    found = kept(call("look", "hunter2hunter2"), text="hunter2hunter2")
    assert found.calls[0].arguments == {"word": "hunter2hunter2"}
    assert found.kept.calls[0].arguments == {"word": "[redacted]"}
    assert (found.kept.text, found.kept.content) == ("[redacted]", "")


@pytest.mark.parametrize(
    ("text", "content", "wanted"),
    [
        ("ok", "[1]", ("ok", "[1]")),
        ("ok", '["hunter2hunter2"]', ("ok", "")),
        ("hunter2hunter2", "[1]", ("[redacted]", "")),
        ("a\0\ud800", "[1]", ("a\ufffd\ufffd", "")),
        ("ok", "\ud800", ("ok", "")),
        ("ok", '["hunter2\\u0068unter2"]', ("ok", "")),
        ("ok", '{"a": 1, "hunter2\\u0068unter2": 2, "a": 3}', ("ok", "")),
        ("ok", '{"a": "hunter2\\u0068unter2", "a": "b"}', ("ok", "")),
        ("ok", '["{\\"word\\": \\"hunter2\\\\u0068unter2\\"}"]', ("ok", "")),
        ("ok", '["\\\\d+ and \\u0068"]', ("ok", '["\\\\d+ and \\u0068"]')),
        ("ok", "\\u0068 is no JSON", ("ok", "")),
        ("ok", "[" * 100_000 + "\\u0068", ("ok", "")),
    ],
)
def test_words_are_kept_sound_and_without_secrets(
    text: str, content: str, wanted: tuple[str, str]
) -> None:
    found = spoken(text, Wire(content=content), REDACTOR)
    assert (found.text, found.content) == wanted


def test_i12_a_secret_in_an_id_a_name_or_a_fault_is_kept_nowhere() -> None:
    secret = "hunter2hunter2"
    found = kept(
        ToolCall(id=secret, tool=secret, arguments={secret: 1}),
        ToolCall(id="2", tool="look", arguments={}, fault=f"No JSON near {secret}"),
    )
    assert secret not in repr((found.kept, [call.fault for call in found.calls]))
    assert [(call.id, call.tool) for call in found.calls] == [
        ("call_1", "_unnamed_"),
        ("2", "look"),
    ]


def test_the_ids_of_a_transcript_are_those_of_its_calls() -> None:
    assert ids_of([HEARD, Called(calls=(call("look"), call("look", name="b")))]) == {"1", "b"}
