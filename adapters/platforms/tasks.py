"""Work that goes on after whoever began it has returned, and that is waited for in the end."""

import asyncio
import logging
import traceback
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

from core.errors import SaysoError

log = logging.getLogger("sayso.platforms")
T = TypeVar("T")


@dataclass(slots=True)
class Tasks:
    """Holds on to what runs: a task that nobody refers to may vanish in the middle."""

    running: set["asyncio.Task[Any]"] = field(default_factory=set["asyncio.Task[Any]"])

    def start(self, work: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
        """Start something, and write down how it failed if it does."""
        task = asyncio.create_task(work)
        self.running.add(task)
        task.add_done_callback(self._ended)
        return task

    async def drain(self, within: float) -> None:
        """Wait until nothing runs any more, and cut what takes longer than that."""
        try:
            async with asyncio.timeout(within):
                while self.running:
                    await asyncio.wait(self.running)
        except TimeoutError:
            log.warning("%d things were cut on leaving", len(self.running))
        cut = list(self.running)
        for task in cut:
            task.cancel()
        await asyncio.gather(*cut, return_exceptions=True)

    def _ended(self, task: "asyncio.Task[Any]") -> None:
        self.running.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            failed(error)


def failed(error: BaseException) -> None:
    """Write down a failure, with nothing that somebody else typed: no message of an exception."""
    if isinstance(error, SaysoError):
        log.warning("%s", error.logged)
        return
    where = "".join(traceback.format_tb(error.__traceback__))
    log.error("unexpected %s\n%s", type(error).__name__, where)
