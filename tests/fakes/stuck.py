"""A toolset of a package whose tools never let go, or end the process that they are called in."""

import asyncio
import threading
from contextlib import suppress
from typing import ClassVar, NoReturn

from pydantic import BaseModel

from core.tools import answering
from core.toolset import Channel, Exposure, Maker, Toolset
from tests.fakes.runner import for_ever


class StuckConfig(Exposure):
    """It has no settings."""

    toolset: ClassVar[str] = "stuck"
    serves: ClassVar[tuple[Channel, ...]] = (Channel.COMMAND,)


class _Nothing(BaseModel):
    """No arguments."""


async def _stays(*_: object) -> NoReturn:
    """Wait for ever, however often it is cancelled."""
    while True:
        with suppress(asyncio.CancelledError):
            await for_ever()


async def _blocks(*_: object) -> NoReturn:
    """Wait for ever in a thread, which nothing can cancel."""
    await asyncio.to_thread(threading.Event().wait)
    raise AssertionError


async def _exits(*_: object) -> NoReturn:
    """End the process, as a library for command lines does."""
    raise SystemExit(3)


_LOOKS = {"stays": _stays, "blocks": _blocks, "exits": _exits}
STUCK = Maker(
    config=StuckConfig,
    make=lambda _: Toolset(
        name="stuck",
        commands=tuple(
            answering(name, "Never ends", _Nothing, look) for name, look in _LOOKS.items()
        ),
    ),
)
