"""P-15: what a package's tool does neither ends the process nor keeps it from ending."""

import signal
import time
from pathlib import Path

import pytest

from tests.sayso import ROOT, Sayso, until

RULE = '    - {effect: allow, action: "chat:ask", groups: [everyone]}\n'
LOOKS = RULE + '    - {effect: allow, action: "tool:read", resource: "tool:*", groups: [eng]}\n'
MORE = "toolsets:\n  stuck:\nprofiles:\n  default: {max_seconds: 1}\n"

BEGAN = "SELECT 1 FROM happening WHERE kind = 'staged' AND body LIKE '%\"run\"%'"
lets_not_go = pytest.mark.parametrize("tool", ["stays", "blocks"])


@pytest.fixture
def here(empty: Sayso) -> Sayso:
    """Give the contract's folder with a package's toolset, in turns of a second."""
    empty.edit("sayso.yml", RULE, LOOKS)
    file = empty.folder / "sayso.yml"
    file.write_text(file.read_text("utf-8") + MORE, "utf-8")
    return empty


@pytest.fixture
def installed(tmp_path: Path) -> dict[str, str]:
    """Give the environment in which the package is installed."""
    about = tmp_path / "site" / "stuck-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: stuck\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[sayso.toolsets]\nstuck = tests.fakes.stuck:STUCK\n")
    return {"PYTHONPATH": f"{tmp_path / 'site'}:{ROOT}"}


@lets_not_go
def test_p15_a_tool_that_never_lets_go_ends_its_turn_and_the_command(
    here: Sayso, installed: dict[str, str], tool: str
) -> None:
    began = time.monotonic()
    done = here.run("ask", f"!{tool}", as_="alice", env=installed)
    assert time.monotonic() - began < 10  # a guard
    assert (done.code, done.json["reason"]) == (0, "max_seconds")
    assert (
        done.err == "WARNING Something that is not Sayso's own does not end, and is left behind.\n"
    )


@lets_not_go
def test_p15_nor_does_it_keep_a_signal_from_ending_it(
    here: Sayso, installed: dict[str, str], tool: str
) -> None:
    here.edit("sayso.yml", "max_seconds: 1}", "max_seconds: 60}")
    here.run("migrate")
    asked = here.start("ask", f"!{tool}", as_="alice", env=installed)
    until(lambda: here.sql(BEGAN))
    began = time.monotonic()
    done = asked.signal(signal.SIGTERM)
    assert time.monotonic() - began < 10  # a guard
    assert (done.code, done.json["reason"]) == (0, "stopped")


def test_p15_a_tool_that_exits_ends_no_process(here: Sayso, installed: dict[str, str]) -> None:
    done = here.run("ask", "!exits", as_="alice", env=installed)
    assert (done.code, done.json["reason"]) == (0, "answered")
    assert "exits failed" in str(done.json["text"])
