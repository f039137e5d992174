"""Real files, and other things that have a name."""

import asyncio
import hashlib
import os
import socket
from pathlib import Path

import pytest

from adapters.workfolder import WorkFolder
from core.errors import Unavailable
from core.ports import Files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "work"
    inside.mkdir()
    (tmp_path / "outside").write_text("outside", "utf-8")
    (tmp_path / "work-too").mkdir()
    (tmp_path / "work-too" / "file").write_text("outside", "utf-8")
    return inside


async def refused(folder: Path, file: str) -> Unavailable:
    with pytest.raises(Unavailable) as caught:
        await asyncio.wait_for(WorkFolder(folder).sha256(file), 5)
    assert caught.value.shown.endswith(".")
    assert "outside'" not in caught.value.shown
    return caught.value


@pytest.mark.parametrize("content", [b"", b"hello\n", b"\0\xff" * 1_000_000])
async def test_the_digest_is_that_of_the_content(folder: Path, content: bytes) -> None:
    (folder / "fleet").mkdir()
    (folder / "fleet" / "prod.json").write_bytes(content)
    files: Files = WorkFolder(folder)
    assert await files.sha256("fleet/prod.json") == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("file", ["missing", "no/such/folder", "file/below"])
async def test_no_such_file_is_none(folder: Path, file: str) -> None:
    (folder / "file").write_text("x", "utf-8")
    assert await WorkFolder(folder).sha256(file) is None


async def test_links_inside_the_folder_are_followed(folder: Path) -> None:
    (folder / "real").write_text("x", "utf-8")
    (folder / "link").symlink_to("real")
    (folder / "gone").symlink_to("missing")
    assert await WorkFolder(folder).sha256("link") == hashlib.sha256(b"x").hexdigest()
    assert await WorkFolder(folder).sha256("gone") is None


async def test_the_folder_itself_may_be_a_link(folder: Path, tmp_path: Path) -> None:
    (folder / "file").write_text("x", "utf-8")
    (tmp_path / "current").symlink_to(folder)
    files = WorkFolder(tmp_path / "current")
    assert await files.sha256("file") == hashlib.sha256(b"x").hexdigest()


@pytest.mark.parametrize(
    "file",
    ["../outside", "../work-too/file", "../missing", "/etc/passwd", "link", "away/outside", "lost"],
)
async def test_what_is_outside_is_refused_whether_or_not_it_exists(folder: Path, file: str) -> None:
    (folder / "link").symlink_to("../outside")
    (folder / "away").symlink_to("..")
    (folder / "lost").symlink_to("../missing")
    assert "outside the working folder" in (await refused(folder, file)).shown


async def test_what_is_no_file_is_refused_without_waiting_for_it(folder: Path) -> None:
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "socket"))
        for file in ("folder", "pipe", "socket", "", "."):
            await refused(folder, file)


@pytest.mark.parametrize("file", ["loop", "x" * 300, "a\0b", "\ud800"])
async def test_what_cannot_be_looked_at_is_refused(folder: Path, file: str) -> None:
    (folder / "loop").symlink_to("loop")
    error = await refused(folder, file)
    assert error.detail["file"] == file


async def test_a_link_that_appears_after_the_look_is_not_followed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "link").symlink_to("../outside")
    monkeypatch.setattr("os.path.realpath", os.fspath)  # as it was before the link was put there
    await refused(folder, "link")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
async def test_what_may_not_be_read_is_refused(folder: Path) -> None:
    (folder / "private").write_text("x", "utf-8")
    (folder / "private").chmod(0)
    (folder / "closed").mkdir()
    (folder / "closed" / "file").write_text("x", "utf-8")
    (folder / "closed").chmod(0)
    await refused(folder, "private")
    await refused(folder, "closed/file")


async def test_a_missing_folder_does_not_pass_for_a_missing_file(tmp_path: Path) -> None:
    assert "folder is missing" in (await refused(tmp_path / "missing", "file")).shown
