"""Seconds that pass when a test says so."""

import asyncio
from dataclasses import dataclass, field


@dataclass
class FakeTimer:
    """Implements `bot.live.Timer`."""

    time: float = 0.0
    sleepers: dict["asyncio.Future[None]", float] = field(
        default_factory=dict["asyncio.Future[None]", float]
    )
    """Who waits, and until when."""

    def now(self) -> float:
        """See the port."""
        return self.time

    async def sleep(self, seconds: float) -> None:
        """See the port."""
        if seconds <= 0:
            return
        waits = asyncio.get_running_loop().create_future()
        self.sleepers[waits] = self.time + seconds
        try:
            await waits
        finally:
            del self.sleepers[waits]

    def wake_next(self, until: float) -> bool:
        """Go on to when the next sleeper wakes; False where none does before."""
        waiting = {one: at for one, at in self.sleepers.items() if not one.done()}
        if not waiting or min(waiting.values()) > until:
            self.time = until
            return False
        one = min(waiting, key=lambda one: waiting[one])
        self.time = waiting[one]
        one.set_result(None)
        return True
