"""One take of whatever a platform delivers several times: everybody gets the same answer."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from adapters.platforms.tasks import Tasks, failed
from core.errors import SaysoError, Unavailable
from core.platforms import Told

REMEMBERED = 1000
"""So many deliveries are remembered, with what came of them."""

Outcome: TypeAlias = Told | SaysoError
_CRASHED = "Something went wrong inside Sayso; its log has the details. Try again later."


async def outcome_of(take: Awaitable[Told]) -> Outcome:
    """Return what came of it, failure or not: somebody is told in any case."""
    try:
        return await take
    except SaysoError as error:
        return error
    except Exception as error:  # noqa: BLE001 - whatever it is, somebody waits for an answer
        failed(error)
        return Unavailable(_CRASHED)


@dataclass(slots=True, kw_only=True)
class Takes:
    """Remembers what came of each delivery, but for those that are to be tried again."""

    tasks: Tasks
    _known: dict[str, "asyncio.Task[Outcome]"] = field(
        default_factory=dict[str, "asyncio.Task[Outcome]"]
    )

    def of(
        self, key: str, take: Callable[[], Coroutine[Any, Any, Outcome]]
    ) -> "asyncio.Task[Outcome]":
        """Return the take under a key, begun now if it is the first; an empty key is always new."""
        if key in self._known:
            return self._known[key]
        task = self.tasks.start(take())
        if key:
            self._known[key] = task
            task.add_done_callback(lambda task: self._ended(key, task))
        while len(self._known) > REMEMBERED:
            del self._known[next(iter(self._known))]
        return task

    def _ended(self, key: str, task: "asyncio.Task[Outcome]") -> None:
        is_kept = not task.cancelled() and not isinstance(task.result(), Unavailable)
        if not is_kept and self._known.get(key) is task:
            del self._known[key]


async def soon(task: "asyncio.Task[Outcome]", within: float) -> Outcome | None:
    """Return the outcome; None where it is not there in time. The take goes on all the same."""
    await asyncio.wait({task}, timeout=within)
    if not task.done():
        return None
    return Unavailable(_CRASHED) if task.cancelled() else task.result()
