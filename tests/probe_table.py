"""What a step can do with and without the sandbox: tried, and written down by `make guarantees`."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from adapters.sandbox.boxes import Bounds, Box, NoBox
from adapters.sandbox.bubblewrap import Bubblewrap
from adapters.sandbox.programs import Program, Programs
from core import ids
from core.ports import Ended, Ending
from core.redaction import Redactor
from tests.fakes.secrets import FakeSecrets
from tests.sayso import ROOT

DOCUMENT = ROOT / "docs" / "threat-model.md"
_BEGIN, _END = "<!-- the probes -->", "<!-- their end -->"
_HEAD = ("a step tries", "`none`", "`bwrap`")
_MAY = "whatever the account may"
"""What is not tried without a sandbox, because it would change this machine."""
_MARK = "sayso-Zq7-elsewhere"
_MIB = 1 << 20
_MOST = 1100
"""Processes that a fork bomb stops at by itself, so that it hurts nobody: some more than are allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A folder of Sayso's with a secret in each place, and somebody who listens."""

    home: Path
    elsewhere: Path
    port: int

    @property
    def work(self) -> Path:
        """Return the working folder."""
        return self.home / "work"

    def box(self, backend: str) -> Box:
        """Return where steps run."""
        if backend == "none":
            return NoBox(folder=self.work)
        return Bubblewrap(folder=self.work, hidden=(self.home, self.home / "data" / "sayso.db"))


Told: TypeAlias = Callable[[Scene, Ended], str]


def _said(scene: Scene, ended: Ended) -> str:
    del scene
    assert ended.ending is Ending.EXITED, ended
    return ended.output.strip()


def _end(scene: Scene, ended: Ended) -> str:
    del scene
    return {Ending.TIMED_OUT: "cut at its time limit", Ending.TOO_MUCH_OUTPUT: "cut"}[ended.ending]


def _outside(scene: Scene, ended: Ended) -> str:
    del ended
    written = scene.elsewhere / "written"
    found = written.exists()
    written.unlink(missing_ok=True)
    return "written" if found else "nothing of it is left"


def _survivors(scene: Scene, ended: Ended) -> str:
    del ended
    found = [*_in_folder(scene.work)]
    for pid in found:
        os.kill(pid, signal.SIGKILL)
    return "lives on" if found else "killed with it"


def _in_folder(folder: Path) -> Generator[int]:
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").readlink() == folder:
                yield int(process.name)
        except OSError:
            continue


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One thing that a step tries."""

    what: str
    script: str
    told: Told = _said
    seconds: float = 20
    network: bool = False
    memory: int = 1024 * _MIB
    harmless: bool = True
    """Whether it may be tried without a sandbox."""
    direct: bool = False
    """Whether it is a command by itself, without a shell."""


def _either(command: str, yes: str, no: str) -> str:
    return f"if {command} >/dev/null 2>&1; then echo {yes}; else echo {no}; fi"


def _reads(path: str) -> str:
    return _either(f"cat {path}", "read", "not there")


def _python(code: str) -> str:
    return f"python3 -c '{code}'"


_CONNECT = _either(
    _python('import socket; socket.create_connection(("127.0.0.1", {port}), 5)'),
    "reached", "not reached",
)  # fmt: skip
_SYSCTL = _python('import os; os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY)')

PROBES = (
    Probe(what="to read a file of Sayso's account", script=_reads("{elsewhere}/notes")),
    Probe(what="to find `/etc/shadow`", script=_either("ls /etc/shadow", "there", "'not there'")),
    Probe(what="to find `/root`", script=_either("ls -d /root", "there", "'not there'")),
    Probe(what="to read `sayso.yml`", script=_reads("../sayso.yml")),
    Probe(what="to read the database", script=_reads("../data/sayso.db")),
    Probe(what="to read the key that signs receipts", script=_reads("../data/sayso.key")),
    Probe(what="to read the file of a secret", script=_reads("{home}/token")),
    Probe(
        what="to read through a link that leads out of the working folder",
        script="ln -sf ../sayso.yml link; " + _reads("link"),
    ),
    Probe(
        what="to write outside the working folder",
        script="mkdir -p {elsewhere}; echo x >{elsewhere}/written; :",
        told=_outside,
    ),
    Probe(what="to see the processes of others", script=(
        _either("grep -qs 'sayso-Zq[7]-elsewhere' /proc/[0-9]*/cmdline", "seen", "'not there'")
    )),
    Probe(what="to find more in its environment than it was given", script="env", direct=True, told=(
        lambda _, ended: ", ".join(sorted(line.split("=")[0] for line in ended.output.split()))
    )),
    Probe(what="to make `/usr` writable", script=(
        _either("{ mount -o remount,rw,bind /usr || touch /usr/sayso-probe; }", "done", "refused")
    ), harmless=False),
    Probe(what="to mount something", script=(
        _either("mount -t tmpfs none /tmp", "done", "refused")
    ), harmless=False),
    Probe(what="to make a namespace in which it is root", script=(
        _either("unshare --user true", "done", "refused")
    ), harmless=False),
    Probe(what="to change the kernel's settings", script=(
        _either(_SYSCTL, "done", "refused")
    ), harmless=False),
    Probe(what="to connect to this machine, without `network`", script=_CONNECT),
    Probe(what="to connect to this machine, with `network: true`", script=_CONNECT, network=True),
    Probe(
        what="to leave somebody behind, in a session of its own and without its mark",
        script="env -i setsid sleep 1000 & sleep 0.2; :",
        told=_survivors,
    ),
    Probe(
        what="to ignore that it is asked to end",
        script="trap '' TERM; while :; do sleep 0.1; done",
        seconds=0.5,
        told=_end,
    ),
    Probe(
        what="to compute for ever", script="while :; do :; done", seconds=0.5, told=_end
    ),
    Probe(what="to compute on when nobody is left to end it", script=(
        _either("test $(ulimit -t) = unlimited", "'without bound'", "bounded")
    )),
    Probe(what="to take more memory than it may", script=(
        _either(_python("bytearray(1 << 31)"), "taken", "refused")
    )),
    Probe(what="to print for ever", script="yes", told=_end),
)  # fmt: skip
BOMB = f"to start {_MOST} processes"
_BOMB = f"""
import os, time
for number in range({_MOST}):
    try:
        if not os.fork():
            time.sleep(60)
            os._exit(0)
    except BlockingIOError:
        print("refused")
        break
