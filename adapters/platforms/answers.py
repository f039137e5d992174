"""What a platform answered a while ago, so that it is asked once and not by everybody at once."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from core.errors import SaysoError, Unavailable
from core.roster import Freshness

T = TypeVar("T")
RECENT = 60.0
"""For how many seconds an answer is as good as a new one, for what somebody does."""
HELD = 600.0
"""For how many seconds it is better than none."""
LATE = "it did not answer in time"
_MOST = 10_000


@dataclass(frozen=True, slots=True)
class _Told(Generic[T]):
    value: T
    at: float
    """When it was asked, which is before it was true."""


_Flight: TypeAlias = "asyncio.Task[_Told[T] | SaysoError]"


@dataclass(slots=True)
class _Kept(Generic[T]):
    """What is known of one key, and who asks about it."""

    told: _Told[T] | None = None
    asking: "_Flight[T] | None" = None
    following: "_Flight[T] | None" = None
    """Who will ask once `asking` is done: for those that came after it had begun."""


class Answers(Generic[T]):
    """Answers of one kind, by key; at most one question at a time for each, and one that waits."""

    def __init__(
        self,
        ask: Callable[[str], Awaitable[T]],
        now: Callable[[], float],
        *,
        patience: float,
        most: int = _MOST,
    ) -> None:
        self._ask, self._now, self._patience, self._most = ask, now, patience, most
        self._all: dict[str, _Kept[T]] = {}

    def held(self, key: str) -> T | None:
        """Return the last answer where it is not too old, without asking."""
        kept = self._all.get(key)
        told = kept.told if kept else None
        return told.value if told and self._age(told) <= HELD else None

    async def get(self, key: str, freshness: Freshness) -> T:
        """Return an answer of that age or newer; raise `SaysoError` where there is none."""
        kept = self._kept(key)
        if freshness is Freshness.NOW:
            return _value(await asyncio.shield(self._from_now(key, kept)))
        enough = HELD if freshness is Freshness.HELD else RECENT
        if kept.told and self._age(kept.told) <= enough:
            return kept.told.value
        told = await asyncio.shield(kept.asking or self._begin(key, kept))
        if isinstance(told, SaysoError) and kept.told and self._age(kept.told) <= HELD:
            return kept.told.value
        return _value(told)

    def learn(self, key: str, value: T, at: float) -> None:
        """Take over what is known to have been true at a time, unless something newer is known."""
        _keep(self._kept(key), _Told(value, at))

    def forget(self, key: str) -> None:
        """Ask again at the next question, also where one is under way: something changed."""
        self._all.pop(key, None)

    def _kept(self, key: str) -> _Kept[T]:
        if key not in self._all and len(self._all) >= self._most:
            del self._all[next(iter(self._all))]
        return self._all.setdefault(key, _Kept())

    def _age(self, told: _Told[T]) -> float:
        return self._now() - told.at

    def _from_now(self, key: str, kept: _Kept[T]) -> "_Flight[T]":
        """Return a question that is not asked yet, so that its answer is no older than this."""
        if kept.asking is None:
            return self._begin(key, kept)
        if kept.following is None:
            kept.following = asyncio.create_task(self._after(kept.asking, key, kept))
        return kept.following

    def _begin(self, key: str, kept: _Kept[T]) -> "_Flight[T]":
        kept.asking = asyncio.create_task(self._asked(key, kept))
        return kept.asking

    async def _after(self, ahead: "_Flight[T]", key: str, kept: _Kept[T]) -> _Told[T] | SaysoError:
        await asyncio.wait({ahead})
        kept.asking, kept.following = kept.following, None
        return await self._asked(key, kept)

    async def _asked(self, key: str, kept: _Kept[T]) -> _Told[T] | SaysoError:
        """Ask. An error is returned: whoever waited for it may be gone."""
        at = self._now()
        try:
            async with asyncio.timeout(self._patience):
                told = _Told(await self._ask(key), at)
        except TimeoutError:
            return Unavailable(LATE)
        except SaysoError as error:
            return error
        finally:
            if kept.following is None:
                kept.asking = None
        _keep(kept, told)
        return told


def _keep(kept: _Kept[T], told: _Told[T]) -> None:
    """Keep the newer one: what was learned meanwhile is not undone by what was asked before."""
    if kept.told is None or kept.told.at <= told.at:
        kept.told = told


def _value(told: _Told[T] | SaysoError) -> T:
    if isinstance(told, SaysoError):
        raise told
    return told.value
