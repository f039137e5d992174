"""Work that goes on whatever fails in it, and that ends when it is told to."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import TypeAlias

from core.errors import SaysoError

log = logging.getLogger("sayso.jobs")

Work: TypeAlias = Callable[[], Awaitable[object]]
_AFTER_A_FAILURE = 1.0


async def went_well(what: str, work: Awaitable[object]) -> bool:
    """Do it and return True, or log why it failed. A cancellation passes through."""
    try:
        await work
    except SaysoError as error:
        log.warning("%s: %s", what, error.shown)
    except Exception:
        log.exception("%s", what)
    else:
        return True
    return False


async def every(seconds: float, what: str, work: Work, *, after: float = 0.0) -> None:
    """Do it every so many seconds, for ever."""
    await asyncio.sleep(after)
    while True:
        well = await went_well(what, work())
        await asyncio.sleep(seconds if well else max(seconds, _AFTER_A_FAILURE))


async def until_it_works(what: str, work: Work, go_on: Callable[[], bool]) -> None:
    """Do it once, and again as long as it fails and this says to go on."""
    while not await went_well(what, work()):
        if not go_on():
            return
        await asyncio.sleep(0.2)


async def first(*events: asyncio.Event, seconds: float) -> None:
    """Wait until one of the events is set, or for so many seconds."""
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


@asynccontextmanager
async def beside(*works: Coroutine[None, None, None]) -> AsyncGenerator[None]:
    """Have these go on until the block is left."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
