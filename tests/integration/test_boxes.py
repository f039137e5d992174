"""Real commands in the sandbox of bubblewrap: how they start, how they end, and what keeps them from it."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.processes import kill_step
from adapters.sandbox.boxes import Bounds, Box, environment
from adapters.sandbox.bubblewrap import Bubblewrap
from adapters.sandbox.programs import Program, Programs
from core import ids
from core.ports import Ended, Ending
from core.redaction import Redactor
from tests.fakes.secrets import FakeSecrets
from tests.jobs import soon
from tests.sayso import ROOT, marked

GIB = 1 << 30


def fresh() -> str:
    return ids.step_id(ids.run_id(), 0)


def programs(box: Box, **secrets: str) -> Programs:
    return Programs(box=box, secrets=FakeSecrets(now=secrets), redactor=Redactor.of([]))


def shell(script: str, *, seconds: float = 20, network: bool = False) -> Program:
    return Program(
        argv=("sh", "-c", script),
        timeout_ms=int(seconds * 1000),
        memory_bytes=GIB,
        secrets=(),
        network=network,
    )


async def run(folder: Path, what: Program) -> Ended:
    return await programs(Bubblewrap(folder=folder)).run(what, step_id=fresh())


def test_bubblewrap_works_on_this_machine(tmp_path: Path) -> None:
    """Where it does not, everything else here fails, and this says what to install."""
    assert [*Bubblewrap(folder=tmp_path).faults()] == []


async def test_i4_a_command_that_was_killed_is_told_from_one_that_failed(tmp_path: Path) -> None:
    killed = await run(tmp_path, shell("kill -KILL $$"))
    assert (killed.ending, killed.exit_code) == (Ending.EXITED, -signal.SIGKILL)
    failed = await run(tmp_path, shell("exit 3"))
    assert (failed.ending, failed.exit_code) == (Ending.EXITED, 3)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL])
async def test_i4_whatever_ends_the_sandbox_itself_has_killed_the_command(
    tmp_path: Path, number: signal.Signals
) -> None:
    """As a service manager does that ends all of a service at once."""
    step_id = fresh()
    running = asyncio.create_task(
        programs(Bubblewrap(folder=tmp_path)).run(
            shell("touch begun; exec sleep 1000"), step_id=step_id
        )
    )
    await begun(tmp_path)
    os.kill(min(marked(step_id)), number)
    ended = await running
    assert (ended.ending, ended.exit_code) == (Ending.EXITED, -signal.SIGKILL)
    assert not marked(step_id)


async def test_a_command_starts_in_its_folder_with_what_it_is_given(tmp_path: Path) -> None:
    argv = ("sh", "-c", "pwd; id -u; cat; echo err >&2; touch made; exit 3")
    what = Program(argv=argv, timeout_ms=9000, memory_bytes=GIB, secrets=(), given=b"given\n")
    ended = await run(tmp_path, what)
    assert ended == Ended(
        ending=Ending.EXITED, exit_code=3, output=f"{tmp_path}\n65534\ngiven\nerr\n"
    )
    assert (tmp_path / "made").exists()


async def test_the_interpreter_of_the_machine_starts_by_its_name(tmp_path: Path) -> None:
    what = Program(
        argv=("python3", "-c", "print(6*7)"), timeout_ms=9000, memory_bytes=GIB, secrets=()
    )
    assert (await run(tmp_path, what)).output == "42\n"


async def test_a_timeout_asks_first_also_what_left_the_session(tmp_path: Path) -> None:
    inner = "trap 'echo inner; exit' TERM; while :; do sleep 0.01; done"
    outer = "trap 'wait $!; echo outer; exit' TERM; while :; do sleep 0.01; done"
    script = f'setsid sh -c "{inner}" & {outer}'
    ended = await run(tmp_path, shell(script, seconds=0.5))
    assert ended.ending is Ending.TIMED_OUT
    words = [word for word in ended.output.split() if word != "Terminated"]
    assert words == ["inner", "outer"]


async def test_who_ignores_the_request_is_killed_with_all_that_it_started(tmp_path: Path) -> None:
    step_id, started = fresh(), time.monotonic()
    script = "trap '' TERM; env -i setsid sleep 1000 & setsid sleep 1000 & sleep 1000; sleep 1000"
    ended = await programs(Bubblewrap(folder=tmp_path)).run(
        shell(script, seconds=0.5), step_id=step_id
    )
    assert ended.ending is Ending.TIMED_OUT
    assert 1.5 <= time.monotonic() - started < 4
    assert not marked(step_id)
    assert not in_the_folder(tmp_path)


def in_the_folder(folder: Path) -> list[int]:
    """Return the processes whose working folder this is, whatever their environment is."""
    found = list[int]()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (process / "cwd").readlink() == folder:
                found.append(int(process.name))
    return found


async def test_p03_cancelling_kills_what_is_in_the_sandbox_before_it_returns(
    tmp_path: Path,
) -> None:
    step_id = fresh()
    script = "trap '' TERM; env -i setsid sleep 1000 & touch begun; sleep 1000; sleep 1000"
    running = asyncio.create_task(
        programs(Bubblewrap(folder=tmp_path)).run(shell(script), step_id=step_id)
    )
    await begun(tmp_path)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not marked(step_id)
    assert not in_the_folder(tmp_path)


async def begun(folder: Path) -> None:
    async def is_there() -> bool:
        return (folder / "begun").exists()

    await soon(is_there)


ALONE = """
import asyncio, pathlib, sys
from adapters.sandbox.bubblewrap import Bubblewrap
from adapters.sandbox.programs import Program, Programs
from core.redaction import Redactor
from tests.fakes.secrets import FakeSecrets
box = Bubblewrap(folder=pathlib.Path(sys.argv[1]))
script = "env -i setsid sleep 1000 & touch begun; sleep 1000"
what = Program(argv=("sh", "-c", script), timeout_ms=60000, memory_bytes=1 << 30, secrets=())
programs = Programs(box=box, secrets=FakeSecrets(), redactor=Redactor.of([]))
asyncio.run(programs.run(what, step_id=sys.argv[2]))
"""


def python(arguments: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, *arguments], cwd=ROOT)


async def test_what_is_in_the_sandbox_dies_with_us(tmp_path: Path) -> None:
    with python(["-c", ALONE, str(tmp_path), fresh()]) as us:
        await begun(tmp_path)
        us.kill()
    await soon(nobody(tmp_path))


async def test_whoever_looks_kills_all_that_is_in_the_sandbox(tmp_path: Path) -> None:
    step_id = fresh()
    script = "env -i setsid sleep 1000 & touch begun; sleep 1000"
    running = asyncio.create_task(
        programs(Bubblewrap(folder=tmp_path)).run(shell(script), step_id=step_id)
    )
    await begun(tmp_path)
    assert kill_step(step_id) > 0
    await soon(nobody(tmp_path))
    assert (await running).ending is Ending.EXITED


def nobody(folder: Path) -> Callable[[], Awaitable[bool]]:
    async def is_left() -> bool:
        return not in_the_folder(folder)

    return is_left


async def test_it_has_no_rights_and_can_get_none(tmp_path: Path) -> None:
    ended = await run(tmp_path, shell("grep -E '^(Cap|NoNewPrivs)' /proc/self/status"))
    rights = dict(line.split(":\t") for line in ended.output.splitlines())
    assert rights.pop("NoNewPrivs") == "1"
    assert set(rights.values()) == {"0" * 16}
    assert len(rights) == 5


async def test_attack_33_the_environment_is_exactly_this(tmp_path: Path) -> None:
    step_id = fresh()
    what = Program(argv=("env",), timeout_ms=9000, memory_bytes=GIB, secrets=("FLEET",))
    mine = programs(Bubblewrap(folder=tmp_path), FLEET="f-value", OTHER="o-value")
    ended = await mine.run(what, step_id=step_id)
    assert dict(line.split("=", 1) for line in ended.output.splitlines()) == {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": str(tmp_path),
        "PWD": str(tmp_path),
        "SAYSO_STEP_ID": step_id,
        "FLEET": "f-value",
    }


async def test_i12_a_secret_is_in_nobodys_arguments(tmp_path: Path) -> None:
    secret = "Zq7-Rk2_Wm9xT4bN8vL1"
    what = replace(shell('printf %s "$FLEET" >begun; sleep 1000'), secrets=("FLEET",))
    mine = programs(Bubblewrap(folder=tmp_path), FLEET=secret)
    running = asyncio.create_task(mine.run(what, step_id=fresh()))
    await begun(tmp_path)
    everybody = arguments()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (tmp_path / "begun").read_text("utf-8") == secret
    assert any(b"bwrap" in one for one in everybody)
    assert not any(secret.encode() in one for one in everybody)


def arguments() -> list[bytes]:
    """Return what everybody on this machine was started with."""
    found = list[bytes]()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            found.append((process / "cmdline").read_bytes())
    return found


# What is seen


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """Return a folder with a program, beside the working folder."""
    folder = tmp_path / "tools"
    folder.mkdir()
    tool = folder / "tool"
    tool.write_text("#!/bin/sh\ncat $(dirname $0)/data; echo more >>$(dirname $0)/data\n", "utf-8")
    tool.chmod(0o755)
    (folder / "data").write_text("data\n", "utf-8")
    (tmp_path / "work").mkdir()
    return folder


def tool(tools: Path, *, readable: tuple[Path, ...] = ()) -> Program:
    argv = (str(tools / "tool"),)
    return Program(argv=argv, timeout_ms=9000, memory_bytes=GIB, secrets=(), readable=readable)


async def test_a_program_that_is_not_seen_is_told_before_anybody_is_asked(
    tmp_path: Path, tools: Path
) -> None:
    mine = programs(Bubblewrap(folder=tmp_path / "work"))
    said = mine.obstacle(tool(tools))
    assert said
    assert said.endswith(" that may be started.")


@pytest.mark.parametrize("by", ["the box", "the program"])
async def test_what_is_readable_can_be_started_and_not_changed(
    tmp_path: Path, tools: Path, by: str
) -> None:
    here = (tools,) if by == "the box" else ()
    mine = programs(Bubblewrap(folder=tmp_path / "work", readable=here))
    what = tool(tools, readable=() if here else (tools,))
    assert mine.obstacle(what) is None
    ended = await mine.run(what, step_id=fresh())
    assert ended.output.startswith("data\n")
    assert "Read-only file system" in ended.output
    assert (tools / "data").read_text("utf-8") == "data\n"


@pytest.mark.parametrize("name", ["./tool", "tool", "/usr/bin/env"])
def test_programs_are_found_by_what_is_seen_alone(tmp_path: Path, tools: Path, name: str) -> None:
    (tmp_path / "work" / "tool").symlink_to(tools / "tool")
    found = Bubblewrap(folder=tmp_path / "work").program(name)
    assert found == (name if name.startswith("/") else None)


async def test_only_with_the_network_are_its_files_seen(tmp_path: Path) -> None:
    look = "ls -d /etc/hosts /etc/passwd /etc/ssl/private 2>/dev/null; :"
    assert (await run(tmp_path, shell(look))).output == ""
    assert (await run(tmp_path, shell(look, network=True))).output == "/etc/hosts\n"


@pytest.mark.usefixtures("tools")
async def test_the_working_folder_may_lie_in_something_readable(tmp_path: Path) -> None:
    box = Bubblewrap(folder=tmp_path / "work", readable=(tmp_path,))
    ended = await programs(box).run(shell("touch made; touch ../made"), step_id=fresh())
    assert ended.exit_code == 1
    assert names(tmp_path) == ["data", "made", "tool", "tools", "work"]


# What keeps it from running anything


def told(box: Bubblewrap) -> list[str]:
    """Return what an operator is told, once nothing runs."""
    said = programs(box).obstacle(shell("true"))
    found = [*box.faults()]
    assert (said is not None) == bool(found)
    assert said is None or said.endswith("`apt-get install bubblewrap` brings one that is missing.")
    return found


@pytest.mark.parametrize("where", ["work", "work/below", "link", "."])
def test_what_must_be_hidden_and_would_be_seen_stops_everything(tmp_path: Path, where: str) -> None:
    work = tmp_path / "work"
    (work / "below").mkdir(parents=True)
    (tmp_path / "link").symlink_to(work / "below")
    hidden = tmp_path / where
    [said] = told(Bubblewrap(folder=work if where != "." else tmp_path, hidden=(hidden,)))
    assert said.startswith(f"steps would see {hidden}, because they see ")


def test_what_is_readable_must_hold_nothing_hidden_either(tmp_path: Path, tools: Path) -> None:
    box = Bubblewrap(folder=tmp_path / "work", readable=(tools,), hidden=(tools / "data",))
    assert told(box) == [
        f"steps would see {tools / 'data'}, because they see {tools}. Move one of them."
    ]


def test_a_program_that_would_see_what_is_hidden_is_none_that_may_be_started(
    tmp_path: Path, tools: Path
) -> None:
    box = Bubblewrap(folder=tmp_path / "work", hidden=(tools / "data",))
    said = programs(box).obstacle(tool(tools, readable=(tools,)))
    assert said
    assert said.endswith(" that may be started.")


async def test_a_link_in_place_of_what_is_readable_shows_nothing_else(tmp_path: Path) -> None:
    """What may be read is found anew for each step, and one before it may have moved it."""
    tools = tmp_path / "a" / "tools"
    tools.mkdir(parents=True)
    up = "../" * (len(tmp_path.parts) + 1)
    await run(tmp_path, shell(f"mv a b; mkdir a; ln -s {up}etc a/tools"))
    box = Bubblewrap(folder=tmp_path, readable=(tools,))
    ended = await programs(box).run(shell("head -1 /etc/passwd"), step_id=fresh())
    assert ended.ending is Ending.NOT_STARTED
    assert "root:" not in ended.output


@pytest.mark.parametrize("where", ["a", "a/b", "link", "a/out"])
@pytest.mark.parametrize("what", ["readable", "fixed"])
def test_what_steps_could_change_and_must_not_stops_everything(
    tmp_path: Path, where: str, what: str
) -> None:
    work = tmp_path / "work"
    (work / "a" / "b").mkdir(parents=True)
    (tmp_path / "link").symlink_to(work / "a")
    (work / "a" / "out").symlink_to(tmp_path)
    at = (tmp_path if where == "link" else work) / where
    box = Bubblewrap(folder=work)
    box = replace(box, readable=(at,)) if what == "readable" else replace(box, fixed=(at,))
    assert told(box)[:1] == [
        f"steps could change {at}, because they write in {work}. Move one of them."
    ]


@pytest.mark.parametrize("by", ["a link", "a way back", "one process"])
def test_what_is_readable_must_not_lead_to_other_processes(
    tmp_path: Path, tools: Path, by: str
) -> None:
    (tools / "link").symlink_to("/proc" if by == "a link" else f"/proc/{os.getpid()}")
    at = Path("/opt/../proc") if by == "a way back" else tools / "link"
    [said, *_] = told(Bubblewrap(folder=tmp_path / "work", readable=(at,)))
    assert said == f"{at} leads into /proc, where steps would see others. Remove it."


def test_a_program_in_what_could_be_changed_is_none_that_may_be_started(tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    prefix.mkdir()
    (prefix / "tool").touch(0o755)
    said = programs(Bubblewrap(folder=tmp_path)).obstacle(tool(prefix, readable=(prefix,)))
    assert said
    assert said.endswith(" that may be started.")


def test_beside_what_is_hidden_it_runs(tmp_path: Path, tools: Path) -> None:
    box = Bubblewrap(folder=tmp_path / "work", hidden=(tmp_path, tools, tmp_path / "work-not"))
    assert told(box) == []


@pytest.mark.parametrize(
    ("what", "broken", "said"),
    [
        ("adapters.sandbox.probe.PATH", "/nowhere", "bubblewrap is not installed. Install it: apt-get"),
        ("adapters.sandbox.probe.sys.platform", "darwin", "the sandbox needs Linux. "),
        ("adapters.processes.PRLIMIT", "/nowhere", "/nowhere is not installed. Install it: "),
        ("adapters.sandbox.bubblewrap._ALONE", ("--no-such-flag",), "bubblewrap does not work here (\"bwrap: Unknown option"),
        ("adapters.sandbox.probe._PATIENCE", 0.0, "bubblewrap does not start."),
    ],
)  # fmt: skip
def test_a_sandbox_that_is_missing_or_broken_runs_nothing_and_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, broken: object, said: str
) -> None:
    box = Bubblewrap(folder=tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(what, broken)
        [found] = told(box)
    assert found.startswith(said)
    assert found.endswith("write `sandbox: {backend: none}`.")
    assert told(box) == [], "it is looked at again"


async def test_a_box_starts_a_program_of_somebody_elses(tmp_path: Path) -> None:
    box = Bubblewrap(folder=tmp_path)
    process = await asyncio.create_subprocess_exec(
        *box.wrapped(("cat",), Bounds(memory_bytes=GIB)),
        cwd=box.folder,
        env=environment(box, fresh(), {}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert (await process.communicate(b"a line\n"))[0] == b"a line\n"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*"))
