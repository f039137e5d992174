"""The demo, played for real: services, runbooks, people, at a terminal and without one."""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import IO

import pytest

from tests.sayso import ROOT, environment, until
from tests.terminal import Typist, typing

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """Give the folder in which the demo makes its own: it has to be empty afterwards."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    return folder


@pytest.fixture
def demo(temporary: Path) -> Generator[Typist]:
    with typing("demo", folder=ROOT, env={"TMPDIR": str(temporary)}) as typist:
        typist.sees("You are alice")
        yield typist


def played(temporary: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bot", "demo", *arguments],
        cwd=ROOT, env=environment({"TMPDIR": str(temporary)}), input=stdin, capture_output=True,
        text=True, timeout=50, check=False,
    )  # fmt: skip


def left(folder: Path) -> list[str]:
    """Return the command lines of processes that work in a folder, or in one inside it."""
    found = list[str]()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            inside = (process / "cwd").readlink().is_relative_to(folder)
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        found += [command] if inside else []
    return found


def test_t1_without_a_terminal_the_tour_shows_it_all_and_leaves_nothing(temporary: Path) -> None:
    began = time.monotonic()
    tour = played(temporary)
    assert time.monotonic() - began < 60
    assert (tour.returncode, tour.stderr) == (0, "")
    told = tour.stdout
    restarted = re.search(r"web: restarted, pid ([0-9]+) -> ([0-9]+)", told)
    assert restarted is not None
    assert list(restarted.groups()) == re.findall(r"web: healthy, pid ([0-9]+)", told)
    for part in (
        "x There is no such request.",
        "x You may not approve this; bob and carol may.",
        "succeeded: restart-service.",
        "x Already decided. Approved by bob.",
        "* switch-primary: Open: 1 of 2 votes, not the requester (bob).",
        "succeeded: switch-primary.",
        "x Not run. Revoked: the file config/web.conf changed.",
        "+cache_size = 128",
        "failed: reload-config.",
        "1. reload-config not run",
        "Denied by bob: not before the release.",
        "| Not proposed: bob denied rotate-log",
        "| No model is configured here",
        "0. reindex unknown: it was killed from outside",
        "bob verified step 0",
        "0. reindex not run: bob found that it did not happen",
        "- 1 run stopped, 1 command killed, 1 step unknown",
        "- The audit log is whole:",
    ):
        assert part in told, part
    assert "\x1b" not in told
    assert list(temporary.iterdir()) == []
    assert left(temporary) == []


def test_without_a_terminal_lines_are_answered_one_after_another(temporary: Path) -> None:
    lines = [
        "health",
        "",
        "restart web",
        "/approve",
        "/as bob",
        "/approve",
        "health",
        "/dance",
        "\x1b[2Jx",
    ]
    done = played(temporary, "--chat", stdin="\n".join(lines))
    assert (done.returncode, done.stderr) == (0, "")
    told = done.stdout
    parts = [
        "alice> health\n| web: healthy, pid ",
        "alice> restart web\n",
        "alice> /approve\nx You may not approve this; bob and carol may.",
        "alice> /as bob\n- You are bob.",
        "bob> /approve\n- Your yes counts: 1 of 1 vote.",
        "succeeded: restart-service.",
        "bob> health\n| web: healthy, pid ",
        "bob> /dance\nx There is no such command here;",
        "bob> \\u001b[2Jx\n| No model is configured here",
    ]
    places = [told.index(part) for part in parts]
    assert places == sorted(places)
    assert "\x1b" not in told
    assert list(temporary.iterdir()) == []


def test_several_people_at_one_keyboard(demo: Typist) -> None:
    demo.types("/history", "x Nothing was said here yet.")
    demo.types("health", "| web: healthy, pid ")
    demo.types("restart web", "Approve to run: restart-service")
    request = demo.finds(r"Approve: /approve ([0-9a-f]{32})")
    demo.types("/as mallory", "- You are mallory.")
    demo.types("/requests", "- Nothing waits that you may know of.")
    demo.types(f"/approve {request}", "x There is no such request.")
    demo.types("/approve", "x Nothing waits that this could be about.")
    demo.types("/as alice", "- You are alice.")
    demo.types("/approve", "x You may not approve this; bob and carol may.")
    demo.types("/as bob", "- You are bob.")
    demo.types("/requests", f'- {request} restart-service {{"service": "web"}}')
    demo.types("/approve", "- Your yes counts", "* restart-service: Approved by bob.", "Report")
    demo.types("", "bob>")
    demo.types(f"/approve {request}", "x Already decided. Approved by bob.")
    demo.types("/history", "alice> restart web", "* a card: Approve to run", "Report")
    demo.types("/new", "- Another conversation begins here.")
    demo.types("/history", "x Nothing was said here yet.")
    demo.types("/as eve", "x Sayso knows nobody of that name here.")
    demo.types("/help", "/as NAME")
    demo.types("/quit")
    assert demo.leaves() == 0


def begin_index(demo: Typist) -> None:
    """Have something run that takes a minute."""
    demo.types("reindex web", "Approve: /approve ")
    demo.types("/as bob", "- You are bob.")
    demo.types("/approve", "- Your yes counts", "running.")


def test_what_runs_is_shown_below_and_ctrl_c_stops_it_and_leaves_the_second_time(
    demo: Typist, temporary: Path
) -> None:
    begin_index(demo)
    demo.sees("Step 1 of 1, reindex: running.")
    demo.sees("web: part ")
    demo.presses("\x03", "- 1 run stopped, 1 command killed, 1 step unknown", "Report")
    demo.types("/resolve did-not", "- Your word ends it.", "bob found that it did not happen")
    demo.presses("\x03", "- Nothing runs here. Ctrl-C once more leaves.")
    demo.presses("\x03")
    assert demo.leaves() == 0
    assert list(temporary.iterdir()) == []
    assert left(temporary) == []


def test_ctrl_z_hides_no_stop(demo: Typist) -> None:
    begin_index(demo)
    demo.presses("\x1a")
    demo.types("/stop", "- 1 run stopped")


def test_what_arrives_does_not_tear_the_line_that_is_being_typed(demo: Typist) -> None:
    demo.types("reindex web in 2 seconds", "Approve: /approve ")
    demo.types("/as bob", "- You are bob.")
    demo.types("/approve", "- Your yes counts", "running.")
    demo.presses("hea", "hea")
    demo.sees("Approved by bob; plan")
    demo.sees("╯")
    demo.sees("hea")  # it is drawn again below
    assert demo.screen[-1] == "bob> hea"
    assert [line for line in demo.screen if "hea" in line] == ["bob> hea"]
    assert f"╰{'─' * 78}╯" in demo.screen
    demo.presses("lth\r", "| web: healthy, pid ")
    assert "bob> health" in demo.screen


def test_a_key_that_is_pressed_while_a_line_is_done_is_not_lost(demo: Typist) -> None:
    begin_index(demo)
    demo.types("/stop", "/stop")
    demo.presses("\x04")
    assert demo.leaves() == 0
    assert "- 1 run stopped" in demo.seen


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_it_and_leaves_nothing(
    demo: Typist, temporary: Path, number: signal.Signals
) -> None:
    begin_index(demo)
    demo.process.send_signal(number)
    if number is signal.SIGINT:
        demo.sees("- 1 run stopped")
        demo.process.send_signal(number)
    assert demo.leaves() == (0 if number is signal.SIGINT else 128 + number)
    assert list(temporary.iterdir()) == []
    assert left(temporary) == []


def test_a_demo_that_is_killed_leaves_no_process(temporary: Path) -> None:
    demo = subprocess.Popen(
        [sys.executable, "-m", "bot", "demo", "--chat"],
        cwd=ROOT, env=environment({"TMPDIR": str(temporary)}), start_new_session=True, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert demo.stdin is not None
    assert demo.stdout is not None
    for line in ("scale web to 3", "reindex web", "/as bob", "/requests"):
        demo.stdin.write(f"{line}\n")
    demo.stdin.flush()
    cards = [*_cards(demo.stdout, 2)]
    demo.stdin.write("".join(f"/approve {card}\n" for card in cards))
    demo.stdin.flush()
    until(lambda: sum("reindex" in command for command in left(temporary)) == 1)
    assert sum("service.py" in command for command in left(temporary)) == 4
    demo.kill()
    demo.communicate()
    until(lambda: left(temporary) == [])


def _cards(output: IO[str], number: int) -> Iterator[str]:
    """Yield the ids of the next cards."""
    while number:
        found = re.search(r"/approve ([0-9a-f]{32})", output.readline())
        if found:
            number -= 1
            yield found[1]


def test_a_tour_that_is_told_to_end_leaves_nothing(temporary: Path) -> None:
    tour = subprocess.Popen(
        [sys.executable, "-m", "bot", "demo", "--tour"],
        cwd=ROOT, env=environment({"TMPDIR": str(temporary)}), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert tour.stdout is not None
    assert any(line.startswith("4. ") for line in tour.stdout)
    tour.send_signal(signal.SIGTERM)
    _, errors = tour.communicate(timeout=30)
    assert (tour.returncode, errors) == (143, "")
    assert list(temporary.iterdir()) == []
    assert left(temporary) == []


def test_without_colours_nothing_but_the_editor_moves_anything(temporary: Path) -> None:
    for arguments, env in ((("--no-color",), {}), ((), {"NO_COLOR": "1"})):
        with typing(
            "demo", *arguments, folder=ROOT, env={"TMPDIR": str(temporary), **env}
        ) as typist:
            typist.sees("You are alice")
            typist.types("restart web", "Approve: /approve ")
            typist.presses("\x03", "- Nothing runs here.")
            typist.types("/quit")
            assert typist.leaves() == 0
            styles = set(re.findall(rb"\x1b\[([0-9;]*)m", typist.raw))
            assert styles <= {b"0", b""}


def test_a_dumb_terminal_gets_characters_alone(temporary: Path) -> None:
    with typing("demo", folder=ROOT, env={"TMPDIR": str(temporary), "TERM": "dumb"}) as typist:
        typist.sees("alice> ")
        typist.types("health", "| web: healthy")
        typist.presses("\x03", "- Nothing runs here.")
        typist.types("/quit")
        assert typist.leaves() == 0
        assert b"\x1b" not in typist.raw


def test_a_window_of_40_columns_is_enough(temporary: Path) -> None:
    with typing("demo", folder=ROOT, columns=40, env={"TMPDIR": str(temporary)}) as typist:
        typist.sees("You are alice")
        typist.types("restart web", "Approve to run: restart-service", "Approve: /approve")
        typist.types("/as bob", "- You are bob.")
        typist.types("/approve", "- Your yes counts", "Report", "succeeded")
        typist.types("/quit")
        assert typist.leaves() == 0
        drawn = [line for line in typist.seen.split("\n") if "─" in line]
        assert max(map(len, drawn)) == 40
