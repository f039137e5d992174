"""What becomes of what somebody approved at a terminal, where another conversation is told of it."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from approvals.models import Request, Run, RunState, State
from bot import spoken
from bot.looking import Looking

_AGREED = frozenset({State.GRANTED, State.SPENT})


@dataclass(frozen=True, slots=True, kw_only=True)
class Awaiting:
    """Tells whoever approved here, once and in one line, how each such request ended."""

    looking: Looking
    tell: Callable[[str], Awaitable[None]]
    answering: Callable[[], AbstractAsyncContextManager[object]]
    """Keeps other words back while something is told."""
    _approved: dict[str, Request] = field(default_factory=dict[str, Request])

    def add(self, request: Request) -> None:
        """Have the end of a request be told."""
        self._approved[request.id] = request

    async def look(self) -> bool:
        """Tell what has ended; return whether something goes on that nobody has to decide any more."""
        goes_on = False
        for before in [*self._approved.values()]:
            request, run = await self.looking.latest(before)
            if not _is_over(request, run):
                goes_on = goes_on or request.state in _AGREED
            elif self._approved.pop(request.id, None):
                async with self.answering():
                    await self.tell(spoken.ended(request, run))
        return goes_on


def _is_over(request: Request, run: Run | None) -> bool:
    if request.state in _AGREED:
        return run is not None and run.state is not RunState.RUNNING
    return request.state is not State.OPEN
