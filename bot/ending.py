"""How a command is done and ends: what is printed, and with which exit code."""

import errno
import json
import logging
import os
import select
import signal
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, TextIO

import click

from bot.printed import Printed
from core.errors import Invalid, SaysoError, Unavailable

_SIGNALLED = 128
"""From this on, an exit code is that of a signal."""
UNREAD = _SIGNALLED + signal.SIGPIPE
"""The exit code where nobody reads any more."""
_SOON = 0.5


def do(deed: Callable[..., Printed], *, as_json: bool, **given: Any) -> None:  # noqa: ANN401 - as declared
    """Do what a command does with the configuration, print what came of it, and exit."""
    file: Path = click.get_current_context().obj
    try:
        printed = deed(file, **given)
    except SaysoError as error:
        _leave(fail(error, as_json=as_json))
    except Exception:
        logging.getLogger("sayso").exception("unexpected")
        unexpected = Unavailable(
            "Something went wrong inside Sayso; the log on standard error has the details. "
            "Look at `sayso runs` before you try again."
        )
        _leave(fail(unexpected, as_json=as_json))
    failed = 0
    if printed.code < _SIGNALLED or _is_read():
        failed = say(json.dumps(printed.object) if as_json else printed.text)
    if printed.code >= _SIGNALLED and failed == UNREAD:
        failed = 0  # what ended it took its reader away too
    _leave(failed or printed.code)


def _leave(code: int) -> NoReturn:
    from bot import leaving  # noqa: PLC0415 - heavy

    leaving.leave(code)


def ended(call: Callable[[], int]) -> int:
    """Return the exit code of a call, also where nobody reads what it prints."""
    out = sys.stdout
    try:
        return call()
    except OSError as error:
        if error.filename is not None:
            raise
        return _unprinted(error)
    except SystemExit:
        if sys.stdout is out:
            raise
        return UNREAD  # click put something else there, since nobody reads
    finally:
        _settle()


def say(text: str, *, err: bool = False) -> int:
    """Print; where that fails, what was done stays done: say so, and return the exit code, else 0."""
    try:
        click.echo(text, err=err)
    except OSError as error:
        return _unprinted(error)
    return 0


def after(code: int) -> int:
    """Return the exit code of what ended with this one; a disk that is full is no reader who left."""
    return (say("") or code) if code == UNREAD else code


def _unprinted(error: OSError) -> int:
    """Return the exit code for what could not be printed; of a reader who is gone nobody is told."""
    is_gone = _is_gone(error)
    _settle()
    if is_gone:
        return UNREAD
    say(f"This could not be printed ({error.strerror}). Look at `sayso runs`.", err=True)
    return 1


def _is_gone(error: OSError) -> bool:
    """Whether nobody has the other end of a pipe any more, or of a terminal; a disk says EIO too."""
    is_kept = any(stat.S_ISREG(os.fstat(one.fileno()).st_mode) for one in _streams()[:1])
    return error.errno == errno.EPIPE or (error.errno == errno.EIO and not is_kept)


def _settle() -> None:
    """Have what cannot be written go nowhere: at its end Python would try again, and fail for it."""
    for stream in _streams():
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


def _is_read() -> bool:
    """Whether a few lines can be printed at once: who is told to end waits for no reader."""
    out = _streams()[:1]
    return bool(select.select([], out, [], _SOON)[1]) if out else True


def _streams() -> list[TextIO]:
    streams: tuple[TextIO | None, ...] = (sys.stdout, sys.stderr)  # None where one was closed
    return [stream for stream in streams if stream]


def fail(error: SaysoError, *, as_json: bool) -> int:
    """Print why it was not done, and return the exit code."""
    if as_json:
        code = say(json.dumps({"error": {"kind": error.kind, "message": error.shown}}))
    else:
        code = say(error.shown, err=True)
    return max(code, 2 if isinstance(error, Invalid) else 1)
