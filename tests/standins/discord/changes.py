"""Waiting for something to become true."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

UNSEEN = 0.02
"""After how many seconds to look again at what Discord does not hear of, such as a list in a test."""


class Changes:
    """Wakes whoever waits, each time that something may have changed."""

    def __init__(self) -> None:
        self._next = asyncio.Event()

    def wake(self) -> None:
        """Have everybody who waits look again."""
        self._next.set()
        self._next = asyncio.Event()

    async def until(self, holds: Callable[[], object], within: float) -> None:
        """Return once something holds; raise TimeoutError where it does not in so many seconds."""
        async with asyncio.timeout(within):
            while not holds():
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._next.wait(), UNSEEN)
