"""The working folder, as far as a plan is bound to what lies in it."""

import asyncio
import hashlib
import os
import stat
from pathlib import Path

from core.errors import Unavailable


class WorkFolder:
    """Reads files of one folder and nothing outside it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def sha256(self, file: str) -> str | None:
        """Return the digest of a file's content, None where there is no such file.

        Raises `Unavailable` where it cannot be read, is no regular file, or lies outside.
        """
        return await asyncio.to_thread(self._sha256, file)

    def _sha256(self, file: str) -> str | None:
        try:
            return _digest(self._inside(file))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError) as error:
            raise Unavailable(
                "A file that this depends on cannot be read. Check its permissions, then ask again.",
                file=file,
                error=repr(error),
            ) from error

    def _inside(self, file: str) -> Path:
        """Return where a file really is, every link followed; refuse what leaves the folder."""
        folder = Path(os.path.realpath(self._folder))
        if not folder.is_dir():
            # Not "no such file": a folder that is not mounted right now must not pass for an empty one.
            raise Unavailable("The working folder is missing.", folder=str(folder))
        # Not Path.resolve: that raises a RuntimeError for a loop on Python 3.11 and 3.12.
        path = Path(os.path.realpath(folder / file))
        if not path.is_relative_to(folder):
            raise Unavailable(
                "A file that this depends on is outside the working folder.", file=file
            )
        return path


def _digest(path: Path) -> str:
    # Without O_NONBLOCK, opening a pipe waits for a writer; with O_NOFOLLOW, a link that was put
    # here after the look at the path is not followed.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb", buffering=0) as content:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Unavailable("Something that this depends on is not a file.", path=str(path))
        return hashlib.file_digest(content, "sha256").hexdigest()
