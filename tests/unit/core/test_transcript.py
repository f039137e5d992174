"""A transcript is whole, or it is refused."""

import pytest

from core.errors import Refused
from core.transcript import Called, Entry, Heard, Noted, Result, Returned, Spoke, ToolCall, whole

HEARD = Heard(speaker="alice", text="look")
SPOKE = Spoke(text="ok")


def called(*ids: str) -> Called:
    return Called(calls=tuple(ToolCall(id=one, tool="look", arguments={}) for one in ids))


def returned(*ids: str) -> Returned:
    return Returned(results=tuple(Result(call=one, text="") for one in ids))


@pytest.mark.parametrize(
    "entries",
    [
        (),
        (HEARD, SPOKE, Noted(text="bob approved it"), HEARD),
        (HEARD, called("1", "2"), returned("2", "1"), SPOKE),
        (HEARD, called("1"), returned("1"), called("2"), returned("2")),
    ],
)
def test_what_is_whole_stays_as_it_is(entries: tuple[Entry, ...]) -> None:
    assert whole(entries) == entries
    assert whole(list(entries)) == entries


@pytest.mark.parametrize("before", [(), (HEARD,), (HEARD, called("1"), returned("1"))])
def test_p05_calls_at_the_end_that_nothing_came_of_are_left_out(before: tuple[Entry, ...]) -> None:
    assert whole((*before, called("9"))) == before


@pytest.mark.parametrize(
    "entries",
    [
        (returned("1"),),
        (HEARD, returned("1")),
        (called("1"), SPOKE),
        (called("1"), called("2")),
        (called("1"), HEARD, returned("1")),
        (called("1"), returned("2")),
        (called("1", "2"), returned("1")),
        (called("1"), returned("1", "1")),
        (called("1"), returned("1"), returned("1")),
    ],
)
def test_p05_calls_and_results_that_do_not_belong_together_are_refused(
    entries: tuple[Entry, ...],
) -> None:
    with pytest.raises(Refused, match="does not fit together"):
        whole(entries)
