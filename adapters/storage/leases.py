"""Of what one process alone may do, which one does it. Implements `core.leases.Leases`."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from adapters.storage.transactions import Database, Transaction, rows, sql, text_of


@dataclass(frozen=True, slots=True)
class Leases:
    """One database's leases."""

    database: Database
    is_dead: Callable[[str], bool]
    """Whether an owner's process is known to have died. Owners are never used again."""

    async def take(self, name: str, owner: str, lasts: timedelta) -> bool:
        """See the port."""
        holder = await self._take(name, owner, lasts)
        if holder != owner and self.is_dead(holder):
            # Asked outside of transactions; the second one takes it from this holder and no other.
            holder = await self._take(name, owner, lasts, gone=holder)
        return holder == owner

    async def give_back(self, name: str, owner: str) -> None:
        """See the port."""
        await self.database.transact(lambda _: _give_back(name, owner))

    async def holder(self, name: str) -> str | None:
        """See the port."""
        found = await self.database.transact(lambda now: _holder(now, name))
        return None if found is None or self.is_dead(found) else found

    async def _take(self, name: str, owner: str, lasts: timedelta, gone: str = "") -> str:
        """Take it where it is free, over, one's own or that of whoever is gone; return who holds it now."""
        return await self.database.transact(lambda now: _taken(now, name, owner, now + lasts, gone))


def _taken(now: datetime, name: str, owner: str, until: datetime, gone: str) -> Transaction[str]:
    found = yield from rows(
        "INSERT INTO lease (name, owner, until) VALUES (:name, :owner, :until)"
        " ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until = excluded.until"
        " WHERE lease.owner IN (excluded.owner, :gone) OR lease.until <= :now RETURNING owner",
        name=name, owner=owner, until=text_of(until), gone=gone, now=text_of(now),
    )  # fmt: skip
    if not found:
        found = yield from rows("SELECT owner FROM lease WHERE name = :name", name=name)
    holder: str = found[0]["owner"]
    return holder


def _give_back(name: str, owner: str) -> Transaction[None]:
    yield sql("DELETE FROM lease WHERE name = :name AND owner = :owner", name=name, owner=owner)


def _holder(now: datetime, name: str) -> Transaction[str | None]:
    found = yield from rows(
        "SELECT owner FROM lease WHERE name = :name AND until > :now", name=name, now=text_of(now)
    )
    return found[0]["owner"] if found else None
