"""Requests and votes. Implements `approvals.store.ApprovalStore`."""

from dataclasses import dataclass
from datetime import datetime

from adapters.storage import deciding, opening
from adapters.storage.request_rows import read
from adapters.storage.transactions import Database, Transaction, log
from approvals.models import Denial, NewRequest, Request, Spent
from core import canonical
from core.display import sound


@dataclass(frozen=True, slots=True)
class Requests:
    """One database's requests."""

    database: Database
    owner: str
    """Names this process, so that a run that it leaves behind is noticed."""

    async def open(self, new: NewRequest) -> Request | Denial:
        """See the port."""
        return await self.database.transact(lambda now: opening.open_request(now, new))

    async def get(self, tenant: str, request: str) -> Request | None:
        """See the port."""
        return await self.database.transact(lambda now: _current(now, tenant, request))

    async def vote(self, tenant: str, request: str, *, principal: str) -> Request:
        """See the port."""
        return await self.database.transact(
            lambda now: deciding.vote(now, tenant, request, principal)
        )

    async def deny(self, tenant: str, request: str, *, principal: str, reason: str) -> Request:
        """See the port."""
        return await self.database.transact(
            lambda now: deciding.deny(now, tenant, request, principal, reason)
        )

    async def revoke(self, tenant: str, request: str, *, principal: str, reason: str) -> Request:
        """See the port."""
        return await self.database.transact(
            lambda now: deciding.revoke(now, tenant, request, principal, reason)
        )

    async def spend(self, request: Request, *, principal: str, run: str) -> Spent | None:
        """See the port."""
        return await self.database.transact(
            lambda now: deciding.spend(now, request, principal, run, self.owner)
        )

    async def attempt_refused(self, tenant: str, *, principal: str, request: str, why: str) -> None:
        """See the port."""
        # What was given may be any text at all, so only its digest is kept.
        given = canonical.sha256(sound(request)) if request else None
        await self.database.transact(
            lambda now: log(now, tenant, "attempt.refused", principal, given_sha256=given, why=why)
        )


def _current(now: datetime, tenant: str, request: str) -> Transaction[Request | None]:
    yield from deciding.expire(now)
    found = yield from read(tenant, request)
    return found
