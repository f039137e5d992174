"""Names of whole outputs: each stands for one step, and nothing else is such a name."""

import pytest

from core import ids
from core.artifacts import name_of, step_of


def test_a_name_stands_for_the_step_that_it_was_made_of() -> None:
    run = ids.run_id()
    assert [step_of(name_of(run, index)) for index in (0, 12)] == [(run, 0), (run, 12)]


@pytest.mark.parametrize(
    "name",
    ["", ".", "r_0123456789abcdef", "r_0123456789abcdef.", "r_0123456789abcdef.x", "../r_1.0",
     "r_0123456789abcdeg.0", "r_0123456789abcdef.-1", ".0"],
)  # fmt: skip
def test_any_other_name_stands_for_none(name: str) -> None:
    assert step_of(name) is None
