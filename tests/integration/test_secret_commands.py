"""Real commands that print secrets: what comes of each, and that nothing of them stays or shows."""

import asyncio
import logging
import shlex
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from adapters.secret_commands import SecretCommand
from core.errors import SaysoError, Unavailable
from core.exact_values import LONGEST
from tests.jobs import soon

SECRET = "hunter2hunter2"


def command(folder: Path, *argv: str, seconds: float = 20, **environment: str) -> SecretCommand:
    return SecretCommand(
        argv=argv, folder=folder, timeout=timedelta(seconds=seconds), environment=environment
    )


def shell(folder: Path, script: str, *, seconds: float = 20, **environment: str) -> SecretCommand:
    return command(folder, "sh", "-c", script, seconds=seconds, **environment)


async def test_what_it_prints_is_the_value_without_white_space_around_it(tmp_path: Path) -> None:
    assert await shell(tmp_path, f"printf ' {SECRET} \\n\\n'; echo more >&2").read() == SECRET


async def test_its_environment_and_its_folder_are_exactly_these(tmp_path: Path) -> None:
    found = await command(tmp_path, "env", VAULT_ADDR="http://vault", PATH="/opt").read()
    lines = dict(line.split("=", 1) for line in found.splitlines())
    assert lines.pop("SAYSO_STEP_ID").startswith("secret_")
    assert lines == {"VAULT_ADDR": "http://vault", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    assert await command(tmp_path, "pwd").read() == str(tmp_path)


async def test_it_can_read_nothing_of_ours(tmp_path: Path) -> None:
    assert await shell(tmp_path, f"cat; echo {SECRET}").read() == SECRET


async def test_a_program_of_its_folder_is_named_with_a_slash(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text(f"#!/bin/sh\necho {SECRET}\n", "utf-8")
    (tmp_path / "mine").chmod(0o700)
    assert await command(tmp_path, "./mine").read() == SECRET
    assert command(tmp_path, "./mine").is_there
    assert not command(tmp_path, "mine").is_there


@pytest.mark.parametrize(
    ("script", "seconds", "why"),
    [
        (f"echo {SECRET}; exit 3", 20, "exit code 3"),
        (f"echo {SECRET} >&2; exit 1", 20, "exit code 1"),
        (f"echo {SECRET}; kill -9 $$", 20, "exit code -9"),
        (f"echo {SECRET}; exec sleep 1000", 0.3, "longer than its time limit"),
        (f"echo {SECRET}; exec setsid sleep 1000", 0.3, "longer than its time limit"),
        (f"while echo {SECRET}; do :; done", 20, "more than a secret may have"),
        (f"printf '{SECRET}\\377'", 20, "not text"),
    ],
)
async def test_i12_where_it_fails_nothing_that_it_printed_is_told(
    tmp_path: Path, script: str, seconds: float, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with pytest.raises(Unavailable, match=why) as caught:
        await shell(tmp_path, script, seconds=seconds).read()
    error: BaseException | None = caught.value
    while error:
        assert SECRET not in repr(error)
        error = error.__cause__
    assert SECRET not in str(caught.value.detail)
    assert SECRET not in caplog.text


@pytest.mark.parametrize("argv", [("no-such-program",), ("./missing",), ("echo", "x" * (1 << 20))])
async def test_what_cannot_be_started_is_told(tmp_path: Path, argv: tuple[str, ...]) -> None:
    with pytest.raises(SaysoError):
        await command(tmp_path, *argv).read()


async def test_what_is_not_started_leaves_no_descriptor_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.processes.sys.platform", "darwin")
    with pytest.raises(Unavailable, match="could not be started"):
        await command(tmp_path, "no-such-program").read()
    before = await descriptors()
    for one in (command(tmp_path, "no-such-program"), shell(tmp_path, "exit 1", seconds=5)):
        with pytest.raises(Unavailable):
            await one.read()
    assert await descriptors() == before


def alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


async def descriptors() -> int:
    await asyncio.sleep(0)  # in which what was let go is closed
    return opened()


def opened() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.parametrize("how", ["sleep 1000", "setsid sleep 1000", "trap '' TERM; sleep 1000"])
async def test_who_stops_waiting_leaves_nothing_of_it(tmp_path: Path, how: str) -> None:
    script = f"sh -c {shlex.quote(f'echo $$ >pid; {how}')}"
    reading = asyncio.create_task(shell(tmp_path, script).read())

    async def is_there() -> bool:
        return (tmp_path / "pid").exists() and bool((tmp_path / "pid").read_text("utf-8"))

    await soon(is_there)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    pid = int((tmp_path / "pid").read_text("utf-8"))

    async def is_gone() -> bool:
        return not alive(pid)

    await soon(is_gone)


async def test_the_longest_secret_can_be_printed(tmp_path: Path) -> None:
    script = f"print({SECRET!r} + '\u00e9' * {LONGEST - len(SECRET)})"
    (tmp_path / "long.py").write_text(script, "utf-8")
    found = await command(tmp_path, sys.executable, "long.py").read()
    assert len(found) == LONGEST
