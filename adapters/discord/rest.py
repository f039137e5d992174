"""Discord's REST interface. Nothing of the SDK's failures comes out of here: no exception, no token."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeVar

import aiohttp
import discord

from adapters.discord import endpoints
from adapters.discord.buckets import bounded
from adapters.discord.refusals import Tried, failed, slow_down, unanswered, wrong_token
from adapters.discord.setup import DiscordSetup
from adapters.platforms.waits import Waits
from core.errors import Invalid, SaysoError, Unavailable

T = TypeVar("T")

DEADLINE = 20.0
"""Seconds after which a call has failed, unless the caller has less patience."""
LONGEST_SLEEP = 6.0
"""For so many seconds the SDK waits by itself: five messages in five seconds are what a channel takes."""
BAN = timedelta(minutes=5)
"""For so long nothing is asked where what stands before Discord refuses this address, without a time."""
DISTRUST = 60.0
"""For so many seconds a token that was refused is not tried again: too many refusals ban an address."""
_UNREADABLE = (AttributeError, KeyError, TypeError, ValueError, discord.DiscordException)
"""What the SDK raises where an answer is not what it expects."""
_ALL = "discord"


@dataclass(slots=True, kw_only=True)
class Rest:
    """Calls the REST interface through a client without a gateway, each within a deadline.

    Raises `Unavailable` where trying again may help, with `after` exactly where Discord has done
    nothing and says how long to wait; `Refused` where it cannot, and `Invalid` for a wrong token.
    The SDK itself tries again where Discord's own servers fail, with the same nonce.
    """

    setup: DiscordSetup
    deadline: float = DEADLINE
    now: Callable[[], float] = time.monotonic
    waits: Waits = field(default_factory=Waits)
    _client: discord.Client | None = field(default=None, init=False, repr=False)
    _users: int = field(default=0, init=False)
    _login: asyncio.Lock = field(default_factory=asyncio.Lock, init=False, repr=False)
    _refused_until: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        """Point the SDK at the Discord that is meant; no connection yet."""
        endpoints.point(self.setup)
        endpoints.silence()

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Share one login and its connections between all calls inside the block."""
        self._users += 1
        try:
            yield
        finally:
            self._users -= 1
            client = self._client
            if client is not None and not self._users:
                self._client = None
                await client.close()

    async def call(
        self,
        tried: Tried,
        call: Callable[[discord.Client], Awaitable[T]],
        *,
        on: str = "",
        within: float | None = None,
    ) -> T:
        """Call, and return what comes of it; `on` is the channel or server that it is about.

        What Discord asks to wait for is not called until that time is over.
        """
        self.waits.check(_ALL)

        async def once() -> T:
            async with self.opened():
                client = await self._logged_in()
                return await self._called(tried, lambda: call(client), client, within)

        return await self.waits.called(f"{tried}:{on}", once)

    async def user(self) -> str:
        """Return the user id that Sayso has on Discord."""

        async def ours(client: discord.Client) -> str:
            return str(client.user.id) if client.user is not None else ""

        return await self.call("log in", ours)

    async def _logged_in(self) -> discord.Client:
        async with self._login:
            if self.now() < self._refused_until:
                raise wrong_token("log in")
            if self._client is None:
                self._client = await self._log_in()
            return self._client

    async def _log_in(self) -> discord.Client:
        client = self._made()
        try:
            await self._called("log in", lambda: client.login(self.setup.token), client, None)
        except BaseException:
            await client.close()  # a client whose login failed cannot log in again
            raise
        return client

    def _made(self) -> discord.Client:
        client = discord.Client(
            intents=discord.Intents.none(),
            allowed_mentions=discord.AllowedMentions.none(),
            max_messages=None,
            proxy=endpoints.proxy(),
        )
        bounded(client, LONGEST_SLEEP)
        return client

    async def _called(
        self,
        tried: Tried,
        call: Callable[[], Awaitable[T]],
        client: discord.Client,
        within: float | None,
    ) -> T:
        failure: SaysoError
        try:
            async with asyncio.timeout(within or self.deadline):
                return await call()
        except asyncio.CancelledError:
            _released(client)
            raise
        except TimeoutError:
            _released(client)
            failure = unanswered(tried, why="TimeoutError")
        except discord.LoginFailure:
            failure = wrong_token(tried)
        except discord.RateLimited as error:
            failure = slow_down(tried, error.retry_after)
        except discord.HTTPException as error:
            failure = self._read(tried, error)
        except (aiohttp.ClientError, OSError, RuntimeError, *_UNREADABLE) as error:
            failure = unanswered(tried, why=type(error).__name__)
        if isinstance(failure, Invalid):
            self._refused_until = self.now() + DISTRUST
        raise failure  # outside of the handler: the SDK's errors carry requests, and those the token

    def _read(self, tried: Tried, error: discord.HTTPException) -> SaysoError:
        retry_after = _seconds(error)
        read = failed(tried, status=error.status, code=error.code, retry_after=retry_after)
        if isinstance(read, Unavailable) and read.after is not None:
            # The SDK gives 429 itself only where it came from what stands before Discord.
            after = read.after if retry_after is not None else BAN
            self.waits.wait(_ALL, after, read.shown)
        return read


def _released(client: discord.Client) -> None:
    """Let other calls through: one that is cut while it waits for all of them never does."""
    over = getattr(client.http, "_global_over", None)
    if isinstance(over, asyncio.Event):
        over.set()


def _seconds(error: discord.HTTPException) -> float | None:
    """Return what an answer says in its head about when to come again."""
    said = error.response.headers.get("Retry-After", "")
    return float(said) if re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", said) else None
