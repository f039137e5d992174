"""The `sayso` command line. Only declarations: nothing heavy is imported before a command runs."""

import sys
from pathlib import Path
from typing import Any

import click

from bot import logged, ruling_cli
from bot.ending import after, ended, fail, say
from bot.link_cli import LINKING
from bot.mcp_cli import COMMANDS as MCP
from bot.operator_cli import COMMANDS
from bot.options import a_file, as_json, as_name, code, no_color, run
from bot.usage import a_span, argument, conversation_id, explained, request, run_id
from core.errors import Refused, SaysoError


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
    run("ask", **given)


@cli.command()
@request
@code
@click.option("--no-wait", is_flag=True, help="Leave the run to `sayso run`.")
@as_name
@as_json
def approve(**given: Any) -> None:
    """Approve a request; where that completes the votes, run it. Ctrl-C stops the run."""
    run("approve", **given)


@cli.command()
@request
@click.option("--reason", default="", help="Why not. Whoever asked is told.")
@as_name
@as_json
def deny(**given: Any) -> None:
    """Deny a request. What it would do stays refused in its conversation."""
    run("deny", **given)


@cli.command()
@request
@argument(
    "values", "NAME=VALUE", "an argument of the plan and what it is to be", nargs=-1, required=True
)
@click.option("--call", type=click.IntRange(1, 1_000), help="Which call of the plan, from 1.")
@as_name
@as_json
def edit(**given: Any) -> None:
    """Give a request other arguments: votes for it begin anew."""
    run("edit", **given)


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
    run("stop", **given)


@cli.command()
@as_name
@no_color
def chat(**given: Any) -> None:
    """Ask, approve and read the reports as a conversation."""
    run("chat", as_json=False, **given)


@cli.command("run")
@as_json
def run_(**given: Any) -> None:
    """Serve until SIGTERM: answer, run, ask, deliver and expire."""
    run("run", **given)


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
    run("resolve", found=found[0], **given)


@cli.command()
@request
@click.option("--uses", type=click.IntRange(1, 1000), required=True, help="How often.")
@click.option(
    "--for", "lasts", type=a_span, metavar="TIME", required=True, help="For how long: 30m, 1h, 7d."
)
@as_name
@as_json
def grant(**given: Any) -> None:
    """Propose that what a request showed runs without a card."""
    run("grant", **given)


@cli.group(invoke_without_command=True)
@as_name
@as_json
@click.pass_context
def grants(context: click.Context, /, **given: Any) -> None:
    """List standing grants, newest first; revoke one of them."""
    if context.invoked_subcommand is None:
        run("grants", **given)


@grants.command("revoke")
@argument("grant", "ID", "the standing grant, as `sayso grants` names it: g_ and 32 digits")
@as_name
@as_json
def grants_revoke(**given: Any) -> None:
    """Revoke a standing grant. What it covered has a card again."""
    run("grants_revoke", **given)


@cli.command()
@run_id
@as_name
@as_json
def undo(**given: Any) -> None:
    """Propose what undoes a run: a new plan, decided like any."""
    run("undo", **given)


@cli.command()
@argument("request", "[ID]", "the one to show, as this list names it", required=False)
@click.option("--open", "is_open", is_flag=True, help="Only what still waits: votes, or its run.")
@as_json
def requests(**given: Any) -> None:
    """List requests, newest first; with an ID, show its card."""
    run("requests", **given)


@cli.command()
@as_json
def runs(**given: Any) -> None:
    """List runs, newest first."""
    run("runs", **given)


@cli.command()
@conversation_id
@click.option("--export", is_flag=True, help="Print all of it as one JSON object.")
@as_json
def conversation(**given: Any) -> None:
    """Show what was said in a conversation."""
    run("conversation_export" if given.pop("export") else "conversation", **given)


@cli.command()
@click.option("--tour", "as_tour", is_flag=True, help="Play the tour even on a terminal.")
@click.option("--chat", "as_chat", is_flag=True, help="Read lines even without a terminal.")
@no_color
def demo(**given: Any) -> None:
    """Try it with services and runbooks on this machine."""
    from bot import demo as playing  # noqa: PLC0415 - heavy

    try:
        sys.exit(after(playing.play(**given)))
    except SaysoError as error:
        sys.exit(fail(error, as_json=False))


for command in (*COMMANDS, *LINKING, *MCP, *ruling_cli.COMMANDS):
    cli.add_command(command)


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
