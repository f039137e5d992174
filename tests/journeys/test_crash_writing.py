"""kill -9 after every commit of a turn in which a model writes: nothing is lost, doubled or left half."""

import json
import signal
import sqlite3
import sys
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import pytest

from tests.crash_table import Play, furnish, lived, playing

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

TOOLSETS = """
toolsets:
  memory:
  reminders: {starts_turn: false}
"""
RULE = '    - {effect: allow, action: "tool:read", resource: "tool:*", groups: [eng]}\n'


@pytest.fixture(scope="module")
def play() -> Generator[Play]:
    with playing() as process:
        yield process


def furnished(folder: Path) -> Path:
    """Return the contract's folder with memory and reminders on."""
    furnish(folder)
    text = (folder / "sayso.yml").read_text("utf-8")
    before, rules, after = text.partition("  rules:\n")
    (folder / "sayso.yml").write_text(f"{before}{rules}{RULE}{after}{TOOLSETS}", "utf-8")
    return folder


def life(play: Play, folder: Path, dies_at: str) -> int:
    """Play one process of a life and return its wait status."""
    return lived(play, folder, dies_at, "please add alpha", writes=True)


def left(folder: Path) -> dict[str, list[tuple[object, ...]]]:
    """Return what a life left that anybody could find lost, doubled or half."""
    asked = {
        "turns": "SELECT reason FROM turn",
        "memories": "SELECT memory.text, source LIKE turn.id || '/%' FROM memory, turn",
        "reminders": "SELECT reminder.text, reminder.state, job.state FROM reminder JOIN job ON job.id = 'due:' || reminder.id",
        "requests": "SELECT state, times_asked FROM request",
        "run": "SELECT state FROM run",
        "calls": "SELECT kind, count(*) FROM transcript WHERE kind <> 'stated' GROUP BY 1",
        "ends": "SELECT count(*) FROM happening WHERE kind = 'finished'",
        "live": "SELECT id FROM job WHERE state = 'running'",
    }
    with closing(sqlite3.connect(folder / "data" / "sayso.db")) as database:
        return {name: database.execute(statement).fetchall() for name, statement in asked.items()}


WHOLE: dict[str, list[tuple[object, ...]]] = {
    "turns": [("proposed",)],
    "memories": [("alpha is wanted", 1)],
    "reminders": [("look again", "pending", "queued")],
    "requests": [("spent", 1)],
    "run": [("succeeded",)],
    "calls": [("called", 4), ("heard", 1), ("returned", 4)],
    "ends": [(1,)],
    "live": [],
}


def test_i9_c48_c53_whatever_commit_a_writing_turn_dies_after_it_ends_as_one(
    play: Play, tmp_path: Path
) -> None:
    folder = furnished(tmp_path / "whole")
    assert life(play, folder, "") == 0
    assert left(folder) == WHOLE
    reached = (folder / "points").read_text("utf-8").splitlines()
    commits = [
        point for point in reached[: reached.index("the card is posted")] if "commit" in point
    ]
    assert len(commits) > 20
    for number, commit in enumerate(commits):
        folder = furnished(tmp_path / str(number))
        assert life(play, folder, commit) == signal.SIGKILL, commit
        assert life(play, folder, "") == 0, commit
        assert left(folder) == WHOLE, commit
        posted = [json.loads(line) for line in (folder / "thread").read_text("utf-8").splitlines()]
        assert sum(line["kind"] == "card" for line in posted) == 1, commit
