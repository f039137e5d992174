"""Ids: what a button carries cannot be guessed, everything else is easy to tell apart."""

import re
from collections.abc import Callable

import pytest

from core import ids


def test_i5_what_a_button_carries_is_128_random_bits_in_lowercase_hex() -> None:
    made = {ids.request_id() for _ in range(1000)}
    assert len(made) == 1000
    assert all(re.fullmatch(r"[0-9a-f]{32}", name) for name in made)


@pytest.mark.parametrize(
    ("make", "mark", "digits"),
    [
        (ids.conversation_id, "c_", 16),
        (ids.turn_id, "t_", 32),
        (ids.run_id, "r_", 16),
        (lambda: ids.look_id("t_1"), r"t_1\.look_", 16),
    ],
)
def test_every_other_id_is_unique_and_says_what_it_names(
    make: Callable[[], str], mark: str, digits: int
) -> None:
    made = {make() for _ in range(1000)}
    assert len(made) == 1000
    assert all(re.fullmatch(f"{mark}[0-9a-f]{{{digits}}}", name) for name in made)


def test_every_change_of_one_card_has_a_name_of_its_own() -> None:
    made = {ids.edit_id("0a") for _ in range(50)}
    assert len(made) == 50
    assert all(re.fullmatch(r"edit:0a:[0-9a-f]{8}", name) for name in made)


def test_a_plan_and_a_step_have_the_same_name_every_time() -> None:
    assert ids.plan_id("0123456789abcdef" * 4) == "p_0123456789ab"
    assert ids.step_id("r_1", 0) == "r_1.0"


def test_a_grant_has_as_many_random_bits_as_a_request_and_a_form_of_its_own() -> None:
    made = {ids.grant_id() for _ in range(1000)}
    assert len(made) == 1000
    assert all(map(ids.is_grant_id, made))
    one = made.pop()
    for other in (one[2:], one[:-1], one.upper(), f"{one}\n", f" {one}", ""):
        assert not ids.is_grant_id(other)
