"""How long Slack told Sayso to wait before it asks for the same again."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeVar

from adapters.slack.refusals import slow_down
from core.errors import Unavailable

T = TypeVar("T")


@dataclass(slots=True, kw_only=True)
class Waits:
    """Keeps requests from Slack that it said it would refuse."""

    now: Callable[[], float] = time.monotonic
    _until: dict[str, float] = field(default_factory=dict[str, float])

    async def called(self, what: str, call: Callable[[], Awaitable[T]]) -> T:
        """Call, unless `what` has to wait; raises `Unavailable` that says how long."""
        self._check(what)
        try:
            return await call()
        except Unavailable as error:
            if error.after is not None:
                self._until[what] = self.now() + error.after.total_seconds()
            raise

    def _check(self, what: str) -> None:
        left = self._until.get(what, 0.0) - self.now()
        if left > 0:
            raise slow_down(timedelta(seconds=left), what)
        self._until.pop(what, None)
