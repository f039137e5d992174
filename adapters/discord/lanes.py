"""What people write in one channel, one after another; in different channels at the same time."""

from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from adapters.platforms.tasks import Tasks, failed

Work: TypeAlias = Callable[[], Coroutine[Any, Any, object]]


@dataclass(slots=True, kw_only=True)
class Lanes:
    """Does work in the order in which it came; nothing is left of a lane that is empty."""

    tasks: Tasks
    _waiting: dict[str, deque[Work]] = field(default_factory=dict[str, "deque[Work]"])

    def add(self, lane: str, work: Work) -> None:
        """Do it once all that came before it in its lane is done, however that ended."""
        if lane in self._waiting:
            self._waiting[lane].append(work)
            return
        self._waiting[lane] = deque([work])
        self.tasks.start(self._empty(lane))

    async def _empty(self, lane: str) -> None:
        waiting = self._waiting[lane]
        try:
            while waiting:
                try:
                    await waiting.popleft()()
                except Exception as error:  # noqa: BLE001 - what comes after it has to be done
                    failed(error)
        finally:
            del self._waiting[lane]
