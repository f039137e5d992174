"""How often somebody did something, in one row each. Implements `core.rates.Rates`."""
# ruff: noqa: S608 - nothing but constants becomes SQL

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta

from adapters.storage.transactions import Database, Transaction, Value, rows, sql
from core.rates import NoRoom, Rate

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


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
    asked = _asked(rates)
    taken = yield from rows(
        f"INSERT INTO rate (tenant, principal, name, used_to) {_moved(asked)}"
        " SELECT :tenant, :principal, named, point FROM moved"
        " WHERE NOT EXISTS (SELECT 1 FROM moved WHERE point > latest)"
        " ON CONFLICT (tenant, principal, name) DO UPDATE SET used_to = excluded.used_to"
        " RETURNING name",
        **_values(now, tenant, principal, asked),
    )
    return () if taken else (yield from lacking(now, tenant, principal, rates))


def lacking(
    now: datetime, tenant: str, principal: str, rates: Sequence[Rate]
) -> Transaction[tuple[NoRoom, ...]]:
    """Return the uses for which there is no room, and count none.

    A point too far ahead is drawn back for good here: else each later look would find it as far.
    """
    asked = _asked(rates)
    values = _values(now, tenant, principal, asked)
    over = yield from rows(
        f"{_moved(asked)} SELECT named, point - latest AS over FROM moved", **values
    )
    found = {row["named"]: row["over"] for row in over if row["over"] > 0}
    if found:
        yield sql(
            f"UPDATE rate SET used_to = latest FROM ({_table(asked)}) AS asked"
            " WHERE tenant = :tenant AND principal = :principal AND name = named"
            " AND used_to > latest",
            **values,
        )
    return _without_room(rates, found)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """One rate: by how many microseconds its uses move the point on, and how far ahead that may be."""

    name: str
    more: int
    span: int


def _asked(rates: Sequence[Rate]) -> list[_Asked]:
    uses = Counter(rate.name for rate in rates)
    return [
        _Asked(name=name, more=_each(rate) * uses[name], span=_each(rate) * rate.most)
        for name, rate in {rate.name: rate for rate in rates}.items()
    ]


def _values(
    now: datetime, tenant: str, principal: str, asked: Sequence[_Asked]
) -> dict[str, Value]:
    micros = (now - _EPOCH) // _MICROSECOND
    values: dict[str, Value] = {"tenant": tenant, "principal": principal, "now": micros}
    for number, one in enumerate(asked):
        values |= {f"{name}{number}": value for name, value in asdict(one).items()}
    return values


def _table(asked: Sequence[_Asked]) -> str:
    return " UNION ALL ".join(
        f"SELECT :name{number} AS named, :more{number} AS more, :now + :span{number} AS latest"
        for number in range(len(asked))
    )


def _moved(asked: Sequence[_Asked]) -> str:
    """Return where the points of rates are once they are used (GCRA): there is room up to the latest.

    A point that is ahead of that, since the clock went back or the rate was another one, stands for
    a rate that is used up.
    """
    return (
        f"WITH asked AS ({_table(asked)}), moved AS (SELECT named, latest, more +"
        " CASE WHEN used_to > latest THEN latest WHEN used_to > :now THEN used_to ELSE :now END AS point"
        " FROM asked LEFT JOIN rate ON tenant = :tenant AND principal = :principal AND name = named)"
    )


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
