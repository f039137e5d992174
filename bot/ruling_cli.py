"""The commands by which people say whether anything may run: declarations, as in `bot.cli`."""

from typing import Any

import click

from bot.options import as_json, as_name, code, run
from bot.usage import argument, conversation_id, request


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
    """Let a conversation propose again, after three denials."""
    run("lift", **given)


@click.command("break-glass")
@request
@click.option("--reason", required=True, help="Why. Everybody who may approve it is told.")
@code
@as_name
@as_json
def break_glass(**given: Any) -> None:
    """Let a request run alone, without its quorum or in a freeze. Ctrl-C stops the run."""
    run("break_glass", **given)


@click.command()
@request
@argument("to", "NAME", "whom you ask to decide it, as `sayso.yml` names them")
@as_name
@as_json
def handover(**given: Any) -> None:
    """Ask somebody to decide a request. They are called in its thread, once."""
    run("handover", **given)


COMMANDS = (pause, resume, lift, break_glass, handover)
