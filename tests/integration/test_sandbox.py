"""Real commands, run without a sandbox. Each test leaves nothing running, and most say so."""

import asyncio
import base64
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from adapters.sandbox.boxes import NoBox
from adapters.sandbox.programs import Programs
from adapters.sandbox.runner import CommandRunner
from adapters.steps import KindRunner
from core import ids
from core.plans import RunStep
from core.ports import Ended, Ending, Tail
from core.redaction import MASK, Redactor
from tests.fakes.secrets import FakeSecrets
from tests.jobs import soon

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

REPOSITORY = Path(__file__).parents[2]
SECRET = "Zq7-Rk2_Wm9xT4bN8vL1"
KIB = 1024
PYTHON = sys.executable
ESCAPE = "setsid sleep 1000 & until [ $(cut -d' ' -f6 /proc/$!/stat) = $! ]; do sleep 0.01; done"
"""Start something in the background and wait until it is in a session of its own."""


def step(
    *argv: str, seconds: float = 20, memory: int = 2 << 30, secrets: tuple[str, ...] = ()
) -> RunStep:
    return RunStep(argv=argv, timeout_ms=int(seconds * 1000), memory_bytes=memory, secrets=secrets)


def shell(script: str, *, seconds: float = 20, secrets: tuple[str, ...] = ()) -> RunStep:
    return step("sh", "-c", script, seconds=seconds, secrets=secrets)


def runner(folder: Path, *secrets: str, **named: str) -> CommandRunner:
    return plain(folder, named, *secrets, *named.values())


def plain(folder: Path, secrets: dict[str, str], *masked: str) -> CommandRunner:
    return among(folder, FakeSecrets(now=secrets), Redactor.of(masked))


def among(folder: Path, secrets: FakeSecrets, redactor: Redactor) -> CommandRunner:
    return CommandRunner(Programs(box=NoBox(folder=folder), secrets=secrets, redactor=redactor))


async def run(folder: Path, what: RunStep) -> Ended:
    return await runner(folder).run(what, step_id=fresh())


def fresh() -> str:
    """Return the id of no other step: ending one kills everything that bears its id, also elsewhere."""
    return ids.step_id(ids.run_id(), 0)


def alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def exists(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def marked(step_id: str) -> list[int]:
    return [int(pid.name) for pid in Path("/proc").glob("[0-9]*") if step_id in environment(pid)]


def environment(pid: Path) -> str:
    try:
        return (pid / "environ").read_text("utf-8", "replace")
    except OSError:
        return ""


async def until(happened: Callable[[], object], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "waited too long"
        await asyncio.sleep(0.005)


async def gone(*pids: int) -> None:
    """A killed process may take a moment to be gone, but nobody else kills it meanwhile."""
    await until(lambda: not any(map(alive, pids)), 0.5)


async def written(file: Path) -> list[int]:
    """Wait for a line of pids that a command writes when it has come so far."""
    await until(lambda: text(file).endswith("\n"))
    return [int(word) for word in text(file).split()]


def text(file: Path) -> str:
    return file.read_text("utf-8") if file.exists() else ""


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_is_a_runner_that_says_that_it_has_no_sandbox(tmp_path: Path) -> None:
    mine = runner(tmp_path)
    port: KindRunner[RunStep] = mine
    assert mine.backend == "none"
    assert port.obstacle(step("true")) is None


async def test_an_exit_code_and_both_outputs_in_order(tmp_path: Path) -> None:
    ended = await run(tmp_path, shell("echo out; echo err >&2; echo out; exit 3"))
    assert ended == Ended(ending=Ending.EXITED, exit_code=3, output="out\nerr\nout\n")


async def test_a_signal_from_outside_is_a_negative_exit_code(tmp_path: Path) -> None:
    ended = await run(tmp_path, shell("kill -KILL $$"))
    assert (ended.ending, ended.exit_code) == (Ending.EXITED, -9)


async def test_the_environment_is_exactly_this(tmp_path: Path) -> None:
    # Not registered for masking, so that its value can be seen here.
    mine = plain(tmp_path, {"FLEET": "f-value", "OTHER": "o-value"})
    step_id = fresh()
    ended = await mine.run(step("env", secrets=("FLEET",)), step_id=step_id)
    assert dict(line.split("=", 1) for line in ended.output.splitlines()) == {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": str(tmp_path),
        "SAYSO_STEP_ID": step_id,
        "FLEET": "f-value",
    }


async def test_a_secret_cannot_choose_the_program(tmp_path: Path) -> None:
    mine = runner(tmp_path, PATH=str(tmp_path))
    ended = await mine.run(step("env", secrets=("PATH",)), step_id=fresh())
    assert "PATH=/usr/bin:/bin\n" in ended.output


async def test_arguments_arrive_as_they_are(tmp_path: Path) -> None:
    odd = ("$(id)", ";", "`id`", "*", "a b", "", "|", "--", "ä")
    ended = await run(tmp_path, step("printf", r"%s\n", *odd))
    assert ended.output == "".join(f"{word}\n" for word in odd)


async def test_starts_in_the_folder_in_a_session_of_its_own(tmp_path: Path) -> None:
    ended = await run(tmp_path, shell("pwd -P; echo $$; cut -d' ' -f5,6 /proc/$$/stat"))
    folder, pid, group = ended.output.splitlines()
    assert folder == str(tmp_path)
    assert group == f"{pid} {pid}"


@pytest.fixture
def something_to_read() -> Generator[None]:
    """Give this process an input that never ends, as a terminal is."""
    ours, (reader, writer) = os.dup(0), os.pipe()
    os.dup2(reader, 0)
    yield
    os.dup2(ours, 0)
    for descriptor in (ours, reader, writer):
        os.close(descriptor)


@pytest.mark.usefixtures("something_to_read")
async def test_there_is_nothing_to_read(tmp_path: Path) -> None:
    ended = await run(tmp_path, step("cat", seconds=2))
    assert ended == Ended(ending=Ending.EXITED, exit_code=0, output="")


async def test_a_program_of_the_folder_is_found_by_its_relative_name(tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\necho from the folder\n", "utf-8")
    tool.chmod(0o755)
    assert (await run(tmp_path, step("./tool"))).output == "from the folder\n"


async def test_a_timeout_ends_it_politely(tmp_path: Path) -> None:
    polite = "trap 'echo bye; exit 0' TERM; echo hello; sleep 1000 & wait"
    ended = await run(tmp_path, shell(polite, seconds=0.2))
    assert ended == Ended(ending=Ending.TIMED_OUT, exit_code=None, output="hello\nbye\n")


async def test_who_ignores_the_request_to_stop_is_killed(tmp_path: Path) -> None:
    started = time.monotonic()
    ended = await run(tmp_path, shell("trap '' TERM; echo $$; sleep 1000; sleep 1000", seconds=0.2))
    assert ended.ending is Ending.TIMED_OUT
    assert 1.2 <= time.monotonic() - started < 3
    await gone(int(ended.output))


@pytest.mark.parametrize("quiet", ["", ">/dev/null 2>&1"])
async def test_what_it_leaves_in_the_background_ends_soon_after_it(
    tmp_path: Path, quiet: str
) -> None:
    started = time.monotonic()
    ended = await run(tmp_path, shell(f"sleep 1000 {quiet} & echo $!"))
    assert (ended.ending, ended.exit_code) == (Ending.EXITED, 0)
    assert time.monotonic() - started < 2
    await gone(int(ended.output))


async def test_what_is_printed_just_after_the_exit_still_counts(tmp_path: Path) -> None:
    waits = "while grep -q ') [RS] ' /proc/$p/stat 2>/dev/null; do :; done"
    ended = await run(tmp_path, shell(f"p=$$; ({waits}; echo late) & echo early"))
    assert ended.output == "early\nlate\n"


async def test_without_a_variable_to_find_them_by_the_group_still_dies(tmp_path: Path) -> None:
    ended = await run(tmp_path, shell("env -i sleep 1000 & echo $!"))
    await gone(int(ended.output))


async def test_who_left_the_session_dies_with_the_step(tmp_path: Path) -> None:
    ended = await run(tmp_path, shell(f"{ESCAPE}; echo $!"))
    assert ended.ending is Ending.EXITED
    await gone(int(ended.output))


async def test_who_left_the_session_dies_with_a_step_that_timed_out(tmp_path: Path) -> None:
    ended = await run(tmp_path, shell(f"{ESCAPE}; echo $!; sleep 1000", seconds=2))
    assert ended.ending is Ending.TIMED_OUT
    await gone(int(ended.output))


async def test_who_hides_entirely_escapes_but_holds_nothing_up(tmp_path: Path) -> None:
    """Only a namespace of its own would stop this; that is what the other backend is for."""
    await run(tmp_path, step("true"))
    before = descriptors()
    hide = "env -i setsid sleep 1000 & until [ $(cut -d' ' -f6 /proc/$!/stat) = $! ]; do :; done"
    ended = await run(tmp_path, shell(f"{hide}; echo $!"))
    await asyncio.sleep(0)
    left, held = alive(int(ended.output)), descriptors()
    os.kill(int(ended.output), signal.SIGKILL)
    assert left
    assert held == before


async def test_a_flood_is_stopped(tmp_path: Path) -> None:
    started = time.monotonic()
    ended = await run(tmp_path, step("yes"))
    assert (ended.ending, ended.exit_code) == (Ending.TOO_MUCH_OUTPUT, None)
    assert time.monotonic() - started < 3
    assert len(ended.output) < 33 * KIB
    assert "bytes left out]" in ended.output


async def test_too_much_is_too_much_even_when_it_exits_by_itself(tmp_path: Path) -> None:
    ended = await run(tmp_path, step("head", "-c", str((8 << 20) + 1), "/dev/zero"))
    assert ended.ending is Ending.TOO_MUCH_OUTPUT


async def test_as_much_as_is_allowed_is_not_too_much(tmp_path: Path) -> None:
    ended = await run(tmp_path, step("head", "-c", str(8 << 20), "/dev/zero"))
    assert (ended.ending, ended.exit_code) == (Ending.EXITED, 0)


async def test_long_output_keeps_head_and_tail(tmp_path: Path) -> None:
    (tmp_path / "long").write_text("h" * 16 * KIB + "x" * 100_000 + "t" * 16 * KIB, "utf-8")
    ended = await run(tmp_path, step("cat", "long"))
    left_out = "\n[100064 bytes left out]\n"
    kept = 16 * KIB - 32
    assert ended.output == "h" * kept + left_out + "t" * kept
    assert len(ended.output) <= 32 * KIB  # so that nobody has to cut it once more


@pytest.mark.parametrize("size", [0, 1, 16 * KIB, 20 * KIB, 20 * KIB + 1, 32 * KIB - 1, 32 * KIB])
async def test_output_that_fits_is_whole(tmp_path: Path, size: int) -> None:
    whole = "".join(f"{number}\n" for number in range(8000))[:size]
    (tmp_path / "whole").write_text(whole, "utf-8")
    assert (await run(tmp_path, step("cat", "whole"))).output == whole


async def test_control_characters_are_shown_and_bad_bytes_replaced(tmp_path: Path) -> None:
    ended = await run(tmp_path, step("printf", r"\033[31mred\tx\r\n\377"))
    assert ended.output == "\\u001b[31mred\tx\n\ufffd"


async def test_a_secret_is_masked_in_whatever_form(tmp_path: Path) -> None:
    mine = runner(tmp_path, FLEET=SECRET)
    print_it = 'echo "$FLEET"; printf %s "$FLEET" | base64; env >&2'
    ended = await mine.run(shell(print_it, secrets=("FLEET",)), step_id=fresh())
    assert SECRET not in ended.output
    assert base64.b64encode(SECRET.encode()).decode() not in ended.output
    assert ended.output.count(MASK) == 3


@dataclass
class Listener:
    """Keeps what a command has printed at each moment at which there was more."""

    seen: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])

    def __call__(self, tail: Tail) -> None:
        self.seen.append(tail())

    async def hears(self, *lines: str) -> None:
        async def were_heard() -> bool:
            return lines in self.seen

        await soon(were_heard)


PAUSED = "while [ ! -e go ]; do sleep 0.01; done; rm go;"
"""Wait in the middle of a script until the test says to go on."""


async def test_c61_whole_lines_are_heard_while_the_command_runs(tmp_path: Path) -> None:
    listener = Listener()
    script = f"printf 'one\\ntw'; {PAUSED} printf 'o\\nthree'; {PAUSED} echo ' four'"
    what = shell(script)
    running = asyncio.create_task(runner(tmp_path).run(what, step_id=fresh(), hear=listener))
    await listener.hears("one")
    assert not running.done()
    (tmp_path / "go").touch()
    await listener.hears("one", "two")
    assert not running.done()
    (tmp_path / "go").touch()
    assert (await running).output == "one\ntwo\nthree four\n"
    assert listener.seen[-1] == ("one", "two", "three four")


async def test_what_a_cut_command_had_printed_last_can_be_read_when_it_is_gone(
    tmp_path: Path,
) -> None:
    tails, listener = list[Tail](), Listener()

    def hear(tail: Tail) -> None:
        tails.append(tail)
        listener(tail)

    script = f"trap 'echo {SECRET} ended; exit 1' TERM; echo one; {PAUSED}"
    mine = runner(tmp_path, FLEET=SECRET)
    running = asyncio.create_task(mine.run(shell(script), step_id=fresh(), hear=hear))
    await listener.hears("one")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    # Between them a shell may tell that what it waited for was ended too.
    first, *_, last = tails[0]()
    assert (first, last) == ("one", f"{MASK} ended")


@pytest.mark.parametrize("cut", [1, 6, 10, 19])
async def test_i12_a_secret_that_comes_in_two_pieces_is_never_heard(
    tmp_path: Path, cut: int
) -> None:
    listener = Listener()
    script = f"printf 'so: {SECRET[:cut]}'; {PAUSED} echo '{SECRET[cut:]} it is'"
    running = asyncio.create_task(
        runner(tmp_path, FLEET=SECRET).run(shell(script), step_id=fresh(), hear=listener)
    )
    await listener.hears()
    (tmp_path / "go").touch()
    await running
    assert listener.seen == [(), (f"so: {MASK} it is",)]


LINES = "Kx83\nsecond-line-Pw61\nthird-line"


@pytest.mark.parametrize("end", ["\\n", "\\r\\n"], ids=["unix", "terminal"])
@pytest.mark.parametrize("pieces", [1, 2])
@pytest.mark.parametrize("more", [0, 3])
async def test_i12_lines_that_may_begin_a_secret_of_several_are_held_back(
    tmp_path: Path, end: str, pieces: int, more: int
) -> None:
    listener = Listener()
    first = "".join(f"{line}{end}" for line in LINES.split("\n")[:pieces])
    rest = end.join(LINES.split("\n")[pieces:])
    first, rest = first + rest[:more], rest[more:]
    script = f"printf 'before{end}so: {first}'; {PAUSED} printf '{rest}{end}after{end}'"
    running = asyncio.create_task(
        runner(tmp_path, FLEET=LINES).run(shell(script), step_id=fresh(), hear=listener)
    )
    await listener.hears("before")
    (tmp_path / "go").touch()
    await running
    assert listener.seen[-1] == ("before", f"so: {MASK}", "after")
    heard = str(listener.seen)
    assert not [word for word in ("Kx83", "second", "third") if word in heard]


async def test_i12_a_line_that_may_begin_a_secret_which_was_wrapped_is_held_back(
    tmp_path: Path,
) -> None:
    listener = Listener()
    script = f"printf 'one\nso: {SECRET[:8]}\n'; {PAUSED} echo '{SECRET[8:]} it is'"
    running = asyncio.create_task(
        runner(tmp_path, FLEET=SECRET).run(shell(script), step_id=fresh(), hear=listener)
    )
    await listener.hears("one")
    (tmp_path / "go").touch()
    await running
    assert listener.seen == [("one",), ("one", f"so: {MASK} it is")]


async def test_lines_that_only_seemed_to_begin_a_secret_are_heard_in_the_end(
    tmp_path: Path,
) -> None:
    listener = Listener()
    script = f"echo Kx83; {PAUSED} echo something else"
    running = asyncio.create_task(
        runner(tmp_path, FLEET=LINES).run(shell(script), step_id=fresh(), hear=listener)
    )
    await listener.hears()
    (tmp_path / "go").touch()
    await running
    assert listener.seen[-1] == ("Kx83", "something else")


async def test_a_private_key_is_masked_while_it_is_printed(tmp_path: Path) -> None:
    listener = Listener()
    lines = ["-----BEGIN PRIVATE KEY-----", *(f"MIIEv{number}abcdefgh" for number in range(5))]
    script = "".join(f"echo '{line}'; sleep 0.02; " for line in lines) + "echo"
    await runner(tmp_path).run(shell(script), step_id=fresh(), hear=listener)
    assert len(listener.seen) > 2
    assert {line for seen in listener.seen for line in seen} == {MASK, ""}


@pytest.mark.parametrize("width", [10, 1000, 60_000])
async def test_what_is_heard_of_long_output_is_its_end_without_any_piece_of_a_secret(
    tmp_path: Path, width: int
) -> None:
    line = (SECRET + "." * width)[: width + len(SECRET)]
    (tmp_path / "long").write_text(f"{line}\n" * (400_000 // width) + "the end\n", "utf-8")
    listener = Listener()
    mine = runner(tmp_path, FLEET=SECRET)
    await mine.run(step("cat", "long"), step_id=fresh(), hear=listener)
    assert listener.seen[-1][-1] == "the end"
    heard = "\n".join(line for seen in listener.seen for line in seen)
    assert not [part for part in fragments(SECRET) if part in heard]
    assert max(sum(map(len, seen)) for seen in listener.seen) <= 20 * KIB


async def test_what_is_heard_is_made_visible(tmp_path: Path) -> None:
    listener = Listener()
    script = "printf 'a\\033[31mb\\rc\\n'"
    await runner(tmp_path).run(shell(script), step_id=fresh(), hear=listener)
    assert listener.seen[-1] == ("a\\u001b[31mb\\u000dc",)


async def test_a_secret_is_in_nobodys_arguments(tmp_path: Path) -> None:
    mine = plain(tmp_path, {"FLEET": SECRET})
    look = "for each in /proc/[0-9]*/cmdline; do tr '\\0' ' ' <$each; done 2>/dev/null; :"
    ended = await mine.run(shell(look, secrets=("FLEET",)), step_id=fresh())
    assert "/proc/[0-9]*/cmdline" in ended.output
    assert SECRET not in ended.output


def fragments(secret: str) -> list[str]:
    return [secret[start : start + 4] for start in range(len(secret) - 3)]


@pytest.mark.parametrize("border", [16 * KIB, 20 * KIB, -16 * KIB, -20 * KIB])
@pytest.mark.parametrize("before", [1, 10, 19])
async def test_no_half_of_a_secret_stays_where_the_output_is_cut(
    tmp_path: Path, border: int, before: int
) -> None:
    dots = "." * 60 * KIB
    at = border % len(dots) - before
    (tmp_path / "long").write_text(dots[:at] + SECRET + dots[at + len(SECRET) :], "utf-8")
    ended = await runner(tmp_path, FLEET=SECRET).run(step("cat", "long"), step_id=fresh())
    assert "bytes left out]" in ended.output
    assert not [part for part in fragments(SECRET) if part in ended.output]


@pytest.mark.parametrize(
    "secret",
    [
        SECRET,
        "first-line-Kx83\nsecond-line-Pw61\n",
        "with\x01control\x02Hd52\x03signs",
        "Qz" + "0123456789abcdefghij" * 300 + "Jt",
    ],
    ids=["plain", "lines", "control", "long"],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
async def test_output_full_of_secrets_shows_none(tmp_path: Path, secret: str, end: str) -> None:
    printed = "".join(f"{number} {secret} " for number in range(120_000 // len(secret)))
    (tmp_path / "long").write_bytes(printed.replace("\n", end).encode())
    ended = await runner(tmp_path, FLEET=secret).run(step("cat", "long"), step_id=fresh())
    for word in re.findall(r"\w{4,}", secret):
        assert word[:12] not in ended.output
        assert word[-12:] not in ended.output


async def test_more_is_kept_for_a_secret_that_is_longer_than_what_is_kept(tmp_path: Path) -> None:
    secret = "".join(f"<{number}>" for number in range(2000))
    (tmp_path / "long").write_text("." * (15 * KIB) + secret + "." * 60 * KIB, "utf-8")
    ended = await runner(tmp_path, FLEET=secret).run(step("cat", "long"), step_id=fresh())
    assert "bytes left out]" in ended.output
    assert "<1>" not in ended.output


async def test_the_beginning_of_a_secret_is_masked_when_the_end_was_never_printed(
    tmp_path: Path,
) -> None:
    cut = shell('printf %s "so: ${FLEET%????}"; sleep 1000', seconds=0.3, secrets=("FLEET",))
    ended = await runner(tmp_path, FLEET=SECRET).run(cut, step_id=fresh())
    assert ended.output == f"so: {MASK}"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give commands less time to stop, where that is not what is tested."""
    monkeypatch.setattr("adapters.sandbox.commands._GRACE", 0.3)


@pytest.mark.parametrize("times", [1, 4])
@pytest.mark.usefixtures("impatient")
async def test_cancelling_kills_everything_before_it_returns(tmp_path: Path, times: int) -> None:
    script = f"trap '' TERM; sleep 1000 & a=$!; {ESCAPE}; echo $$ $a $! >pids; wait; wait"
    task = asyncio.create_task(run(tmp_path, shell(script)))
    pids = await written(tmp_path / "pids")
    assert all(map(alive, pids))
    for _ in range(times):
        task.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not exists(pids[0]), "not even waited for"
    await gone(*pids)


@pytest.mark.parametrize("turns", range(6))
async def test_cancelling_while_it_starts_leaves_no_orphan(tmp_path: Path, turns: int) -> None:
    step_id = fresh()
    task = asyncio.create_task(runner(tmp_path).run(step("sleep", "1000"), step_id=step_id))
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: not marked(step_id), 0.5)


@pytest.mark.usefixtures("impatient")
async def test_cancelling_while_it_is_being_stopped_counts_as_well(tmp_path: Path) -> None:
    noting = "trap 'echo $$ >pids' TERM; while :; do sleep 0.01; done"
    task = asyncio.create_task(run(tmp_path, shell(noting, seconds=0.2)))
    pids = await written(tmp_path / "pids")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await gone(*pids)


async def test_a_deadline_around_it_works_as_around_anything_else(tmp_path: Path) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await run(tmp_path, step("sleep", "1000"))


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("seconds", [20, 0.2])
async def test_the_end_of_the_loop_ends_the_command(tmp_path: Path, seconds: float) -> None:
    """Once while it runs, and once while it is being stopped."""
    noting = "trap 'echo $$ >pids' TERM; while :; do sleep 0.01; done"
    running = "echo $$ >pids; sleep 1000"

    async def forget() -> list[int]:
        what = shell(running if seconds > 1 else noting, seconds=seconds)
        task = asyncio.create_task(run(tmp_path, what))
        pids = await written(tmp_path / "pids")
        assert not task.done()
        return pids

    await gone(*await asyncio.to_thread(asyncio.run, forget()))


def python(script: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([PYTHON, "-c", script], cwd=REPOSITORY)


async def test_a_command_dies_with_us(tmp_path: Path) -> None:
    script = f"""
import asyncio, pathlib
from adapters.sandbox.boxes import NoBox
from adapters.sandbox.programs import Programs
from adapters.sandbox.runner import CommandRunner
from core.plans import RunStep
from core.redaction import Redactor
from tests.fakes.secrets import FakeSecrets
box = NoBox(folder=pathlib.Path({str(tmp_path)!r}))
runner = CommandRunner(Programs(box=box, secrets=FakeSecrets(), redactor=Redactor.of([])))
argv = ("sh", "-c", "echo $$ >pids; exec sleep 1000")
step = RunStep(argv=argv, timeout_ms=60000, memory_bytes=1 << 30, secrets=())
asyncio.run(runner.run(step, step_id={fresh()!r}))
"""
    with python(script) as us:
        pids = await written(tmp_path / "pids")
        us.kill()
    await gone(*pids)


@pytest.fixture
def dumps_cores() -> Generator[None]:
    """Allow cores as far as we may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))


@pytest.mark.usefixtures("dumps_cores")
async def test_memory_is_bounded_and_no_core_is_dumped(tmp_path: Path) -> None:
    ended = await run(tmp_path, step("sh", "-c", "ulimit -v; ulimit -c", memory=512 << 20))
    assert ended.output == f"{512 * KIB}\n0\n"
    greedy = step(PYTHON, "-c", "bytearray(1 << 30)", memory=512 << 20)
    ended = await run(tmp_path, greedy)
    assert ended.exit_code == 1
    assert "MemoryError" in ended.output


@pytest.mark.parametrize(
    "argv",
    [
        (),
        ("",),
        ("no-such-program",),
        ("./no-such-program",),
        ("/usr/bin",),
        ("./notes",),
        ("/sbin/../no/such",),
        ("echo", "a\0b"),
        ("ec\0ho",),
        ("echo", "\ud800"),
        ("echo", os.fsdecode(b"\x80")),
    ],
)
@pytest.mark.parametrize("platform", ["linux", "darwin"])
async def test_what_cannot_be_started_provably_did_not_start(
    tmp_path: Path, argv: tuple[str, ...], platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.processes.sys.platform", platform)
    (tmp_path / "notes").write_text("not a program", "utf-8")
    sentence = runner(tmp_path).obstacle(step(*argv))
    assert sentence
    assert sentence.endswith(".")
    ended = await run(tmp_path, step(*argv))
    assert ended == Ended(ending=Ending.NOT_STARTED, exit_code=None, output=sentence)


async def test_too_long_a_command_did_not_start(tmp_path: Path) -> None:
    ended = await run(tmp_path, step("echo", "x" * (1 << 20)))
    assert (ended.ending, ended.exit_code) == (Ending.NOT_STARTED, None)
    assert ended.output == "The command could not be started: Argument list too long."


async def test_a_name_that_no_environment_takes_did_not_start(tmp_path: Path) -> None:
    mine = plain(tmp_path, {"A=B": SECRET})
    ended = await mine.run(step("true", secrets=("A=B",)), step_id=fresh())
    assert ended.ending is Ending.NOT_STARTED
    assert ended.output.endswith("something in it cannot be passed on.")


@pytest.mark.parametrize("named", [{}, {"FLEET": ""}, {"FLEET": "a\0b-value"}])
async def test_without_a_value_for_a_secret_nothing_starts(
    tmp_path: Path, named: dict[str, str]
) -> None:
    mine = plain(tmp_path, named)
    ended = await mine.run(shell("echo ran >ran", secrets=("FLEET",)), step_id=fresh())
    assert ended.ending is Ending.NOT_STARTED
    assert "FLEET" in ended.output
    assert not (tmp_path / "ran").exists()


async def test_a_secret_without_a_value_at_the_last_moment_starts_nothing(tmp_path: Path) -> None:
    late = FakeSecrets(late={"FLEET"})
    mine = among(tmp_path, late, Redactor.of([]))
    what = shell("echo ran >ran", secrets=("FLEET",))
    assert mine.obstacle(what) is None
    ended = await mine.run(what, step_id=fresh())
    assert ended.ending is Ending.NOT_STARTED
    assert "FLEET" in ended.output
    assert not (tmp_path / "ran").exists()


async def test_i12_a_secret_that_was_resolved_for_this_step_is_masked_in_its_output(
    tmp_path: Path,
) -> None:
    redactor = Redactor.of([])
    secrets = FakeSecrets(now={"FLEET": SECRET}, late={"FLEET"}, redactor=redactor)
    mine = among(tmp_path, secrets, redactor)
    what = shell('echo "it is $FLEET"', secrets=("FLEET",))
    ended = await mine.run(what, step_id=fresh())
    assert ended.output == f"it is {MASK}\n"


async def test_without_its_folder_nothing_starts(tmp_path: Path) -> None:
    ended = await run(tmp_path / "missing", step("true"))
    assert ended.ending is Ending.NOT_STARTED
    assert "folder" in ended.output


async def test_the_sentence_masks_secrets_too(tmp_path: Path) -> None:
    assert SECRET not in str(runner(tmp_path, FLEET=SECRET).obstacle(step(SECRET)))


async def test_without_the_helpers_of_linux_it_runs_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.processes.sys.platform", "darwin")
    ended = await run(tmp_path, shell("ulimit -v; sleep 1000 & exit 4"))
    assert ended == Ended(ending=Ending.EXITED, exit_code=4, output="unlimited\n")


async def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    await run(tmp_path, step("true"))
    before = descriptors()
    for what in (step("true"), step("missing"), step("echo", "x" * (1 << 20)), step("yes")):
        await run(tmp_path, what)
    await asyncio.sleep(0)
    assert descriptors() == before


async def test_many_at_once_do_not_disturb_one_another(tmp_path: Path) -> None:
    mine, run_id = runner(tmp_path), ids.run_id()
    several = (
        mine.run(shell(f"sleep 0.1; echo {n}; exit {n}"), step_id=ids.step_id(run_id, n))
        for n in range(12)
    )
    endings = await asyncio.gather(*several)
    assert [(e.exit_code, e.output) for e in endings] == [(n, f"{n}\n") for n in range(12)]
    assert not marked(run_id)
