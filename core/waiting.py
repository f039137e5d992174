"""Waits for what somebody else wrote: up to a time, and no longer, whatever it does then."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

EXITS: tuple[type[BaseException], ...] = (SystemExit, KeyboardInterrupt)
"""What other people's code raises to end a process. A person's Ctrl-C cancels; it is not raised there."""
OUTAGES: tuple[type[BaseException], ...] = (Exception, BaseExceptionGroup, GeneratorExit, *EXITS)
"""What other people's code raises, its task groups and streams too."""
AT_ONCE: tuple[type[BaseException], ...] = (*OUTAGES, asyncio.CancelledError)
"""The same where nothing is awaited, so that nobody else can have cancelled it."""
_GRACE = 0.2
"""Seconds in which a call that was cancelled may end; after them it is left to itself."""
_SHARE = 4
_LEFT: set[asyncio.Task[Any]] = set()
"""What was left to itself. The loop refers to it weakly: it would vanish in the middle, with an error in the log."""
_T = TypeVar("_T")


def now() -> float:
    """Return the time on the clock of the event loop."""
    return asyncio.get_running_loop().time()


def beforehand(seconds: float, end: float) -> float:
    """Return until when something may go on: so many seconds, at most a quarter of those up to `end`."""
    began = now()
    return began + min(seconds, (end - began) / _SHARE)


async def settled(call: Callable[[], Awaitable[_T]], by: float | None) -> asyncio.Task[_T] | None:
    """Make a call, and return it once it has ended; None where it had not by then, and it is cancelled.

    Whoever is cancelled meanwhile waits for it no longer than that either.
    """
    task = asyncio.ensure_future(_made(call))
    task.add_done_callback(_consumed)
    try:
        done, _ = await asyncio.wait({task}, timeout=None if by is None else by - now())
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=_GRACE)
        if not task.done():
            _LEFT.add(task)
            task.add_done_callback(_LEFT.discard)
    return task if done and (by is None or now() < by) else None


async def within(call: Callable[[], Awaitable[_T]], by: float | None = None) -> _T:
    """Make a call and return what comes of it by then; raise `TimeoutError` where nothing does.

    Of what it raises itself only an `Exception` comes through, so that it ends nothing but itself.
    """
    task = await settled(call, by)
    if task is None or task.cancelled():
        raise TimeoutError
    try:
        return task.result()
    except Exception:
        raise
    except OUTAGES as error:
        raise RuntimeError(type(error).__name__) from error


async def _made(call: Callable[[], Awaitable[_T]]) -> _T:
    """Make a call inside of the task, so that what it raises before it is awaited ends that alone."""
    try:
        return await call()
    except EXITS as error:
        # A task passes these on to the loop, and every turn of the process would end.
        raise RuntimeError(type(error).__name__) from error


def _consumed(task: asyncio.Task[_T]) -> None:
    """Take what a call raised that nobody waits for any more, so that nothing prints it."""
    if not task.cancelled():
        task.exception()
