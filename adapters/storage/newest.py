"""The newest of what a tenant has, a page at a time. Implements `approvals.store.Newest`."""

from dataclasses import dataclass
from datetime import datetime

from adapters.storage import deciding, request_rows, run_rows
from adapters.storage.transactions import Database, Transaction, each, rows, text_of
from approvals.models import Request, Run
from approvals.store import Ran

_AFTER_ALL = "~"
"""Sorts behind every time."""
# Each is found by an index of its own, and read no further than it is told.
RUNS = (
    "SELECT id FROM run WHERE tenant = :tenant AND (started_at, id) < (:at, :id)"
    " ORDER BY started_at DESC, id DESC LIMIT :most"
)
UNKNOWN = (
    "SELECT id FROM run WHERE tenant = :tenant AND state = 'unknown'"
    " AND (started_at, id) < (:at, :id) ORDER BY started_at DESC, id DESC LIMIT :most"
)
ENDED = (
    "SELECT id FROM request WHERE tenant = :tenant AND conversation = :conversation"
    " AND state IN ('denied', 'expired', 'revoked') AND (opened_at, id) < (:at, :id)"
    " ORDER BY opened_at DESC, id DESC LIMIT :most"
)


@dataclass(frozen=True, slots=True)
class Newest:
    """One database, read only."""

    database: Database

    async def runs(self, tenant: str, *, most: int, before: Run | None = None) -> list[Ran]:
        """See the port."""
        return await self.database.transact(lambda _: _runs(RUNS, tenant, most, before))

    async def unknown(self, tenant: str, *, most: int, before: Run | None = None) -> list[Ran]:
        """See the port."""
        return await self.database.transact(lambda _: _runs(UNKNOWN, tenant, most, before))

    async def ended(
        self, tenant: str, conversation: str, *, most: int, before: Request | None = None
    ) -> list[Request]:
        """See the port."""
        return await self.database.transact(
            lambda now: _ended(now, tenant, conversation, most, before)
        )


def _runs(query: str, tenant: str, most: int, before: Run | None) -> Transaction[list[Ran]]:
    at, name = (text_of(before.started_at), before.id) if before else (_AFTER_ALL, "")
    found = yield from rows(query, tenant=tenant, at=at, id=name, most=most)
    return (yield from each(_ran, tenant, [row["id"] for row in found]))


def _ran(tenant: str, run: str) -> Transaction[Ran]:
    ran = yield from run_rows.must_read(tenant, run)
    return ran, (yield from request_rows.must_read(tenant, ran.request))


def _ended(
    now: datetime, tenant: str, conversation: str, most: int, before: Request | None
) -> Transaction[list[Request]]:
    yield from deciding.expire(now)
    at, name = (text_of(before.opened_at), before.id) if before else (_AFTER_ALL, "")
    found = yield from rows(
        ENDED, tenant=tenant, conversation=conversation, at=at, id=name, most=most
    )
    return (yield from each(request_rows.must_read, tenant, [row["id"] for row in found]))
