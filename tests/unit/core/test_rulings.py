"""The words about whether anything may run, and what is only like them."""

from dataclasses import replace

import pytest

from core import rulings
from core.chat_commands import Heard, Meaning, read
from core.events import Place
from core.principals import Identity
from core.rulings import Lift, Pause, Resume, Speaker
from core.terminal import Mistyped

ALICE = Identity(platform="slack", workspace="T0TEAM", user="U0ALICE")
PLACE = Place(platform="slack", workspace="T0TEAM", channel="C0OPS", thread="1.2")
HEARD = Heard(identity=ALICE, place=PLACE, in_thread=True)
MEANINGS: dict[str, Meaning] = {
    "pause": Pause(identity=ALICE, place=PLACE),
    "!pause": Pause(identity=ALICE, place=PLACE),
    "!Pause an  incident": Pause(identity=ALICE, place=PLACE, reason="an  incident"),
    "resume": Resume(identity=ALICE, place=PLACE),
    "!resume": Resume(identity=ALICE, place=PLACE),
    "lift": Lift(identity=ALICE, place=PLACE),
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


@pytest.mark.parametrize("text", ["!resume now", "!lift c_1 c_2"])
def test_too_many_words_do_nothing_and_are_told_how(text: str) -> None:
    said = read(text, HEARD)
    assert isinstance(said, Mistyped)
    assert said.sentence.startswith("Nothing was")


def test_what_nobody_addressed_to_sayso_counts_only_where_it_is_known() -> None:
    for word in rulings.READERS:
        found = read(f"!{word}", replace(HEARD, known_only=True))
        assert isinstance(found, Pause | Resume | Lift)
        assert found.known_only


def test_any_other_word_is_none_of_these() -> None:
    assert rulings.read("stop", "", Speaker(identity=ALICE), marked=True) is None
