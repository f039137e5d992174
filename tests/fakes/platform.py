"""A platform that can be out of reach, or never to be had."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from core.errors import SaysoError
from core.platforms import Desk
from tests.fakes.chat import FakeChat
from tests.fakes.roster import FakeRoster


@dataclass(kw_only=True)
class FakePlatform:
    """Implements `core.platforms.Platform`."""

    fails: list[SaysoError] = field(default_factory=list[SaysoError])
    """What the next tries to connect raise, one each."""
    leaving: list[SaysoError] = field(default_factory=list[SaysoError])
    """What leaving it raises."""
    wrong: tuple[str, ...] = ()
    chat: FakeChat = field(default_factory=FakeChat)
    roster: FakeRoster = field(default_factory=FakeRoster)
    tries: int = 0
    is_connected: bool = False

    @asynccontextmanager
    async def connected(self, desk: Desk) -> AsyncGenerator[None]:
        """See the port."""
        del desk
        self.tries += 1
        if self.fails:
            raise self.fails.pop(0)
        self.is_connected = True
        try:
            yield
        finally:
            self.is_connected = False
        if self.leaving:
            raise self.leaving.pop(0)

    async def check(self) -> tuple[str, ...]:
        """See the port."""
        return self.wrong
