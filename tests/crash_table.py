"""The crash matrix of docs/guarantees.md: measured by killing, and written down by `make guarantees`."""

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from core import audit
from core.audit import Entry, Intact
from tests.sayso import CONTRACT, ROOT, environment

DOCUMENT = ROOT / "docs" / "guarantees.md"
IN_THE_MIDDLE = "the step acts"
"""The only point at which a command is running."""
_BEGIN, _END = "<!-- the crash matrix -->", "<!-- its end -->"
_HEAD = ("the process dies right after", "run", "step", "card", "report")
_LEFT_OVER = """
    SELECT id FROM request WHERE state = 'granted' UNION SELECT id FROM run WHERE state = 'running'
    UNION SELECT id FROM job WHERE state IN ('queued', 'running') AND kind <> 'expire'
"""
"""What nobody would ever end."""
Play: TypeAlias = "subprocess.Popen[str]"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What people find after a restart."""

    point: str
    run: str
    step: str
    cards: str
    reports: str


@contextmanager
def playing() -> Generator[Play]:
    """Give a process that forks one life a line."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.crash"],
        cwd=ROOT,
        env=environment({}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


def points(play: Play, folder: Path) -> list[str]:
    """Return every point of a life without a death, in order."""
    furnish(folder)
    assert lived(play, folder, "", "append alpha") == 0
    return (folder / "points").read_text("utf-8").splitlines()


def recovery(play: Play, folder: Path, point: str) -> list[str]:
    """Kill the process at a point and return the points of the life that goes on after it."""
    furnish(folder)
    assert lived(play, folder, point, _text(point)) == signal.SIGKILL
    before = len((folder / "points").read_text("utf-8").splitlines())
    assert lived(play, folder, "", _text(point)) == 0
    return (folder / "points").read_text("utf-8").splitlines()[before:]


def outcome(play: Play, folder: Path, *deaths: str) -> Outcome:
    """Kill the process at a point, the next one at another, start a last one; return what it left."""
    furnish(folder)
    point = deaths[0]
    for death in deaths:
        died = lived(play, folder, death, _text(point))
        assert died == signal.SIGKILL, f"it did not come to: {death}"
    assert lived(play, folder, "", _text(point)) == 0, f"it did not recover from: {deaths}"
    with closing(sqlite3.connect(folder / "data" / "sayso.db")) as database:
        assert database.execute("SELECT count(*) FROM turn").fetchall() == [(1,)]
        assert database.execute("SELECT count(*) FROM request").fetchall() == [(1,)]
        assert database.execute(_LEFT_OVER).fetchall() == []
        [(run,)] = database.execute("SELECT state FROM run")
        log = database.execute("SELECT seq, at, tenant, kind, body, prev, hash FROM audit")
        names = ("seq", "at", "tenant", "kind", "body", "prev", "hash")
        entries = [Entry(**dict(zip(names, row, strict=True))) for row in log]
    assert isinstance(audit.verify(entries), Intact)
    posted = [json.loads(line) for line in (folder / "thread").read_text("utf-8").splitlines()]
    return Outcome(
        point=point,
        run=run,
        step=_step((folder / "work" / "ledger.txt").read_text("utf-8").splitlines()),
        cards=_times(sum(line["kind"] == "card" for line in posted)),
        reports=_times(sum(line["kind"] == "text" for line in posted)),
    )


def _text(point: str) -> str:
    return "slow append alpha 1" if point == IN_THE_MIDDLE else "append alpha"


def _step(ledger: Sequence[str]) -> str:
    if ledger == ["begin alpha"]:
        return "cut"
    assert set(ledger) <= {"alpha"}, ledger
    return f"ran {_times(len(ledger))}" if ledger else "did not run"


def _times(count: int) -> str:
    return {0: "never", 1: "once"}.get(count, f"{count} times")


def furnish(folder: Path) -> None:
    """Make the folder of a life."""
    shutil.copytree(CONTRACT, folder)
    (folder / "work" / "ledger.txt").touch()
    (folder / "thread").touch()


def lived(
    play: Play, folder: Path, dies_at: str, text: str, *, most: int = 1, writes: bool = False
) -> int:
    """Play one process of a life and return its wait status.

    It does one thing after the other, so that each point means one state, or so many at once. Where
    a model `writes`, every commit is a point.
    """
    assert play.stdin is not None
    assert play.stdout is not None
    play.stdin.write(json.dumps([str(folder), dies_at, text, most, writes]) + "\n")
    play.stdin.flush()
    return int(play.stdout.readline())


def written() -> list[Outcome]:
    """Return the table as it stands in the document."""
    table = DOCUMENT.read_text("utf-8").partition(_BEGIN)[2].partition(_END)[0]
    rows = [line for line in table.splitlines() if line.startswith("|")][2:]
    return [Outcome(*(cell.strip() for cell in row.strip("|").split("|"))) for row in rows]


def table(outcomes: Sequence[Outcome]) -> str:
    """Return outcomes as a table in Markdown."""
    rows = [_HEAD, tuple("---" for _ in _HEAD), *map(astuple, outcomes)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main() -> None:
    """Measure it all and write it into the document."""
    with playing() as play, TemporaryDirectory(prefix="sayso-crash-") as home:
        found = points(play, Path(home) / "whole")
        outcomes = [outcome(play, Path(home) / str(n), point) for n, point in enumerate(found)]
    before, _, rest = DOCUMENT.read_text("utf-8").partition(_BEGIN)
    after = rest.partition(_END)[2]
    DOCUMENT.write_text(f"{before}{_BEGIN}\n{table(outcomes)}\n{_END}{after}", "utf-8")


if __name__ == "__main__":
    main()
