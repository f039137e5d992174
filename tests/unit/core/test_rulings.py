"""The words about whether anything may run, and what is only like them."""

from dataclasses import replace

import pytest

from core import rulings
from core.chat_commands import Heard, Meaning, read
from core.events import Place
from core.principals import Identity
from core.rulings import BreakGlass, HandOver, Lift, Pause, Resume, Speaker
from core.terminal import Mistyped

ALICE = Identity(platform="slack", workspace="T0TEAM", user="U0ALICE")
PLACE = Place(platform="slack", workspace="T0TEAM", channel="C0OPS", thread="1.2")
HEARD = Heard(identity=ALICE, place=PLACE, in_thread=True)
ID = "0123456789abcdef" * 2
MEANINGS: dict[str, Meaning] = {
    "pause": Pause(identity=ALICE, place=PLACE),
    "!pause": Pause(identity=ALICE, place=PLACE),
    "!Pause an  incident": Pause(identity=ALICE, place=PLACE, reason="an  incident"),
    "resume": Resume(identity=ALICE, place=PLACE),
    "!resume": Resume(identity=ALICE, place=PLACE),
    "lift": Lift(identity=ALICE, place=PLACE),
    f"break-glass {ID} it  burns": BreakGlass(identity=ALICE, request=ID, reason="it  burns"),
    f"!break-glass `{ID.upper()}` now": BreakGlass(identity=ALICE, request=ID, reason="now"),
    f"handover {ID} @carol": HandOver(identity=ALICE, request=ID, to="carol"),
    f"!handover {ID} U0CAROL": HandOver(identity=ALICE, request=ID, to="U0CAROL"),
    "!lift c_1": Lift(identity=ALICE, place=PLACE, conversation="c_1"),
}
MESSAGES = [
    "pause the deploy", "pause web in staging", "resume the deploy", "lift c_1", "lift the lid",
    "please pause", "! pause", "pauses",
]  # fmt: skip


@pytest.mark.parametrize("text", MEANINGS)
def test_a_word_means_one_thing(text: str) -> None:
    assert read(text, HEARD) == MEANINGS[text]


@pytest.mark.parametrize("text", MESSAGES)
def test_p39_what_is_only_like_a_word_is_a_message(text: str) -> None:
    assert read(text, HEARD) is None


def test_where_the_platform_says_that_it_is_a_command_words_may_follow() -> None:
    assert read("pause an incident", HEARD, is_command=True) == Pause(
        identity=ALICE, place=PLACE, reason="an incident"
    )
    assert read("restart web", HEARD, is_command=True) is None


MISTYPED = [
    "!resume now", "!lift c_1 c_2", "break-glass", f"break-glass {ID}", "break-glass it burns",
    f"break-glass {ID}0 it burns", "handover", f"handover {ID}", f"handover {ID} to carol",
    "handover the pager", "!handover carol",
]  # fmt: skip


@pytest.mark.parametrize("text", MISTYPED)
def test_what_does_not_fit_does_nothing_and_is_told_how(text: str) -> None:
    said = read(text, HEARD)
    assert isinstance(said, Mistyped)
    assert said.sentence.startswith(("Nothing was", "Nobody was asked"))
    assert ID[:12] not in said.sentence


def test_what_nobody_addressed_to_sayso_counts_only_where_it_is_known() -> None:
    for word in ("pause", "resume", "lift"):
        found = read(f"!{word}", replace(HEARD, known_only=True))
        assert isinstance(found, Pause | Resume | Lift)
        assert found.known_only


def test_any_other_word_is_none_of_these() -> None:
    assert rulings.read("stop", "", Speaker(identity=ALICE), marked=True) is None
