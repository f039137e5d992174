"""Who is alive, told from real processes."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import pytest

from adapters.leftovers import Leftovers
from adapters.processes import StepProcesses, is_dead, kill_step, me, signal_group, wrapper
from core import ids
from core.jobs import Job, Replay

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

REPOSITORY = Path(__file__).parents[2]


@contextmanager
def running(*argv: str, **environment: str) -> Generator[subprocess.Popen[bytes]]:
    with subprocess.Popen(argv, env=environment, stdout=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


def until(happened: Callable[[], object]) -> None:
    deadline = time.monotonic() + 30
    while not happened():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.005)


def stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()


def owner(pid: int) -> str:
    boot, namespace, _, _ = me().split("/")
    return f"{boot}/{namespace}/{pid}/{stat(pid)[19]}"


def changed(name: str, index: int, value: str) -> str:
    parts = name.split("/")
    parts[index] = value
    return "/".join(parts)


def test_we_have_one_name_and_are_not_dead() -> None:
    assert me() == me() == owner(os.getpid())
    assert not is_dead(me())


def test_another_process_calls_itself_what_we_call_it() -> None:
    say = "from adapters.processes import me; print(me(), flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", say],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout
        name = other.stdout.readline().strip()
        assert name == owner(other.pid)
        assert not is_dead(name)
        other.communicate("\n")
    assert is_dead(name)


def test_a_zombie_is_dead() -> None:
    with running("true", PATH="/usr/bin:/bin") as process:
        name = owner(process.pid)
        until(lambda: stat(process.pid)[0] == "Z")
        assert is_dead(name)


def test_a_pid_that_was_given_to_another_process_is_dead() -> None:
    assert is_dead(changed(me(), 3, "1"))


def test_everything_of_another_boot_is_dead() -> None:
    name = changed(me(), 0, "00000000-0000-0000-0000-000000000000")
    assert is_dead(name)
    assert is_dead(changed(name, 1, "1"))


def test_another_namespace_cannot_be_judged() -> None:
    with running("true", PATH="/usr/bin:/bin") as process:
        name = owner(process.pid)
    assert is_dead(name)
    assert not is_dead(changed(name, 1, "1"))


def test_a_process_of_somebody_else_is_judged_by_its_start() -> None:
    assert not is_dead(owner(1))
    assert is_dead(changed(owner(1), 3, "999999999999"))


@pytest.mark.parametrize("name", ["a) Z (b", "x) Z 1 1 1"])
def test_an_odd_name_does_not_confuse(tmp_path: Path, name: str) -> None:
    program = tmp_path / name
    shutil.copy("/bin/sleep", program)
    with running(str(program), "1000") as process:
        until(lambda: name in Path(f"/proc/{process.pid}/stat").read_text("utf-8"))
        assert not is_dead(owner(process.pid))
        assert is_dead(changed(owner(process.pid), 3, "1"))


@pytest.mark.parametrize(
    "name",
    ["", "x", "1", "///", "a/b/c/d", "a/1/0/1", "a/1/-1/1", "a/1/1/1/1", "a/1/1/1\n", "a/1/²/1"],
)
def test_what_is_no_owner_cannot_be_judged(name: str) -> None:
    assert not is_dead(name)


@pytest.mark.parametrize("pid", ["0", "-1", "99999999999", "x", ""])
def test_what_is_no_pid_cannot_be_judged(pid: str) -> None:
    assert not is_dead(changed(me(), 2, pid))


def test_without_proc_only_the_pid_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    with_proc = me()
    monkeypatch.setattr("adapters.processes._PROC", Path("/no/such/place"))
    assert me() == f"-/-/{os.getpid()}/-"
    assert not is_dead(me())
    with running("true", PATH="/usr/bin:/bin") as process:
        pass
    assert is_dead(f"-/-/{process.pid}/-")
    assert not is_dead(changed(with_proc, 2, str(process.pid)))
    assert kill_step("r_1.0") == 0


def test_an_owner_without_a_boot_cannot_be_judged_by_one_who_has_it() -> None:
    with running("true", PATH="/usr/bin:/bin") as process:
        pass
    assert not is_dead(f"-/-/{process.pid}/-")


def test_a_process_that_is_hidden_from_us_is_not_dead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = changed(me(), 3, "1")
    for file in ("sys/kernel/random", "self/ns"):
        (tmp_path / file).mkdir(parents=True)
    (tmp_path / "sys/kernel/random/boot_id").write_text(name.split("/")[0], "utf-8")
    (tmp_path / "self/ns/pid").symlink_to(f"pid:[{name.split('/')[1]}]")
    monkeypatch.setattr("adapters.processes._PROC", tmp_path)
    assert not is_dead(name)


def test_kills_what_is_left_of_a_step_and_of_no_other() -> None:
    run = ids.run_id()
    with (
        running("sleep", "1000", PATH="/usr/bin:/bin", SAYSO_STEP_ID=f"{run}.1") as left,
        running("setsid", "sleep", "1000", PATH="/bin", SAYSO_STEP_ID=f"{run}.1") as escaped,
        running("sleep", "1000", PATH="/usr/bin:/bin", SAYSO_STEP_ID=f"{run}.10") as longer,
        running("sleep", "1000", PATH="/usr/bin:/bin", SAYSO_STEP_ID=run) as shorter,
        running("sleep", "1000", PATH="/usr/bin:/bin", X=f"SAYSO_STEP_ID={run}.1") as other,
    ):
        assert kill_step(f"{run}.1") == 2
        assert (left.wait(5), escaped.wait(5)) == (-9, -9)
        assert (longer.poll(), shorter.poll(), other.poll()) == (None, None, None)
        until(lambda: kill_step(f"{run}.1") == 0)


def test_a_stop_kills_what_every_claim_of_a_turn_left_and_a_claim_only_its_own() -> None:
    turn = ids.turn_id()
    with (
        running("sleep", "1000", PATH="/usr/bin:/bin", SAYSO_STEP_ID=f"{turn}.1.1") as first,
        running("sleep", "1000", PATH="/usr/bin:/bin", SAYSO_STEP_ID=f"{turn}.3.1") as second,
        running("sleep", "1000", PATH="/usr/bin:/bin", SAYSO_STEP_ID=f"{turn}.30.1") as third,
    ):
        assert StepProcesses().kill(f"{turn}.3") == 1
        assert (second.wait(5), first.poll(), third.poll()) == (-9, None, None)
        until(lambda: StepProcesses().kill(f"{turn}.3") == 0)
        assert StepProcesses().kill(turn) == 2
        assert (first.wait(5), third.wait(5)) == (-9, -9)


async def test_c52_whatever_a_turn_left_is_killed_by_its_name() -> None:
    turn = ids.turn_id()
    job = Job(
        id=f"turn:{turn}", kind="turn", tenant="acme", payload={"turn": turn}, lane=None,
        replay=Replay.SAFE, fence=1, attempt=1,
    )  # fmt: skip
    with (
        running("sleep", "1000", PATH="/usr/bin:/bin", SAYSO_STEP_ID=f"{turn}.1") as read,
        running("sleep", "1000", PATH="/bin", SAYSO_STEP_ID=f"{turn}.look_ab") as dry_run,
        running("sleep", "1000", PATH="/usr/bin:/bin", SAYSO_STEP_ID=f"{turn}0.1") as other,
    ):
        await Leftovers(_NoDatabase()).of_turn(job)
        assert (read.wait(5), dry_run.wait(5), other.poll()) == (-9, -9, None)


class _NoDatabase:
    async def transact(self, work: object) -> NoReturn:
        raise AssertionError(work)

    async def changes(self) -> int:
        return 0


def test_never_kills_the_one_who_asks() -> None:
    step_id = ids.step_id(ids.run_id(), 0)
    ask = f"from adapters.processes import kill_step; print(kill_step('{step_id}'))"
    environment = {"SAYSO_STEP_ID": step_id, "PATH": "/usr/bin:/bin"}
    asked = subprocess.run(
        [sys.executable, "-c", ask],
        cwd=REPOSITORY,
        env=environment,
        capture_output=True,
        check=True,
    )
    assert asked.stdout == b"0\n"


def test_a_group_that_is_gone_is_not_signalled() -> None:
    with running("true", PATH="/usr/bin:/bin") as process:
        pass
    signal_group(process.pid, signal.SIGKILL)


def test_the_bounds_are_not_wider_than_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert f"--as={2 << 30}" in wrapper({"as": 2 << 30})

    def limits(_: int) -> tuple[int, int]:
        return 1 << 30, 1 << 30

    monkeypatch.setattr("resource.getrlimit", limits)
    assert f"--as={1 << 30}" in wrapper({"as": 2 << 30})
    assert f"--as={1 << 20}" in wrapper({"as": 1 << 20})
