"""Heads in a file: it only grows, by whole lines."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from adapters.heads_file import HeadsFile
from core.errors import Unavailable
from core.ports import Heads


def test_lines_are_added_and_the_last_one_is_read(tmp_path: Path) -> None:
    file = tmp_path / "heads.txt"
    heads: Heads = HeadsFile(file)
    assert heads.last() == ""
    heads.append("one 1 a")
    heads.append("two 2 b")
    assert HeadsFile(file).last() == "two 2 b"
    assert file.read_text() == "one 1 a\ntwo 2 b\n"


def test_the_last_line_of_a_long_file_is_found(tmp_path: Path) -> None:
    file = tmp_path / "heads.txt"
    file.write_text("2026 1 ffff\n" * 10_000)
    HeadsFile(file).append("the last one")
    assert HeadsFile(file).last() == "the last one"


def test_a_line_that_a_full_disk_cut_stays_by_itself(tmp_path: Path) -> None:
    file = tmp_path / "heads.txt"
    file.write_text("one 1 a\ntwo 2")
    HeadsFile(file).append("three 3 c")
    assert file.read_text() == "one 1 a\ntwo 2\nthree 3 c\n"


def test_many_at_once_add_whole_lines(tmp_path: Path) -> None:
    file = tmp_path / "heads.txt"
    lines = {f"{number} {'x' * 100}" for number in range(200)}
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(HeadsFile(file).append, lines))
    assert sorted(file.read_text().splitlines()) == sorted(lines)


def test_where_it_cannot_be_written_or_read_the_setting_is_named(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"audit\.heads"):
        HeadsFile(tmp_path / "missing" / "heads.txt").append("x")
    with pytest.raises(Unavailable, match=r"audit\.heads"):
        HeadsFile(tmp_path).last()
