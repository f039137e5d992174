"""Asks a model for a move: the one place where that is tried again, and where all it raises ends."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from core.errors import Unavailable
from core.outcomes import Reason
from core.ports import Model
from core.tools import Toolbox
from core.transcript import Entry, Move, Say

_log = logging.getLogger("sayso.turn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Asks one model on behalf of one turn."""

    model: Model
    tools: Toolbox
    turn: str
    pauses: Sequence[float]
    """Seconds before each further try."""

    async def move(self, entries: tuple[Entry, ...], *, deadline: float) -> Move | Reason:
        """Return the next move, or why there is none; the deadline of the loop's clock cancels it."""
        if asyncio.get_running_loop().time() >= deadline:
            return Reason.MAX_SECONDS
        try:
            async with asyncio.timeout_at(deadline):
                return await self._tried(entries)
        except TimeoutError:
            return Reason.MAX_SECONDS

    async def conclusion(self, entries: tuple[Entry, ...], *, deadline: float) -> Say | None:
        """Ask once for closing words; None where there are none by the deadline."""
        try:
            async with asyncio.timeout_at(deadline):
                move = await self.model.next_move(entries, self.tools, conclude=True)
        except Exception as error:  # noqa: BLE001 - then the limit itself is what people are told
            self._failed(error)
            return None
        return move if isinstance(move, Say) and move.text.strip() else None

    async def _tried(self, entries: tuple[Entry, ...]) -> Move | Reason:
        for pause in self.pauses:
            move = await self._once(entries)
            if move is not None:
                return move
            await asyncio.sleep(pause)
        return await self._once(entries) or Reason.MODEL_UNAVAILABLE

    async def _once(self, entries: tuple[Entry, ...]) -> Move | Reason | None:
        """Ask once; None where nothing came back, so that asking again is safe."""
        try:
            return await self.model.next_move(entries, self.tools)
        except Unavailable as error:
            self._failed(error)
            return None
        except Exception as error:  # noqa: BLE001 - an outage is explained, whatever it looks like
            self._failed(error)
            return Reason.MODEL_UNAVAILABLE

    def _failed(self, error: Exception) -> None:
        """Log a failure by its type alone: its text may hold anything."""
        _log.warning("turn %s: the model failed: %s", self.turn, type(error).__name__)
