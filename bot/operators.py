"""What each command for the operator does: whoever may read the files may look at everything."""

import json
from dataclasses import asdict
from pathlib import Path

from approvals.models import LIVE, Request
from bot import contract, leaving, plain, plan_files, schemas, settings, wiring
from bot.faults import problems, runbook_problems
from bot.opened import warn, with_app
from bot.printed import Printed
from bot.settings import Settings
from bot.wiring import App
from core import audit
from core.commands import usage
from core.errors import Invalid, Refused, SaysoError

_NO_REQUEST = "There is no such request. `sayso requests` lists those that there are."
_NO_CONVERSATION = "There is no such conversation. `sayso ask --json` and `requests` name them."


def requests(file: Path, *, request: str | None, is_open: bool) -> Printed:
    """List requests, or those alone that still wait, or show one."""

    async def deed(app: App) -> Printed:
        if request is not None:
            return await _card(app, await app.records.request(request))
        every = await app.records.requests()
        found = [one for one in every if one.state in LIVE or not is_open]
        shown = [contract.request(one, wiring.draw) for one in found]
        return Printed(object={"requests": shown}, text=plain.requests(found, is_open=is_open))

    return with_app(file, deed)


async def _card(app: App, found: Request | None) -> Printed:
    if found is None:
        raise Refused(_NO_REQUEST)
    now, run = await app.looking.latest(found)
    return Printed(
        object={"request": contract.request(now, wiring.draw)},
        text=plain.card(now, run, wiring.draw),
    )


def runs(file: Path) -> Printed:
    """List runs."""

    async def deed(app: App) -> Printed:
        found = await app.records.runs()
        asked = {one.id: one for one in await app.records.requests()}
        return Printed(
            object={"runs": [contract.run(one) for one in found]}, text=plain.runs(found, asked)
        )

    return with_app(file, deed)


def conversation(file: Path, *, conversation: str) -> Printed:
    """Show a conversation."""

    async def deed(app: App) -> Printed:
        said = await app.records.said(conversation)
        waiting = await app.records.waiting(conversation)
        if not said and not waiting:
            raise Refused(_NO_CONVERSATION)
        return Printed(
            object=contract.conversation(conversation, said, waiting, wiring.draw),
            text=plain.conversation(said, waiting, wiring.draw),
        )

    return with_app(file, deed)


def conversation_export(file: Path, *, conversation: str) -> Printed:
    """Print a whole conversation as one object, for people too."""

    async def deed(app: App) -> Printed:
        found = await app.records.export(conversation)
        if found is None:
            raise Refused(_NO_CONVERSATION)
        exported = contract.exported(found)
        return Printed(object=exported, text=json.dumps(exported))

    return with_app(file, deed)


def erase(file: Path, *, conversation: str) -> Printed:
    """Erase a conversation."""

    async def deed(app: App) -> Printed:
        erased = await app.erasing.erase(conversation, account=wiring.account())
        return Printed(object=contract.erased(erased), text=plain.erased(erased))

    return with_app(file, deed)


def plan_export(file: Path, *, plan: str) -> Printed:
    """Write a plan as YAML."""

    async def deed(app: App) -> Printed:
        found = await app.records.plans(plan)
        if not found:
            raise Refused("There is no such plan. Its id stands on the card: p_ and 12 digits.")
        exported = plan_files.exported(plan, found[0])
        return Printed(object=exported, text=plan_files.written(exported))

    return with_app(file, deed)


def audit_verify(file: Path, *, head: str | None) -> Printed:
    """Check the audit log."""

    async def deed(app: App) -> Printed:
        verdict = audit.verify(await app.records.audit(), head=head)
        return Printed(
            object=contract.audit(verdict),
            text=plain.audit(verdict, noted=head),
            code=0 if isinstance(verdict, audit.Intact) else 1,
        )

    return with_app(file, deed)


def audit_head(file: Path) -> Printed:
    """Print the head of the audit log."""

    async def deed(app: App) -> Printed:
        entries = await app.records.audit()
        head = entries[-1].hash if entries else audit.GENESIS
        shown = {"entries": len(entries), "head": head, "key": _public(app)}
        return Printed(object=shown, text=head)

    return with_app(file, deed)


