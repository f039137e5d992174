"""Connecting to platforms: tried again for as long as one is out of reach, and left in time."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

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

    None waits for another: who is on one is served while another is out of reach. Raises `Invalid`
    where one of them never can be connected to.
    """
    links = [_Link(name=name, platform=one, stop=stop) for name, one in platforms.items()]
    holding = [asyncio.create_task(link.hold(desk)) for link in links]
    try:
        up = await asyncio.gather(*(asyncio.shield(link.is_up) for link in links))
        yield all(up) and not stop.is_set()
    finally:
        for link, task in zip(links, holding, strict=True):
            link.over.set()
            if not link.is_up.done():
                task.cancel()
        ended = await asyncio.gather(*holding, return_exceptions=True)
    for error in ended:
        if isinstance(error, BaseException):
            raise error


@dataclass(slots=True, kw_only=True)
class _Link:
    """One platform, for as long as it is wanted."""

    name: str
    platform: Platform
    stop: asyncio.Event
    over: asyncio.Event = field(default_factory=asyncio.Event)
    is_up: "asyncio.Future[bool]" = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    """Whether it is connected; False where it is not wanted any more. Done once that is known."""

    async def hold(self, desk: Desk) -> None:
        """Connect, and stay so until it is over."""
        pause = _FIRST
        while not self.stop.is_set():
            try:
                return await self._held(desk)
            except Unavailable as error:
                if self.is_up.done():
                    raise
                await self._pause(error, pause)
                pause = min(_LONGEST, pause * 2)
            except Exception as error:
                if self.is_up.done():
                    raise
                return self.is_up.set_exception(error)
        self.is_up.set_result(False)
        return None

    async def _held(self, desk: Desk) -> None:
        async with self.platform.connected(desk):
            self.is_up.set_result(True)
            await self.over.wait()

    async def _pause(self, error: Unavailable, pause: float) -> None:
        wait = max(pause, error.after.total_seconds() if error.after else 0)
        log.warning("%s: %s It is tried again in %.0f s.", self.name, error.shown, wait)
        with suppress(TimeoutError):
            await asyncio.wait_for(self.stop.wait(), wait)
