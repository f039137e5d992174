"""What the help says of arguments, and what is said where a command was typed that cannot be meant."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

import click

from core.errors import Invalid

F = TypeVar("F", bound=Callable[..., Any])

_QUOTE = "Put what you ask for in quotes, as in: sayso ask 'show notes'."


def argument(name: str, shown: str, about: str, **given: Any) -> Callable[[F], F]:  # noqa: ANN401 - as click takes it
    """Return an argument that the help of its command explains, which click itself does not."""

    def decorated(command: F) -> F:
        command.__doc__ = f"{command.__doc__}\n\n    {shown.strip('[]')}: {about}."
        return click.argument(name, metavar=shown, **given)(command)

    return decorated


request = argument("request", "ID", "the request, as its card and `sayso requests` name it")
run_id = argument("run", "RUN", "the run, as its report and `sayso runs` name it")
conversation_id = argument(
    "conversation",
    "CONVERSATION",
    "what stands in brackets behind an answer, such as c_0123456789abcdef",
)


def all_of_it(value: str) -> str:
    """Return a hash or a public key: half of one would only look like a record that is broken."""
    if not re.fullmatch("[0-9a-f]{64}", value):
        raise click.BadParameter("write all 64 characters of it, 0 to 9 and a to f.")
    return value


def a_span(value: str) -> timedelta:
    """Return a span of time."""
    from core import durations  # noqa: PLC0415 - heavy

    try:
        return durations.parse(value)
    except ValueError as error:
        raise click.BadParameter(f"{error}.") from error


def explained(error: click.UsageError) -> Invalid:
    """Return what was wrong, and whose help to read: that of the command that was typed."""
    path = error.ctx.command_path if error.ctx else "sayso"
    # More words than one are more arguments than one, whatever they say.
    advice = f" {_QUOTE}" if path == "sayso ask" and "extra argument" in str(error) else ""
    what = error.format_message().rstrip(".")
    end = "" if what.endswith("?") else "."
    return Invalid(f"{what}{end}{advice} See: {path} --help")
