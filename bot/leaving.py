"""Ends a process in bounded time, also where other people's code in it does not let go."""

import asyncio
import logging
import os
import sys
import threading
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from time import monotonic
from typing import Any, NoReturn, TypeVar

_GRACE = 1.0
"""Seconds that tasks, and then threads, have to end once everything else has ended."""
_STAYS = threading.Event()
"""Set where something did not end by then."""
_T = TypeVar("_T")
_log = logging.getLogger("sayso")


def run(main: Coroutine[Any, Any, _T]) -> _T:
    """Run to the end, as `asyncio.run` does, and wait no longer than for the grace for what is left.

    What does not end by then is left behind: call `leave` to end the process.
    """
    before = set(threading.enumerate())
    runner, pool = asyncio.Runner(), ThreadPoolExecutor()
    runner.get_loop().set_default_executor(pool)
    try:
        return runner.run(main)
    finally:
        ended = runner.run(_tasks_end())
        pool.shutdown(wait=False, cancel_futures=True)
        if _threads_end(before) and ended:
            runner.close()
        else:
            _log.warning("Something that is not Sayso's own does not end, and is left behind.")
            _STAYS.set()


def leave(code: int) -> NoReturn:
    """End the process; at once where something was left behind, which Python would wait for."""
    if not _STAYS.is_set():
        sys.exit(code)
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, AttributeError):  # whoever read it is gone, or it was closed before
            stream.flush()
    os._exit(code)


async def _tasks_end() -> bool:
    """Cancel every task that is left; return whether they have ended in time."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    if left:
        _, left = await asyncio.wait(left, timeout=_GRACE)
    return not left


def _threads_end(before: set[threading.Thread]) -> bool:
    """Return whether the threads that began meanwhile, and that Python would wait for, end in time."""
    until = monotonic() + _GRACE
    ours = [one for one in threading.enumerate() if one not in before and not one.daemon]
    for thread in ours:
        thread.join(max(0, until - monotonic()))
    return not any(thread.is_alive() for thread in ours)
