"""Attack 32 on the real product: whatever stands in a value, a program gets it as one argument, or nobody does."""

import json

import pytest

from tests.sayso import BACKENDS, Sayso

SAYS = """
summary: Print what it was called with.
risk: low
params:
  one: {type: string}
  two: {type: string}
  name: {type: string, may_start_with: "-@"}
phrases: ["tell {one} {two} {name}"]
steps:
  - run: [echo, "{one}", "{two}", rm, "{one}{two}"]
  - run: [python3, -c, "import json, sys; print(json.dumps(sys.argv[1:]))", --, "{name}", "--to={one}"]
"""


@pytest.fixture
def folder(empty: Sayso) -> Sayso:
    empty.runbook("tell", SAYS)
    (empty.folder / "work" / "file").write_text("what is in the file", "utf-8")
    return empty


@pytest.mark.parametrize("backend", BACKENDS, indirect=True)
@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("$(id)", ";"),
        ("`id`", "&& touch made"),
        ("${HOME} ~ *", "| tee made > made"),
        ("'\"\\", "{name} %s !!"),
    ],
)
def test_attack_32_no_character_means_anything_to_anybody(
    folder: Sayso, one: str, two: str
) -> None:
    before = sorted(file.name for file in (folder.folder / "work").iterdir())
    wish = f"!tell {' '.join(f'{n}={json.dumps(v)}' for n, v in (('one', one), ('two', two), ('name', '@file')))}"
    request = folder.ask(wish, "bob")["request"]["id"]
    first, second = folder.run("approve", request, as_="bob").run["steps"]
    assert first["output"] == f"{one} {two} rm {one}{two}\n"
    assert json.loads(second["output"]) == ["--", "@file", f"--to={one}"]
    assert sorted(file.name for file in (folder.folder / "work").iterdir()) == before


@pytest.mark.parametrize("value", ["-rf", "--", "--force", "@file", "@/etc/passwd"])
def test_attack_32_what_a_program_takes_for_a_flag_or_a_file_is_refused(
    folder: Sayso, value: str
) -> None:
    done = folder.run("ask", f'!tell one="{value}" two=b name=c', as_="bob")
    assert done.json["request"] is None
    assert "`one`: it must not start with U+" in done.json["text"]
    assert folder.sql("SELECT count(*) FROM request") == [(0,)]
