"""What happens when somebody asks and waits for the answer."""

import asyncio
from dataclasses import dataclass, replace

from approvals import cards, reports
from approvals.models import Request, Run
from approvals.models import job_of as run_job
from approvals.store import ApprovalStore, RunStore
from core.conversations import Conversations, Received, job_of
from core.errors import Unavailable
from core.jobs import Engine
from core.outcomes import Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """How one turn ended, and the request that it opened."""

    conversation: str
    turn: str
    reason: Reason
    text: str
    suggestions: tuple[str, ...] = ()
    request: Request | None = None
    run: Run | None = None
    """What ran at once, under a standing grant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Sees to the answer of a message that is in the inbox."""

    conversations: Conversations
    requests: ApprovalStore
    runs: RunStore
    engine: Engine

    async def answer(self, received: Received, stop: asyncio.Event) -> Answered:
        """Return how the turn ended; it runs here, after those ahead of it, unless it runs elsewhere."""
        asked = received.turn
        await self.engine.see_through(job_of(asked.id), stop)
        turn = await self.conversations.turn(asked.tenant, asked.id)
        if turn is None or turn.reason is None:
            raise Unavailable(
                "How this was answered could not be written down. Nothing was changed; ask again."
            )
        request = await self.requests.get(turn.tenant, turn.request) if turn.request else None
        answered = Answered(
            conversation=turn.conversation,
            turn=turn.id,
            reason=turn.reason,
            text=turn.text,
            suggestions=turn.suggestions,
            request=request,
        )
        return await self._ran(answered, request, stop) if request and request.under else answered

    async def _ran(self, answered: Answered, request: Request, stop: asyncio.Event) -> Answered:
        """Return the answer with what ran at once: nobody was asked, so there is no request to show."""
        await self.engine.see_through(run_job(request.id), stop)
        ended = await self.requests.get(request.tenant, request.id) or request
        run = await self.runs.run_of(request.tenant, request.id)
        told = reports.report(run) if run else f"Not run. {cards.status(ended)}"
        text = "\n".join(filter(None, (answered.text, told)))
        return replace(answered, text=text, request=None, run=run)
