"""kill -9 after every line that writes or acts, from the message to the delivered report."""

import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.crash_table import Outcome, Play, outcome, playing, points, recovery, written

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.fixture(scope="module")
def play() -> Generator[Play]:
    with playing() as process:
        yield process


def test_the_table_has_every_point_at_which_something_is_written_or_done(
    play: Play, tmp_path: Path
) -> None:
    assert sorted(points(play, tmp_path / "whole")) == sorted(row.point for row in written())


@pytest.mark.parametrize("row", written(), ids=lambda row: row.point)
def test_i4_i9_x2_c47_c50_c51_c52_c53_p06_p15_p29_p51_whatever_dies_ends_as_the_table_says(
    play: Play, tmp_path: Path, row: Outcome
) -> None:
    assert outcome(play, tmp_path / "folder", row.point) == row


@pytest.mark.parametrize(
    "point", ["turn job claimed", "run job claimed", "run.started", "step.begun"]
)
def test_a_second_death_anywhere_while_it_recovers_changes_nothing(
    play: Play, tmp_path: Path, point: str
) -> None:
    [row] = [row for row in written() if row.point == point]
    for number, second in enumerate(recovery(play, tmp_path / "whole", point)):
        assert outcome(play, tmp_path / str(number), point, second) == _after(row, second), second


def _after(row: Outcome, second: str) -> Outcome:
    """Return the row as a death in the middle of a step that had not begun before makes it."""
    there = {other.point: other for other in written()}.get(second)
    if row.run == "unknown" or there is None or there.run != "unknown":
        return row
    return Outcome(row.point, there.run, _CUT.get(second, there.step), row.cards, row.reports)


_CUT = {"the step acts": "ran once"}
"""A step that is over in no time has acted when it is cut."""


def test_nothing_is_ever_done_or_told_twice_and_only_a_begun_step_is_unknown() -> None:
    rows = written()
    assert {row.cards for row in rows} == {row.reports for row in rows} == {"once"}
    assert {row.step for row in rows} == {"ran once", "did not run", "cut"}
    unknown = [row.point for row in rows if row.run == "unknown"]
    assert unknown == ["step.begun", "the step acts", "the step has acted"]
    assert {row.run for row in rows} == {"succeeded", "unknown"}
