"""Leases that exist only here."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from core.ports import Clock
from tests.fakes.clock import FrozenClock


def _nobody(_: str) -> bool:
    return False


@dataclass(kw_only=True)
class FakeLeases:
    """Implements `core.leases.Leases`; nothing awaits between its look and what it keeps."""

    clock: Clock = field(default_factory=FrozenClock)
    is_dead: Callable[[str], bool] = _nobody
    kept: dict[str, tuple[str, datetime]] = field(default_factory=dict[str, tuple[str, datetime]])
    """Who took each, and until when."""

    async def take(self, name: str, owner: str, lasts: timedelta) -> bool:
        """See the port."""
        if self._held_by(name) not in {None, owner}:
            return False
        self.kept[name] = (owner, self.clock.now() + lasts)
        return True

    async def give_back(self, name: str, owner: str) -> None:
        """See the port."""
        if name in self.kept and self.kept[name][0] == owner:
            del self.kept[name]

    async def holder(self, name: str) -> str | None:
        """See the port."""
        return self._held_by(name)

    def _held_by(self, name: str) -> str | None:
        owner, until = self.kept.get(name, ("", self.clock.now()))
        return None if until <= self.clock.now() or self.is_dead(owner) else owner
