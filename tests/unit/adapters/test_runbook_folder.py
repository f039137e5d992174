"""The catalogue as a folder."""

import os
from pathlib import Path

import pytest

from adapters.runbook_folder import RunbookFolder
from core.errors import Invalid, Unavailable

SOUND = "name: {name}\nsummary: s\nsteps: [{{run: [ls]}}]\n"


def write(folder: Path, file: str, name: str) -> None:
    (folder / file).write_text(SOUND.format(name=name))


def test_one_bad_file_does_not_stop_the_rest(tmp_path: Path) -> None:
    write(tmp_path, "one.yml", "one")
    (tmp_path / "two.yaml").write_text("name: two\nsteps: []")
    (tmp_path / "three.yml").write_bytes(b"\xff\xfe")
    (tmp_path / "notes.txt").write_text("not a runbook")
    found = RunbookFolder(tmp_path, strict=False).catalogue()
    assert [tool.name for tool in found.tools] == ["one"]
    assert len(found.faults) == 2
    assert all(fault.startswith(f"{tmp_path.name}/t") for fault in found.faults)


def test_strict_refuses_to_offer_anything_while_a_file_is_bad(tmp_path: Path) -> None:
    write(tmp_path, "one.yml", "one")
    (tmp_path / "two.yml").write_text("")
    assert RunbookFolder(tmp_path, strict=False).toolbox().tools
    with pytest.raises(Invalid, match=r"two\.yml:1"):
        RunbookFolder(tmp_path, strict=True).toolbox()


def test_an_edit_gives_a_tool_another_definition(tmp_path: Path) -> None:
    write(tmp_path, "one.yml", "one")
    folder = RunbookFolder(tmp_path, strict=False)
    before = folder.toolbox()["one"]
    assert folder.toolbox()["one"] is before
    (tmp_path / "one.yml").write_text(SOUND.format(name="one") + "# a comment\n")
    assert folder.toolbox()["one"].definition != before.definition


def test_two_runbooks_of_one_name_are_both_left_out(tmp_path: Path) -> None:
    write(tmp_path, "a.yml", "same")
    write(tmp_path, "b.yml", "same")
    write(tmp_path, "c.yml", "other")
    found = RunbookFolder(tmp_path, strict=False).catalogue()
    assert [tool.name for tool in found.tools] == ["other"]
    assert [fault.split(":")[0][-5:] for fault in found.faults] == ["a.yml", "b.yml"]


def test_a_runbook_cannot_take_a_word_of_our_own(tmp_path: Path) -> None:
    write(tmp_path, "a.yml", "approve")
    found = RunbookFolder(tmp_path, strict=False).catalogue()
    assert not found.tools.tools
    assert "a.yml:1: `approve` is a word of Sayso's own" in found.faults[0]


def test_a_folder_that_is_gone_is_no_empty_catalogue(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"runbooks\.folder"):
        RunbookFolder(tmp_path / "gone", strict=False).toolbox()


def test_a_pipe_or_a_name_with_line_breaks_is_one_line_and_stops_nothing(tmp_path: Path) -> None:
    write(tmp_path, "one.yml", "one")
    os.mkfifo(tmp_path / "pipe.yml")
    (tmp_path / "x\nERROR all fine\x1b[31m.yml").write_text("")
    (tmp_path / "bad.yml").write_text("name: bad\nsummary: !!bool maybe\nsteps: [{run: [ls]}]\n")
    found = RunbookFolder(tmp_path, strict=False).catalogue()
    assert [tool.name for tool in found.tools] == ["one"]
    assert len(found.faults) == 3
    assert all(fault.isprintable() for fault in found.faults)


UNDO = """name: {name}
summary: s
effect: {effect}
params:
  word: {{type: string}}
undo: {undo}
steps: [{{run: [ls, "{{word}}"]}}]
"""


def undoing(folder: Path, name: str, undo: str, effect: str = "write") -> None:
    text = UNDO.format(name=name, undo=undo, effect=effect)
    (folder / f"{name}.yml").write_text(text)


def test_what_undoes_a_runbook_may_be_any_other_or_itself(tmp_path: Path) -> None:
    undoing(tmp_path, "put", "{runbook: drop}")
    undoing(tmp_path, "drop", "{runbook: put, args: {word: none}}")
    undoing(tmp_path, "toggle", "{runbook: toggle}")
    found = RunbookFolder(tmp_path, strict=True).toolbox()
    assert {one.name: one.undo and one.undo.runbook for one in found} == {
        "put": "drop",
        "drop": "put",
        "toggle": "toggle",
    }


@pytest.mark.parametrize(
    ("undo", "effect", "told"),
    [
        ("{runbook: gone}", "write", "put.yml:6: undo.runbook: there is no sound runbook"),
        ("{runbook: look}", "write", "put.yml:6: undo.runbook: there is no sound runbook"),
        ("{runbook: other}", "write", "put.yml:6: undo.runbook: other needs `count`"),
        ("{runbook: put, args: {w: x}}", "write", "put.yml:6: undo.args.w: put has no parameter"),
        ("{runbook: put}", "read", "put.yml:6: undo: a read leaves nothing"),
    ],
)
def test_a_bad_undo_is_told_with_its_line_and_is_not_offered(
    tmp_path: Path, undo: str, effect: str, told: str
) -> None:
    undoing(tmp_path, "put", undo, effect)
    undoing(tmp_path, "look", "null", "read")
    (tmp_path / "other.yml").write_text(
        "name: other\nsummary: s\nparams: {count: {type: integer}}\nsteps: [{run: [ls]}]\n"
    )
    found = RunbookFolder(tmp_path, strict=False).catalogue()
    [fault] = found.faults
    assert told in fault
    # The operation itself is sound, so it goes on without.
    assert found.tools["put"].undo is None
    with pytest.raises(Invalid, match=r"put\.yml:6: undo"):
        RunbookFolder(tmp_path, strict=True).toolbox()


def test_a_runbook_that_came_to_be_bad_undoes_nothing_any_more(tmp_path: Path) -> None:
    undoing(tmp_path, "put", "{runbook: drop}")
    undoing(tmp_path, "drop", "null")
    folder = RunbookFolder(tmp_path, strict=False)
    assert folder.toolbox()["put"].undo
    (tmp_path / "drop.yml").write_text("name: drop\n")
    assert folder.toolbox()["put"].undo is None
    undoing(tmp_path, "drop", "null")
    assert folder.toolbox()["put"].undo
