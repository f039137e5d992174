"""Serving the queue until a signal ends it."""

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress

from core.errors import SaysoError
from core.jobs import Engine

log = logging.getLogger("sayso.serve")
_GRACE = 5.0
"""Seconds in which what runs may still come to its end once the process is told to stop."""


def signalled() -> asyncio.Event:
    """Return an event that SIGINT, SIGTERM and the end of the terminal set."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


async def keep(what: Callable[[], Awaitable[None]], stop: asyncio.Event, *, every: float) -> None:
    """Do something now and every so many seconds until `stop`; log where it cannot be done."""
    while not stop.is_set():
        await attempt(what)
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), every)


async def attempt(what: Callable[[], Awaitable[None]]) -> None:
    """Do something; log where it cannot be done."""
    try:
        await what()
    except SaysoError as error:
        log.warning("%s", error.shown)
    except Exception:
        log.exception("what is done from time to time failed")


async def _at_once() -> None:
    """Wait for nothing."""


async def serve(
    engine: Engine,
    stop: asyncio.Event,
    ready: Callable[[], None],
    *,
    grace: float = _GRACE,
    before: Callable[[], Awaitable[object]] = _at_once,
) -> None:
    """Run what is due until `stop`; what then takes too long is cut, and so unknown.

    The grace begins once `before` is over.
    """
    serving = asyncio.create_task(engine.serve(stop))
    told = asyncio.create_task(stop.wait())
    ready()
    await asyncio.wait({serving, told}, return_when=asyncio.FIRST_COMPLETED)
    await before()
    await asyncio.wait({serving}, timeout=grace)
    told.cancel()
    serving.cancel()  # does nothing to one that is done
    with suppress(asyncio.CancelledError):
        await serving
