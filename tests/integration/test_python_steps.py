"""Real functions of real packages, each called in an interpreter of its own, with and without a sandbox."""

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from adapters.python_steps.modules import Interpreter, Modules, our_own
from adapters.python_steps.runner import FunctionRunner
from adapters.sandbox.boxes import Box, NoBox
from adapters.sandbox.bubblewrap import Bubblewrap
from adapters.sandbox.programs import Programs
from core import ids
from core.errors import Unavailable
from core.plans import PythonStep
from core.ports import Ended, Ending, Tail
from core.redaction import MASK, Redactor
from tests.fakes.secrets import FakeSecrets
from tests.jobs import soon
from tests.pythons import install, interpreter
from tests.sayso import marked

SECRET = "Zq7-Rk2_Wm9xT4bN8vL1"
BOXES: Mapping[str, Callable[[Path], Box]] = {
    "none": lambda folder: NoBox(folder=folder),
    "bwrap": lambda folder: Bubblewrap(folder=folder),
}


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Interpreter:
    return interpreter(tmp_path_factory.mktemp("python"))


@dataclass
class Caller:
    """Calls functions as steps do."""

    runner: FunctionRunner

    @property
    def modules(self) -> Modules:
        return self.runner.modules

    @property
    def work(self) -> Path:
        return self.modules.work

    async def run(self, function: str, **more: Any) -> Ended:  # noqa: ANN401 - as a step has it
        return await self.runner.run(a_call(function, **more), step_id=fresh())


def a_call(function: str, **more: Any) -> PythonStep:  # noqa: ANN401 - as a step has it
    bounds = {"timeout_ms": 20_000, "memory_bytes": 1 << 30, "secrets": (), "source": None}
    given = {name: more.pop(name, value) for name, value in bounds.items()}
    return PythonStep(function=f"team.deeds:{function}", arguments=more, **given)


def fresh() -> str:
    return ids.step_id(ids.run_id(), 0)


@pytest.fixture(params=BOXES)
def caller(request: pytest.FixtureRequest, python: Interpreter, tmp_path: Path) -> Caller:
    return calling(python, BOXES[request.param](work_in(tmp_path)))


@pytest.fixture
def plain(python: Interpreter, tmp_path: Path) -> Caller:
    return calling(python, NoBox(folder=work_in(tmp_path)))


def work_in(folder: Path) -> Path:
    work = folder / "work"
    work.mkdir()
    return work


def calling(python: Interpreter, box: Box) -> Caller:
    programs = Programs(
        box=box, secrets=FakeSecrets(now={"TOKEN": SECRET}), redactor=Redactor.of([SECRET])
    )
    modules = Modules(interpreter=python, work=box.folder)
    return Caller(FunctionRunner(programs=programs, modules=modules))


def exited(code: int, output: str) -> Ended:
    return Ended(ending=Ending.EXITED, exit_code=code, output=output)


# What a call is


async def test_what_a_function_prints_and_returns_is_the_output(caller: Caller) -> None:
    printed = 'EH\n{"said": ["eh"], "times": 1}\n'
    assert await caller.run("say", word="eh", loud=True) == exited(0, printed)
    assert await caller.run("later", word="é😀") == exited(0, '"é😀"\n')


async def test_arguments_arrive_as_they_were_approved(caller: Caller) -> None:
    values: dict[str, Any] = {
        "a": "$(id) 'é\n",
        "b": [1, 2.5, None, {"c": True}],
    }
    ended = await caller.run("given", **values)
    assert json.loads(ended.output) == values
    long = await caller.run("given", d="x" * 300_000)
    assert (long.exit_code, "bytes left out" in long.output) == (0, True)


async def test_an_exception_ends_it_with_its_type_and_line_and_without_its_words(
    caller: Caller,
) -> None:
    ended = await caller.run("fails", word="hush")
    file = caller.modules.file("team.deeds:fails")
    assert ended == exited(1, f"begun\nLookupError in line 30 of {file}\n")


async def test_what_is_raised_elsewhere_is_told_at_its_own_line(caller: Caller) -> None:
    ended = await caller.run("say", word=3)
    assert (ended.exit_code, ended.output) == (0, '3\n{"said": [3], "times": 1}\n')
    ended = await caller.run("say", word=3, loud=True)
    assert ended.output.startswith("AttributeError in line 12 of ")


async def test_a_function_may_exit_by_itself(caller: Caller) -> None:
    assert await caller.run("exits", code=7) == exited(7, "")


async def test_what_cannot_be_written_down_is_said(caller: Caller) -> None:
    told = "team.deeds:odd returned what cannot be written as JSON.\n"
    assert await caller.run("odd") == exited(1, told)


