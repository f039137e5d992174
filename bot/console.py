"""What each command of the console does: one function a command, with the options it was given."""

import asyncio
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

from approvals import cards
from approvals.models import RunState
from approvals.reports import report, verification
from bot import (
    absent,
    announce,
    authority,
    connecting,
    contract,
    enrolling,
    freezing,
    grants,
    leaving,
    link_console,
    log_files,
    logged,
    mcp_probe,
    mcp_serve,
    operators,
    outputs,
    plain,
    plan_files,
    receipts,
    ruling_console,
    serving,
    sweep,
    wiring,
)
from bot.opened import warn, with_app
from bot.printed import Printed
from bot.publish import EVERY
from bot.typist import identity as _identity
from bot.wiring import App
from core import commands
from core.commands import is_stop
from core.conversations import Received
from core.display import output, sound
from core.errors import Invalid
from core.events import Approve, Ask, Deny, Edit, Stop

_WELCOME = "Ask in words: help tells for what. /help lists what else can be typed."
_NO_VALUE = "Write what is to change as NAME=VALUE, as in: sayso edit ID word=beta"
_SCHEDULES = 20.0
"""Seconds after which a schedule that was added or changed is taken up."""


def named(command: str) -> Callable[..., Printed]:
    """Return the deed of a command, in whose options every text is sound."""
    modules = (
        operators, receipts, outputs, grants, enrolling, ruling_console, link_console, mcp_serve,
        mcp_probe,
    )  # fmt: skip
    found = (getattr(module, command, None) for module in modules)
    deed: Callable[..., Printed] = next(filter(None, found), None) or globals()[command]

    def done(file: Path, **given: object) -> Printed:
        # Bytes that are no text must not get as far as a store or an encoder, and nothing that
        # somebody typed may move the cursor of whoever reads it.
        sounded = {n: sound(v) if isinstance(v, str) else v for n, v in given.items()}
        printed = deed(file, **sounded)
        return replace(printed, text=output(printed.text))

    return done


def ask(  # noqa: PLR0913 - an argument for each option
    file: Path,
    *,
    text: str,
    name: str | None,
    conversation: str | None,
    plan: Path | None,
    again: str | None,
    profile: str | None,
) -> Printed:
    """Ask in words, with an exported plan, or again for what a request showed."""
    if sum(map(bool, (text, plan, again))) > 1:
        raise Invalid("Ask in words, with --plan, or with --again: one of them at a time.")
    exported = plan_files.read(plan) if plan else None

    async def deed(app: App) -> Printed:
        stop = serving.signalled()  # before anything is kept: what is kept must also be ended
        warn((*app.catalogue().faults, *app.toolbelt.faults))
        app.toolbox()  # what cannot be read is refused before anything is kept
        identity = _identity(app, name)
        if is_stop(text):
            return await _stopped(app, Stop(identity=identity, conversation=conversation))
        message = Ask(
            identity=identity,
            place=authority.CONSOLE_PLACE,
            text=text,
            conversation=conversation,
            profile=profile,
        )
        if again:
            received = await app.inbox.ask_again(message, again)
        elif exported:
            received = await app.inbox.ask_plan(message, exported)
        else:
            received = await app.inbox.ask(message)
        return await _answered(app, received, stop)

    return with_app(file, deed)


def undo(file: Path, *, run: str, name: str | None) -> Printed:
    """Propose what undoes a run."""

    async def deed(app: App) -> Printed:
        stop = serving.signalled()
        app.toolbox()  # as `ask` does
        message = Ask(identity=_identity(app, name), place=authority.CONSOLE_PLACE, text="")
        return await _answered(app, await app.inbox.undo(message, run), stop)

    return with_app(file, deed)


async def _answered(app: App, received: Received, stop: asyncio.Event) -> Printed:
    if received.ahead:
        logged.note(plain.queued(received.ahead))
    turn = await app.asking.answer(received, stop)
    return Printed(
        object=contract.answered(turn, wiring.draw),
        text=f"{plain.answered(turn, wiring.draw)}\n({turn.conversation})",
    )


def approve(file: Path, *, request: str, code: str, no_wait: bool, name: str | None) -> Printed:
    """Approve, and run what that completes; SIGINT and SIGTERM stop the run, not its record."""
    given = code or enrolling.asked_for(file, request, name)

    async def deed(app: App) -> Printed:
        yes = Approve(identity=_identity(app, name), request=request, code=given)
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

    return with_app(file, deed)


