"""What became of a plan, for an agent elsewhere that proposed it in somebody's name."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from approvals import cards, reports
from approvals.models import LIVE, Request, Run, RunState
from bot import contract
from bot.looking import Looking
from core.canonical import JsonObject
from core.cards import Card
from core.declarations import Declaration
from core.errors import Incorrect
from core.principals import Identity
from core.tools import STATUS
from core.waiting import now

LONGEST = 25
"""Seconds that one call may wait: programs give up on what takes longer than half a minute."""
_POLL = 0.25
_UNREADABLE = (
    f"{STATUS}: give `request`, the id that a call returned, and `wait_seconds`, a number from 0 to "
    f"{LONGEST}. Call it again with that corrected."
)


class _Wanted(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, title=STATUS)

    request: str = Field(description="The id that the call returned.")
    wait_seconds: float = Field(0, ge=0, le=LONGEST, description="How long to wait for its end.")


DECLARED = Declaration(
    name=STATUS,
    description="Tell what became of a plan that people decide about. (reads: runs at once)",
    schema=_Wanted.model_json_schema(),
    reads=True,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStatus:
    """Tells of requests that somebody may know of: of any other as of one that is not there (I14)."""

    identity: Identity
    looking: Looking
    notice: Callable[[], Awaitable[None]]
    """Notices what dead processes left."""
    draw: Callable[[Card], str]

    async def told(self, arguments: JsonObject) -> tuple[str, dict[str, Any]]:
        """Return where a plan is, in words and for programs, once it has ended or after the wait."""
        try:
            wanted = _Wanted.model_validate(arguments)
        except ValidationError as error:
            raise Incorrect(_UNREADABLE) from error
        await self.looking.gate.acting.admit(self.identity, "looks")
        until = now() + wanted.wait_seconds
        found = await self._now(wanted.request)
        while not _has_ended(*found) and now() < until:
            await asyncio.sleep(min(_POLL, max(0, until - now())))
            found = await self._now(wanted.request)
        return self._words(*found), self._values(*found)

    async def _now(self, request: str) -> tuple[Request, Run | None]:
        await self.notice()
        _, _, found = await self.looking.gate.seen(self.identity, request)
        return await self.looking.latest(found)

    def _words(self, request: Request, run: Run | None) -> str:
        told = cards.drawn(request, run)[1]
        return "\n".join(filter(None, (told, reports.report(run) if run else "")))

    def _values(self, request: Request, run: Run | None) -> dict[str, Any]:
        return {
            "status": request.state.value,
            "ended": _has_ended(request, run),
            "request": contract.request(request, self.draw),
            "run": contract.run(run) if run else None,
        }


def _has_ended(request: Request, run: Run | None) -> bool:
    return request.state not in LIVE and (run is None or run.state is not RunState.RUNNING)
