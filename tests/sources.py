"""Where the sentences stand with which something is refused, found in the source."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from core.errors import Invalid, OutcomeUnknown, Refused, SaysoError, Unavailable

ROOT = Path(__file__).parents[1]
ERRORS: Mapping[str, type[SaysoError]] = {
    "Refused": Refused,
    "Invalid": Invalid,
    "Unavailable": Unavailable,
    "OutcomeUnknown": OutcomeUnknown,
    "refuse": Refused,
}
"""What is called with a sentence, and the error that it raises."""
PLACES = (
    "approvals/*.py",
    "bot/decide.py",
    "bot/desk.py",
    "bot/doors.py",
    "bot/inbox.py",
    "bot/proposing.py",
    "bot/resolve.py",
    "bot/stop.py",
    "core/principals.py",
    "adapters/storage/opening.py",
    "adapters/storage/request_rows.py",
    "adapters/storage/run_rows.py",
    "adapters/storage/runs.py",
)
"""Where people are refused something about requests, runs and votes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One place in the source that refuses something."""

    file: str
    function: str
    number: int
    """Which of those in its function, from 1."""
    error: type[SaysoError]
    sentence: ast.expr

    @property
    def name(self) -> str:
        """Return what it is called: `approvals/gate.py deny 1`."""
        return f"{self.file} {self.function} {self.number}"

    def says(self, values: Mapping[str, object]) -> SaysoError:
        """Return the error that is raised there where its names stand for these values."""
        module = import_module(self.file.removesuffix(".py").replace("/", "."))
        code = compile(ast.Expression(self.sentence), self.file, "eval")
        said: object = eval(code, {**vars(module), **values})  # noqa: S307 - an expression of our own
        assert isinstance(said, str), self.name
        return self.error(said)


@cache
def sources() -> Mapping[str, Source]:
    """Return every place that has a sentence of its own, by its name."""
    files = sorted(file for place in PLACES for file in ROOT.glob(place))
    return {one.name: one for file in files for one in _of(file)}


def _of(file: Path) -> list[Source]:
    found = list[Source]()
    for function in ast.walk(ast.parse(file.read_text("utf-8"))):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        calls = sorted(
            (n for n in ast.walk(function) if isinstance(n, ast.Call) and _name(n) in ERRORS),
            key=lambda call: call.lineno,
        )
        for number, call in enumerate(calls, 1):
            sentence = call.args[2 if _name(call) == "refuse" else 0]
            passed = ast.unparse(sentence)
            if passed == "error.shown" or (passed, function.name) == ("reason", "refuse"):
                continue
            found.append(
                Source(
                    file=str(file.relative_to(ROOT)),
                    function=function.name,
                    number=number,
                    error=ERRORS[_name(call)],
                    sentence=sentence,
                )
            )
    return found


def _name(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""