async def test_nothing_of_the_folder_or_of_sayso_itself_is_in_its_way(caller: Caller) -> None:
    (caller.work / "json.py").write_text("raise SystemExit(9)\n")
    (caller.work / "sitecustomize.py").write_text("raise SystemExit(9)\n")
    ended = await caller.run("surroundings", path="/root/.bashrc", secrets=("TOKEN",))
    found = json.loads(ended.output)
    assert found["names"] == ["HOME", "LANG", "PATH", "SAYSO_STEP_ID", "TOKEN"]
    assert str(caller.work) not in found["path"]
    assert "" not in found["path"]
    assert not any(SECRET in word for word in found["argv"])
    if caller.runner.programs.box.backend == "bwrap":
        assert found["reads"] is False


async def test_a_secret_comes_by_the_environment_and_is_masked(caller: Caller) -> None:
    ended = await caller.run("secret", name="TOKEN", secrets=("TOKEN",))
    assert ended == exited(0, f"{MASK}\n")
    ended = await caller.run("secret", name="TOKEN")
    assert ended.output.startswith("KeyError in line ")


# Its bounds are those of commands


async def test_it_is_ended_after_its_time(caller: Caller) -> None:
    ended = await caller.run("slow", seconds=60, timeout_ms=800)
    assert ended.ending is Ending.TIMED_OUT


async def test_a_flood_is_ended(caller: Caller) -> None:
    assert (await caller.run("flood")).ending is Ending.TOO_MUCH_OUTPUT


async def test_its_memory_is_bounded(caller: Caller) -> None:
    ended = await caller.run("hoard", memory_bytes=512 << 20)
    assert ended.output.startswith("MemoryError in line ")


async def test_nobody_outlives_it(caller: Caller) -> None:
    step_id = fresh()
    ended = await caller.runner.run(a_call("leave", seconds=60), step_id=step_id)
    assert ended.exit_code == 0
    assert marked(step_id) == []


async def test_c47_cancelling_it_leaves_nothing_running(caller: Caller) -> None:
    step_id, begun = fresh(), caller.work / "begun"
    step = a_call("slow", seconds=60, file=str(begun))
    running = asyncio.create_task(caller.runner.run(step, step_id=step_id))

    async def has_begun() -> bool:
        return begun.exists()

    await soon(has_begun)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert marked(step_id) == []


async def test_what_it_prints_is_heard_at_once(plain: Caller) -> None:
    tails: list[Tail] = []
    await plain.runner.run(a_call("say", word="now"), step_id=fresh(), hear=tails.append)
    assert tails[-1]() == ("now", '{"said": ["now"], "times": 1}')


# What is found without importing it


OBSTACLES: list[tuple[str, dict[str, Any], str]] = [
    ("team.deeds:nobody", {}, "The module team.deeds has no function nobody."),
    ("team.deeds:say", {}, "The function say needs an argument word."),
    ("team.deeds:say", {"word": "x", "soft": 1}, "The function say takes no argument soft."),
    (
        "team.other:say",
        {},
        "There is no module team.other installed beside Sayso. Install its package; what lies in the "
        "working folder is never called.",
    ),
    ("sys:exit", {}, "There is no module sys installed beside Sayso. Install its package; "),
]


@pytest.mark.parametrize(("function", "arguments", "said"), OBSTACLES)
async def test_what_cannot_be_called_is_told_beforehand_and_nothing_is_started(
    plain: Caller, function: str, arguments: dict[str, Any], said: str
) -> None:
    step = replace(a_call("say"), function=function, arguments=arguments)
    obstacle = plain.runner.obstacle(step)
    assert obstacle is not None
    assert obstacle.startswith(said)
    ended = await plain.runner.run(step, step_id=fresh())
    assert ended == Ended(ending=Ending.NOT_STARTED, exit_code=None, output=obstacle)


@pytest.mark.parametrize("hides", ["what it needs", "what lies in that"])
async def test_an_interpreter_beside_what_no_step_may_see_is_not_started(
    python: Interpreter, tmp_path: Path, hides: str
) -> None:
    prefix = python.prefixes[0]
    hidden = prefix if hides == "what it needs" else prefix / "lib" / "sayso.yml"
    caller = calling(python, Bubblewrap(folder=work_in(tmp_path), hidden=(hidden,)))
    ended = await caller.run("say", word="never")
    assert ended.ending is Ending.NOT_STARTED
    assert ended.output.startswith("Sayso's Python cannot be started in the sandbox: ")


async def test_its_program_has_the_obstacles_of_any(plain: Caller) -> None:
    missing = replace(a_call("say", word="x"), secrets=("OTHER",))
    assert "OTHER" in (plain.runner.obstacle(missing) or "")


MODULE = """\
import os as system
from posixpath import join as joined
if system:
    def chosen(a): ...
else:
    def chosen(a, b): ...
try:
    import nowhere
except ImportError:
    def caught(): ...
@joined
def decorated(a): ...
class Kind:
    def inside(self): ...
value: int = 3
(one, two) = 1, 2
async def late(a, b=1, *, c, d=2, **rest): ...
def first(a, /): ...
raise SystemExit("it was imported")
"""


