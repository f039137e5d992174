"""Where the sentences stand with which something is refused, found in the source."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from approvals.factors import CodeSpent
from core.errors import Incorrect, Invalid, OutcomeUnknown, Refused, SaysoError, Unavailable

ROOT = Path(__file__).parents[1]
ERRORS: Mapping[str, type[SaysoError]] = {
    "Refused": Refused,
    "Invalid": Invalid,
    "Unavailable": Unavailable,
    "OutcomeUnknown": OutcomeUnknown,
    "Incorrect": Incorrect,
    "CodeSpent": CodeSpent,
    "refuse": Refused,
    "_no": Refused,
}
"""What is called with a sentence, and the error that it raises."""
BEFORE: Mapping[str, int] = {"refuse": 2, "_no": 1}
"""How many arguments stand before the sentence, where any do."""
PASSED_ON = frozenset({"error.shown", "refuse reason", "_no reason"})
"""What is no sentence of its own: that of another error, and what such a function was called with."""
PLACES = (
    "approvals/*.py",
    "bot/decide.py",
    "bot/desk.py",
    "bot/doors.py",
    "bot/enrolling.py",
    "bot/grant.py",
    "bot/inbox.py",
    "bot/linking.py",
    "bot/proposing.py",
    "bot/resolve.py",
    "bot/ruling.py",
    "bot/stop.py",
    "core/principals.py",
    "adapters/storage/beginning.py",
    "adapters/storage/brakes.py",
    "adapters/storage/casting.py",
    "adapters/storage/deciding.py",
    "adapters/storage/editing.py",
    "adapters/storage/factors.py",
    "adapters/storage/grants.py",
    "adapters/storage/links.py",
    "adapters/storage/opening.py",
    "adapters/storage/request_rows.py",
    "adapters/storage/run_rows.py",
    "adapters/storage/runs.py",
    "adapters/storage/urging.py",
    "adapters/storage/using.py",
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
    written: ast.expr | None
    """Where the sentence is a name, what that stands for, if it is written once in its function."""

    @property
    def name(self) -> str:
        """Return what it is called: `approvals/gate.py deny 1`."""
        return f"{self.file} {self.function} {self.number}"

    def says(self, values: Mapping[str, object]) -> SaysoError:
        """Return the error that is raised there where its names stand for these values."""
        module = import_module(self.file.removesuffix(".py").replace("/", "."))
        given = isinstance(self.sentence, ast.Name) and self.sentence.id in values
        sentence = self.sentence if given else self.written or self.sentence
        code = compile(ast.Expression(sentence), self.file, "eval")
        said: object = eval(code, {**vars(module), **values})  # noqa: S307 - an expression of our own
        assert isinstance(said, str), self.name
        return self.error(said)


@cache
def sources() -> Mapping[str, Source]:
    """Return every place that has a sentence of its own, by its name."""
    files = sorted({file for place in PLACES for file in ROOT.glob(place)})
    found = [one for file in files for one in _of(file)]
    assert len({one.name for one in found}) == len(found), "two places have one name"
    return {one.name: one for one in found}


def _of(file: Path) -> list[Source]:
    module = ast.parse(file.read_text("utf-8"))
    return [
        Source(
            file=str(file.relative_to(ROOT)),
            function=function.name,
            number=number,
            error=ERRORS[_name(call)],
            sentence=sentence,
            written=_written(function, sentence),
        )
        for function in _functions(module)
        for number, (call, sentence) in enumerate(_sentences(function), 1)
        if not {passed := ast.unparse(sentence), f"{function.name} {passed}"} & PASSED_ON
    ]


_Function = ast.FunctionDef | ast.AsyncFunctionDef


def _functions(node: ast.AST) -> Iterator[_Function]:
    """Yield the functions of a module and the methods of its classes; what stands in one is part of it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Function):
            yield child
        else:
            yield from _functions(child)


def _sentences(function: _Function) -> list[tuple[ast.Call, ast.expr]]:
    calls = [n for n in ast.walk(function) if isinstance(n, ast.Call) and _name(n) in ERRORS]
    calls.sort(key=lambda call: (call.lineno, call.col_offset))
    placed = [(call, BEFORE.get(_name(call), 0)) for call in calls]
    # Fewer arguments have none that could be it: somebody takes a no, and refuses nobody.
    return [(call, call.args[at]) for call, at in placed if len(call.args) > at]


def _written(function: _Function, sentence: ast.expr) -> ast.expr | None:
    if not isinstance(sentence, ast.Name):
        return None
    values = [
        value
        for one in ast.walk(function)
        if isinstance(one, ast.Assign)
        for target in one.targets
        for name, value in _assigned(target, one.value)
        if isinstance(name, ast.Name) and name.id == sentence.id
    ]
    return values[0] if len(values) == 1 else None


def _assigned(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def _name(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""
