"""How turns end that nobody brings to their end, and what of them a model is told."""

import pytest

from core.calls import Names
from core.conversations import Turn, TurnEnd
from core.frame import Frame
from core.limits import Limits
from core.outcomes import Reason
from core.progress import Progress
from core.transcript import Entry, Heard, Noted, Result, Returned, Spoke
from core.turn_ends import STOPPED, stopped, told
from core.wishes import Again, Masked, Wish, Words
from tests.builders import CONVERSATION, PLACE, TENANT

HEARD = Heard(speaker="alice", text="look")
RETURNED = Returned(results=(Result(call="1", text="up"),))
UNSEEN = Spoke(text="It is up.")
PAUSED = Spoke(text="", content="[]")


def a_turn(wish: Wish) -> Turn:
    return Turn(
        id="t_1",
        tenant=TENANT,
        conversation=CONVERSATION,
        principal="alice",
        place=PLACE,
        wish=wish,
    )


@pytest.mark.parametrize(
    ("did", "kept"),
    [
        ((HEARD, RETURNED, UNSEEN, UNSEEN), (HEARD, RETURNED, Noted(text=STOPPED.text))),
        ((HEARD, PAUSED, UNSEEN), (HEARD, PAUSED, Noted(text=STOPPED.text))),
        ((UNSEEN,), ()),
        ((), ()),
    ],
)
def test_a_turn_that_was_stopped_keeps_what_it_did_and_nothing_that_nobody_was_shown(
    did: tuple[Entry, ...], kept: tuple[Entry, ...]
) -> None:
    given = TurnEnd(
        reason=Reason.ANSWERED,
        text="It is up.",
        suggestions=("look again",),
        killed=2,
        entries=did,
        absorbed=("t_2",),
        frame=Frame(intent="look"),
    )
    assert stopped(given) == TurnEnd(
        reason=Reason.STOPPED,
        text=STOPPED.text,
        killed=2,
        entries=kept,
        absorbed=("t_2",),
        frame=Frame(intent="look"),
    )


def test_i10_whoever_cuts_a_turn_keeps_of_a_pause_what_the_model_was_given_again() -> None:
    shown = list[tuple[Entry, ...]]()
    names = Names(turn="t_1", before=frozenset())
    progress = Progress(limits=Limits(), history=(), bytes=0, names=names, watch=shown.append)
    progress.hear(HEARD)
    progress.append(PAUSED)
    progress.give()
    assert shown == [(HEARD,), (HEARD,), (HEARD, PAUSED)]


@pytest.mark.parametrize("wish", [Words(text="4711"), Masked(text="4711")])
def test_c78_words_that_nobody_looked_at_are_not_repeated(wish: Wish) -> None:
    (note,) = told(a_turn(wish), STOPPED)
    assert note == Noted(text=f"A message from alice was not looked at. {STOPPED.text}")


def test_what_was_no_message_is_told_with_its_end() -> None:
    again = Again(request="f" * 32)
    assert told(a_turn(again), STOPPED) == (
        Heard(speaker="alice", text=again.shown),
        Noted(text=STOPPED.text),
    )
    proposed = TurnEnd(reason=Reason.PROPOSED, text="")
    assert told(a_turn(again), proposed)[1] == Noted(text="proposed")
    assert told(a_turn(again), TurnEnd(reason=Reason.ANSWERED, text="", entries=(HEARD,))) == (
        HEARD,
    )
