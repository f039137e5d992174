"""What the commands of `bot.ruling_cli` do: one function a command, with the options it was given."""

from collections.abc import Callable
from pathlib import Path

from bot.acting_as import identity_of
from bot.opened import with_app
from bot.printed import Printed
from bot.wiring import App
from core.principals import Identity
from core.rulings import Lift, Pause, Resume, Ruling


def pause(file: Path, *, reason: str, name: str | None) -> Printed:
    """Hold back everything that would run."""
    return _ruled(file, name, lambda who: Pause(identity=who, reason=reason))


def resume(file: Path, *, name: str | None) -> Printed:
    """End a pause."""
    return _ruled(file, name, lambda who: Resume(identity=who))


def lift(file: Path, *, conversation: str, name: str | None) -> Printed:
    """Let a conversation propose again."""
    return _ruled(file, name, lambda who: Lift(identity=who, conversation=conversation))


def _ruled(file: Path, name: str | None, event: Callable[[Identity], Ruling]) -> Printed:
    async def deed(app: App) -> Printed:
        text = await app.rulings.rule(event(identity_of(app, name)))
        return Printed(object={"ruled": text}, text=text)

    return with_app(file, deed)
