"""`sayso receipt`: one file that proves how a run came to be, and how it went."""

import errno
import os
import secrets
from pathlib import Path

from bot import wiring
from bot.opened import with_app
from bot.printed import Printed
from bot.wiring import App
from core import audit
from core.errors import Refused, Unavailable

_BEGIN = b'{"audit":['
"""What a receipt begins with: its one spelling has the names in this order."""
_NO_FILE = (
    "The receipt cannot be written there. Name a new file in a folder that you may write to: "
    "sayso receipt RUN --output FILE"
)


def receipt(file: Path, *, run: str, output: Path) -> Printed:
    """Write a receipt."""

    async def deed(app: App) -> Printed:
        _must_be_writable(output)
        verdict = audit.verify(await app.records.audit())
        if isinstance(verdict, audit.Broken):
            raise Refused(
                f"The audit log does not hold from entry {verdict.first_bad} on, so no receipt can "
                "rest on it. Look at: sayso audit verify"
            )
        issued = await app.receipts.issue(
            run, key=app.keys.key(), account=wiring.account(), since=verdict
        )
        _write(output, issued.text)
        key, head = issued.receipt.key, issued.receipt.head.hash
        return Printed(
            object={"receipt": str(output), "key": key, "head": head},
            text=f"The receipt is written. Its key is {key}, and its head {head}. Keep both where "
            "nobody can change them, and check it anywhere with: sayso verify FILE --key KEY --head HEAD",
        )

    return with_app(file, deed)


def _must_be_writable(file: Path) -> None:
    """Refuse what is no place for a file before anything is noted."""
    try:
        is_free = not os.path.lexists(file) or _is_receipt(file)
        is_place = file.parent.is_dir() and os.access(file.parent, os.W_OK)
    except (OSError, ValueError):  # a path may hold what no path can
        is_free = is_place = False
    if not (is_free and is_place):
        raise Refused(_NO_FILE)


def _is_receipt(file: Path) -> bool:
    """Whether a file may be written over: an empty one, or an older receipt, and nothing else."""
    if file.is_symlink() or not file.is_file():
        return False
    with file.open("rb") as there:
        return there.read(len(_BEGIN)) in (b"", _BEGIN)


def _write(file: Path, text: str) -> None:
    """Write it whole or not at all, and have its name be on the disk before it is told of."""
    beside = file.with_name(f".receipt.{secrets.token_hex(8)}")
    try:
        with beside.open("xb") as written:
            written.write(text.encode())
            written.flush()
            os.fsync(written.fileno())
        beside.replace(file)
        _sync(file.parent)
    except OSError as error:
        raise Unavailable(_NO_FILE, error=repr(error)) from error
    finally:
        beside.unlink(missing_ok=True)


def _sync(folder: Path) -> None:
    """Have a folder be on the disk, where it may be read and its file system has such a thing."""
    try:
        there = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(there)
        finally:
            os.close(there)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.EACCES}:
            raise
