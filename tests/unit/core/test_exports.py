"""C86: from an exported conversation its transcript is rebuilt, byte for byte."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import exports
from core.canonical import Json
from core.errors import Refused
from core.stored_entries import Unreadable, body_of, entry_of, kind_of
from core.transcript import Called, Entry, Heard, Noted, Result, Returned, Spoke, ToolCall

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_NUMBER = st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
_VALUE = st.recursive(st.none() | st.booleans() | _NUMBER | _TEXT, st.lists, max_leaves=5)
_CALL = st.builds(
    ToolCall, id=_TEXT, tool=_TEXT, arguments=st.dictionaries(_TEXT, _VALUE), fault=_TEXT
)
_RESULT = st.builds(Result, call=_TEXT, text=_TEXT, failed=st.booleans(), correctable=st.booleans())
ENTRY = st.one_of(
    st.builds(Heard, speaker=_TEXT, text=_TEXT),
    st.builds(Called, calls=st.lists(_CALL, max_size=3).map(tuple), text=_TEXT, content=_TEXT),
    st.builds(Returned, results=st.lists(_RESULT, max_size=3).map(tuple)),
    st.builds(Spoke, text=_TEXT, content=_TEXT),
    st.builds(Noted, text=_TEXT, entry=st.integers(0, 2**53 - 1)),
)


def exported(*entries: Entry) -> str:
    return json.dumps({"schema": exports.SCHEMA, "transcript": exports.transcript(entries)})


@given(st.lists(ENTRY, max_size=5))
def test_c86_the_exported_transcript_is_read_back_byte_for_byte(entries: list[Entry]) -> None:
    try:
        bodies = [body_of(one) for one in entries]
    except Refused:  # what has no canonical form is never kept, so it is never exported
        return
    found = exports.rebuilt(exported(*entries))
    assert [kind_of(one) for one in found] == [kind_of(one) for one in entries]
    assert [body_of(one) for one in found] == bodies


NO_EXPORTS: list[Json] = [
    None,
    [],
    {},
    "text",
    {"schema": "sayso.plan/1", "transcript": []},
    {"schema": exports.SCHEMA},
    {"schema": exports.SCHEMA, "transcript": None},
    {"schema": exports.SCHEMA, "transcript": [{"kind": "heard"}]},
    {"schema": exports.SCHEMA, "transcript": [{"kind": "heard", "body": []}]},
    {"schema": exports.SCHEMA, "transcript": [{"kind": "heard", "body": {"what": 1}}]},
    {"schema": exports.SCHEMA, "transcript": [{"kind": "called", "body": []}]},
    {"schema": exports.SCHEMA, "transcript": [{"kind": "called", "body": {}}]},
    {"schema": exports.SCHEMA, "transcript": [{"kind": "frob", "body": {"text": "hi"}}]},
    {"schema": exports.SCHEMA, "transcript": [{"kind": "stated", "body": {"form": "frob"}}]},
]


@pytest.mark.parametrize(
    ("kind", "text"),
    [("frob", "{}"), ("heard", "{"), ("heard", "[]"), ("called", "7"), ("returned", "{}"),
     ("stated", '{"form": "frob", "trust": "inside"}')],
)  # fmt: skip
def test_what_was_kept_by_another_version_is_no_fault_of_an_export(kind: str, text: str) -> None:
    with pytest.raises(Unreadable, match="cannot be read by this version of Sayso"):
        entry_of(kind, text)


@pytest.mark.parametrize("values", NO_EXPORTS)
def test_c86_what_is_no_export_is_refused(values: Json) -> None:
    with pytest.raises(Refused, match="not an exported conversation"):
        exports.rebuilt(json.dumps(values))
