"""Standing grants. Implements `approvals.grants.Grants`; the rest is for requests, within theirs."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from adapters.storage import deciding, using
from adapters.storage.transactions import (
    SYSTEM,
    Database,
    Row,
    Rows,
    Transaction,
    log,
    rows,
    text_of,
    time_of,
)
from adapters.storage.using import expire
from approvals.grants import Grant, GrantState

_STATE = (
    "CASE WHEN standing_grant.state <> 'proposed' THEN standing_grant.state"
    " WHEN request.state IN ('open', 'granted') THEN 'proposed'"
    " WHEN request.state IN ('denied', 'expired') THEN request.state ELSE 'revoked' END"
)
"""A grant that was never active ends as its request did, and cannot forget to."""
_COLUMNS = (
    f"standing_grant.*, {_STATE} AS now_state, coalesce(standing_grant.ended_by, request.ended_by)"
    " AS who, request.reason AS why FROM standing_grant"
    " JOIN request ON request.id = standing_grant.request"
)


@dataclass(frozen=True, slots=True)
class Grants:
    """One database's standing grants."""

    database: Database

    async def get(self, tenant: str, grant: str) -> Grant | None:
        """See the port."""
        return await self.database.transact(lambda now: _get(now, tenant, "id", grant))

    async def made_by(self, tenant: str, request: str) -> Grant | None:
        """See the port."""
        return await self.database.transact(lambda now: _get(now, tenant, "request", request))

    async def known(self, tenant: str) -> list[Grant]:
        """See the port."""
        return await self.database.transact(lambda now: _known(now, tenant))

    async def active(self, tenant: str, requester: str, conversation: str) -> list[Grant]:
        """See the port."""
        return await self.database.transact(
            lambda now: _active(now, tenant, requester, conversation)
        )

    async def suspend(self, tenant: str, grant: str, *, reason: str) -> None:
        """See the port."""
        await self.database.transact(lambda now: _suspend(now, tenant, grant, reason))

    async def revoke(self, tenant: str, grant: str, *, principal: str) -> Grant | None:
        """See the port."""
        return await self.database.transact(lambda now: _revoke(now, tenant, grant, principal))


def _get(now: datetime, tenant: str, column: str, value: str) -> Transaction[Grant | None]:
    yield from deciding.expire(now)
    yield from expire(now)
    found = yield from rows(
        f"SELECT {_COLUMNS} WHERE standing_grant.{column} = :value"
        " AND standing_grant.tenant = :tenant",
        value=value, tenant=tenant,
    )  # fmt: skip
    return _built(found[0]) if found else None


def _known(now: datetime, tenant: str) -> Transaction[list[Grant]]:
    yield from deciding.expire(now)
    yield from expire(now)
    found = yield from rows(
        f"SELECT {_COLUMNS} WHERE standing_grant.tenant = :tenant"
        " ORDER BY standing_grant.proposed_at DESC, standing_grant.id",
        tenant=tenant,
    )  # fmt: skip
    return _all(found)


def _active(
    now: datetime, tenant: str, requester: str, conversation: str
) -> Transaction[list[Grant]]:
    yield from expire(now)
    found = yield from rows(
        f"SELECT {_COLUMNS} JOIN conversation ON conversation.id = :conversation"
        " AND conversation.tenant = :tenant WHERE standing_grant.tenant = :tenant"
        " AND standing_grant.requester = :requester AND standing_grant.state = 'active'"
        f" AND standing_grant.place = {using.PLACE} ORDER BY standing_grant.until, standing_grant.id",
        conversation=conversation, tenant=tenant, requester=requester,
    )  # fmt: skip
    return _all(found)


def _suspend(now: datetime, tenant: str, grant: str, reason: str) -> Transaction[None]:
    suspended = yield from rows(
        "UPDATE standing_grant SET state = 'suspended', reason = :reason, ended_at = :now"
        " WHERE id = :id AND tenant = :tenant AND state = 'active' AND until > :now"
        " RETURNING request",
        reason=reason, now=text_of(now), id=grant, tenant=tenant,
    )  # fmt: skip
    if suspended:
        yield from log(now, tenant, "grant.suspended", SYSTEM, grant=grant)
        why = f"Standing grant {grant} is suspended: {reason}. From now on there is a card again."
        yield from using.tell(now, tenant, suspended[0]["request"], why)


def _revoke(now: datetime, tenant: str, grant: str, principal: str) -> Transaction[Grant | None]:
    yield from deciding.expire(now)
    yield from expire(now)
    why = f"{principal} revoked standing grant {grant}"
    revoked = yield from rows(
        "UPDATE standing_grant SET state = 'revoked', ended_at = :now, ended_by = :by"
        " WHERE id = :id AND tenant = :tenant AND (state IN ('active', 'suspended')"
        " OR state = 'proposed' AND EXISTS (SELECT 1 FROM request"
        " WHERE request.id = standing_grant.request AND request.state IN ('open', 'granted')))"
        " RETURNING request",
        now=text_of(now), by=principal, id=grant, tenant=tenant,
    )  # fmt: skip
    if revoked:
        request = revoked[0]["request"]
        yield from log(now, tenant, "grant.revoked", principal, grant=grant)
        ended = yield from deciding.end(now, tenant, request, "revoked", principal, why)
        if ended:
            yield from log(now, tenant, "request.revoked", principal, request=request)
        yield from using.tell(now, tenant, request, f"{why}. From now on there is a card again.")
    return (yield from _get(now, tenant, "id", grant))


def _all(found: Rows) -> list[Grant]:
    return [_built(row) for row in found]


def _built(row: Row) -> Grant:
    return Grant(
        id=row["id"],
        tenant=row["tenant"],
        state=GrantState(row["now_state"]),
        request=row["request"],
        requester=row["requester"],
        proposer=row["proposer"],
        place=row["place"],
        plan_sha256=row["plan_sha256"],
        used=row["used"],
        most=row["most"],
        lasts=timedelta(milliseconds=row["lasts_ms"]),
        until=time_of(row["until"]) if row["until"] else None,
        proposed_at=time_of(row["proposed_at"]),
        ended_by=row["who"],
        reason=row["reason"] or row["why"],
    )
