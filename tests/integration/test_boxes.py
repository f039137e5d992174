"""Real commands in the sandbox of bubblewrap: how they start, how they end, and what keeps them from it."""

import time
from pathlib import Path

from adapters.sandbox.boxes import Box
from adapters.sandbox.bubblewrap import Bubblewrap
from adapters.sandbox.programs import Program, Programs
from core import ids
from core.ports import Ended, Ending
from core.redaction import Redactor
from tests.fakes.secrets import FakeSecrets
from tests.sayso import marked

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
        try:
            if (process / "cwd").readlink() == folder:
                found.append(int(process.name))
        except OSError:
            continue
    return found
