"""Options that many commands share, and how each of them is done."""

from pathlib import Path
from types import ModuleType
from typing import Any

import click

from bot.ending import do

as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
as_name = click.option("--as", "name", metavar="NAME", help="Act as NAME, where that is allowed.")
code = click.option(
    "--code", default="", metavar="CODE", help="Of your second factor, where it takes one."
)
no_color = click.option("--no-color", is_flag=True, help="Draw without colours.")
a_file = click.Path(path_type=Path)


def _deeds() -> ModuleType:
    from bot import console  # noqa: PLC0415 - heavy

    return console


def run(command: str, **given: Any) -> None:
    """Do what a command does, print what came of it, and exit."""
    do(_deeds().named(command), **given)
