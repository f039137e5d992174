"""Sayso as other programs meet it: processes, exit codes and one object on standard output."""

import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeAlias, cast

ROOT = Path(__file__).parents[1]
CONTRACT = ROOT / "tests" / "fixtures" / "contract"
BACKENDS = ("none", "bwrap")
"""Where steps may run."""
SECONDS = 30.0
"""Longer than any command takes; whatever needs more hangs."""

Object: TypeAlias = dict[str, Any]
Text: TypeAlias = str | bytes
"""An argument; bytes where it is no sound text."""

HEX = re.compile("[0-9a-f]{64}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")
REQUEST = {
    "id": re.compile("[0-9a-f]{32}"),
    "state": re.compile("open|granted|spent|denied|expired|revoked|superseded"),
    "plan": re.compile("p_[0-9a-f]{12}"),
    "plan_sha256": HEX,
    "votes": int,
    "quorum": int,
    "expires_at": TIME,
    "card": str,
}
STEP = {"index": int, "tool": str, "state": str, "exit_code": int, "output": str}
RUN = {"id": re.compile("r_[0-9a-f]+"), "state": str, "steps": [STEP]}
TURN = {
    "conversation": re.compile("c_[0-9a-f]+"),
    "turn": re.compile("t_[0-9a-f]+"),
    "reason": str,
    "text": str,
    "run": None,
    "request": None,
}


def shaped(found: object, shape: object) -> bool:
    """Whether a value has this shape: at least these keys, these types, patterns and values."""
    match shape:
        case dict():
            keys = cast("dict[str, object]", shape)
            values = cast("dict[str, object]", found) if isinstance(found, dict) else {}
            return all(name in values and shaped(values[name], keys[name]) for name in keys)
        case list():
            [one] = cast("list[object]", shape)
            items = cast("list[object]", found) if isinstance(found, list) else []
            return bool(items) and all(shaped(item, one) for item in items)
        case re.Pattern():
            pattern = cast("re.Pattern[str]", shape)
            return isinstance(found, str) and pattern.fullmatch(found) is not None
        case type():
            return type(found) is shape
        case _:
            return found == shape


