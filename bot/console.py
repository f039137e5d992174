"""What each command of the console does: one function a command, with the options it was given."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

import click

from approvals.cards import report, verification
from approvals.models import RunState
from bot import authority, contract, plain, plan_files, serving, settings, wiring
from bot.faults import problems, runbook_problems
from bot.printed import Printed
from bot.wiring import App
from core import audit
from core.commands import usage
from core.display import output, sound
from core.errors import Invalid, Refused
from core.events import Approve, Ask, Deny, Place, Stop
from core.principals import Identity

Deed: TypeAlias = Callable[[App], Awaitable[Printed]]

PLACE = Place(platform="console", workspace="local", channel="console")
"""The whole console is one place."""


def named(command: str) -> Callable[..., Printed]:
    """Return the deed of a command, in whose options every text is sound."""
    deed: Callable[..., Printed] = globals()[command]

    def done(file: Path, **given: object) -> Printed:
        # Bytes that are no text must not get as far as a store or an encoder, and nothing that
        # somebody typed may move the cursor of whoever reads it.
        sounded = {n: sound(v) if isinstance(v, str) else v for n, v in given.items()}
        printed = deed(file, **sounded)
        return replace(printed, text=output(printed.text))

    return done


def ask(
    file: Path,
    *,
    text: str,
    name: str | None,
    conversation: str | None,
    plan: Path | None,
    again: str | None,
) -> Printed:
    """Ask in words, with an exported plan, or again for what a request showed."""
    if sum(map(bool, (text, plan, again))) > 1:
        raise Invalid("Ask in words, with --plan, or with --again: one of them at a time.")
    exported = plan_files.read(plan) if plan else None

    async def deed(app: App) -> Printed:
        _warn(app.catalogue().faults)
        identity = _identity(app, name)
        message = Ask(identity=identity, place=PLACE, text=text, conversation=conversation)
        if again:
            turn = await app.asking.ask_again(message, again)
        elif exported:
            turn = await app.asking.ask_plan(message, exported)
        else:
            turn = await app.asking.ask(message)
        return Printed(
            object=contract.answered(turn, wiring.draw), text=plain.answered(turn, wiring.draw)
        )

    return _with_app(file, deed)


def approve(file: Path, *, request: str, no_wait: bool, name: str | None) -> Printed:
    """Approve, and run what that completes; SIGINT and SIGTERM stop the run, not its record."""

    async def deed(app: App) -> Printed:
        yes = Approve(identity=_identity(app, name), request=request)
        take = app.deciding
        decided = await (take.vote(yes) if no_wait else take.approve(yes, serving.signalled()))
        run = decided.run
        return Printed(
            object={
                "request": contract.request(decided.request, wiring.draw),
                "run": contract.run(run) if run else None,
            },
            text=plain.decided(decided.request, run),
            code=0 if run is None or run.state is RunState.SUCCEEDED else 1,
        )

    return _with_app(file, deed)


def stop(file: Path, *, conversation: str | None, name: str | None) -> Printed:
    """Stop a conversation, everything, or the one thing that runs."""

    async def deed(app: App) -> Printed:
        everything = conversation == "all"
        event = Stop(
            identity=_identity(app, name),
            conversation=None if everything else conversation,
            everything=everything,
        )
        stopped = await app.stopping.stop(event)
        return Printed(object=contract.stopped(stopped), text=plain.stopped(stopped))

    return _with_app(file, deed)


def run(file: Path) -> Printed:
    """Serve the queue until SIGINT or SIGTERM; what then takes long is cut, and so unknown."""

    async def deed(app: App) -> Printed:
        ready = partial(click.echo, "ready", err=True)
        await serving.serve(app.engine, serving.signalled(), ready)
        return Printed(object={"served": True}, text="Stopped; nothing is left running.")

    return _with_app(file, deed)


def deny(file: Path, *, request: str, reason: str, name: str | None) -> Printed:
    """Deny a request."""

    async def deed(app: App) -> Printed:
        no = Deny(identity=_identity(app, name), request=request, reason=reason)
        denied = await app.deciding.deny(no)
        return Printed(
            object={"request": contract.request(denied, wiring.draw)},
            text=plain.decided(denied, None),
        )

    return _with_app(file, deed)


def resolve(file: Path, *, run: str, index: int, found: str, name: str | None) -> Printed:
    """End an unknown step by what somebody `found`, or show what its `verify` prints."""

    async def deed(app: App) -> Printed:
        resolving, who = app.resolving, _identity(app, name)
        if found == "verify":
            seen = await resolving.verify(who, run, index)
            return Printed(object=contract.verified(seen), text=verification(seen))
        resolved = await resolving.resolve(who, run, index, happened=found == "happened")
        return Printed(object={"run": contract.run(resolved)}, text=report(resolved))

    return _with_app(file, deed)


def requests(file: Path) -> Printed:
    """List requests."""

    async def deed(app: App) -> Printed:
        found = await app.records.requests()
        shown = [contract.request(one, wiring.draw) for one in found]
        return Printed(object={"requests": shown}, text=plain.requests(found))

    return _with_app(file, deed)


def runs(file: Path) -> Printed:
    """List runs."""

    async def deed(app: App) -> Printed:
        found = await app.records.runs()
        return Printed(
            object={"runs": [contract.run(one) for one in found]}, text=plain.runs(found)
        )

    return _with_app(file, deed)


def conversation(file: Path, *, conversation: str) -> Printed:
    """Show a conversation."""

    async def deed(app: App) -> Printed:
        said = await app.records.said(conversation)
        if not said:
            raise Refused(
                "There is no such conversation. `sayso ask --json` and `requests` name them."
            )
        return Printed(
            object=contract.conversation(conversation, said, wiring.draw),
            text=plain.conversation(said, wiring.draw),
        )

    return _with_app(file, deed)


def plan_export(file: Path, *, plan: str) -> Printed:
    """Write a plan as YAML."""

    async def deed(app: App) -> Printed:
        found = await app.records.plans(plan)
        if not found:
            raise Refused("There is no such plan. Its id stands on the card: p_ and 12 digits.")
        exported = plan_files.exported(plan, found[0])
        return Printed(object=exported, text=plan_files.written(exported))

    return _with_app(file, deed)


def audit_verify(file: Path, *, head: str | None) -> Printed:
    """Check the audit log."""

    async def deed(app: App) -> Printed:
        verdict = audit.verify(await app.records.audit(), head=head)
        return Printed(
            object=contract.audit(verdict),
            text=plain.audit(verdict),
            code=0 if isinstance(verdict, audit.Intact) else 1,
        )

    return _with_app(file, deed)


def audit_head(file: Path) -> Printed:
    """Print the head of the audit log."""

    async def deed(app: App) -> Printed:
        entries = await app.records.audit()
        head = entries[-1].hash if entries else audit.GENESIS
        return Printed(object={"entries": len(entries), "head": head}, text=head)

    return _with_app(file, deed)


def audit_export(file: Path) -> Printed:
    """Copy the audit log."""

    async def deed(app: App) -> Printed:
        entries = [asdict(entry) for entry in await app.records.audit()]
        return Printed(object={"entries": entries}, text="\n".join(map(json.dumps, entries)))

    return _with_app(file, deed)


def runbooks_list(file: Path) -> Printed:
    """List the catalogue."""
    found = wiring.catalogue(file, settings.read(file))
    _warn(found.faults)
    listed = [contract.tool(tool) for tool in found.tools]
    lines = [f"!{usage(tool):<40} {tool.summary} ({tool.effect.value})" for tool in found.tools]
    return Printed(
        object={"runbooks": listed, "faults": list(found.faults)},
        text="\n".join(lines) or "No runbooks yet.",
    )


def runbooks_lint(file: Path) -> Printed:
    """Check the catalogue."""
    return _verdict([*runbook_problems(file, settings.read(file))], "Every runbook is sound.")


def check(file: Path) -> Printed:
    """Check the whole configuration."""
    return _verdict([*problems(file, settings.read(file))], "The configuration is sound.")


def migrate(file: Path) -> Printed:
    """Bring the database up to date, which opening it does."""

    async def deed(app: App) -> Printed:
        url = app.settings.storage.url
        return Printed(object={"storage": url}, text=f"{url} is up to date.")

    return _with_app(file, deed)


def _verdict(found: list[str], well: str) -> Printed:
    return Printed(
        object={"ok": not found, "problems": found},
        text="\n".join(found) or well,
        code=2 if found else 0,
    )


def _identity(app: App, name: str | None) -> Identity:
    """Return who is typing: the account of this process's uid, or `--as` where that is allowed."""
    if name is not None and not app.settings.console.allow_as:
        raise Refused("--as is not allowed here: `console.allow_as` is not true in sayso.yml.")
    platform, workspace = authority.CONSOLE
    return Identity(platform=platform, workspace=workspace, user=name or wiring.account())


def _with_app(file: Path, deed: Deed) -> Printed:
    async def run() -> Printed:
        async with wiring.opened(file) as app:
            return await deed(app)

    return asyncio.run(run())


def _warn(faults: tuple[str, ...]) -> None:
    for fault in faults:
        logging.getLogger("sayso").warning("left out: %s", fault)
