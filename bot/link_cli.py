"""The commands by which people link accounts: declarations, as in `bot.cli`."""

import click

from bot.options import as_json, as_name, run
from bot.usage import argument


@click.command()
@argument(
    "code", "[CODE]", "what `link` gave somebody who is listed; none to be given one", default=""
)
@click.option("--confirm", metavar="ID", help="Confirm what was asked.")
@click.option("--refuse", metavar="ID", help="Refuse it.")
@as_name
@as_json
def link(**given: object) -> None:
    """Have another account be you too."""
    if sum(map(bool, (given["code"], given["confirm"], given["refuse"]))) > 1:
        raise click.UsageError("Give a code, --confirm or --refuse: one of them at a time.")
    run("link", **given)


@click.command()
@as_name
@as_json
def links(**given: object) -> None:
    """List accounts that are linked to you, and what waits."""
    run("links", **given)


@click.command()
@argument(
    "platform", "[PLATFORM]", "of a listed account's links, those on this one alone", default=""
)
@as_name
@as_json
def unlink(**given: object) -> None:
    """End links of accounts, from either side, at once."""
    run("unlink", **given)


LINKING = (link, links, unlink)
