"""C64: every error has a sentence for people, and nothing that was caught gets into it."""

import ast
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import pytest

from approvals.factors import CodeSpent
from bot import console
from bot.cli import cli
from bot.printed import Printed
from core.conversations import NotHere
from core.errors import Incorrect, Invalid, OutcomeUnknown, Refused, SaysoError, Unavailable
from core.jobs import LeaseLost
from core.rates import TooFast
from core.sealing import Unsealable
from core.stored_entries import Unreadable

ROOT = Path(__file__).parents[3]
PACKAGES = ("bot", "adapters", "approvals", "core")
CLASSES: dict[type[SaysoError], tuple[str, int]] = {
    Refused: ("refused", 1),
    Invalid: ("invalid", 2),
    Incorrect: ("refused", 1),
    TooFast: ("refused", 1),
    CodeSpent: ("refused", 1),
    Unsealable: ("refused", 1),
    NotHere: ("refused", 1),
    Unreadable: ("invalid", 2),
    Unavailable: ("unavailable", 1),
    LeaseLost: ("unavailable", 1),
    OutcomeUnknown: ("unknown_outcome", 1),
}
"""Each class, with what a script reads of it and the exit code."""
NAMES = {one.__name__ for one in CLASSES}


def files() -> Iterator[Path]:
    return (file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py")))


def kinds(of: type[SaysoError]) -> Iterator[type[SaysoError]]:
    for kind in of.__subclasses__():
        yield kind
        yield from kinds(kind)


def made() -> Iterator[tuple[str, ast.expr]]:
    """Yield every place where an error is made, with the sentence that it is given."""
    for file in files():
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            name = ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
            if isinstance(node, ast.Call) and name in NAMES:
                where = f"{file.relative_to(ROOT)}:{node.lineno}"
                assert node.args, f"{where}: {name} says nothing"
                yield where, node.args[0]


def test_c64_every_class_of_errors_stands_in_this_table() -> None:
    for file in files():
        if file.name not in {"__main__.py", "__init__.py"}:
            import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))
    ours = {one for one in kinds(SaysoError) if not one.__module__.startswith("tests.")}
    assert ours == set(CLASSES)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_c64_every_class_is_one_sentence_and_one_kind_to_whoever_ran_a_command(
    kind: type[SaysoError], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: Path) -> Printed:
        raise kind("It is so. Do this next.", secret="hunter2")

    def named(_: str) -> Callable[[Path], Printed]:
        return fails

    monkeypatch.setattr(console, "named", named)
    name, code = CLASSES[kind]
    said = f'{{"error": {{"kind": "{name}", "message": "It is so. Do this next."}}}}\n'
    for words, shown in (
        (["runs"], ("", "It is so. Do this next.\n")),
        (["runs", "--json"], (said, "")),
    ):
        with pytest.raises(SystemExit) as ended:
            cli.main(words)
        assert ended.value.code == code
        assert capsys.readouterr() == shown


def test_c64_every_error_that_is_made_says_a_whole_sentence() -> None:
    found = [*made()]
    assert len(found) > 100
    cut = [
        where
        for where, text in found
        if isinstance(text, ast.Constant)
        and not (isinstance(text.value, str) and text.value.rstrip()[-1:] in {".", "?"})
        and ": help" not in str(text.value)
    ]
    assert cut == []


def test_c64_nothing_that_was_caught_is_shown_as_it_is() -> None:
    """`str(exception)` may hold anything; only what was checked or is a name may be repeated."""
    found: list[str] = []
    for where, text in made():
        held = [n.value for n in ast.walk(text) if isinstance(n, ast.FormattedValue)]
        held += [n.args[0] for n in ast.walk(text) if _is_str(n) and isinstance(n, ast.Call)]
        found += [where for n in held if isinstance(n, ast.Name) and n.id in {"error", "caught"}]
    assert found == []


def _is_str(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"str", "repr"}
        and bool(node.args)
    )