def stop(file: Path, *, conversation: str | None, name: str | None) -> Printed:
    """Stop a conversation, everything, or the one thing that runs."""

    async def deed(app: App) -> Printed:
        everything = conversation == "all"
        event = Stop(
            identity=_identity(app, name),
            conversation=None if everything else conversation,
            everything=everything,
        )
        return await _stopped(app, event)

    return with_app(file, deed)


def run(file: Path) -> Printed:
    """Serve the queue until SIGINT or SIGTERM; what then takes long is cut, and so unknown."""

    async def deed(app: App) -> Printed:
        for told in wiring.sandbox_notes(app.settings, wiring.home_of(file)):
            serving.log.warning("%s", told)
        ready = partial(logged.note, "ready")
        stop = serving.signalled()
        await serving.attempt(app.publishing.begin)
        keeping = {
            asyncio.create_task(serving.keep(app.scheduling.begin, stop, every=_SCHEDULES)),
            asyncio.create_task(serving.keep(app.publishing, stop, every=EVERY)),
            asyncio.create_task(serving.keep(app.announcing, stop, every=announce.EVERY)),
            asyncio.create_task(serving.keep(app.freezing, stop, every=freezing.EVERY)),
            asyncio.create_task(serving.keep(app.sweeping, stop, every=sweep.EVERY)),
        }
        served = asyncio.create_task(serving.serve(app.engine, stop, lambda: None))
        served.add_done_callback(lambda _: stop.set())  # without it nothing is worth connecting for
        try:
            async with connecting.connected(app.platforms, app.desk, stop) as connected:
                if connected:
                    ready()
                await asyncio.wait({served})
        finally:
            stop.set()
            await served
            for one in keeping:
                one.cancel()
            await asyncio.wait(keeping)
            await serving.attempt(app.publishing)
        return Printed(object={"served": True}, text="Stopped; nothing is left running.")

    return with_app(file, deed)


def chat(file: Path, *, name: str | None, no_color: bool) -> Printed:
    """Hold a conversation in this terminal; without one, lines are read one after another."""
    from bot import at_terminal  # noqa: PLC0415 - heavy
    from bot.wiring import terminals  # noqa: PLC0415 - heavy

    def who(app: App) -> str:
        absent.must_be_here(app.platforms.values())  # whoever chats here posts for everybody
        warn((*app.catalogue().faults, *app.toolbelt.faults))
        return _identity(app, name).user

    log = file.resolve().parent / "sayso-chat.log"
    with log_files.logging_into(log) if terminals.has_one() else nullcontext():
        left = leaving.run(at_terminal.hold(file, who, plain=no_color, welcome=_WELCOME))
    return Printed(object={}, text=left.goodbye, code=left.code)


def deny(file: Path, *, request: str, reason: str, name: str | None) -> Printed:
    """Deny a request."""

    async def deed(app: App) -> Printed:
        no = Deny(identity=_identity(app, name), request=request, reason=reason)
        denied = await app.deciding.deny(no)
        return Printed(
            object={"request": contract.request(denied, wiring.draw)},
            text=plain.decided(denied, None),
        )

    return with_app(file, deed)


def edit(
    file: Path, *, request: str, values: tuple[str, ...], call: int | None, name: str | None
) -> Printed:
    """Give a request other arguments; what becomes of it is another request."""
    if not all(map(commands.is_assigned, values)):
        raise Invalid(_NO_VALUE)
    given = tuple((word, value) for word, _, value in (one.partition("=") for one in values))

    async def deed(app: App) -> Printed:
        event = Edit(identity=_identity(app, name), request=request, values=given, call=call)
        became = await app.desk.editing.edit(event)
        return Printed(
            object={"request": contract.request(became, wiring.draw)},
            text=f"{wiring.draw(cards.drawn(became, None)[0])}\n{cards.status(became)}",
        )

    return with_app(file, deed)


def resolve(file: Path, *, run: str, index: int, found: str, name: str | None) -> Printed:
    """End an unknown step by what somebody `found`, or show what its `verify` prints."""

    async def deed(app: App) -> Printed:
        resolving, who = app.resolving, _identity(app, name)
        if found == "verify":
            seen = await resolving.verify(who, run, index)
            return Printed(object=contract.verified(seen), text=verification(seen))
        resolved = await resolving.resolve(who, run, index, happened=found == "happened")
        return Printed(object={"run": contract.run(resolved)}, text=report(resolved))

    return with_app(file, deed)


async def _stopped(app: App, event: Stop) -> Printed:
    stopped = await app.stopping.stop(event)
    return Printed(object=contract.stopped(stopped, wiring.draw), text=plain.stopped(stopped))
