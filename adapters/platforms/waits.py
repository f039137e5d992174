"""How long a platform told Sayso to wait before it asks for the same again."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeVar

from core.errors import Unavailable

T = TypeVar("T")


@dataclass(slots=True, kw_only=True)
class Waits:
    """Keeps requests from a platform that it said it would refuse."""

    now: Callable[[], float] = time.monotonic
    _until: dict[str, tuple[float, str]] = field(default_factory=dict[str, tuple[float, str]])
    """Until when, and what was said about it."""

    async def called(self, what: str, call: Callable[[], Awaitable[T]]) -> T:
        """Call, unless `what` has to wait; raises `Unavailable` that says how long."""
        self.check(what)
        try:
            return await call()
        except Unavailable as error:
            if error.after is not None:
                self.wait(what, error.after, error.shown)
            raise

    def wait(self, what: str, after: timedelta, shown: str) -> None:
        """Have `what` wait for so long, with a sentence for whoever asks for it meanwhile."""
        self._until[what] = (self.now() + after.total_seconds(), shown)

    def check(self, what: str) -> None:
        """Raise `Unavailable` where `what` has to wait."""
        until, shown = self._until.get(what, (0.0, ""))
        left = until - self.now()
        if left > 0:
            raise Unavailable(shown, after=timedelta(seconds=left), method=what)
        self._until.pop(what, None)
