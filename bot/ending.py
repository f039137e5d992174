"""How a command is done and ends: what is printed, and with which exit code."""

import json
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import click

from bot.printed import Printed
from core.errors import Invalid, SaysoError, Unavailable


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
    said = _say(json.dumps(printed.object) if as_json else printed.text)
    _leave(printed.code if said else 1)


def _leave(code: int) -> NoReturn:
    from bot import leaving  # noqa: PLC0415 - heavy

    leaving.leave(code)


def _say(text: str) -> bool:
    """Print; where that fails, what was done stays done, and its record is kept."""
    try:
        click.echo(text)
    except OSError as error:
        sys.stderr.write(f"This could not be printed ({error.strerror}). Look at `sayso runs`.\n")
        return False
    return True


def fail(error: SaysoError, *, as_json: bool) -> int:
    """Print why it was not done, and return the exit code."""
    if as_json:
        click.echo(json.dumps({"error": {"kind": error.kind, "message": error.shown}}))
    else:
        click.echo(error.shown, err=True)
    return 2 if isinstance(error, Invalid) else 1
