"""`sayso runbooks lint` on the command line: faults fail, what is unwise is told and may fail."""

import pytest

from tests.sayso import Sayso

CAREFUL = (
    "summary: s\nlock: x\nsteps: [{run: [cat, fleet.txt], timeout: 1s}]\nverify: {run: ['true']}\n"
)


@pytest.fixture
def here(empty: Sayso) -> Sayso:
    for file in (empty.folder / "runbooks").iterdir():
        file.unlink()
    return empty


def test_of_careful_runbooks_nothing_is_said_even_where_it_is_strict(here: Sayso) -> None:
    here.runbook("careful", CAREFUL)
    done = here.run("runbooks", "lint", "--strict")
    assert (done.code, done.json) == (0, {"ok": True, "problems": [], "warnings": []})


def test_what_is_unwise_is_told_and_fails_only_where_it_is_strict(here: Sayso) -> None:
    here.runbook("careful", CAREFUL.replace("lock: x\n", ""))
    said = (
        "runbooks/careful.yml:1: lock: two approved runs of it may run at once. Name what one of "
        "them needs for itself."
    )
    kind, strict = here.run("runbooks", "lint"), here.run("runbooks", "lint", "--strict")
    assert (kind.code, kind.json["ok"], kind.json["warnings"]) == (0, True, [said])
    assert (strict.code, strict.json["ok"], strict.json["warnings"]) == (2, False, [said])
    assert here.run("runbooks", "lint", plain=True).out == f"{said} (warning)\n"


@pytest.mark.parametrize("word", ["nosuch", "./nosuch", "./fleet.txt"])
def test_a_program_that_is_not_there_is_told_with_its_field(here: Sayso, word: str) -> None:
    here.runbook("careful", CAREFUL.replace("'true'", word))
    [line] = here.run("runbooks", "lint").json["warnings"]
    assert line.startswith("runbooks/careful.yml:5: verify.run: no program of this name is in /usr")


def test_a_file_that_is_wrong_fails_and_the_others_are_still_looked_at(here: Sayso) -> None:
    here.runbook("broken", "steps: []\n")
    here.runbook("careful", CAREFUL.replace("lock: x\n", ""))
    done = here.run("runbooks", "lint")
    assert (done.code, done.json["ok"]) == (2, False)
    assert "runbooks/broken.yml:" in done.json["problems"][0]
    assert "runbooks/careful.yml:" in done.json["warnings"][0]


def test_a_folder_that_is_missing_is_one_problem(here: Sayso) -> None:
    (here.folder / "runbooks").rmdir()
    done = here.run("runbooks", "lint")
    assert (done.code, done.json["warnings"]) == (2, [])
    assert len(done.json["problems"]) == 1
