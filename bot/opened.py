"""Opens what is configured around a command."""

import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeAlias

from bot import leaving, wiring
from bot.printed import Printed
from bot.wiring import App

Deed: TypeAlias = Callable[[App], Awaitable[Printed]]


def with_app(file: Path, deed: Deed) -> Printed:
    """Do something with everything that the file configures, and close it again."""

    async def run() -> Printed:
        async with wiring.opened(file) as app:
            return await deed(app)

    return leaving.run(run())


def warn(faults: tuple[str, ...]) -> None:
    """Log what was left out of the catalogue."""
    for fault in faults:
        logging.getLogger("sayso").warning("left out: %s", fault)
