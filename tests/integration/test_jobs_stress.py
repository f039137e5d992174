"""Jobs while their processes are killed and paused: nothing out of order, nothing twice, none lost."""

import asyncio
import sys
from pathlib import Path

import pytest

from core.jobs import JobState
from tests.jobs_stress import judge, stress
from tests.postgres import Server

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="tells the dead by /proc")

STATES = {"0": "done", "1": "done", "3": "unknown"}


@pytest.fixture(params=["sqlite", "postgres"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Name an empty database of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "sayso.db")
    server: Server = request.getfixturevalue("postgres")
    asyncio.run(server.wipe())
    return server.url()


@pytest.mark.timeout(150)
async def test_killed_and_paused_workers_break_no_promise(tmp_path: Path, where: str) -> None:
    verdict = await stress(tmp_path, lanes=30, count=600, job=0.25, most=100, where=where)
    assert (verdict.overlaps, verdict.disorders, verdict.never_twice, verdict.lost) == (0, 0, 0, 0)
    assert set(verdict.states) <= {JobState.DONE, JobState.FAILED, JobState.UNKNOWN}
    assert verdict.states.total() == 600
    assert verdict.states[JobState.DONE] > 300
    assert min(verdict.kills, verdict.pauses) >= 1
    # A process may die between the intent and the act: that is unknown too.
    assert set(verdict.unbegun) <= {JobState.UNKNOWN}
    assert len(verdict.begun) > 590


@pytest.mark.parametrize(
    ("lines", "finding"),
    [
        (["begin a 1 1", "end a 1 1", "begin a 3 1", "end a 3 1"], "lost"),
        (["begin a 0 1", "begin a 0 3", "end a 0 1", "end a 1 1"], "overlaps"),
        (["begin a 1 1", "begin a 0 1", "end a 0 1", "begin b 1 1", "end b 1 1"], "disorders"),
        (["begin a 0 1", "begin a 0 3", "end a 0 3", "begin b 1 1", "end b 1 1"], "never_twice"),
    ],
)
def test_the_judge_sees_what_would_be_wrong(lines: list[str], finding: str) -> None:
    assert getattr(judge(lines, STATES), finding) > 0


def test_the_judge_has_nothing_against_what_was_left_and_done_again() -> None:
    lines = ["begin a 0 1", "end a 0 1", "begin a 1 1", "begin a 1 3", "end a 1 3", "begin a 3 1"]
    verdict = judge(lines, STATES)
    assert (verdict.overlaps, verdict.disorders, verdict.never_twice, verdict.lost) == (0, 0, 0, 0)
    assert verdict.reruns == 1
