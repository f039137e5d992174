"""Which process is connected for which part of the servers: one each, by a lease in the database."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from adapters.discord.client import Inflow, Shard
from adapters.discord.gateway import Gateway
from adapters.platforms.tasks import failed, log
from core.errors import Invalid, SaysoError, Unavailable
from core.leases import Leases

LONGEST_PAUSE = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Seconds."""

    lasts: float = 15.0
    """After which a lease that is not prolonged is anybody's."""
    prolongs: float = 4.0
    spare: float = 3.0
    """So long before its end, at the latest, the connection is closed."""
    looks: float = 3.0
    """Between two looks at whether a shard that is somebody else's has become free."""
    again: float = 1.0
    """After which a connection that ended is begun anew, and twice as long the next time."""


@dataclass(slots=True, kw_only=True)
class Shards:
    """Holds what is free, and stands by for the rest."""

    leases: Leases
    owner: str
    gateway: Gateway
    inflow: Inflow
    name: str
    """What the leases are named by: whoever else uses the same bot has to find the same."""
    terms: Terms = field(default_factory=Terms)

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Be connected inside the block for every shard that nobody else holds.

        Raises as `Gateway.serve` where one of the first connections fails.
        """
        count = (await self.gateway.allowed()).shards
        keeping: list[asyncio.Task[None]] = []
        try:
            for number in range(count):
                begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                shard = Shard(number=number, of=count)
                keeping.append(asyncio.create_task(self._keep(shard, begun)))
                await begun
            yield
        finally:
            for task in keeping:
                task.cancel()
            await asyncio.gather(*keeping, return_exceptions=True)

    async def _keep(self, shard: Shard, begun: "asyncio.Future[None]") -> None:
        """Hold a shard whenever it can be had; `begun` tells how the first try went."""
        while True:
            try:
                await self._held_or_not(shard, begun)
            except SaysoError as error:
                _told(begun, error)
                failed(error)
            except Exception as error:  # noqa: BLE001 - nobody else would notice that it ended
                _told(begun, error)
                failed(error)
            await asyncio.sleep(self.terms.looks)

    async def _held_or_not(self, shard: Shard, begun: "asyncio.Future[None]") -> None:
        taken_at = _now()
        name = f"{self.name}:{shard.number}:{shard.of}"
        if not await self._take(name):
            _told(begun)
            return
        try:
            await self._held(name, shard, taken_at, begun)
        finally:
            self.inflow.catching_up.forget(shard.number)
            await self._give_back(name)

    async def _held(
        self, name: str, shard: Shard, taken_at: float, begun: "asyncio.Future[None]"
    ) -> None:
        """Be connected until the lease is lost, or could be before it is known."""
        serving = asyncio.create_task(self._serve(shard, begun))
        until = taken_at + self.terms.lasts - self.terms.spare
        try:
            while _now() < until:
                pause = min(self.terms.prolongs, until - _now())
                await asyncio.wait({serving}, timeout=pause)
                if serving.done():
                    raise _why(serving)
                asked_at = _now()
                match await self._prolonged(name, until - asked_at):
                    case True:
                        until = asked_at + self.terms.lasts - self.terms.spare
                    case False:
                        break
                    case None:
                        await asyncio.sleep(self.terms.again / 10)
            log.warning(
                "discord: shard %d is no longer held, its connection is closed", shard.number
            )
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)

    async def _serve(self, shard: Shard, begun: "asyncio.Future[None]") -> None:
        """Be connected, and begin anew whatever ends it; raise only why it could not begin at all."""
        failures = 0
        while True:
            opened = asyncio.Event()
            try:
                await self.gateway.serve(shard, self.inflow, _both(opened, begun))
            except SaysoError as error:
                if not begun.done():
                    raise
                failed(error)
                failures = 0 if opened.is_set() else failures + 1
                await asyncio.sleep(self._pause(error, failures))

    def _pause(self, error: SaysoError, failures: int) -> float:
        if isinstance(error, Invalid):  # somebody has to correct it; asking often has us banned
            return LONGEST_PAUSE
        after = getattr(error, "after", None)
        pause = min(LONGEST_PAUSE, self.terms.again * 2.0 ** min(failures, 10))
        return max(pause, after.total_seconds() if after else 0.0)

    async def _take(self, name: str) -> bool:
        return await self._prolonged(name, self.terms.lasts) is True

    async def _prolonged(self, name: str, within: float) -> bool | None:
        """Return whether it is held; None where nobody knows, as while the database is away."""
        lasts = timedelta(seconds=self.terms.lasts)
        try:
            async with asyncio.timeout(within):
                return await self.leases.take(name, self.owner, lasts)
        except TimeoutError:
            log.warning("discord: the database did not say in time who holds %s", name)
        except Exception as error:  # noqa: BLE001 - it is asked again
            failed(error)
        return None

    async def _give_back(self, name: str) -> None:
        try:
            async with asyncio.timeout(self.terms.spare):
                await self.leases.give_back(name, self.owner)
        except Exception as error:  # noqa: BLE001 - it ends by itself
            failed(error)


def _now() -> float:
    return asyncio.get_running_loop().time()


def _why(serving: "asyncio.Task[None]") -> BaseException:
    """Return why it ended, which it never does by itself."""
    error = None if serving.cancelled() else serving.exception()
    return error or Unavailable("The connection to Discord ended. It is begun anew.")


def _both(opened: asyncio.Event, begun: "asyncio.Future[None]") -> Callable[[], None]:
    def opens() -> None:
        opened.set()
        _told(begun)

    return opens


def _told(begun: "asyncio.Future[None]", error: Exception | None = None) -> None:
    """Say how the first try went, once."""
    if begun.done():
        return
    if error is None:
        begun.set_result(None)
    else:
        begun.set_exception(error)
