"""Where the functions of installed packages are, and what can be told of them without importing any."""

import ast
import asyncio
import hashlib
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from core.errors import Unavailable

_MOST_BYTES = 4 * 1024 * 1024
_Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """A Python, and where it finds what is installed for it."""

    executable: Path
    prefixes: tuple[Path, ...]
    """All that it needs to read."""
    path: tuple[Path, ...]
    """Where it looks for modules, in this order; all of it within the prefixes."""


def our_own() -> Interpreter:
    """Return the interpreter that runs Sayso, without what only this process was told to look at."""
    prefixes = tuple(dict.fromkeys([Path(sys.prefix), Path(sys.base_prefix)]))
    entries = [Path(entry) for entry in sys.path if entry]
    return Interpreter(
        executable=Path(sys.executable),
        prefixes=prefixes,
        path=tuple(one for one in entries if any(map(one.is_relative_to, prefixes))),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Modules:
    """The installed modules. Implements `core.ports.Sources`."""

    interpreter: Interpreter
    work: Path
    """The working folder: steps write there, so nothing in it is ever called."""

    async def sha256(self, function: str) -> str | None:
        """See the port."""
        content = await asyncio.to_thread(self.content, function)
        return content if content is None else hashlib.sha256(content).hexdigest()

    def content(self, function: str) -> bytes | None:
        """Return what the file of a function holds, None where there is none; raise `Unavailable`."""
        file = self.file(function)
        try:
            return file.read_bytes() if file else None
        except OSError as error:
            raise Unavailable(
                "The code of a function cannot be read. Check its permissions, then ask again.",
                function=function,
                error=repr(error),
            ) from error

    def file(self, function: str) -> Path | None:
        """Return the file that a function is in, None where none is installed."""
        parts = function.partition(":")[0].split(".")
        for root in self.interpreter.path:
            at = root.joinpath(*parts)
            for file in (at / "__init__.py", at.with_name(f"{at.name}.py")):
                if file.is_file():
                    return None if file.resolve().is_relative_to(self.work.resolve()) else file
        return None

    def fault(self, function: str, arguments: Collection[str]) -> str | None:
        """Say why a function cannot be called with arguments of these names, as far as a look tells."""
        module, _, name = function.partition(":")
        try:
            content = self.content(function)
        except Unavailable as error:
            return error.shown
        if content is None:
            return (
                f"There is no module {module} installed beside Sayso. Install its package; what lies "
                "in the working folder is never called."
            )
        return _fault(content, module, name, tuple(arguments))


@lru_cache(maxsize=64)
def _fault(content: bytes, module: str, name: str, arguments: tuple[str, ...]) -> str | None:
    if len(content) > _MOST_BYTES:
        return f"The module {module} is too large to be looked at."
    try:
        body = ast.parse(content).body
    except (SyntaxError, ValueError, RecursionError):
        return f"The module {module} is no Python that this interpreter can read."
    found = [one for one in _statements(body) if name in _names(one)]
    if not found:
        is_open = any(_may_hold_anything(one) for one in _statements(body))
        return None if is_open else f"The module {module} has no function {name}."
    last = found[-1]
    if not isinstance(last, _Definition) or last.decorator_list:
        return None  # nobody knows what it takes before it is there
    return _misfit(last, arguments)


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield what stands at the top of a module, also within its ifs and tries."""
    for one in body:
        yield one
        if isinstance(one, ast.If | ast.Try):
            caught = [s for handler in getattr(one, "handlers", []) for s in handler.body]
            yield from _statements([*one.body, *caught, *one.orelse])


def _names(statement: ast.stmt) -> set[str]:
    """Return what a statement binds."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name for alias in statement.names}
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        return {
            one.id
            for one in ast.walk(statement)
            if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
        }
    return set()


def _may_hold_anything(statement: ast.stmt) -> bool:
    return bool(_names(statement) & {"*", "__getattr__"})


def _misfit(function: _Definition, arguments: Sequence[str]) -> str | None:
    """Say which argument a function lacks or does not know; None where a call of it would begin."""
    takes = function.args
    if takes.posonlyargs:
        return (
            f"The function {function.name} takes arguments without a name, which no step gives it."
        )
    names = [one.arg for one in (*takes.args, *takes.kwonlyargs)]
    unknown = [one for one in arguments if one not in names]
    if unknown and takes.kwarg is None:
        return f"The function {function.name} takes no argument {unknown[0]}."
    needed = takes.args[: len(takes.args) - len(takes.defaults)]
    needed += [
        one for one, default in zip(takes.kwonlyargs, takes.kw_defaults, strict=True) if not default
    ]
    missing = [one.arg for one in needed if one.arg not in arguments]
    return f"The function {function.name} needs an argument {missing[0]}." if missing else None
