"""The sample catalogue: twelve runbooks that really do what they say, in the demo's folder."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from bot.demo import stage
from tests.sayso import ROOT, environment

NAMES = {
    "disk", "health", "logs", "processes", "reindex", "reload-config", "restart-service",
    "restore-config", "rotate-log", "scale-service", "set-config", "switch-primary",
}  # fmt: skip
READS = {"disk", "health", "logs", "processes"}


def run(folder: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bot", *arguments],
        cwd=folder, env=environment({}), input=stdin, capture_output=True, text=True, timeout=55,
        check=False,
    )  # fmt: skip


@pytest.fixture
def furnished(tmp_path: Path) -> Path:
    stage.furnish(tmp_path)
    return tmp_path


def test_the_catalogue_is_sound(furnished: Path) -> None:
    lint = run(furnished, "runbooks", "lint")
    assert (lint.returncode, lint.stdout, lint.stderr) == (0, "Every runbook is sound.\n", "")
    check = run(furnished, "check")
    assert (check.returncode, check.stdout) == (0, "The configuration is sound.\n")


def test_there_are_twelve_and_each_write_says_what_it_waits_for_and_how_to_look(
    furnished: Path,
) -> None:
    listed = run(furnished, "runbooks", "list").stdout
    assert set(re.findall(r"(?m)^!([a-z-]+)", listed)) == NAMES
    for name in NAMES - READS:
        text = (furnished / "runbooks" / f"{name}.yml").read_text("utf-8")
        assert "\nlock: " in text, name
        assert "\nverify: " in text, name
    for name in NAMES:
        assert "\nphrases: [" in (furnished / "runbooks" / f"{name}.yml").read_text("utf-8")


def decided(*wishes: tuple[str, str]) -> str:
    """Return the lines by which alice asks for each of these, and the others decide."""
    lines = list[str]()
    for wish, verdict in wishes:
        lines += ["/as alice", wish, "/as bob", *verdict.split("; ")]
    return "\n".join([*lines, "/quit", ""])


def test_each_really_does_what_it_says() -> None:
    done = run(
        ROOT,
        "demo",
        "--chat",
        stdin=decided(
            ("scale web to 3", "/approve; processes"),
            ("restart worker", "/approve; last 3 lines of worker"),
            ("set cache_size of worker to 128", "/approve"),
            ("restore config of worker", "/approve"),
            ("rotate log of web", "/approve; disk; logs web"),
            ("reindex web in 1 seconds", "/approve"),
            ("make worker primary", "/approve; /as carol; /approve"),
            ("reload web", "/approve"),
            ("scale web to 1", "/approve; processes"),
            ("health", "/stop"),
        ),
    )
    assert (done.returncode, done.stderr) == (0, "")
    wanted = [
        r"bob> processes\n\| web: 3 running, pid \d+, \d+, \d+\n\| worker: 1 running",
        r"worker: restarted, pid (\d+) -> (?!\1)\d+",
        r"\| \S+ started, pid \d+\n\| \S+ asked to end\n\| \S+ started, pid \d+\n",
        r"  -cache_size = 16 .*\n.*  \+cache_size = 128 ",
        r"  -cache_size = 128 .*\n.*  \+cache_size = 16 ",
        r"\| logs/web.log: 0 bytes\n\| logs/web.log.1: [1-9]\d* bytes",
        r"\| nothing since it was rotated",
        r"web: part 1 of 20 (?:.*\n)*.* part 20 of 20 ",
        r"Approved by bob and carol\. Run r_\w+: succeeded\.",
        r"primary: worker ",
        r"web: HTTP 500: line 7: unknown key `cachesize`",
        r"bob> processes\n\| web: 1 running, pid \d+\n\| worker: 1 running",
        r"bob> /stop\n- Nothing to stop\.",
    ]
    place = 0
    for pattern in wanted:
        found = re.compile(pattern).search(done.stdout, place)
        assert found, f"{pattern} in {done.stdout[place:]}"
        place = found.end()
