"""What docs/ says is so: its commands run, its files load and fit, the tests and names it mentions exist."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from bot import schemas, settings
from core import documents, runbooks, skills
from tests.sayso import environment

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))
PLAYED = ("add-a-runbook.md", "add-a-tool.md", "operate.md")
"""Pages whose `sh` blocks are run, each in order, in a copy of what they need."""
pytestmark = pytest.mark.timeout(180)  # a page is many commands, one after another

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"# (sayso\.yml|runbooks/[a-z-]+\.yml)\n")
_SECTION = re.compile(r"# sayso\.yml, .*\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block of a page."""

    kind: str
    text: str

    @property
    def file(self) -> str | None:
        """Return the file that it is, by its first line."""
        named = _NAMED.match(self.text)
        return named[1] if named else None


def blocks(page: Path) -> list[Block]:
    return [Block(kind=m[1], text=m[2]) for m in _BLOCK.finditer(page.read_text("utf-8"))]


def script(page: Path) -> str:
    """Return a page's commands, and its files where they stand, as one script."""
    return "".join(
        block.text
        if block.kind == "sh"
        else f"cat >{block.file} <<'END_OF_FILE'\n{block.text}END_OF_FILE\n"
        for block in blocks(page)
        if block.kind == "sh" or block.file
    )


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Give what a clone holds for a reader, with `sayso` and `pip` as an installation has them."""
    folder = tmp_path / "clone"
    shutil.copytree(ROOT / "docs", folder / "docs")
    programs = folder / "bin"
    programs.mkdir()
    site = folder / "site"
    for name, line in {
        "sayso": f'exec "{sys.executable}" -m bot "$@"',
        "python3": f'exec "{sys.executable}" "$@"',
        "pip": f'shift; exec "{sys.executable}" -m pip install -q --disable-pip-version-check '
        f'--no-index --no-build-isolation --no-compile --target "{site}" "$@"',
    }.items():
        (programs / name).write_text(f"#!/bin/sh\n{line}\n")
        (programs / name).chmod(0o755)
    return folder


@pytest.mark.parametrize("name", PLAYED)
def test_every_command_of_a_page_does_what_it_says(clone: Path, name: str) -> None:
    text = script(ROOT / "docs" / name)
    assert text.count("sayso ") >= 3
    play(clone, text)


def test_the_readme_leads_one_person_to_a_first_approved_run_in_an_empty_folder(
    clone: Path,
) -> None:
    _, _, rest = (ROOT / "README.md").read_text("utf-8").partition("\n## Use it for your own")
    text = "".join(m[2] for m in _BLOCK.finditer(rest) if m[1] == "sh")
    assert "--as" not in text
    assert play(clone, text).splitlines()[-1].startswith("Approved by me;")


def play(clone: Path, text: str) -> str:
    """Do what stands there, in a clone, and return what it prints; the first failure is one of the page."""
    done = subprocess.run(
        ["/bin/bash", "-euo", "pipefail", "-c", _strict(text)],
        cwd=clone,
        env=environment(
            {
                "PATH": f"{clone / 'bin'}:/usr/bin:/bin",
                "PYTHONPATH": f"{ROOT}:{clone / 'site'}",
                "HOME": str(clone),
            }
        ),
        capture_output=True, text=True, check=False, timeout=170,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout[-1500:]}\n{done.stderr[-3000:]}"
    return done.stdout


def _strict(text: str) -> str:
    """Have a command behind `!` fail the page where it succeeds, which `set -e` does not."""
    return re.sub(
        r"^! (.*)$", r"if \1; then echo 'not refused: \1' >&2; exit 1; fi", text, flags=re.M
    )


def test_a_page_with_commands_is_played_or_has_none_for_us() -> None:
    assert [p.name for p in PAGES if any(b.kind == "sh" for b in blocks(p))] == [*PLAYED]
    kinds = {block.kind for page in PAGES for block in blocks(page)}
    assert kinds <= {"sh", "yaml", "console", "text", "json"}


def yamls() -> Iterator[tuple[str, Block]]:
    for page in (ROOT / "README.md", *PAGES):
        yield from ((page.name, block) for block in blocks(page) if block.kind == "yaml")


@pytest.mark.parametrize(("page", "block"), [*yamls()])
def test_every_file_in_the_docs_loads_and_fits_its_schema(
    page: str, block: Block, tmp_path: Path
) -> None:
    named = block.file or ("sayso.yml" if _SECTION.match(block.text) else "runbooks/x.yml")
    value = documents.load(block.text, page).value
    what: schemas.What = "settings" if named == "sayso.yml" else "runbook"
    assert schema_errors(what, value) == []
    if what == "runbook":
        runbooks.read(block.text, page)
    else:
        file = tmp_path / "sayso.yml"
        file.write_text(block.text)
        settings.read(file)


def test_the_skill_of_the_readme_is_one_and_can_be_typed_where_it_is_configured() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    [shown] = [block.text for block in blocks(ROOT / "README.md") if block.kind == "markdown"]
    assert skills.skill(shown, "deploy.md", "deploy").summary == "How web is deployed."
    [section] = re.findall(r"^  skills: \{(.*)\}", text, re.MULTILINE)
    assert "`!skill deploy`" in text
    assert "command" in section


def schema_errors(what: schemas.What, value: Any) -> list[str]:  # noqa: ANN401 - whatever it holds
    found = Draft202012Validator(schemas.schema(what))
    return [e.message for e in found.iter_errors(value)]  # pyright: ignore[reportUnknownMemberType]  # in its stubs


@pytest.mark.parametrize("file", sorted((ROOT / "docs/examples").rglob("*.yml")), ids=str)
def test_every_example_names_a_schema_that_is_there_and_fits_it(file: Path) -> None:
    first, _, _ = file.read_text("utf-8").partition("\n")
    schema = (file.parent / first.removeprefix("# yaml-language-server: $schema=")).resolve()
    assert schema.parent == ROOT / "docs" / "schema"
    what: schemas.What = "settings" if schema.name.startswith("sayso") else "runbook"
    assert schema_errors(what, documents.load(file.read_text("utf-8"), file.name).value) == []


def holds(file: Path, test: str) -> bool:
    """Whether a file of tests is there, and holds this one where one is named."""
    return file.is_file() and (not test or f"def {test}(" in file.read_text("utf-8"))


def test_every_test_that_the_docs_name_exists() -> None:
    named = re.findall(
        r"`(tests/[\w/]+\.py)(?:::(test_\w+))?`",
        "".join(page.read_text("utf-8") for page in (ROOT / "README.md", *PAGES)),
    )
    assert len(named) > 50
    missing = [(file, test) for file, test in named if not holds(ROOT / file, test)]
    assert missing == []


def test_the_table_of_attacks_is_whole() -> None:
    text = (ROOT / "docs" / "threat-model.md").read_text("utf-8")
    rows = re.findall(r"^\| (\d+) \|(.*)\|(.*)\|(.*)\|$", text, re.MULTILINE)
    assert [int(number) for number, *_ in rows] == [*range(1, 41)]
    for number, _, stops, test in rows:
        assert stops.strip() or "comes with" in test, number
        assert "`tests/" in test or "comes with" in test, number


def test_every_word_of_the_glossary_is_in_the_code() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 20
    for word, _, code in rows:
        names = re.findall(r"`([\w.]+)\.(\w+)`", code)
        assert names, word
        assert all(hasattr(import_module(module), name) for module, name in names), word


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text("utf-8"))
    assert [link for link in links if not os.path.exists(page.parent / link)] == []  # noqa: PTH110