def _public(app: App) -> str | None:
    """Return the key that receipts are checked with, None where there is none, or a damaged one."""
    try:
        kept = app.keys.kept()
    except Refused:
        return None  # `sayso receipt` says what is wrong with it
    return kept.public if kept else None


def audit_export(file: Path) -> Printed:
    """Copy the audit log."""

    async def deed(app: App) -> Printed:
        entries = [asdict(entry) for entry in await app.records.audit()]
        return Printed(object={"entries": entries}, text="\n".join(map(json.dumps, entries)))

    return with_app(file, deed)


def runbooks_list(file: Path) -> Printed:
    """List the catalogue."""
    found = wiring.catalogue(file, settings.read(file))
    warn(found.faults)
    listed = [contract.tool(tool) for tool in found.tools]
    lines = [f"!{usage(tool):<40} {tool.summary} ({tool.effect.value})" for tool in found.tools]
    return Printed(
        object={"runbooks": listed, "faults": list(found.faults)},
        text="\n".join(lines) or "No runbooks yet.",
    )


def runbooks_lint(file: Path, *, strict: bool) -> Printed:
    """Check the catalogue; what is only unwise is told, and fails where strict."""
    configured = settings.read(file)
    found = [*runbook_problems(file, configured)]
    unwise = _unwise(file, configured)
    failed = bool(found or (strict and unwise))
    lines = [*found, *(f"{line} (warning)" for line in unwise)]
    return Printed(
        object={"ok": not failed, "problems": found, "warnings": unwise},
        text="\n".join(lines) or "Every runbook is sound.",
        code=2 if failed else 0,
    )


def _unwise(file: Path, configured: Settings) -> list[str]:
    try:
        return [*wiring.unwise(file, configured)]
    except SaysoError:
        return []  # told with the runbooks


def check(file: Path) -> Printed:
    """Check the whole configuration, and with the platforms in it whether they let us in."""
    configured = settings.read(file)
    shut_out = leaving.run(wiring.platform_faults(configured, wiring.home_of(file)))
    found = [*problems(file, configured), *shut_out]
    return _verdict(found, "The configuration is sound.")


def migrate(file: Path) -> Printed:
    """Bring the database up to date, which opening it does."""

    async def deed(app: App) -> Printed:
        url = app.settings.storage.url
        return Printed(object={"storage": url}, text=f"{url} is up to date.")

    return with_app(file, deed)


def manifest(file: Path, *, url: str | None) -> Printed:
    """Print the manifest of the Slack app; it takes no configuration, since it comes first."""
    del file
    if url is not None and not (url.startswith("https://") and url[len("https://") :].strip("/")):
        raise Invalid("Slack reaches only https addresses, such as https://sayso.example.org.")
    return Printed(object=wiring.manifest.values(url), text=wiring.manifest.made(url).rstrip("\n"))


def sync_discord(file: Path) -> Printed:
    """Register the commands of the bot where Discord has others, and tell where to invite it."""
    synced = leaving.run(wiring.sync_discord(settings.read(file), wiring.home_of(file)))
    told = (
        "are registered now" if synced.changed else "were registered already; nothing has changed"
    )
    return Printed(
        object={
            "changed": synced.changed,
            "commands": list(synced.commands),
            "invite": synced.invite,
        },
        text=f"{', '.join(f'/{name}' for name in synced.commands)} {told}.\n"
        f"To invite the bot to a server: {synced.invite}",
    )


def schema(file: Path, *, what: schemas.What) -> Printed:
    """Print a schema; it takes no configuration, since it helps to write one."""
    del file
    made = schemas.schema(what)
    return Printed(object=made, text=json.dumps(made, indent=2))


def _verdict(found: list[str], well: str) -> Printed:
    return Printed(
        object={"ok": not found, "problems": found},
        text="\n".join(found) or well,
        code=2 if found else 0,
    )
