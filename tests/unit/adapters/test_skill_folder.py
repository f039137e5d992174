"""T12: a folder of skills, of which a bad file does not take the others with it."""

from pathlib import Path

import pytest

from adapters import skill_folder
from adapters.skill_folder import shelf
from core.errors import Invalid

SOUND = "---\nname: {name}\nsummary: About it\n---\nText.\n"


def write(folder: Path, name: str, text: str = SOUND) -> Path:
    file = folder / f"{name}.md"
    file.write_text(text.format(name=name))
    return file


def test_t12_sound_files_are_read_in_order_and_everything_else_is_left(tmp_path: Path) -> None:
    write(tmp_path, "b")
    write(tmp_path, "a")
    (tmp_path / "notes.txt").write_text("no skill")
    found = shelf(tmp_path)
    assert [one.name for one in found.skills] == ["a", "b"]
    assert found.faults == ()


def test_t12_a_bad_file_is_one_line_and_the_rest_is_there(tmp_path: Path) -> None:
    folder = tmp_path / "skills"
    folder.mkdir()
    write(folder, "a")
    write(folder, "b", "---\nname: b\n---\n")
    (folder / "c.md").write_bytes(b"---\nname: c\xff\n")
    (folder / "d.md").mkdir()
    found = shelf(folder)
    assert [one.name for one in found.skills] == ["a"]
    assert [fault.split(": ")[0] for fault in found.faults] == [
        "skills/b.md:2", "skills/c.md:1", "skills/d.md:1",
    ]  # fmt: skip


def test_t12_what_only_points_elsewhere_is_not_read(tmp_path: Path) -> None:
    folder = tmp_path / "skills"
    folder.mkdir()
    (folder / "away.md").symlink_to(write(tmp_path, "away"))
    assert shelf(folder).skills == ()
    assert "it is no file of this folder" in shelf(folder).faults[0]


def test_t12_a_file_that_is_too_large_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "a")
    monkeypatch.setattr(skill_folder, "_LARGEST", 10)
    assert shelf(tmp_path).skills == ()


def test_t12_a_folder_that_is_not_there_says_which_setting_to_correct(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"Check `toolsets\.skills\.folder`"):
        shelf(tmp_path / "nothing")
