"""Whole outputs of steps, each in a file of its own in one folder. Implements `core.artifacts.Artifacts`.

A file has its name only once all of it is on the disk. What a process that died was writing goes by
another one, and is found among what is left.
"""

import asyncio
import errno
import hashlib
import os
import secrets
import time
from collections.abc import AsyncIterable, Collection
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from io import FileIO
from pathlib import Path

from core.artifacts import Stored
from core.errors import Refused, Unavailable
from core.sizes import in_words

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
_FULL = "The disk is full."
_NOT_WRITTEN = "The folder for whole outputs cannot be written: check its owner and its rights."
_NOT_READ = "The whole output cannot be read now. Check the folder of the artifacts."
_NOT_REMOVED = (
    "A whole output could not be removed from the folder of the artifacts. Check its owner and its "
    "rights, then do it once more."
)
_OLD = 3600.0
"""Seconds after which nobody is still about to write down that a file is theirs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactFolder:
    """A folder that nobody but this account reads, made once something is to be kept."""

    folder: Path
    most_bytes: int
    """What one file may have."""

    async def keep(self, name: str, pieces: AsyncIterable[bytes]) -> Stored:
        """See the port."""
        beside = self.folder / f".{name}.{secrets.token_hex(8)}"
        try:
            return await self._kept(beside, name, pieces)
        except OSError as error:
            words = _FULL if error.errno in _NO_ROOM else _NOT_WRITTEN
            raise Unavailable(words, error=repr(error)) from error
        finally:
            with suppress(OSError):  # it is found among what is left
                await asyncio.to_thread(beside.unlink, missing_ok=True)

    async def read(self, name: str) -> bytes | None:
        """See the port."""
        try:
            return await asyncio.to_thread((self.folder / name).read_bytes)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Unavailable(_NOT_READ, error=repr(error)) from error

    async def remove(self, names: Collection[str]) -> None:
        """See the port."""
        try:
            await asyncio.to_thread(_remove, [self.folder / name for name in names])
        except OSError as error:
            raise Unavailable(_NOT_REMOVED, error=repr(error)) from error

    async def left(self) -> frozenset[str]:
        """See the port."""
        try:
            return await asyncio.to_thread(_older, self.folder, time.time() - _OLD)
        except OSError as error:
            raise Unavailable(_NOT_READ, error=repr(error)) from error

    async def _kept(self, beside: Path, name: str, pieces: AsyncIterable[bytes]) -> Stored:
        file = await asyncio.to_thread(_begun, beside)
        try:
            stored = await self._written(file, pieces)
        finally:
            file.close()
        await asyncio.to_thread(_placed, beside, self.folder / name)
        return stored

    async def _written(self, file: FileIO, pieces: AsyncIterable[bytes]) -> Stored:
        digest, size = hashlib.sha256(), 0
        async for piece in pieces:
            size += len(piece)
            if size > self.most_bytes:
                raise Refused(
                    f"It is more than {in_words(self.most_bytes)}, the most that is kept."
                )
            digest.update(piece)
            await asyncio.to_thread(_write, file, piece)
        await asyncio.to_thread(os.fsync, file.fileno())
        return Stored(bytes=size, sha256=digest.hexdigest())


def _begun(beside: Path) -> FileIO:
    beside.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Without a buffer: what cannot be written is known at once, and nothing is left for the close.
    return FileIO(beside, "x", opener=partial(os.open, mode=0o600))


def _write(file: FileIO, piece: bytes) -> None:
    left = memoryview(piece)
    while left:
        left = left[file.write(left) :]


def _placed(beside: Path, there: Path) -> None:
    """Give a file its name, and have that be on the disk."""
    beside.replace(there)
    folder = os.open(there.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system that has no such thing for folders
            raise
    finally:
        os.close(folder)


def _remove(files: Collection[Path]) -> None:
    for file in files:
        file.unlink(missing_ok=True)


def _older(folder: Path, than: float) -> frozenset[str]:
    if not folder.is_dir():
        return frozenset()
    return frozenset(file.name for file in folder.iterdir() if _changed_at(file) < than)


def _changed_at(file: Path) -> float:
    try:
        return file.lstat().st_mtime
    except FileNotFoundError:
        return float("inf")  # somebody has just removed it
