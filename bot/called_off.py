"""Whether what goes on at a terminal is called off from outside, and how long it then may still take."""

import asyncio
import signal
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any

SHELL = 128
"""What ends by a signal exits with this and the signal's number, as in a shell."""
_LETS_GO = 2.0
"""Seconds that what was cut has to let go."""


@dataclass(slots=True, kw_only=True)
class CalledOff:
    """A signal that told the process to end, SIGPIPE where nobody reads any more; none as yet."""

    _number: signal.Signals | None = None
    _is: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_so(self) -> bool:
        """Whether it is called off."""
        return self._is.is_set()

    @property
    def code(self) -> int:
        """Return the exit code: that of the first signal, 0 where there was none."""
        return 0 if self._number is None else SHELL + self._number

    def call(self, number: signal.Signals) -> None:
        """Call it off, for what this signal says."""
        self._number = self._number or number
        self._is.set()

    async def bound(self, work: Coroutine[Any, Any, object], grace: float) -> None:
        """Wait for the end of something; once it is called off, for so many seconds, then cut it."""
        task, called = asyncio.create_task(work), asyncio.create_task(self._is.wait())
        try:
            await asyncio.wait({task, called}, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait({task}, timeout=grace)
        finally:
            called.cancel()
            task.cancel()  # does nothing to one that is done
        await asyncio.wait({task}, timeout=_LETS_GO)
        if task.done() and not task.cancelled():
            task.result()
