"""For how long the SDK waits by itself where Discord limits how often it is called."""

from typing import Any

import discord
from discord.http import Ratelimit


class Bucket(Ratelimit):
    """Calls for which Discord counts together.

    Where it may not wait for long, the SDK's own refuses a call as soon as the time after which
    Discord counts anew is long, however many calls are left: one thread in five minutes.
    """

    __slots__ = ()  # so that one of the SDK's own can become one of these

    async def acquire(self) -> None:
        """Wait for a call that is left; raise `RateLimited` where there is none for long."""
        longest = self._max_ratelimit_timeout
        if self.remaining > 0:
            self._max_ratelimit_timeout = None  # nothing is awaited while it is
        try:
            await super().acquire()
        finally:
            self._max_ratelimit_timeout = longest


def bounded(client: discord.Client, longest: float) -> None:
    """Have a client that has not logged in yet wait for so many seconds at most, and raise then.

    As an option, the SDK takes no less than 30, for which whoever calls would sleep.
    """
    http: Any = client.http
    usual = http.get_ratelimit

    def bucket(key: str) -> Bucket:
        found: Bucket = usual(key)
        found.__class__ = Bucket
        return found

    http.max_ratelimit_timeout = longest
    http.get_ratelimit = bucket
