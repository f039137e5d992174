"""The commands for whoever operates Sayso: declarations, as in `bot.cli`."""

from typing import Any

import click

from bot.ending import do
from bot.options import a_file, as_json, as_name, run
from bot.usage import all_of_it, argument, conversation_id, run_id


@click.command()
@conversation_id
@as_json
def erase(**given: Any) -> None:
    """Remove what was said and done. Only digests stay, in the audit log."""
    run("erase", **given)


@click.group()
def plan() -> None:
    """Write plans as files."""


@plan.command("export")
@argument("plan", "ID", "the plan, as a card names it: p_ and 12 digits")
@as_json
def plan_export(**given: Any) -> None:
    """Write a plan as YAML. `sayso ask --plan FILE` proposes it again."""
    run("plan_export", **given)


@click.group()
def audit() -> None:
    """Check and copy the audit log."""


@audit.command("verify")
@click.option(
    "--head",
    type=all_of_it,
    metavar="HASH",
    help="A head noted earlier, which must still be there.",
)
@as_json
def audit_verify(**given: Any) -> None:
    """Check every entry of the chain."""
    run("audit_verify", **given)


@audit.command("head")
@as_json
def audit_head(**given: Any) -> None:
    """Print the newest entry's hash, to be kept somewhere else."""
    run("audit_head", **given)


@audit.command("export")
@as_json
def audit_export(**given: Any) -> None:
    """Print every entry, a JSON line each."""
    run("audit_export", **given)


@click.command()
@run_id
@click.option("--output", type=a_file, metavar="FILE", required=True, help="The file to write.")
@as_json
def receipt(**given: Any) -> None:
    """Write one file that proves how a run came to be and went."""
    run("receipt", **given)


@click.command()
@run_id
@argument("index", "INDEX", "the step's number in its report", type=click.IntRange(0, 10_000))
@click.option("--output", type=a_file, metavar="FILE", help="Write it into this new file.")
@as_json
def output(**given: Any) -> None:
    """Print all that a step printed.

    Also what its report leaves out.
    """
    run("output", **given)


@click.command()
@as_name
@click.option("--reset", metavar="NAME", help="Forget that of NAME, who lost it.")
@as_json
def enrol(**given: Any) -> None:
    """Get a second factor, for what takes a code to approve."""
    run("enrol", **given)


@click.command()
@argument("receipt", "FILE", "what `sayso receipt` wrote", type=a_file)
@click.option(
    "--key", type=all_of_it, metavar="KEY", help="The public key that must have signed it."
)
@click.option("--head", type=all_of_it, metavar="HASH", help="The hash that its head must have.")
@as_json
def verify(**given: Any) -> None:
    """Check a receipt with nothing but its file."""
    from bot import proof  # noqa: PLC0415 - heavy

    do(proof.verify, **given)


@click.group()
def runbooks() -> None:
    """Look at the catalogue."""


@runbooks.command("list")
@as_json
def runbooks_list(**given: Any) -> None:
    """List what can be asked for."""
    run("runbooks_list", **given)


@runbooks.command("lint")
@click.option("--strict", is_flag=True, help="Fail for what is unwise too.")
@as_json
def runbooks_lint(**given: Any) -> None:
    """Check every runbook. Says what is wrong, and what is allowed but unwise."""
    run("runbooks_lint", **given)


@click.command()
@as_json
def check(**given: Any) -> None:
    """Check the whole configuration and say what is wrong with it."""
    run("check", **given)


@click.command()
@as_json
def migrate(**given: Any) -> None:
    """Bring the database up to date."""
    run("migrate", **given)


@click.command()
@click.option("--url", metavar="URL", help="Where Slack reaches you, for HTTP instead of sockets.")
@as_json
def manifest(**given: Any) -> None:
    """Print the manifest to create the Slack app from."""
    run("manifest", **given)


@click.group()
def sync() -> None:
    """Register what a platform has to know of."""


@sync.command("discord")
@as_json
def sync_discord(**given: Any) -> None:
    """Register the slash commands, where Discord has others."""
    run("sync_discord", **given)


@click.command()
@click.argument("what", type=click.Choice(["runbook", "settings"]))
@as_json
def schema(**given: Any) -> None:
    """Print the JSON schema of runbooks or of sayso.yml."""
    run("schema", **given)


COMMANDS = (
    enrol,
    erase,
    plan,
    audit,
    receipt,
    output,
    verify,
    runbooks,
    check,
    migrate,
    manifest,
    sync,
    schema,
)
