"""Sayso between other programs: signals, readers who are slow or gone, and terminals that nobody looks at."""

import fcntl
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.sayso import ROOT, SECONDS, Sayso, environment, until
from tests.terminal import typing

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

CARD = r"/approve ([0-9a-f]{32})"
RUNS = "SELECT 1 FROM run WHERE state = 'running'"
SUCCEEDED = "SELECT 1 FROM run WHERE state = 'succeeded'"
AT_ONCE = 15.0
"""A guard: what is cut has two seconds, and the processes around it take a while to end."""


@contextmanager
def started(
    *arguments: str, folder: Path, out: int, env: dict[str, str] | None = None
) -> Generator[subprocess.Popen[bytes]]:
    """Start Sayso with lines to come and an output of the test's own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bot", *arguments],
        cwd=folder, env=environment(env or {}), stdin=subprocess.PIPE, stdout=out,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def write(process: subprocess.Popen[bytes], *lines: str) -> None:
    """Pipe lines in, and leave the pipe open."""
    assert process.stdin is not None
    process.stdin.write("".join(f"{line}\n" for line in lines).encode())
    process.stdin.flush()


def ended(process: subprocess.Popen[bytes], seconds: float = SECONDS) -> tuple[int, str]:
    """Wait for the end; return the exit code and what stands on standard error."""
    assert process.stderr is not None
    process.wait(seconds)
    return process.returncode, process.stderr.read().decode()


@pytest.fixture
def nobody() -> Generator[int]:
    """Give a pipe whose reader is gone."""
    out, into = os.pipe()
    os.close(out)
    yield into
    os.close(into)


@pytest.fixture
def paused() -> Generator[tuple[int, int]]:
    """Give both ends of a pipe that is full, as that of a pager that waits for a key."""
    out, into = os.pipe()
    size = fcntl.fcntl(into, fcntl.F_SETPIPE_SZ, 4096)
    os.write(into, b"." * size)
    yield out, into
    os.close(into)
    os.close(out)


@pytest.fixture
def piped(empty: Sayso) -> Generator[subprocess.Popen[bytes]]:
    """Give a piped conversation in which something runs that takes long, and lines stand behind it."""
    empty.run("migrate")
    with started("chat", "--as", "alice", folder=empty.folder, out=subprocess.DEVNULL) as process:
        write(process, "slow append beta 30", "/as bob", "/approve", "append alpha", "/quit")
        until(lambda: empty.sql(RUNS))
        yield process


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_a_pipe_at_once_and_what_stands_behind_is_not_done(
    empty: Sayso, piped: subprocess.Popen[bytes], number: signal.Signals
) -> None:
    piped.send_signal(number)
    assert ended(piped, AT_ONCE) == (128 + number, "")
    assert len(empty.run("requests").json["requests"]) == 1
    [run] = empty.run("runs").json["runs"]
    assert run["state"] == "unknown"


@pytest.mark.parametrize("is_gone", [True, False])
def test_a_server_whose_log_nobody_reads_serves_on(
    empty: Sayso, nobody: int, paused: tuple[int, int], *, is_gone: bool
) -> None:
    empty.runbook("broken", "summary: [")  # is told of in the log
    request = str(empty.ask("append alpha", "alice")["request"]["id"])
    assert empty.run("approve", "--no-wait", request, as_="bob").code == 0
    server = subprocess.Popen(
        [sys.executable, "-m", "bot", "run"], cwd=empty.folder, env=environment({}),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=nobody if is_gone else paused[1],
    )  # fmt: skip
    try:
        until(lambda: empty.sql(SUCCEEDED))
        server.send_signal(signal.SIGTERM)
        told, _ = server.communicate(timeout=SECONDS)
        assert (server.returncode, told) == (0, b"Stopped; nothing is left running.\n")
    finally:
        server.kill()
        server.communicate()


@pytest.mark.parametrize(
    "command",
    [
        "runs",
        "requests --json",
        "audit export",
        "schema settings",
        "--help",
        "runs --help",
        "nonsense",
    ],
)
def test_a_reader_who_is_gone_is_told_of_by_the_exit_code_alone(
    empty: Sayso, nobody: int, command: str
) -> None:
    empty.run("migrate")
    done = subprocess.run(
        [sys.executable, "-m", "bot", *command.split()],
        cwd=empty.folder, env=environment({}), stdin=subprocess.DEVNULL, stdout=nobody,
        stderr=nobody if command == "nonsense" else subprocess.PIPE, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr or b"") == (141, b"")


def test_a_conversation_that_nobody_reads_any_more_ends_quietly(empty: Sayso, nobody: int) -> None:
    with started("chat", "--as", "alice", folder=empty.folder, out=nobody) as chat:
        write(chat, "append alpha", "append beta")
        assert ended(chat) == (141, "")


def test_it_ends_at_once_also_while_something_runs(empty: Sayso) -> None:
    empty.run("migrate")
    out, into = os.pipe()
    with started("chat", "--as", "alice", folder=empty.folder, out=into) as chat:
        os.close(into)
        write(chat, "slow append beta 30", "/as bob", "/approve", "append alpha")
        until(lambda: empty.sql(RUNS))
        os.close(out)
        empty.run("stop", "all", as_="alice")  # so that something is to be printed
        assert ended(chat, AT_ONCE) == (141, "")
    assert len(empty.run("requests").json["requests"]) == 1


def test_a_demo_and_a_tour_that_nobody_reads_end_quietly_and_leave_nothing(
    tmp_path: Path, nobody: int
) -> None:
    for how in ("--tour", "--chat"):
        with started("demo", how, folder=ROOT, out=nobody, env={"TMPDIR": str(tmp_path)}) as demo:
            assert ended(demo) == (141, "")
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("how", ["--tour", "--chat"])
def test_a_demo_on_a_full_disk_ends_with_a_sentence(tmp_path: Path, how: str) -> None:
    with (
        Path("/dev/full").open("wb") as full,
        started("demo", how, folder=tmp_path, out=full.fileno()) as process,
    ):
        code, told = ended(process)
    assert (code, told.count("\n")) == (1, 1)
    assert told.startswith("This could not be printed (No space left on device).")


@pytest.mark.parametrize("command", ["runs", "--help", "chat"])
def test_what_cannot_be_printed_because_a_disk_is_full_is_one_sentence(
    empty: Sayso, command: str
) -> None:
    empty.run("migrate")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "bot", command], cwd=empty.folder, env=environment({}),
            stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, timeout=SECONDS,
            check=False,
        )  # fmt: skip
    told = "This could not be printed (No space left on device). Look at `sayso runs`.\n"
    assert (done.returncode, done.stderr.decode().splitlines(keepends=True)[-1]) == (1, told)
    assert b"Traceback" not in done.stderr


def test_whoever_reads_slowly_holds_up_no_run_and_is_shown_all_of_it(
    empty: Sayso, paused: tuple[int, int]
) -> None:
    out, into = paused
    request = str(empty.ask("append alpha", "alice")["request"]["id"])
    with started("chat", "--as", "bob", folder=empty.folder, out=into) as chat:
        write(chat, "/help", f"/approve {request}", "/runs")
        assert empty.run("approve", "--no-wait", request, as_="bob").code == 0
        until(lambda: empty.sql(SUCCEEDED))  # though nobody has read a word
        write(chat, "/quit")
        told = b""
        while not told.endswith(b"You left.\n"):
            told += os.read(out, 4096)
        assert ended(chat) == (0, "")
    shown = told.decode().lstrip(".")
    parts = (
        "- Ask in words",
        "bob> /help\n- Ask in words",
        f"bob> /approve {request}",
        "bob> /quit",
    )
    places = [shown.index(part) for part in parts]
    assert places == sorted(places)


def test_a_signal_waits_for_nobody_who_does_not_read(empty: Sayso, paused: tuple[int, int]) -> None:
    with started("chat", "--as", "alice", folder=empty.folder, out=paused[1]) as chat:
        write(chat, *["/help"] * 10, "append alpha")
        until(lambda: _catches(chat.pid, signal.SIGTERM))
        chat.send_signal(signal.SIGTERM)
        assert ended(chat, AT_ONCE) == (143, "")
    assert empty.run("requests").json["requests"] == []


def _catches(pid: int, number: signal.Signals) -> bool:
    """Whether a process has something of its own for a signal."""
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    found = re.search(r"SigCgt:\s*([0-9a-f]+)", status)
    assert found is not None
    return bool(int(found[1], 16) >> (number - 1) & 1)


@pytest.mark.parametrize("how", ["chat --as alice", "demo"])
def test_a_terminal_that_is_gone_ends_a_conversation_as_a_signal_does(
    empty: Sayso, how: str
) -> None:
    empty.run("migrate")
    folder = ROOT if how == "demo" else empty.folder
    with typing(*how.split(), folder=folder) as alice:
        alice.sees("alice>")
        away = os.open(os.devnull, os.O_RDWR)
        os.dup2(away, alice.end)  # the window is closed
        os.close(away)
        assert alice.process.wait(AT_ONCE) == 128 + signal.SIGHUP


def test_a_terminal_that_nobody_looks_at_holds_up_no_run(empty: Sayso) -> None:
    with typing("chat", "--as", "alice", folder=empty.folder) as alice:
        alice.sees("alice>")
        for _ in range(20):  # more than a terminal keeps for whoever does not read
            os.write(alice.end, b"/help\r")
        request = str(empty.ask("slow append alpha 3", "alice")["request"]["id"])
        assert empty.run("approve", "--no-wait", request, as_="bob").code == 0
        until(lambda: empty.sql(SUCCEEDED))
        alice.types("/runs", "succeeded")
        alice.types("/quit")
        assert alice.leaves() == 0


def test_it_ends_in_time_at_a_terminal_that_nobody_looks_at(empty: Sayso) -> None:
    with typing("chat", "--as", "alice", folder=empty.folder) as alice:
        alice.sees("alice>")
        for _ in range(20):
            os.write(alice.end, b"/help\r")
        began = time.monotonic()
        alice.process.send_signal(signal.SIGTERM)
        assert alice.process.wait(AT_ONCE) == 143
        assert time.monotonic() - began < AT_ONCE


def test_a_terminal_that_knows_ascii_alone_keeps_the_gutter_of_every_line(empty: Sayso) -> None:
    (empty.folder / "work" / "ledger.txt").write_text("\u00e4\u00f6\u2192" * 80, "utf-8")
    done = empty.run(
        "chat", as_="alice", plain=True, stdin="show ledger\n/quit\n",
        env={"PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    lines = [line for line in done.out.splitlines() if "\\xe4" in line or "\\u2192" in line]
    assert len(lines) > 1
    assert all(line.startswith("| ") and len(line) <= 80 for line in lines), lines
