"""A long text in pieces becomes what it becomes as a whole, and others get on meanwhile."""

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import piecewise
from core.piecewise import PIECE, changed, pieces
from core.redaction import MASK, Redactor

SECRET = "s3cr/t+v?lue=1"
PHRASE = "first\nsecond\nthird"
REDACTOR = Redactor.of([SECRET, PHRASE])
WORDS = (
    SECRET, PHRASE, "first", "\nsecond", "third", "s3cr/t", "+v?lue=1",
    "password=", "Bearer ", "eyJabcde", ".eyJabcdef", ".x", "sk-" + "a1B2" * 3, "a1B2" * 3,
    "-----BEGIN PRIVATE " + "KEY-----", "\nMIIE", "://", "alice:", "swordfish", "@",
    " ", "\n", "\r\n", "plain", "é", "\x1b[31m",
)  # fmt: skip


@settings(max_examples=400)
@given(st.lists(st.sampled_from(WORDS), max_size=60), st.integers(min_value=1, max_value=40))
def test_i12_pieces_of_any_size_are_together_what_the_whole_becomes(
    words: Sequence[str], size: int
) -> None:
    text = "".join(words)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(piecewise, "PIECE", size)
        assert "".join(pieces(text, REDACTOR.text, reach=REDACTOR.reach)) == REDACTOR.text(text)


@pytest.mark.parametrize("line_end", ["", "\n"])
@pytest.mark.parametrize("back", range(len(SECRET) + 2))
def test_i12_a_secret_that_lies_across_the_end_of_a_piece_is_masked(
    back: int, line_end: str
) -> None:
    text = "x" * (PIECE - back - 1) + line_end + SECRET + " more" * PIECE
    masked = "".join(pieces(text, REDACTOR.text, reach=REDACTOR.reach))
    assert masked == text.replace(SECRET, MASK)


def test_a_text_is_cut_where_a_line_ends() -> None:
    text = "a line of text\n" * PIECE
    found = list(pieces(text, str.upper, reach=1))
    assert "".join(found) == text.upper()
    assert all(piece.endswith("\n") and len(piece) <= PIECE for piece in found)
    assert len(found) <= 2 * len(text) // PIECE


def test_what_hangs_together_is_in_one_piece_however_long_it_is() -> None:
    long = "-----BEGIN PRIVATE " + "KEY-----" + "\nMIIEabcd" * PIECE
    assert list(pieces(f"{long}\n!", REDACTOR.text, reach=REDACTOR.reach)) == [f"{MASK}\n!"]


def test_of_nothing_there_is_no_piece() -> None:
    assert list(pieces("", str.upper, reach=1)) == []


async def test_others_get_on_between_the_pieces() -> None:
    text = "a line of text\n" * PIECE
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(others())
    assert await changed(text, str.upper, reach=1) == text.upper()
    other.cancel()
    assert turns >= len(text) // PIECE
