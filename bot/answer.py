"""Handles the job of a turn: it is answered or proposes, and ends once, whatever happens to it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.drafting import Drafting
from bot.means import Means
from bot.turning import Turning
from core.conversations import Closing, Turn
from core.errors import Refused, Unavailable
from core.jobs import Hold, LeaseLost
from core.outcomes import Outcome, Reason

_MOST_CUTS = 5
"""How often a turn may be cut before it is given up: a lease that was over for a moment cuts one."""
_log = logging.getLogger("sayso.turn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    """Handles the job of a turn, in whichever process claimed it. Nothing that it does changes anything."""

    means: Means
    running: Callable[[str], int]
    """Counts the commands that run for a turn right now."""
    drafting: Drafting

    async def __call__(self, hold: Hold) -> None:
        """Answer or propose, and end the turn; one that is stopped ends as stopped."""
        name = str(hold.job.payload["turn"])
        turn = await self.means.conversations.turn(hold.job.tenant, name)
        if turn is None or turn.reason is not None:
            return
        async with self.drafting.showing(turn, hold) as draft:
            turning = Turning.of(self.means, turn, hold, draft)
            outcome, killed = await self._until_stopped(hold, turn, turning.outcome())
        end = turning.end(outcome, killed)
        await self._end(hold, Closing(turn=turn, job=hold.job, end=end))

    async def _until_stopped(
        self, hold: Hold, turn: Turn, answer: Awaitable[Outcome]
    ) -> tuple[Outcome, int]:
        """Return the outcome, or cut it where somebody stops it; and how many commands that killed."""
        answering, stopping = asyncio.ensure_future(answer), asyncio.ensure_future(hold.stopped())
        killed = 0
        try:
            await asyncio.wait({answering, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
            if not answering.done():
                killed = self.running(turn.id)
                answering.cancel()
                await asyncio.wait({answering})
        if answering.cancelled():
            return Outcome(reason=Reason.STOPPED, text=""), killed
        return answering.result(), killed

    async def _end(self, hold: Hold, closing: Closing) -> None:
        """Write the end, trying again while the database fails and the job is still ours."""
        while True:
            if await self._has_ended(hold, closing):
                return
            await asyncio.sleep(0.2)

    async def _has_ended(self, hold: Hold, closing: Closing) -> bool:
        """Try to write the end; raise where what was cut has to be answered again."""
        hold.check()
        try:
            ended = await self.means.conversations.end(closing)
        except LeaseLost:
            raise
        except Unavailable as error:
            _log.warning("turn %s: %s", closing.turn.id, error.shown)
            return False
        if ended or hold.is_stopping:  # a stop that this process heard first is on its way
            return ended
        if hold.job.tries < _MOST_CUTS:
            raise Unavailable("The turn was cut and nobody stopped it, so it is answered again.")
        raise Refused("The turn was cut again and again, and nobody stopped it.")
