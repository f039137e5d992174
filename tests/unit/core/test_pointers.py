"""JSON Pointer, as RFC 6901 has it."""

import pytest

from core import pointers
from core.canonical import Json

DOCUMENT: Json = {
    "foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, 'k"l': 6, " ": 7, "m~n": 8,
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", DOCUMENT), ("/foo", ["bar", "baz"]), ("/foo/0", "bar"), ("/", 0), ("/a~1b", 1), ("/c%d", 2), ("/e^f", 3),
        ("/g|h", 4), ("/i\\j", 5), ('/k"l', 6), ("/ ", 7), ("/m~0n", 8),
    ],
)  # fmt: skip
def test_the_examples_of_the_rfc(text: str, value: Json) -> None:
    assert pointers.at(DOCUMENT, pointers.parse(text)) == (value,)


@pytest.mark.parametrize(
    "text",
    [
        "/no",
        "/foo/2",
        "/foo/-",
        "/foo/00",
        "/foo/01",
        "/foo/-1",
        "/foo/x",
        "/foo/0/0",
        "//x",
        "/foo/١",
    ],
)
def test_nothing_stands_where_nothing_is(text: str) -> None:
    assert pointers.at(DOCUMENT, pointers.parse(text)) == ()


def test_null_stands_somewhere() -> None:
    assert pointers.at({"a": None}, pointers.parse("/a")) == (None,)


@pytest.mark.parametrize("text", ["foo", "$.foo", "/a~2", "/a~", "#/foo"])
def test_what_is_no_pointer_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write where a value stands as in /items/0/name"):
        pointers.parse(text)
