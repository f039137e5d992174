"""How often somebody did something, in one row each. Implements `core.rates.Rates`."""
# ruff: noqa: S608 - nothing but constants becomes SQL

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from adapters.storage.transactions import Database, Transaction, Value, rows, sql
from core.rates import NoRoom, Rate

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_ASKED = (
    "SELECT value ->> 'name' AS named, value ->> 'more' AS more,"
    " :now + (value ->> 'span') AS latest FROM json_each(:asked)"
)
_MOVED = (
    f"WITH asked AS ({_ASKED}),"
    " moved AS (SELECT named, latest, min(max(coalesce(used_to, :now), :now), latest) + more AS point"
    " FROM asked LEFT JOIN rate ON tenant = :tenant AND principal = :principal AND name = named)"
)
"""Where the points of rates are once they are used (GCRA): there is room up to the latest.

A point that is ahead of that, since the clock went back or the rate was another one, stands for a
rate that is used up.
"""


@dataclass(frozen=True, slots=True)
class Rates:
    """One database's counts."""

    database: Database

    async def take(self, tenant: str, principal: str, rates: Sequence[Rate]) -> tuple[NoRoom, ...]:
        """See the port."""
        if not rates:
            return ()
        return await self.database.transact(lambda now: take(now, tenant, principal, rates))


def take(
    now: datetime, tenant: str, principal: str, rates: Sequence[Rate]
) -> Transaction[tuple[NoRoom, ...]]:
    """Move all points on, unless one of them would come further ahead than its span."""
    taken = yield from rows(
        f"INSERT INTO rate (tenant, principal, name, used_to) {_MOVED}"
        " SELECT :tenant, :principal, named, point FROM moved"
        " WHERE NOT EXISTS (SELECT 1 FROM moved WHERE point > latest)"
        " ON CONFLICT (tenant, principal, name) DO UPDATE SET used_to = excluded.used_to"
        " RETURNING name",
        **_asked(now, tenant, principal, rates),
    )
    return () if taken else (yield from lacking(now, tenant, principal, rates))


def lacking(
    now: datetime, tenant: str, principal: str, rates: Sequence[Rate]
) -> Transaction[tuple[NoRoom, ...]]:
    """Return the uses for which there is no room, and count none.

    A point too far ahead is drawn back for good here: else each later look would find it as far.
    """
    asked = _asked(now, tenant, principal, rates)
    over = yield from rows(f"{_MOVED} SELECT named, point - latest AS over FROM moved", **asked)
    found = {row["named"]: row["over"] for row in over if row["over"] > 0}
    if found:
        yield sql(
            f"UPDATE rate SET used_to = latest FROM ({_ASKED})"
            " WHERE tenant = :tenant AND principal = :principal AND name = named"
            " AND used_to > latest",
            **asked,
        )
    return _without_room(rates, found)


def _asked(now: datetime, tenant: str, principal: str, rates: Sequence[Rate]) -> dict[str, Value]:
    uses = Counter(rate.name for rate in rates)
    asked = [
        {"name": name, "more": _each(rate) * uses[name], "span": _each(rate) * rate.most}
        for name, rate in {rate.name: rate for rate in rates}.items()
    ]
    micros = (now - _EPOCH) // _MICROSECOND
    return {"tenant": tenant, "principal": principal, "now": micros, "asked": json.dumps(asked)}


def _each(rate: Rate) -> int:
    """Return by how many microseconds one use moves the point on: rounded up, for all of them."""
    return -(-(rate.per // _MICROSECOND) // rate.most)


def _without_room(rates: Sequence[Rate], over: dict[str, int]) -> tuple[NoRoom, ...]:
    """Return the last uses of each rate: as many as it is over its latest."""
    uses = Counter(rate.name for rate in rates)
    met, found = Counter[str](), list[NoRoom]()
    for at, rate in enumerate(rates):
        met[rate.name] += 1
        wait = over.get(rate.name, 0)
        if met[rate.name] > uses[rate.name] - -(-wait // _each(rate)):
            found.append(NoRoom(at=at, rate=rate, uses=uses[rate.name], wait=wait * _MICROSECOND))
    return tuple(found)
