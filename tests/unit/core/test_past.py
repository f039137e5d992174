"""What a turn knows of the turns before grows by what is new, and says the same as if all were read."""

from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.calls import ids_of
from core.errors import Refused
from core.limits import prompt_bytes
from core.past import NOTHING, UNREAD
from core.transcript import Called, Compacted, Entry, Heard, Noted, Result, Returned, Spoke, whole
from tests.scene import HEARD, call

CALLED = Called(calls=(call("look"), call("look", name="2")))
RETURNED = Returned(results=(Result(call="2", text="b"), Result(call="1", text="a")))
ENTRIES: tuple[Entry, ...] = (
    HEARD,
    Noted(text="Stopped.", entry=3),
    CALLED,
    RETURNED,
    Spoke(text="ok"),
    Compacted(turns=3, told=("alice: hi",), words="ä"),
    Heard(speaker="bob", text="ä"),
)


@given(st.lists(st.integers(0, len(ENTRIES)), max_size=3).map(sorted))
def test_in_whatever_parts_it_is_read_it_is_the_same(cuts: list[int]) -> None:
    edges = [0, *cuts, len(ENTRIES)]
    parts = [ENTRIES[a:b] for a, b in pairwise(edges)]
    *_, past = accumulate(parts, lambda known, part: known.then(*part), initial=NOTHING)
    assert past == NOTHING.then(*ENTRIES)
    assert (past.sent, past.bytes) == (ENTRIES, prompt_bytes(ENTRIES))
    assert past.ids == ids_of(ENTRIES) == {"1", "2"}


@given(st.lists(st.sampled_from(ENTRIES), max_size=6))
def test_p05_it_is_whole_exactly_where_a_provider_takes_it(entries: list[Entry]) -> None:
    past = NOTHING
    for entry in entries:
        past = past.then(entry)
    try:
        expected = whole(entries)
    except Refused:
        with pytest.raises(Refused):
            _ = past.sent
    else:
        assert past.sent == expected
    assert past.is_whole or past.entries


def test_of_what_was_not_read_no_id_is_known() -> None:
    assert UNREAD.then(CALLED, RETURNED).ids is None


def test_what_a_compaction_takes_is_what_a_model_is_told_of_it() -> None:
    one = Compacted(
        turns=2, told=("alice: hi -> ok",), waiting=("note asked by bob",), words="It is."
    )
    assert one.text == (
        "The 2 turns before this are left out. What software kept of them:\n"
        "- alice: hi -> ok\n"
        "- waits for approval: note asked by bob\n"
        "A model summed them up; nobody checked its words:\n"
        "It is."
    )
    assert prompt_bytes((one,)) == len(one.text)
