"""The key that signs receipts, in a file of its own beside the database."""

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from core.errors import Invalid, Unavailable
from core.signatures import SEED_BYTES, Key

NAME = "sayso.key"
_WORD = "sayso-key-1"
_LARGEST = 1000


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
        return found

    def kept(self) -> Key | None:
        """Return the key, None where none was made yet; raise `Invalid` for a file that holds none."""
        try:
            with self._path.open("rb") as file:
                self._must_be_ours_alone(os.fstat(file.fileno()).st_mode)
                text = file.read(_LARGEST).decode("ascii", "replace")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Invalid(
                f"{NAME}, beside the database, cannot be read. Check its owner and its rights.",
                error=repr(error),
            ) from error
        return _read(text)

    def _must_be_ours_alone(self, mode: int) -> None:
        if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
            raise Invalid(
                f"{NAME} can be read by other accounts, so it proves nothing. Write: chmod 600 {NAME}; "
                "if somebody may have copied it, move it away, and a new key is made."
            )

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
            raise Unavailable(
                f"{NAME} cannot be made beside the database. Check its folder: its rights, its room, "
                "and that its file system has hard links.",
                error=repr(error),
            ) from error
        finally:
            beside.unlink(missing_ok=True)


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
