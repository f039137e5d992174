"""What platforms find wrong with how they are set up, in bounded time."""

import asyncio
from contextlib import AbstractAsyncContextManager

from bot.wiring.platforms import wrong
from core.deliveries import Chat
from core.platforms import Desk
from core.roster import Roster


class Hanging:
    """A platform that never answers."""

    @property
    def chat(self) -> Chat:
        raise NotImplementedError

    @property
    def roster(self) -> Roster:
        raise NotImplementedError

    def connected(self, desk: Desk) -> AbstractAsyncContextManager[None]:
        raise NotImplementedError

    async def check(self) -> tuple[str, ...]:
        await asyncio.Event().wait()
        raise AssertionError("nobody waits for ever")


async def test_a_platform_that_never_answers_is_told_of() -> None:
    told = await wrong("slack", Hanging(), within=0.01)
    assert told == ("slack: it did not answer within 0 seconds. Try again later.",)