@pytest.mark.parametrize(
    ("name", "arguments", "fault"),
    [
        ("system", (), None),
        ("joined", ("x",), None),
        ("chosen", ("a", "b"), None),
        ("caught", (), None),
        ("decorated", (), None),
        ("Kind", (), None),
        ("value", (), None),
        ("one", (), None),
        ("late", ("a", "c", "more"), None),
        ("late", ("a",), "The function late needs an argument c."),
        ("inside", (), "The module shapes has no function inside."),
        ("caught", ("x",), "The function caught takes no argument x."),
        (
            "first",
            ("a",),
            "The function first takes arguments without a name, which no step gives it.",
        ),
    ],
)
def test_as_much_is_told_as_can_be_read(
    plain: Caller, tmp_path: Path, name: str, arguments: tuple[str, ...], fault: str | None
) -> None:
    install(tmp_path / "site", "shapes", MODULE)
    modules = found_in(plain, tmp_path / "site")
    assert modules.fault(f"shapes:{name}", arguments) == fault


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("from os import *\n", None),
        ("def __getattr__(name): ...\n", None),
        ("def x(:\n", "The module shapes is no Python that this interpreter can read."),
        ("\0", "The module shapes is no Python that this interpreter can read."),
        ("#" * (5 << 20), "The module shapes is too large to be looked at."),
    ],
)
def test_what_cannot_be_told_is_left_to_the_call(
    plain: Caller, tmp_path: Path, text: str, fault: str | None
) -> None:
    install(tmp_path / "site", "shapes", text)
    assert found_in(plain, tmp_path / "site").fault("shapes:x", ()) == fault


def found_in(caller: Caller, *path: Path) -> Modules:
    modules = caller.modules
    return replace(modules, interpreter=replace(modules.interpreter, path=path))


async def test_a_package_is_its_own_module_and_comes_before_a_file_of_its_name(
    plain: Caller, tmp_path: Path
) -> None:
    first, second = tmp_path / "1", tmp_path / "2"
    install(first, "deep.down", "")
    install(second, "deep.down.below", "")
    install(second, "deep", "")
    modules = found_in(plain, first, second)
    assert modules.file("deep:x") == first / "deep" / "__init__.py"
    assert modules.file("deep.down:x") == first / "deep" / "down.py"
    assert modules.file("deep.nobody:x") is None


async def test_nothing_of_the_working_folder_is_ever_called(plain: Caller, tmp_path: Path) -> None:
    file = install(plain.work / "site", "own", "def x(): ...\n")
    assert found_in(plain, plain.work / "site").file("own:x") is None
    elsewhere = tmp_path / "site"
    elsewhere.mkdir()
    (elsewhere / "own.py").symlink_to(file)
    assert found_in(plain, elsewhere).file("own:x") is None


# The code that was approved


async def test_c30_another_code_has_another_digest_and_is_not_called(
    plain: Caller, tmp_path: Path
) -> None:
    site = tmp_path / "site"
    file = install(site, "team.deeds", "def say(): print('one')\n")
    modules = found_in(plain, site)
    runner = replace(plain.runner, modules=modules)
    source = await modules.sha256("team.deeds:say")
    assert source is not None
    assert await modules.sha256("team.other:say") is None
    step = a_call("say", source=source)
    file.write_text("def say(): print('two')\n")
    assert await modules.sha256("team.deeds:say") not in {source, None}
    ended = await runner.run(step, step_id=fresh())
    assert ended.ending is Ending.NOT_STARTED
    assert ended.output == (
        "The code of team.deeds:say is not what was approved, so it was not called."
    )


async def test_c30_the_code_that_was_approved_is_called(caller: Caller) -> None:
    source = await caller.modules.sha256("team.deeds:say")
    assert (await caller.run("say", word="x", source=source)).exit_code == 0


async def test_code_that_cannot_be_read_is_never_unchanged(
    plain: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: Path) -> bytes:
        raise PermissionError("not yours")

    monkeypatch.setattr(Path, "read_bytes", fails)
    with pytest.raises(Unavailable, match="The code of a function cannot be read"):
        await plain.modules.sha256("team.deeds:say")
    said = plain.runner.obstacle(a_call("say", word="x"))
    assert said == ("The code of a function cannot be read. Check its permissions, then ask again.")


async def test_a_module_that_comes_from_elsewhere_is_not_called(
    plain: Caller, tmp_path: Path
) -> None:
    """The interpreter may have been told of it in another way than by its path."""
    site = tmp_path / "site"
    install(site, "team.deeds", "def say(word): print('never')\n")
    runner = replace(plain.runner, modules=found_in(plain, site))
    ended = await runner.run(a_call("say", word="x"), step_id=fresh())
    assert ended.exit_code == 1
    assert ended.output == (
        "team.deeds would come from elsewhere than its file, so it was not called.\n"
    )


def test_our_own_interpreter_looks_nowhere_but_in_what_is_installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), *sys.path])
    ours = our_own()
    assert tmp_path not in ours.path
    assert all(any(map(one.is_relative_to, ours.prefixes)) for one in ours.path)
    assert Modules(interpreter=ours, work=tmp_path).file("json:dumps") is not None
