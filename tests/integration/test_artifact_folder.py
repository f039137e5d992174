"""Whole outputs in a real folder: its rights, a full disk, and what a process left that died."""

import os
import stat
from collections.abc import AsyncIterator
from io import FileIO
from pathlib import Path

import pytest

from adapters import artifact_folder
from adapters.artifact_folder import ArtifactFolder
from core.errors import Unavailable


async def piece(data: bytes = b"x") -> AsyncIterator[bytes]:
    yield data


async def test_nobody_but_this_account_reads_what_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "artifacts"
    was = os.umask(0)
    try:
        await ArtifactFolder(folder=folder, most_bytes=10).keep("r_1.0", piece())
    finally:
        os.umask(was)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "r_1.0").stat().st_mode) == 0o600


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="has no device that is full")
async def test_a_disk_that_is_full_keeps_nothing_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> FileIO:
        return FileIO("/dev/full", "w")

    monkeypatch.setattr(artifact_folder, "FileIO", full)
    with pytest.raises(Unavailable) as raised:
        await ArtifactFolder(folder=tmp_path, most_bytes=10).keep("r_1.0", piece())
    assert raised.value.shown == "The disk is full."
    assert os.listdir(tmp_path) == []  # noqa: PTH208


async def test_a_folder_that_cannot_be_written_or_read_says_so(tmp_path: Path) -> None:
    (tmp_path / "artifacts").write_text("not a folder")
    shelf = ArtifactFolder(folder=tmp_path / "artifacts", most_bytes=10)
    for call in (shelf.keep("r_1.0", piece()), shelf.read("r_1.0"), shelf.remove(["r_1.0"])):
        with pytest.raises(Unavailable):
            await call
    assert await shelf.left() == frozenset()


async def test_what_a_process_left_that_died_is_found_once_it_is_old(tmp_path: Path) -> None:
    shelf = ArtifactFolder(folder=tmp_path, most_bytes=10)
    half = tmp_path / ".r_1.0.0123456789abcdef"
    half.write_bytes(b"ha")
    assert await shelf.left() == frozenset()
    os.utime(half, (0, 0))
    assert await shelf.left() == {half.name}
    await shelf.remove({half.name})
    assert os.listdir(tmp_path) == []  # noqa: PTH208


async def test_a_large_one_is_written_beside_everything_else_that_goes_on(tmp_path: Path) -> None:
    async def many() -> AsyncIterator[bytes]:
        for _ in range(128):
            yield b"a" * 65536

    shelf = ArtifactFolder(folder=tmp_path, most_bytes=2**23)
    assert (await shelf.keep("r_1.0", many())).bytes == 2**23
    assert (tmp_path / "r_1.0").stat().st_size == 2**23
