"""How a command ends: what is printed, and with which exit code."""

import json
import sys

import click

from core.errors import Invalid, SaysoError


def say(text: str) -> None:
    """Print; where that fails, what was done stays done, and its record is kept."""
    try:
        click.echo(text)
    except OSError as error:
        sys.stderr.write(f"This could not be printed ({error.strerror}). Look at `sayso runs`.\n")
        sys.exit(1)


def fail(error: SaysoError, *, as_json: bool) -> int:
    """Print why it was not done, and return the exit code."""
    if as_json:
        click.echo(json.dumps({"error": {"kind": error.kind, "message": error.shown}}))
    else:
        click.echo(error.shown, err=True)
    return 2 if isinstance(error, Invalid) else 1
