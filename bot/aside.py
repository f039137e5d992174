"""Does what may never come back, such as a write to a disk that hangs, where nobody has to wait for it."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from threading import Thread
from typing import TypeVar

from core.waiting import now

_T = TypeVar("_T")


class Aside:
    """Does one thing at a time. What hangs keeps its thread, and what comes after it is not begun."""

    def __init__(self) -> None:
        self._last: Future[object] | None = None

    async def within(self, seconds: float, call: Callable[[], _T]) -> _T:
        """Return what comes of a call; raise `TimeoutError` where it does not come, or does not begin, in time."""
        by = now() + seconds
        while self._last and not self._last.done():
            if now() >= by:
                raise TimeoutError
            with suppress(Exception):  # that is for whoever began it
                await asyncio.wait_for(asyncio.wrap_future(self._last), by - now())
        future = begin(call)
        self._last = future  # type: ignore[assignment]  # only whether it is done is asked
        return await asyncio.wait_for(asyncio.wrap_future(future), by - now())


def begin(call: Callable[[], _T]) -> Future[_T]:
    """Make a call in a thread that no process waits for when it ends."""
    future = Future[_T]()
    future.set_running_or_notify_cancel()  # from here on nobody can take it back
    Thread(target=_into, args=(future, call), daemon=True).start()
    return future


def _into(future: Future[_T], call: Callable[[], _T]) -> None:
    try:
        future.set_result(call())
    except Exception as error:  # noqa: BLE001 - raised again for whoever waits
        future.set_exception(error)