else:
    print("done")
"""


@contextmanager
def scene() -> Generator[Scene]:
    """Give a folder with everything in it that a step must not see."""
    with (
        TemporaryDirectory(prefix="sayso-probe-") as home,
        TemporaryDirectory(prefix="sayso-elsewhere-") as elsewhere,
        socket.create_server(("127.0.0.1", 0)) as listener,
        subprocess.Popen(
            [sys.executable, "-c", "import sys; sys.stdin.read()", _MARK], stdin=subprocess.PIPE
        ),
    ):
        found = Scene(
            home=Path(home), elsewhere=Path(elsewhere), port=int(listener.getsockname()[1])
        )
        found.work.mkdir()
        (found.home / "data").mkdir()
        for name in ("sayso.yml", "data/sayso.db", "data/sayso.key", "token"):
            (found.home / name).write_text("hidden", "utf-8")
        (found.elsewhere / "notes").write_text("hidden", "utf-8")
        yield found


def outcome(where: Scene, probe: Probe, backend: str) -> str:
    """Let a step try it and return what came of it."""
    if backend == "none" and not probe.harmless:
        return _MAY
    script = probe.script
    for name, value in (("home", where.home), ("elsewhere", where.elsewhere), ("port", where.port)):
        script = script.replace(f"{{{name}}}", str(value))
    program = Program(
        argv=(script,) if probe.direct else ("sh", "-c", script),
        timeout_ms=int(probe.seconds * 1000),
        memory_bytes=probe.memory,
        secrets=(),
        network=probe.network,
    )
    programs = Programs(box=where.box(backend), secrets=FakeSecrets(), redactor=Redactor.of([]))
    step = ids.step_id(ids.run_id(), 0)
    return probe.told(where, asyncio.run(programs.run(program, step_id=step)))


def bomb(backend: str) -> str:
    """Let a step of an ordinary account start processes, and return what came of it."""
    with TemporaryDirectory(prefix="sayso-bomb-") as name:
        folder = Path(name)
        folder.chmod(0o777)
        box = NoBox(folder=folder) if backend == "none" else Bubblewrap(folder=folder)
        bounds = Bounds(memory_bytes=1024 * _MIB, seconds=30)
        # The kernel holds root to no number of processes.
        nobody = 65534 if os.geteuid() == 0 else None
        process = subprocess.Popen(
            box.wrapped(("python3", "-c", _BOMB), bounds),
            cwd=folder,
            env={"PATH": "/usr/bin:/bin"},
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            user=nobody,
            group=nobody,
            extra_groups=None if nobody is None else [],
        )
        assert process.stdout is not None
        said = process.stdout.readline().strip()
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return said


def row(where: Scene, probe: Probe) -> tuple[str, ...]:
    """Return a line of the table as it is now."""
    return (probe.what, *(outcome(where, probe, backend) for backend in ("none", "bwrap")))


def written() -> Mapping[str, tuple[str, ...]]:
    """Return the table as it stands in the document, by what is tried."""
    table = DOCUMENT.read_text("utf-8").partition(_BEGIN)[2].partition(_END)[0]
    rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("|")][2:]
    found = [tuple(cell.strip() for cell in cells) for cells in rows]
    return {cells[0]: cells for cells in found}


def table(rows: Iterable[Sequence[str]]) -> str:
    """Return rows as a table in Markdown."""
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (_HEAD, ["---"] * 3, *rows))


def main() -> None:
    """Try it all and write what came of it into the document."""
    with scene() as where:
        rows = [*(row(where, probe) for probe in PROBES), (BOMB, bomb("none"), bomb("bwrap"))]
    before, _, rest = DOCUMENT.read_text("utf-8").partition(_BEGIN)
    DOCUMENT.write_text(
        f"{before}{_BEGIN}\n{table(rows)}\n{_END}{rest.partition(_END)[2]}", "utf-8"
    )


if __name__ == "__main__":
    main()
