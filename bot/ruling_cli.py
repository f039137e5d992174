"""The commands by which people say whether anything may run: declarations, as in `bot.cli`."""

from typing import Any

import click

from bot.options import as_json, as_name, run
from bot.usage import conversation_id


@click.command()
@click.option(
    "--reason", default="", help="Why. Every conversation in which something waits is told."
)
@as_name
@as_json
def pause(**given: Any) -> None:
    """Hold back everything that would run. Reads go on, and so does what runs already."""
    run("pause", **given)


@click.command()
@as_name
@as_json
def resume(**given: Any) -> None:
    """End a pause: what was approved goes on."""
    run("resume", **given)


@click.command()
@conversation_id
@as_name
@as_json
def lift(**given: Any) -> None:
    """Let a conversation propose again in which three requests were denied."""
    run("lift", **given)


COMMANDS = (pause, resume, lift)
