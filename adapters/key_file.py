"""The key that signs receipts, in a file of its own beside the database."""

import errno
import os
import re
import secrets
import stat
import time
from contextlib import suppress
from pathlib import Path

from core.errors import Invalid, Unavailable
from core.signatures import SEED_BYTES, Key

NAME = "sayso.key"
_WORD = "sayso-key-1"
_LARGEST = 1000
_BESIDE = re.compile(rf"\.{re.escape(NAME)}\.[0-9a-f]{{16}}")
"""What a key is called while it is made."""
_OLD = 3600.0
"""Seconds after which whoever began to make one is not about to end."""
_NOT_READ = f"{NAME}, beside the database, cannot be read. Check its owner and its rights."
_LINK = (
    f"{NAME}, beside the database, is a link, and there is no key that can be read where it leads. Put "
    "the key back there; where there is none, remove the link, and a new key is made."
)
_NO_FILE = (
    f"{NAME}, beside the database, is no file but a folder, a pipe or a device. Move it away: then a new "
    "key is made."
)
_THEIRS = (
    f"{NAME}, beside the database, belongs to another account than the one that runs this, so it proves "
    "nothing. Run this as that account; where it is not Sayso's, move the file away, and a new key is made."
)
_WIDE = (
    f"{NAME} can be read by other accounts, so it proves nothing. Write: chmod 600 {NAME}; "
    "if somebody may have copied it, move it away, and a new key is made."
)
_NOT_MADE = (
    f"{NAME} cannot be made beside the database. Check its folder: its rights, its room, and that its "
    "file system has hard links."
)
_NOT_KEPT = (
    f"Nothing is signed: what is in the folder of {NAME} does not get to the disk, so a crash could "
    "take the key away. Check its folder and that disk."
)


class KeyFile:
    """Implements `core.ports.Keys`: one file, made once and never overwritten."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def key(self) -> Key:
        """Return the key; make it where there is none yet. Of two processes at once, one makes it."""
        found = self.kept()
        if found is None:
            self._make(Key.new())
            found = self.kept()
        if found is None:
            raise Unavailable(f"{NAME} was taken away as soon as it was made. Try again.")
        self._must_last()
        self._tidy()
        return found

    def kept(self) -> Key | None:
        """Return the key, None where none was made yet; raise `Invalid` for a file that holds none."""
        try:
            text = self._text()
        except OSError as error:
            if self._path.is_symlink():
                raise Invalid(_LINK, error=repr(error)) from error
            if isinstance(error, FileNotFoundError):
                return None
            raise Invalid(_NOT_READ, error=repr(error)) from error
        return _read(text)

    def _text(self) -> str:
        """Return what is in the file: nobody waits for a pipe, or starts a device."""
        _must_be_file(self._path.stat())
        file = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        with os.fdopen(file, "rb") as content:
            found = os.fstat(file)
            _must_be_file(found)
            _must_be_ours_alone(found)
            return content.read(_LARGEST).decode("ascii", "replace")

    def _make(self, key: Key) -> None:
        """Write a key whole or not at all; where another process was first, its key stays."""
        beside = self._path.with_name(f".{NAME}.{secrets.token_hex(8)}")
        try:
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(f"{_WORD} {key.seed.hex()} {key.public}\n")
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):
                self._path.hardlink_to(beside)
        except OSError as error:
            raise Unavailable(_NOT_MADE, error=repr(error)) from error
        finally:
            beside.unlink(missing_ok=True)

    def _must_last(self) -> None:
        """Have its name be on the disk, whoever made it, so that no crash takes away what has signed."""
        try:
            folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            if error.errno != errno.EINVAL:  # a file system that has no such thing for folders
                raise Unavailable(_NOT_KEPT, error=repr(error)) from error

    def _tidy(self) -> None:
        """Remove what those left who died while they made a key: it is one, if not this very one."""
        with suppress(OSError):
            for file in [*self._path.parent.iterdir()]:
                if _BESIDE.fullmatch(file.name):
                    _remove_if_left(file)


def _must_be_file(found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise Invalid(_NO_FILE)


def _must_be_ours_alone(found: os.stat_result) -> None:
    if found.st_uid != os.geteuid():
        raise Invalid(_THEIRS)
    if stat.S_IMODE(found.st_mode) & 0o077:
        raise Invalid(_WIDE)


def _remove_if_left(file: Path) -> None:
    with suppress(OSError):  # it stays, and nothing rests on it
        found = file.lstat()
        is_ours = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()
        if is_ours and found.st_mtime < time.time() - _OLD:
            file.unlink()


def _read(text: str) -> Key:
    """Return the key of a file's text; its public part is there to show a file that was damaged."""
    broken = Invalid(
        f"{NAME}, beside the database, is damaged. Restore it from a backup; where there is none, move "
        "it away: a new key is made, and what the old one signed is checked with the old public key."
    )
    word, _, rest = text.partition(" ")
    seed, _, public = rest.rstrip("\n").partition(" ")
    try:
        key = Key(seed=bytes.fromhex(seed))
    except ValueError:
        raise broken from None
    if word != _WORD or len(key.seed) != SEED_BYTES or key.public != public:
        raise broken
    return key
