"""Lines by which a command says how far it is."""

import pytest

from core import declared
from core.declared import Declared


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("sayso: 0%", Declared(percent=0, words="")),
        ("sayso: 40% copying", Declared(percent=40, words="copying")),
        ("sayso: 100% all of it, 3 of 3", Declared(percent=100, words="all of it, 3 of 3")),
        ("sayso: 7% 50% of the second half", Declared(percent=7, words="50% of the second half")),
    ],
)
def test_a_line_declares_how_far_it_is(line: str, said: Declared) -> None:
    assert declared.read(line) == said


@pytest.mark.parametrize(
    "line",
    [
        "",
        "40% copying",
        "sayso: 101%",
        "sayso: 040%",
        "sayso: -1%",
        "sayso: 4.5%",
        "sayso: 40 %",
        "sayso:40%",
        "sayso: 40%copying",
        "sayso: 40% ",
        "sayso: 40%  copying",
        " sayso: 40%",
        "> sayso: 40%",
        "Sayso: 40%",
        "sayso: \u0664\u0660%",
        "sayso: 40%\n",
        "sayso: forty%",
    ],
)
def test_any_other_line_is_only_printed(line: str) -> None:
    assert declared.read(line) is None


def test_the_last_one_counts_and_all_are_taken_out_of_the_lines() -> None:
    lines = ("one", "sayso: 10% begun", "two", "sayso: 5% begun again", "three")
    last, others = declared.apart(lines)
    assert last == Declared(percent=5, words="begun again")
    assert others == ("one", "two", "three")
    assert declared.apart(others) == (None, others)


@pytest.mark.parametrize(
    ("percent", "bar"),
    [
        (0, "[....................] 0%"),
        (4, "[....................] 4%"),
        (5, "[#...................] 5%"),
        (40, "[########............] 40%"),
        (99, "[###################.] 99%"),
        (100, "[####################] 100%"),
    ],
)
def test_the_bar_is_full_only_at_the_end(percent: int, bar: str) -> None:
    assert Declared(percent=percent, words="").bar == bar
    assert Declared(percent=percent, words="copying").bar == f"{bar} copying"
