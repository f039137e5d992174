"""The `sayso` command line. Only declarations: nothing heavy is imported before a command runs."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from bot import logged
from bot.ending import do, ended, fail, say
from bot.usage import all_of_it, argument, conversation_id, explained, request, run_id
from core.errors import Refused, SaysoError

as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
as_name = click.option("--as", "name", metavar="NAME", help="Act as NAME, where that is allowed.")
no_color = click.option("--no-color", is_flag=True, help="Draw without colours.")
a_file = click.Path(path_type=Path)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="sayso")
@click.option(
    "--config", type=a_file, default="sayso.yml", show_default=True, help="Configuration."
)
@click.pass_context
def cli(context: click.Context, config: Path) -> None:
    """Ask, approve, run: every change is shown as one plan and runs once, on your say-so."""
    context.obj = config


@cli.command()
@argument(
    "text", "[TEXT]", "what you ask for, in quotes; `help` says what can be asked", default=""
)
@as_name
@click.option("--conversation", metavar="ID", help="Go on in this conversation.")
@click.option("--plan", type=a_file, help="Propose an exported plan.")
@click.option("--again", metavar="REQUEST", help="Ask again for what a request showed.")
@click.option("--profile", metavar="NAME", help="Begin a conversation with this profile.")
@as_json
def ask(**given: Any) -> None:
    """Ask for something in words, with an exported plan, or again."""
    _run("ask", **given)


@cli.command()
@request
@click.option("--no-wait", is_flag=True, help="Leave the run to `sayso run`.")
@as_name
@as_json
def approve(**given: Any) -> None:
    """Approve a request; where that completes the votes, run it. Ctrl-C stops the run."""
    _run("approve", **given)


@cli.command()
@request
@click.option("--reason", default="", help="Why not. Whoever asked is told.")
@as_name
@as_json
def deny(**given: Any) -> None:
    """Deny a request. What it would do stays refused in its conversation."""
    _run("deny", **given)


@cli.command()
@argument(
    "conversation",
    "[CONVERSATION]",
    "whose, as its answers name it in brackets, or `all`; else the one thing that runs or waits",
    required=False,
)
@as_name
@as_json
def stop(**given: Any) -> None:
    """Stop a conversation, everything, or what runs."""
    _run("stop", **given)


@cli.command()
@as_name
@no_color
def chat(**given: Any) -> None:
    """Ask, approve and read the reports as a conversation."""
    _run("chat", as_json=False, **given)


@cli.command("run")
@as_json
def run_(**given: Any) -> None:
    """Serve until SIGTERM: answer, run, ask, deliver and expire."""
    _run("run", **given)


@cli.command()
@run_id
@argument("index", "INDEX", "the step's number in its report", type=click.IntRange(0, 10_000))
@click.option("--verify", is_flag=True, help="Look: run the runbook's `verify`; decides nothing.")
@click.option("--happened", is_flag=True, help="You found that it happened.")
@click.option("--did-not", is_flag=True, help="You found that it did not.")
@as_name
@as_json
def resolve(**given: Any) -> None:
    """Look at an unknown step, or say whether it happened."""
    found = [name for name in ("verify", "happened", "did_not") if given.pop(name)]
    if len(found) != 1:
        raise click.UsageError("Give exactly one of --verify, --happened and --did-not.")
    _run("resolve", found=found[0], **given)


@cli.command()
@argument("request", "[ID]", "the one to show, as this list names it", required=False)
@click.option("--open", "is_open", is_flag=True, help="Only what still waits: votes, or its run.")
@as_json
def requests(**given: Any) -> None:
    """List requests, newest first; with an ID, show its card."""
    _run("requests", **given)


@cli.command()
@as_json
def runs(**given: Any) -> None:
    """List runs, newest first."""
    _run("runs", **given)


@cli.command()
@conversation_id
@click.option("--export", is_flag=True, help="Print all of it as one JSON object.")
@as_json
def conversation(**given: Any) -> None:
    """Show what was said in a conversation."""
    _run("conversation_export" if given.pop("export") else "conversation", **given)


@cli.command()
@conversation_id
@as_json
def erase(**given: Any) -> None:
    """Remove what was said and done. Only digests stay, in the audit log."""
    _run("erase", **given)


@cli.group()
def plan() -> None:
    """Write plans as files."""


@plan.command("export")
@argument("plan", "ID", "the plan, as a card names it: p_ and 12 digits")
@as_json
def plan_export(**given: Any) -> None:
    """Write a plan as YAML. `sayso ask --plan FILE` proposes it again."""
    _run("plan_export", **given)


@cli.group()
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
    _run("audit_verify", **given)


@audit.command("head")
@as_json
def audit_head(**given: Any) -> None:
    """Print the newest entry's hash, to be kept somewhere else."""
    _run("audit_head", **given)