def until(happened: Callable[[], object], seconds: float = SECONDS) -> None:
    """Wait for something that another process does."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.005)


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Object:
        """Return the object on standard output; fail where there is anything but one of them."""
        assert self.out.endswith("\n"), self
        assert self.out.count("\n") == 1, self
        found = json.loads(self.out)
        assert isinstance(found, dict), self
        return cast("Object", found)

    @property
    def error(self) -> tuple[str, str]:
        """Return kind and message of a failure, which is one line; fail where it is none."""
        assert self.code != 0, self
        error = self.json["error"]
        assert set(error) >= {"kind", "message"}, self
        assert "\n" not in error["message"], self
        return error["kind"], error["message"]

    @property
    def refusal(self) -> str:
        """Return the sentence of a refusal."""
        kind, message = self.error
        assert (kind, self.code) == ("refused", 1), self
        return message

    @property
    def request(self) -> Object:
        """Return the request that a command printed."""
        request = self.json["request"]
        assert shaped(request, REQUEST), self
        return cast("Object", request)

    @property
    def run(self) -> Object:
        """Return the run that a command printed."""
        return cast("Object", self.json["run"])


@dataclass(frozen=True, slots=True)
class Running:
    """A command that was started."""

    process: subprocess.Popen[str]

    def done(self) -> Done:
        """Wait for its end."""
        try:
            out, err = self.process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            self.end()
            raise
        return Done(code=self.process.returncode, out=out, err=err)

    def ready(self) -> "Running":
        """Wait for the line that tells that it serves."""
        assert self.process.stderr is not None
        for line in self.process.stderr:  # what it noticed first is told before that line
            if line == "ready\n":
                return self
        raise AssertionError("it ended before it was ready")

    def signal(self, number: signal.Signals) -> Done:
        """Send a signal and wait for the end."""
        self.process.send_signal(number)
        return self.done()

    def has_come_to(self, file: Path) -> bool:
        """Whether it has a file open, or is over."""
        if self.process.poll() is not None:
            return True
        opened = Path(f"/proc/{self.process.pid}/fd")
        with suppress(FileNotFoundError):  # it may close one, or end, while we look
            return any(link.readlink() == file for link in opened.iterdir())
        return False

    def end(self) -> None:
        """Leave nothing running."""
        if self.process.returncode is None:
            self.process.kill()
            self.process.communicate()


@dataclass(frozen=True, slots=True)
class Sayso:
    """A folder with a configuration, and the command line in it."""

    folder: Path
    asked: Mapping[str, Object] = field(default_factory=dict[str, Object])
    """Turns that opened requests, where the folder is a copy of the prepared one."""
    started: list[Running] = field(default_factory=list[Running])
    python: str = sys.executable
    """What runs it."""

    @property
    def database(self) -> Path:
        """Return the file that holds everything."""
        return self.folder / "data" / "sayso.db"

    def start(
        self,
        *arguments: Text,
        as_: Text | None = None,
        plain: bool = False,
        stdin: str | None = None,
        file_size: int | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Running:
        """Start a command. `file_size` is how large a file it may write, in bytes."""
        options: list[Text] = ["--as", as_] if as_ is not None else []
        options += [] if plain else ["--json"]
        at = arguments.index("--") if "--" in arguments else len(arguments)
        command = [*arguments[:at], *options, *arguments[at:]]
        process = subprocess.Popen(
            [self.python, "-m", "bot", *command],
            cwd=self.folder,
            env=environment(env or {}),
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            preexec_fn=None if file_size is None else partial(_limit, file_size),  # noqa: PLW1509 - no threads here
        )
        if stdin is not None and process.stdin is not None:
            process.stdin.write(stdin)
            process.stdin.flush()
        running = Running(process)
        self.started.append(running)
        return running

    def run(
        self,
        *arguments: Text,
        as_: Text | None = None,
        plain: bool = False,
        stdin: str | None = None,
        file_size: int | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Done:
        """Run a command to its end, with `--json` unless it is to be plain."""
        return self.start(
            *arguments, as_=as_, plain=plain, stdin=stdin, file_size=file_size, env=env
        ).done()

    def each(self, *commands: Sequence[Text]) -> list[Done]:
        """Run commands at once; the first of each is who acts, empty for nobody named."""
        running = [self.start(*rest, as_=who or None) for who, *rest in commands]
        return [one.done() for one in running]

    def together(self, *commands: Sequence[Text]) -> list[Done]:
        """Run commands as `each` does, but hold them until all have opened the database."""
        running = [self.start(*rest, as_=who or None) for who, *rest in commands]
        held = set[int]()

        def hold() -> bool:
            for one in running:
                if one.process.pid not in held and one.has_come_to(self.database.resolve()):
                    one.process.send_signal(signal.SIGSTOP)
                    held.add(one.process.pid)
            return len(held) == len(running)

        until(hold)
        for one in running:
            one.process.send_signal(signal.SIGCONT)
        return [one.done() for one in running]

    def ask(self, text: str, as_: str, conversation: str | None = None) -> Object:
        """Ask for something that needs people; return the turn."""
        where = ["--conversation", conversation] if conversation else []
        done = self.run("ask", text, *where, as_=as_)
        assert (done.code, done.json["reason"]) == (0, "proposed"), done
        return done.json

    def id(self, name: str) -> str:
        """Return the id of a request that the prepared folder holds."""
        return str(self.asked[name]["request"]["id"])

    def ledger(self) -> list[str]:
        """Return what the steps have written."""
        return (self.folder / "work" / "ledger.txt").read_text("utf-8").splitlines()

    def edit(self, file: str, old: str, new: str) -> None:
        """Change a file in exactly one place."""
        path = self.folder / file
        text = path.read_text("utf-8")
        assert text.count(old) == 1, (file, old, text.count(old))
        path.write_text(text.replace(old, new), "utf-8")

    def configure(self, line: str) -> None:
        """Add a line to the configuration."""
        config = self.folder / "sayso.yml"
        config.write_text(f"{config.read_text('utf-8')}{line}\n", "utf-8")

    def runbook(self, name: str, text: str) -> None:
        """Add a runbook."""
        (self.folder / "runbooks" / f"{name}.yml").write_text(f"name: {name}\n{text}", "utf-8")

    def sql(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a statement on the database behind Sayso's back."""
        with closing(sqlite3.connect(self.database)) as connection, connection:
            return connection.execute(statement, values).fetchall()

    @contextmanager
    def locked(self) -> Generator[None]:
        """Keep every other process from writing to the database."""
        with closing(sqlite3.connect(self.database, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield

    def state(self, request: str) -> str:
        """Return where a request is, as it lies in the database."""
        [(state,)] = self.sql("SELECT state FROM request WHERE id = ?", request)
        return str(state)

    def copied(self, folder: Path) -> "Sayso":
        """Return a copy of all of it."""
        shutil.copytree(self.folder, folder)
        return Sayso(folder, self.asked)

    def end(self) -> None:
        """Leave nothing running."""
        for running in self.started:
            running.end()


@contextmanager
def fresh(folder: Path, backend: str = "none") -> Generator[Sayso]:
    """Give a copy of the contract's folder in which nothing has happened yet."""
    shutil.copytree(CONTRACT, folder)
    sayso = Sayso(folder)
    sayso.edit("sayso.yml", "backend: none", f"backend: {backend}")
    try:
        yield sayso
    finally:
        sayso.end()


@contextmanager
def waiting(base: Path, folder: Path, backend: str = "none") -> Generator[Sayso]:
    """Give a copy of a folder in which four requests wait; made once for all tests.

    `alpha` is of low risk, `web` of medium and `v1` of high; alice asked for these. `slow`, of low
    risk, is bob's and takes half a minute.
    """
    sayso = _prepared(base, backend).copied(folder)
    try:
        yield sayso
    finally:
        sayso.end()


@cache
def _prepared(base: Path, backend: str) -> Sayso:
    texts = {
        "alpha": ("alice", "append alpha"),
        "web": ("alice", "restart web in staging"),
        "v1": ("alice", "deploy v1"),
        "slow": ("bob", "slow append beta 30"),
    }
    with fresh(base / f"prepared-{backend}", backend) as sayso:
        turns = sayso.each(*([who, "ask", text] for who, text in texts.values()))
        assert all(turn.json["reason"] == "proposed" for turn in turns), turns
        asked = {name: turn.json for name, turn in zip(texts, turns, strict=True)}
        return Sayso(sayso.folder, asked)


def marked(run: str) -> list[int]:
    """Return the processes that a run's steps left, or one of its steps."""
    marks = [f"SAYSO_STEP_ID={run}{end}".encode() for end in (".", "\0")]
    return [
        int(pid.name)
        for pid in Path("/proc").glob("[0-9]*")
        if any(mark in _variables(pid) for mark in marks)
    ]


def _variables(pid: Path) -> bytes:
    try:
        return (pid / "environ").read_bytes()
    except OSError:
        return b""


def environment(more: Mapping[str, str]) -> dict[str, str]:
    kept = ("COVERAGE_", "COV_CORE_")
    ours = {n: v for n, v in os.environ.items() if n == "PATH" or n.startswith(kept)}
    return {**ours, "LANG": "C.UTF-8", "PYTHONPATH": str(ROOT), **more}


def _limit(file_size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
