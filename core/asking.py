"""Asks a model for a move: the one place where that is tried again, and where all it raises ends."""

import asyncio
import logging
from collections.abc import Awaitable, Sequence, Sized
from dataclasses import dataclass

from core.errors import Unavailable
from core.outcomes import Reason
from core.ports import Draft, Model
from core.prompt import Prompt
from core.trail import Moved, Trail
from core.transcript import Broken, Entry, Move, Pause, Say, Use, Wire
from core.waiting import OUTAGES, now, settled

_log = logging.getLogger("sayso.turn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Asks one model on behalf of one turn. What comes after a deadline is not used."""

    model: Model
    prompt: Prompt
    turn: str
    pauses: Sequence[float]
    """Seconds before each further try."""
    trail: Trail
    draft: Draft | None = None
    """Shows what the model says while it says it; None where nobody may see that yet."""

    async def move(self, entries: tuple[Entry, ...], *, deadline: float) -> Move | Reason:
        """Return the next move, or why there is none; the deadline of the loop's clock cancels it."""
        for pause in self.pauses:
            found = await self._asked(entries, deadline, conclude=False)
            if found is not None:
                return found
            left = deadline - now()
            await asyncio.sleep(min(pause, left))
            if pause >= left:
                return Reason.MAX_SECONDS
        return await self._asked(entries, deadline, conclude=False) or Reason.MODEL_UNAVAILABLE

    async def conclusion(self, entries: tuple[Entry, ...], *, deadline: float) -> Move | None:
        """Ask once for closing words; None where nothing came by the deadline."""
        found = await self._asked(entries, deadline, conclude=True)
        return None if isinstance(found, Reason) else found

    async def _asked(
        self, entries: tuple[Entry, ...], deadline: float, *, conclude: bool
    ) -> Move | Reason | None:
        """Ask once; None where nothing came back, so that asking again is safe."""
        began = now()
        if began >= deadline:
            return Reason.MAX_SECONDS
        task = await settled(lambda: self._call(entries, conclude=conclude), deadline)
        found = self._came(task) if task else Reason.MAX_SECONDS
        if self.model.generative:
            await self.trail((self._moved(found, entries, round((now() - began) * 1000)),))
        return found

    def _call(self, entries: tuple[Entry, ...], *, conclude: bool) -> Awaitable[object]:
        hear = self.draft.anew() if self.draft else None
        return self.model.next_move(entries, self.prompt, conclude=conclude, hear=hear)

    def _came(self, task: asyncio.Task[object]) -> Move | Reason | None:
        """Return what came of a call that has ended."""
        if task.cancelled():
            return self._failed("CancelledError", Reason.MODEL_UNAVAILABLE)
        error = task.exception()
        if isinstance(error, Unavailable):
            return self._failed(type(error).__name__, None)
        if isinstance(error, OUTAGES):
            # An outage is explained, whatever it looks like.
            return self._failed(type(error).__name__, Reason.MODEL_UNAVAILABLE)
        move = task.result()
        if isinstance(move, Say | Use | Broken | Pause):
            return move
        return self._failed(type(move).__name__, Reason.ERROR)

    def _moved(self, found: Move | Reason | None, entries: Sized, milliseconds: int) -> Moved:
        """Return the record of one call of the model, whatever came of it."""
        wire = Wire() if found is None or isinstance(found, Reason) else found.wire
        return Moved(
            request=wire.request,
            stop=_stop(found),
            input_tokens=wire.input_tokens,
            output_tokens=wire.output_tokens,
            milliseconds=milliseconds,
            prompt=self.prompt.says.sha256,
            entries=len(entries),
            options=wire.options,
        )

    def _failed(self, kind: str, reason: Reason | None) -> Reason | None:
        """Log a failure by its type alone: its text may hold anything."""
        _log.warning("turn %s: the model failed: %s", self.turn, kind)
        return reason


def _stop(found: Move | Reason | None) -> str:
    match found:
        case None:
            return "nothing came back"
        case Broken(stop=stop):
            return stop
        case Reason():
            return found
        case _:
            return type(found).__name__.lower()
