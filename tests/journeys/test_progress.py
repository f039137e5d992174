"""C61: what a run prints is seen in its thread before it ends, and whatever dies, its end is seen last."""

import json
import re
import signal
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.crash_table import Play, furnish, lived, playing

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

TALK = """
name: talk
summary: Tell how it goes, for some seconds.
effect: write
risk: low
params:
  word: {type: string}
phrases: ["talk {word}"]
steps:
  - run: [python3, talk.py, "{word}"]
"""
SAYS = """
import sys, time
for number in range(20):
    print(f"{sys.argv[1]} {number}", flush=True)
    time.sleep(0.2)
"""


@pytest.fixture(scope="module")
def play() -> Generator[Play]:
    with playing() as process:
        yield process


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    furnish(folder)
    (folder / "runbooks" / "talk.yml").write_text(TALK, "utf-8")
    (folder / "work" / "talk.py").write_text(SAYS, "utf-8")
    return folder


def frames(folder: Path) -> list[str]:
    """Return every look of the one message that shows the run, in order."""
    lines = [json.loads(line) for line in (folder / "thread").read_text("utf-8").splitlines()]
    [shown] = [line["key"] for line in lines if line["kind"] == "progress"]
    return [line["text"] for line in lines if line["key"] in {shown, f"edit of {shown}"}]


def test_lines_are_seen_before_the_run_ends_and_its_end_is_seen_last(
    play: Play, folder: Path
) -> None:
    assert lived(play, folder, "", "talk alpha", most=2) == 0
    first, *between, last = frames(folder)
    assert first == "Step 1 of 1, talk: running.\nStop"
    assert 1 <= len(between) <= 4
    for frame in between:
        head, *lines, button = frame.splitlines()
        assert head.startswith("Step 1 of 1, talk: running. It has run for ")
        numbers = [int(line.removeprefix("alpha ")) for line in lines]
        assert numbers == list(range(numbers[0], numbers[-1] + 1))
        assert button == "Stop"
    assert last == "Succeeded. Step 1 of 1, talk: succeeded."


def test_how_far_it_says_to_be_is_a_bar_above_the_lines_and_in_the_report_what_it_printed(
    play: Play, folder: Path
) -> None:
    counts = SAYS.replace("{sys.argv[1]} {number}", "sayso: {5 * number}% of it\\n{sys.argv[1]}")
    (folder / "work" / "talk.py").write_text(counts, "utf-8")
    assert lived(play, folder, "", "talk alpha", most=2) == 0
    _, *between, last = frames(folder)
    assert between
    for frame in between:
        _, bar, *lines, _ = frame.splitlines()
        found = re.fullmatch(r"\[(#*)\.*\] ([0-9]+)% of it", bar)
        assert found
        assert int(found[2]) == 5 * len(found[1]) > 0
        assert set(lines) == {"alpha"}
    assert last == "Succeeded. Step 1 of 1, talk: succeeded."
    said = (folder / "thread").read_text("utf-8")
    assert "sayso: 95% of it" in said


@pytest.mark.parametrize(
    ("point", "end"),
    [
        ("the progress is posted", "Unknown. Step 1 of 1, talk: unknown."),
        ("the message's id is kept (2)", "Unknown. Step 1 of 1, talk: unknown."),
        ("the progress is redrawn", "Unknown. Step 1 of 1, talk: unknown."),
        ("the step has acted", "Unknown. Step 1 of 1, talk: unknown."),
        ("step.ended, run.ended", "Succeeded. Step 1 of 1, talk: succeeded."),
        ("the text is posted", "Succeeded. Step 1 of 1, talk: succeeded."),
    ],
)
def test_whatever_dies_the_message_ends_with_what_became_of_the_run(
    play: Play, folder: Path, point: str, end: str
) -> None:
    assert lived(play, folder, point, "talk alpha", most=2) == signal.SIGKILL
    assert frames(folder)[-1].endswith("Stop")
    assert lived(play, folder, "", "talk alpha", most=2) == 0
    assert frames(folder)[-1] == end
