"""What a process does while somebody sits at its terminal: it serves, hears signals, and ends in time."""

import asyncio
import signal
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from approvals.models import RUN
from bot import serving
from bot.called_off import CalledOff
from bot.wiring import App
from core.terminal import Line, Terminal

_GRACE = 2.0
_SOON = 0.25
"""Seconds in which what is being done may still end, once it is called off."""
_POLL = 0.02
_WAITS = "A run goes on in this process, and is waited for. A signal cuts it."


@dataclass(slots=True, kw_only=True)
class Attending:
    """Serves the queue beside one terminal, until whoever sits there leaves or it is called off."""

    app: App
    terminal: Terminal
    is_alone: bool
    """Whether nobody sits there who could be asked: then no run is cut but by a signal."""
    off: CalledOff = field(default_factory=CalledOff)
    cuts: bool = False
    """Whether a run went on when what still ran had little time left."""

    async def until_over(self, reading: Coroutine[Any, Any, object]) -> None:
        """Serve while somebody reads and types; what is being done is cut where it is called off."""
        self._listen()
        read_by = asyncio.create_task(self._read_by())
        try:
            async with self.serving():
                await self.off.bound(reading, _SOON)
                if self._waits():
                    await self.off.bound(self.terminal.tell(_WAITS), _SOON)
        finally:
            read_by.cancel()

    @asynccontextmanager
    async def serving(self) -> AsyncGenerator[None]:
        """Answer, run and deliver inside the block; what then still runs is cut soon."""
        stop = asyncio.Event()
        serve = serving.serve(
            self.app.engine, stop, lambda: None, grace=_GRACE, before=self._runs_end
        )
        served = asyncio.create_task(serve)
        try:
            yield
        except asyncio.CancelledError:
            self.off.call(signal.SIGTERM)
            raise
        finally:
            stop.set()
            await served
            await self.off.bound(self.terminal.settled(), _GRACE)

    def _listen(self) -> None:
        """Have signals end it; at a keyboard, SIGINT is what Ctrl-C is."""
        loop, ends = asyncio.get_running_loop(), {signal.SIGTERM, signal.SIGHUP, signal.SIGINT}
        if not self.is_alone:
            ends.remove(signal.SIGINT)
            loop.add_signal_handler(signal.SIGINT, self.terminal.cut, Line(interrupted=True))
        for number in ends:
            loop.add_signal_handler(number, self._end, number)

    def _end(self, number: signal.Signals) -> None:
        self.off.call(number)
        self.terminal.cut(Line(told=True))

    async def _read_by(self) -> None:
        await self.terminal.unread()
        self._end(signal.SIGPIPE)

    def _waits(self) -> bool:
        return self.is_alone and not self.off.is_so and self.app.engine.holds(RUN)

    async def _runs_end(self) -> None:
        """Nothing is begun any more: wait for what runs, where nobody could be asked about it."""
        while self._waits():  # noqa: ASYNC110 - in the engine
            await asyncio.sleep(_POLL)
        self.cuts = self.app.engine.holds(RUN)
