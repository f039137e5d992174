"""What the commands of `bot.ruling_cli` do: one function a command, with the options it was given."""

from collections.abc import Callable
from pathlib import Path

from approvals.models import RunState
from bot import contract, enrolling, plain, serving, wiring
from bot.opened import with_app
from bot.printed import Printed
from bot.typist import identity
from bot.wiring import App
from core.principals import Identity
from core.rulings import BreakGlass, HandOver, Lift, Pause, Resume, Ruling


def pause(file: Path, *, reason: str, name: str | None) -> Printed:
    """Hold back everything that would run."""
    return _ruled(file, name, lambda who: Pause(identity=who, reason=reason))


def resume(file: Path, *, name: str | None) -> Printed:
    """End a pause."""
    return _ruled(file, name, lambda who: Resume(identity=who))


def lift(file: Path, *, conversation: str, name: str | None) -> Printed:
    """Let a conversation propose again."""
    return _ruled(file, name, lambda who: Lift(identity=who, conversation=conversation))


def break_glass(file: Path, *, request: str, reason: str, code: str, name: str | None) -> Printed:
    """Let a request run alone, and wait for its end; SIGINT and SIGTERM stop the run."""
    given = code or enrolling.asked_for(file, request, name)

    async def deed(app: App) -> Printed:
        who = identity(app, name)
        click = BreakGlass(identity=who, request=request, reason=reason, code=given)
        decided = await app.deciding.break_through(click, serving.signalled())
        run = decided.run
        return Printed(
            object={
                "request": contract.request(decided.request, wiring.draw),
                "run": contract.run(run) if run else None,
            },
            text=plain.decided(decided.request, run),
            code=0 if run and run.state is RunState.SUCCEEDED else 1,
        )

    return with_app(file, deed)


def handover(file: Path, *, request: str, to: str, name: str | None) -> Printed:
    """Ask somebody to decide a request."""
    return _ruled(file, name, lambda who: HandOver(identity=who, request=request, to=to))


def _ruled(file: Path, name: str | None, event: Callable[[Identity], Ruling]) -> Printed:
    async def deed(app: App) -> Printed:
        text = await app.rulings.rule(event(identity(app, name)))
        return Printed(object={"ruled": text}, text=text)

    return with_app(file, deed)
