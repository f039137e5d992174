"""The shape of the code base, as far as no linter holds it."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("bot", "adapters", "approvals", "core")
LONGEST = 300
HEAVY = {"pydantic", "pydantic_settings", "yaml", "sqlite3", "asyncio", "rfc8785"}
SQL = re.compile(
    r"\b(SELECT\b.*\bFROM|INSERT\s+(OR\s+\w+\s+)?INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM"
    r"|(CREATE|ALTER|DROP)\s+(UNIQUE\s+)?(TABLE|INDEX)|BEGIN\s+IMMEDIATE|PRAGMA)\b",
    re.DOTALL,
)
"""Statements, which are written in capitals everywhere."""
HELP = (
    "import sys\nfrom bot.cli import main\nsys.argv = ['sayso', '--help']\n"
    "try:\n    code = main()\nexcept SystemExit as end:\n    code = end.code\n"
    "print(code or 0, *sorted(sys.modules), file=sys.stderr)"
)


def modules() -> Iterator[Path]:
    return (file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py")))


def name(file: Path) -> str:
    return str(file.relative_to(ROOT))


def strings(file: Path) -> Iterator[str]:
    """Yield every text in a module that is no docstring, f-strings with their fixed parts."""
    tree = ast.parse(file.read_text("utf-8"))
    about = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in about:
            yield node.value


def calls(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func).rpartition(".")[2]


@pytest.mark.parametrize("package", PACKAGES)
def test_each_of_the_four_names_is_ours_and_typed(package: str) -> None:
    spec = find_spec(package)
    assert spec is not None
    assert spec.origin == str(ROOT / package / "__init__.py")
    assert (ROOT / package / "py.typed").is_file()


def test_every_folder_of_code_is_a_package_of_ours() -> None:
    folders = {file.parent for file in modules()}
    assert [name(folder) for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_no_module_is_longer_than_one_can_read() -> None:
    lengths = {name(file): len(file.read_text("utf-8").splitlines()) for file in modules()}
    assert len(lengths) > 40
    assert {file: length for file, length in lengths.items() if length > LONGEST} == {}


def test_help_imports_nothing_heavy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HELP],
        cwd=ROOT, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    code, *loaded = done.stderr.split()
    assert code == "0"
    assert "Commands:" in done.stdout
    assert "bot.cli" in loaded
    assert HEAVY.isdisjoint(loaded)


def test_a_command_that_prints_once_imports_nothing_that_draws() -> None:
    script = "import sys, bot.console\nprint(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert "bot" in loaded
    assert {"rich", "prompt_toolkit", "pygments"}.isdisjoint(loaded)


def test_sql_is_written_in_the_storage_alone() -> None:
    found = {name(file) for file in modules() if any(map(SQL.search, strings(file)))}
    assert found
    assert {file for file in found if not file.startswith("adapters/storage/")} == set()
    elsewhere = {name(f) for package in PACKAGES for f in (ROOT / package).rglob("*.sql")}
    assert {file for file in elsewhere if not file.startswith("adapters/storage/")} == set()


def test_only_the_storage_makes_the_proof_that_a_request_was_spent() -> None:
    assert [name(f) for f in modules() if "Spent" in calls(f)] == ["adapters/storage/beginning.py"]
