"""Heads in a file: it only grows, by whole lines."""

import os
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from adapters.heads_file import HeadsFile
from core.errors import Unavailable
from core.ports import Heads


def test_lines_are_added_and_the_last_one_is_read(tmp_path: Path) -> None:
    file = tmp_path / "heads.txt"
    heads: Heads = HeadsFile(file)
    assert heads.last() == ""
    heads.append("2026-11 1 a")
    heads.append("two 2 b")
    assert HeadsFile(file).last() == "two 2 b"
    assert file.read_text() == "2026-11 1 a\ntwo 2 b\n"


def test_the_last_line_of_a_long_file_is_found(tmp_path: Path) -> None:
    file = tmp_path / "heads.txt"
    file.write_text("2026-1 ffff\n" * 10_000)
    HeadsFile(file).append("the last one")
    assert HeadsFile(file).last() == "the last one"


def test_a_line_that_a_full_disk_cut_stays_by_itself(tmp_path: Path) -> None:
    file = tmp_path / "heads.txt"
    file.write_text("2026-11 1 a\ntwo 2")
    HeadsFile(file).append("three 3 c")
    assert file.read_text() == "2026-11 1 a\ntwo 2\nthree 3 c\n"


def test_many_at_once_add_whole_lines(tmp_path: Path) -> None:
    file = tmp_path / "heads.txt"
    lines = {f"2026-{number} {'x' * 100}" for number in range(200)}
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(HeadsFile(file).append, lines))
    assert sorted(file.read_text().splitlines()) == sorted(lines)


def test_where_it_cannot_be_written_or_read_the_setting_is_named(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"audit\.heads"):
        HeadsFile(tmp_path / "missing" / "heads.txt").append("x")
    with pytest.raises(Unavailable, match=r"audit\.heads"):
        HeadsFile(tmp_path).last()


def _bound(path: Path) -> None:
    with closing(socket.socket(socket.AF_UNIX)) as made:
        made.bind(str(path))


def _linked(path: Path) -> None:
    file = path.with_name("file")
    file.touch()
    path.symlink_to(file)


NO_FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "pipe": (os.mkfifo, "a pipe"),
    "folder": (Path.mkdir, "a folder"),
    "socket": (_bound, "a socket"),
    "link": (_linked, "a link"),
    "link that leads nowhere": (lambda path: path.symlink_to(path.with_name("file")), "a link"),
    "link to itself": (lambda path: path.symlink_to(path), "a link"),
}


@pytest.mark.parametrize("name", NO_FILES)
def test_what_is_no_file_is_named_and_nobody_waits_for_it(tmp_path: Path, name: str) -> None:
    make, called = NO_FILES[name]
    path = tmp_path / "heads.txt"
    make(path)
    before = {one.name: one.lstat().st_size for one in tmp_path.iterdir()}
    heads = HeadsFile(path)
    assert called in (heads.fault() or "")
    for using in (heads.last, lambda: heads.append("2026-11 1 a")):
        with pytest.raises(Unavailable, match=rf"audit\.heads.*{called}"):
            using()
    assert {one.name: one.lstat().st_size for one in tmp_path.iterdir()} == before


def test_a_device_is_not_even_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    heads = HeadsFile(Path(os.devnull))
    monkeypatch.setattr("adapters.heads_file.os.open", None)  # opening one may already do something
    for using in (heads.last, lambda: heads.append("2026-11 1 a")):
        with pytest.raises(Unavailable, match="a device"):
            using()


@pytest.mark.parametrize(("name", "why"), [("pipe", "a pipe"), ("link", r"audit\.heads")])
def test_what_was_put_there_after_the_look_is_no_file_either(
    tmp_path: Path, name: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "heads.txt"
    NO_FILES[name][0](path)

    def lie(_: Path) -> os.stat_result:
        return Path(__file__).stat()

    monkeypatch.setattr(Path, "lstat", lie)
    for using in (HeadsFile(path).last, lambda: HeadsFile(path).append("2026-11 1 a")):
        with pytest.raises(Unavailable, match=why):
            using()
    assert path.stat().st_size == 0


def test_nothing_is_wrong_with_a_file_that_is_there_or_will_be(tmp_path: Path) -> None:
    heads = HeadsFile(tmp_path / "heads.txt")
    assert heads.fault() is None
    heads.append("2026-11 1 a")
    assert heads.fault() is None


def test_a_line_that_was_cut_was_not_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heads, write = HeadsFile(tmp_path / "heads.txt"), os.write

    def cut(file: int, data: bytes) -> int:
        return write(file, data[:-3])

    monkeypatch.setattr("adapters.heads_file.os.write", cut)
    with pytest.raises(Unavailable, match=r"audit\.heads"):
        heads.append("2026-11 1 a")
    monkeypatch.undo()
    assert heads.last() == "2026-11 1"
    heads.append("2026-11 1 a")
    assert heads.last() == "2026-11 1 a"


@pytest.mark.parametrize("content", [b"SQLite format 3\0", b"tenants:\n", b"x", b"2026\n", b"\0"])
def test_a_file_of_something_else_is_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "sayso.db"
    file.write_bytes(content)
    heads = HeadsFile(file)
    assert heads.fault() == "it holds something else than heads. Name a new file."
    with pytest.raises(Unavailable, match="something else"):
        heads.append("2026-11 1 a")
    assert file.read_bytes() == content


@pytest.mark.parametrize("content", [b"", b"2", b"2026", b"2026-", b"2026-11-30T10:00"])
def test_a_file_that_a_full_disk_cut_is_one_of_heads(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "heads.txt"
    file.write_bytes(content)
    assert HeadsFile(file).fault() is None
