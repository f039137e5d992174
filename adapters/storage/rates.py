"""How often somebody did something, in one row each. Implements `core.rates.Rates`."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from adapters.storage.transactions import Database, Transaction, rows
from core.rates import Rate

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Rates:
    """One database's counts."""

    database: Database

    async def take(self, tenant: str, principal: str, rate: Rate) -> timedelta | None:
        """See the port."""
        return await self.database.transact(lambda now: _take(now, tenant, principal, rate))


def _take(now: datetime, tenant: str, principal: str, rate: Rate) -> Transaction[timedelta | None]:
    """Move the point on by one use, unless that takes it further ahead than the span (GCRA)."""
    micros, span = (now - _EPOCH) // _MICROSECOND, rate.per // _MICROSECOND
    each = -(-span // rate.most)
    taken = yield from rows(
        "INSERT INTO rate (tenant, principal, name, used_to)"
        " VALUES (:tenant, :principal, :name, :now + :each)"
        " ON CONFLICT (tenant, principal, name) DO UPDATE"
        " SET used_to = max(used_to, :now) + :each"
        " WHERE max(used_to, :now) + :each <= :now + :most RETURNING used_to",
        tenant=tenant, principal=principal, name=rate.name, now=micros, each=each,
        most=each * rate.most,
    )  # fmt: skip
    if taken:
        return None
    used = yield from rows(
        "SELECT used_to FROM rate WHERE tenant = :tenant AND principal = :principal"
        " AND name = :name",
        tenant=tenant, principal=principal, name=rate.name,
    )  # fmt: skip
    used_to: int = used[0]["used_to"]
    return (used_to + each - micros - each * rate.most) * _MICROSECOND
