"""Requests and votes. Implements `approvals.store.ApprovalStore`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from adapters.storage import attempts, beginning, deciding, editing, jobs, opening, urging
from adapters.storage.request_rows import must_read, read
from adapters.storage.transactions import Database, Transaction, each, rows, time_of
from approvals.brakes import Broken
from approvals.factors import RightCode
from approvals.models import Denial, Request, Spent, Voted
from approvals.proposals import NewRequest
from core.jobs import Claim, Job

_MOST_DOUBTS = 3
"""Runs with an unknown step that one card names."""


@dataclass(frozen=True, slots=True)
class Requests:
    """One database's requests."""

    database: Database

    async def open(self, new: NewRequest) -> Request | Denial:
        """See the port."""
        return await self.database.transact(lambda now: opening.open_request(now, new))

    async def edit(self, new: NewRequest) -> Request | Denial:
        """See the port."""
        return await self.database.transact(lambda now: editing.edit(now, new))

    async def get(self, tenant: str, request: str) -> Request | None:
        """See the port."""
        return await self.database.transact(lambda now: _current(now, tenant, request))

    async def in_doubt(
        self, tenant: str, plan_sha256: str, *, again: str | None = None
    ) -> list[str]:
        """See the port."""
        return await self.database.transact(lambda _: _in_doubt(tenant, plan_sha256, again or ""))

    async def took(self, tenant: str, does: str, *, most: int) -> list[timedelta]:
        """See the port."""
        return await self.database.transact(lambda _: _took(tenant, does, most))

    async def vote(
        self,
        tenant: str,
        request: str,
        *,
        principal: str,
        runner: str | None = None,
        held: RightCode | None = None,
    ) -> Voted:
        """See the port."""
        return await self.database.transact(
            lambda now: deciding.vote(now, tenant, request, principal, runner, held)
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

    async def spend(
        self, request: Request, *, job: Job, run: str, before: datetime | None = None
    ) -> Spent | None:
        """See the port."""
        return await self.database.transact(
            lambda now: deciding.spend(now, request, job, run, before)
        )

    async def resume(self, request: Request, *, job: Job) -> Spent | None:
        """See the port."""
        return await self.database.transact(lambda now: beginning.resume(now, request, job))

    async def remind(self, tenant: str, request: str, text: str) -> None:
        """See the port."""
        await self.database.transact(lambda now: urging.remind(now, tenant, request, text))

    async def escalate(self, tenant: str, request: str, *, text: str, calls: Sequence[str]) -> None:
        """See the port."""
        await self.database.transact(lambda now: urging.escalate(now, tenant, request, text, calls))

    async def hand_over(self, tenant: str, request: str, *, principal: str, to: str) -> bool:
        """See the port."""
        return await self.database.transact(
            lambda now: urging.hand_over(now, tenant, request, principal, to)
        )

    async def break_glass(
        self,
        tenant: str,
        request: str,
        broken: Broken,
        *,
        held: RightCode | None = None,
        runner: str | None = None,
    ) -> Voted:
        """See the port."""
        return await self.database.transact(
            lambda now: urging.break_glass(now, tenant, request, broken, held, runner)
        )

    async def edited(self, tenant: str, request: str) -> None:
        """See the port."""
        await self.database.transact(lambda now: urging.edited(now, tenant, request))

    async def expire(self) -> None:
        """See the port."""
        await self.database.transact(deciding.expire)

    async def live(self, tenant: str, conversation: str | None) -> list[Request]:
        """See the port."""
        return await self.database.transact(lambda now: _live(now, tenant, conversation))

    async def attempt_refused(
        self, tenant: str, *, principal: str, request: str, why: str, claim: Claim | None = None
    ) -> None:
        """See the port."""

        def note(now: datetime) -> Transaction[None]:
            if claim:
                yield from jobs.must_hold(now, claim)
            yield from attempts.refused(now, tenant, principal, given=request, why=why)

        await self.database.transact(note)


def _live(now: datetime, tenant: str, conversation: str | None) -> Transaction[list[Request]]:
    yield from deciding.expire(now)
    found = yield from rows(
        "SELECT id FROM request WHERE tenant = :tenant AND state IN ('open', 'granted')"
        " AND (:conversation IS NULL OR conversation = :conversation) ORDER BY opened_at, id",
        tenant=tenant, conversation=conversation,
    )  # fmt: skip
    ids = [row["id"] for row in found]
    return (yield from each(must_read, tenant, ids))


def _current(now: datetime, tenant: str, request: str) -> Transaction[Request | None]:
    yield from deciding.expire(now)
    found = yield from read(tenant, request)
    return found


def _in_doubt(tenant: str, plan_sha256: str, again: str) -> Transaction[list[str]]:
    found = yield from rows(
        "SELECT run.id FROM run JOIN request ON request.id = run.request"
        " WHERE run.tenant = :tenant AND run.state = 'unknown'"
        " AND (request.plan_sha256 = :sha256 OR request.id = :again)"
        " ORDER BY run.started_at DESC, run.id LIMIT :most",
        tenant=tenant, sha256=plan_sha256, again=again, most=_MOST_DOUBTS,
    )  # fmt: skip
    return [row["id"] for row in found]


def _took(tenant: str, does: str, most: int) -> Transaction[list[timedelta]]:
    found = yield from rows(
        "SELECT started_at, ended_at FROM run WHERE tenant = :tenant AND does = :does"
        " AND state = 'succeeded' ORDER BY started_at DESC LIMIT :most",
        tenant=tenant, does=does, most=most,
    )  # fmt: skip
    return [time_of(row["ended_at"]) - time_of(row["started_at"]) for row in found]
