"""A desk that takes whatever comes and answers what a test wants."""

import asyncio
from dataclasses import dataclass, field

from core.platforms import Event, Home, Told
from core.principals import Identity


@dataclass(kw_only=True)
class FakeDesk:
    """Implements `core.platforms.Desk`."""

    says: list[Told | Exception] = field(default_factory=list[Told | Exception])
    """What comes of the next events, one each; then nothing is said."""
    events: list[Event] = field(default_factory=list[Event])
    """Everything that was taken, in order; also what is held, or failed."""
    homes: list[Identity] = field(default_factory=list[Identity])
    home_is: Home | Exception = field(
        default_factory=lambda: Home(greeting="Hello.", waits=(), runs=())
    )
    gate: asyncio.Event | None = None
    """Nothing is done before this is set, where there is one."""
    cut: int = 0
    """How often somebody who waited for it gave up."""
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def take(self, event: Event) -> Told:
        """See the port."""
        said = self.says.pop(0) if self.says else Told()
        async with self.changed:
            self.events.append(event)
            self.changed.notify_all()
        await self._held()
        if isinstance(said, Exception):
            raise said
        return said

    async def home(self, identity: Identity) -> Home:
        """See the port."""
        self.homes.append(identity)
        await self._held()
        if isinstance(self.home_is, Exception):
            raise self.home_is
        return self.home_is

    async def until_taken(self, count: int = 1, *, within: float = 5.0) -> None:
        """Return once so many events have come."""
        async with asyncio.timeout(within), self.changed:
            await self.changed.wait_for(lambda: len(self.events) >= count)

    async def _held(self) -> None:
        if self.gate is None:
            return
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cut += 1
            raise
