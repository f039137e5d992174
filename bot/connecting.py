"""Connecting to platforms: tried again for as long as one is out of reach, and left in time."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress

from core.errors import Unavailable
from core.platforms import Desk, Platform

log = logging.getLogger("sayso.connect")
_FIRST, _LONGEST = 1.0, 30.0
"""Seconds between two tries."""


@asynccontextmanager
async def connected(
    platforms: Mapping[str, Platform], desk: Desk, stop: asyncio.Event
) -> AsyncGenerator[bool]:
    """Be connected to every platform inside the block; yield False where `stop` came before.

    Raises `Invalid` where one of them never can be.
    """
    async with AsyncExitStack() as stack:
        for name, platform in platforms.items():
            if not await _entered(stack, name, platform, desk, stop):
                yield False
                return
        yield not stop.is_set()


async def _entered(
    stack: AsyncExitStack, name: str, platform: Platform, desk: Desk, stop: asyncio.Event
) -> bool:
    pause = _FIRST
    while not stop.is_set():
        try:
            await stack.enter_async_context(platform.connected(desk))
        except Unavailable as error:
            wait = max(pause, error.after.total_seconds() if error.after else 0)
            log.warning("%s: %s It is tried again in %.0f s.", name, error.shown, wait)
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), wait)
            pause = min(_LONGEST, pause * 2)
        else:
            return True
    return False