@audit.command("export")
@as_json
def audit_export(**given: Any) -> None:
    """Print every entry, a JSON line each."""
    _run("audit_export", **given)


@cli.command()
@run_id
@click.option("--output", type=a_file, metavar="FILE", required=True, help="The file to write.")
@as_json
def receipt(**given: Any) -> None:
    """Write one file that proves how a run came to be and went."""
    _run("receipt", **given)


@cli.command()
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


@cli.group()
def runbooks() -> None:
    """Look at the catalogue."""


@runbooks.command("list")
@as_json
def runbooks_list(**given: Any) -> None:
    """List what can be asked for."""
    _run("runbooks_list", **given)


@runbooks.command("lint")
@click.option("--strict", is_flag=True, help="Fail for what is unwise too.")
@as_json
def runbooks_lint(**given: Any) -> None:
    """Check every runbook. Says what is wrong, and what is allowed but unwise."""
    _run("runbooks_lint", **given)


@cli.command()
@as_json
def check(**given: Any) -> None:
    """Check the whole configuration and say what is wrong with it."""
    _run("check", **given)


@cli.command()
@as_json
def migrate(**given: Any) -> None:
    """Bring the database up to date."""
    _run("migrate", **given)


@cli.command()
@click.option("--url", metavar="URL", help="Where Slack reaches you, for HTTP instead of sockets.")
@as_json
def manifest(**given: Any) -> None:
    """Print the manifest to create the Slack app from."""
    _run("manifest", **given)


@cli.command()
@click.argument("what", type=click.Choice(["runbook", "settings"]))
@as_json
def schema(**given: Any) -> None:
    """Print the JSON schema of runbooks or of sayso.yml."""
    _run("schema", **given)


@cli.command()
@click.option("--tour", "as_tour", is_flag=True, help="Play the tour even on a terminal.")
@click.option("--chat", "as_chat", is_flag=True, help="Read lines even without a terminal.")
@no_color
def demo(**given: Any) -> None:
    """Try it with services and runbooks on this machine."""
    from bot import demo as playing  # noqa: PLC0415 - heavy

    try:
        sys.exit(playing.play(**given))
    except SaysoError as error:
        sys.exit(fail(error, as_json=False))


def _deeds() -> ModuleType:
    from bot import console  # noqa: PLC0415 - heavy

    return console


def _run(command: str, **given: Any) -> None:
    """Do what a command does, print what came of it, and exit."""
    do(_deeds().named(command), **given)


def main() -> int:
    """Run the command line; with `--json`, wrong usage is one object too."""
    logged.begin()
    return ended(_call)


def _call() -> int:
    try:
        code: int = cli.main(prog_name="sayso", standalone_mode=False) or 0
    except click.exceptions.NoArgsIsHelpError as error:
        return say(error.format_message(), err=True) or 2
    except click.UsageError as error:
        return fail(explained(error), as_json="--json" in sys.argv)
    except click.Abort:
        return fail(Refused("Stopped."), as_json="--json" in sys.argv)
    return code
