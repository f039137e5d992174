"""Discord's gateway: one connection for one shard, and why it ended."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

import discord

from adapters.discord.client import Client, Habits, Inflow, Shard
from adapters.discord.refusals import wrong_token
from adapters.discord.rest import Rest
from adapters.discord.setup import DiscordSetup
from core.errors import Invalid, SaysoError, Unavailable

_WRONG_TOKEN, _NO_INTENT, _OTHER_SHARDS = 4004, frozenset({4013, 4014}), frozenset({4010, 4011})
"""Discord's numbers for why it has closed a connection for good."""
_INTENT = (
    "Discord does not let Sayso read messages: enable the Message Content Intent under “Bot” in "
    "Discord's developer portal, or set discord.threads: mentions."
)
_RESHARD = (
    "Discord wants the servers to be divided into more parts than they were when Sayso started. "
    "Start it again."
)
_AWAY = "Discord's gateway could not be reached."
_NO_SESSION = (
    "Discord allows no further session of this bot for now, since so many have begun lately."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tempo:
    """Seconds."""

    opens: float = 60.0
    """In which a session has to have begun."""
    closes: float = 2.0
    between: float = 5.0
    """Between two beginnings of a session: Discord refuses those that come faster."""
    heartbeat_timeout: float = 60.0
    settles: float = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """What Discord says about sessions."""

    shards: int
    """In how many parts the servers are best divided."""
    remaining: int
    """How many more may begin."""
    resets: timedelta
    """When there are more again."""


@dataclass(slots=True, kw_only=True)
class Gateway:
    """Connects a shard, as often as it is called for and Discord allows it."""

    setup: DiscordSetup
    rest: Rest
    tempo: Tempo = field(default_factory=Tempo)
    _turns: asyncio.Lock = field(default_factory=asyncio.Lock)
    _next: float = 0.0
    """When another session may begin, by the loop's clock."""

    async def allowed(self) -> Allowed:
        """Return what Discord says; raise as `Rest.call` does."""

        async def ask(client: discord.Client) -> Allowed:
            shards, _, limit = await client.http.get_bot_gateway()
            resets = timedelta(milliseconds=limit["reset_after"])
            return Allowed(shards=shards, remaining=limit["remaining"], resets=resets)

        return await self.rest.call("log in", ask)

    async def serve(self, shard: Shard, inflow: Inflow, opened: Callable[[], None]) -> None:
        """Take in what comes until the connection ends for good, then raise why.

        `opened` is called once it is there. Raises `Invalid` where somebody has to correct something.
        """
        await self._turn()
        habits = Habits(
            before_identify=self._turn,
            heartbeat_timeout=self.tempo.heartbeat_timeout,
            settles=self.tempo.settles,
        )
        client = Client(self.setup, shard, inflow, habits)
        running = asyncio.create_task(self._run(client))
        try:
            await _first(running, client.greeted, within=self.tempo.opens)
            if running.done() or not client.greeted.is_set():
                raise _why(running)
            opened()
            await _first(running, client.given_up)
            raise _why(running)
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            await self._close(client)

    async def _run(self, client: Client) -> None:
        """Connect, again and again, until that makes no sense any more; always raise why."""
        try:
            await client.start(self.setup.token)
        except Exception as error:  # noqa: BLE001 - whatever it is, somebody has to begin anew
            failure = _meant(error)
        else:
            failure = Unavailable(_AWAY, why="it was closed")
        raise failure  # outside of the handler: discord.py's errors carry requests

    async def _turn(self, _: object = None) -> None:
        """Wait until another session may begin; raise `Unavailable` where that takes long."""
        async with self._turns:
            allowed = await self.allowed()
            if allowed.remaining <= 0:
                raise Unavailable(_NO_SESSION, after=allowed.resets)
            loop = asyncio.get_running_loop()
            await asyncio.sleep(max(0.0, self._next - loop.time()))
            self._next = loop.time() + self.tempo.between

    async def _close(self, client: Client) -> None:
        """Close a connection, however Discord feels about that."""
        with suppress(TimeoutError, OSError, discord.DiscordException):
            async with asyncio.timeout(self.tempo.closes):
                await client.close()
        await client.http.close()


async def _first(
    running: "asyncio.Task[None]", event: asyncio.Event, *, within: float | None = None
) -> None:
    """Wait until a connection has ended or something else came, or not any longer."""
    waiting = asyncio.create_task(event.wait())
    try:
        await asyncio.wait({running, waiting}, timeout=within, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()


def _why(running: "asyncio.Task[None]") -> SaysoError:
    """Return why a connection ended, or is given up: what was cancelled ends nothing but itself."""
    error = None if not running.done() or running.cancelled() else running.exception()
    return error if isinstance(error, SaysoError) else Unavailable(_AWAY)


def _meant(error: Exception) -> SaysoError:
    """Return what it means that discord.py gave up."""
    if isinstance(error, SaysoError):
        return error
    code = error.code if isinstance(error, discord.ConnectionClosed) else None
    if isinstance(error, discord.LoginFailure) or code == _WRONG_TOKEN:
        return wrong_token("log in")
    if isinstance(error, discord.PrivilegedIntentsRequired) or code in _NO_INTENT:
        return Invalid(_INTENT)
    if code in _OTHER_SHARDS:
        return Unavailable(_RESHARD)
    return Unavailable(_AWAY, why=type(error).__name__)
