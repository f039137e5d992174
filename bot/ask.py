"""What happens when somebody asks and waits for the answer."""

import asyncio
from dataclasses import dataclass

from approvals.models import Request
from approvals.store import ApprovalStore
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Sees to the answer of a message that is in the inbox."""

    conversations: Conversations
    requests: ApprovalStore
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
        return Answered(
            conversation=turn.conversation,
            turn=turn.id,
            reason=turn.reason,
            text=turn.text,
            suggestions=turn.suggestions,
            request=await self.requests.get(turn.tenant, turn.request) if turn.request else None,
        )
