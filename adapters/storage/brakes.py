"""What holds tenants back, and denials that hold conversations back. Implements `approvals.brakes`."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from adapters.storage.entries import append, redraw
from adapters.storage.transactions import (
    SYSTEM,
    Database,
    Row,
    Transaction,
    changed,
    log,
    rows,
    sql,
    text_of,
    time_of,
)
from approvals import brakes
from approvals.brakes import MOST_DENIALS, Brake, Now
from approvals.models import RUN
from core import canonical
from core.errors import Unavailable


@dataclass(frozen=True, slots=True)
class Brakes:
    """One database's brakes."""

    database: Database

    async def now(self, tenant: str) -> Now:
        """See the port."""
        return await self.database.transact(lambda now: _now(now, tenant))

    async def pause(
        self, tenant: str, *, principal: str, reason: str, conversation: str | None = None
    ) -> Brake:
        """See the port."""
        return await self.database.transact(
            lambda now: _pause(now, tenant, principal, reason, conversation)
        )

    async def resume(
        self, tenant: str, *, principal: str, conversation: str | None = None
    ) -> Brake | None:
        """See the port."""
        return await self.database.transact(
            lambda now: _resume(now, tenant, principal, conversation)
        )

    async def windows(self, tenant: str, now: Sequence[Brake]) -> None:
        """See the port."""
        await self.database.transact(lambda at: _windows(at, tenant, now))

    async def blocked(self, tenant: str, conversation: str) -> str | None:
        """See the port."""
        return await self.database.transact(lambda _: _blocked(tenant, conversation))

    async def lift(self, tenant: str, conversation: str, *, principal: str) -> bool:
        """See the port."""
        return await self.database.transact(lambda now: _lift(now, tenant, conversation, principal))


def held(tenant: str) -> Transaction[tuple[Brake, ...]]:
    """Return everything that holds a tenant back, a pause first."""
    found = yield from rows(
        "SELECT * FROM brake WHERE tenant = :tenant ORDER BY name", tenant=tenant
    )
    return tuple(_built(row) for row in found)


def every() -> Transaction[dict[str, tuple[Brake, ...]]]:
    """Return everything that holds anybody back, by tenant."""
    found = yield from rows("SELECT * FROM brake ORDER BY name")
    tenants = {row["tenant"] for row in found}
    return {t: tuple(_built(row) for row in found if row["tenant"] == t) for t in tenants}


def pause_of(tenant: str) -> Transaction[Brake | None]:
    """Return the pause of a tenant, if there is one."""
    found = yield from rows(
        "SELECT * FROM brake WHERE tenant = :tenant AND name = ''", tenant=tenant
    )
    return _built(found[0]) if found else None


def must_be_off(tenant: str, *, is_frozen: bool = False) -> Transaction[None]:
    """Raise `Unavailable` where a pause, or a freeze that has just begun, holds back what was granted."""
    pause = yield from pause_of(tenant)
    if pause or is_frozen:
        why = pause.why if pause else "a freeze has begun"
        raise Unavailable(f"Not run yet: {why}. It waits until that is over.")


def denied(now: datetime, tenant: str, conversation: str) -> Transaction[None]:
    """Count a denial; the one that keeps its conversation from proposing is told there."""
    found = yield from rows(
        "UPDATE conversation SET denials = denials + 1 WHERE id = :id AND tenant = :tenant"
        " RETURNING denials",
        id=conversation, tenant=tenant,
    )  # fmt: skip
    if found[0]["denials"] == MOST_DENIALS:
        yield from append(now, conversation, "note", SYSTEM, BLOCKED)
        yield from log(now, tenant, "conversation.blocked", SYSTEM, conversation=conversation)


BLOCKED = (
    f"{MOST_DENIALS} requests of this conversation were denied. Nothing more is proposed here, however "
    "it is worded, until somebody who may approve what was denied last allows that with the word lift."
)
"""Says why a conversation proposes nothing any more, to people and to models."""


def is_blocked(tenant: str, conversation: str, *, again: str | None) -> Transaction[bool]:
    """Whether denials keep a conversation from proposing anything.

    They do not keep back what was denied and is asked for `again`: only who may approve it may ask so.
    """
    found = yield from rows(
        "SELECT 1 FROM conversation WHERE id = :id AND tenant = :tenant AND denials >= :most"
        " AND NOT EXISTS (SELECT 1 FROM request WHERE id = :again AND tenant = :tenant"
        " AND conversation = :id AND state = 'denied')",
        id=conversation, tenant=tenant, most=MOST_DENIALS, again=again or "",
    )  # fmt: skip
    return bool(found)


def _now(now: datetime, tenant: str) -> Transaction[Now]:
    return Now(at=now, pause=(yield from pause_of(tenant)))


def _pause(
    now: datetime, tenant: str, principal: str, reason: str, conversation: str | None
) -> Transaction[Brake]:
    new = yield from changed(
        "INSERT INTO brake (tenant, name, since, set_by, reason)"
        " VALUES (:tenant, '', :now, :by, :reason) ON CONFLICT DO NOTHING RETURNING tenant",
        tenant=tenant, now=text_of(now), by=principal, reason=reason,
    )  # fmt: skip
    pause = yield from pause_of(tenant)
    assert pause is not None  # noqa: S101 - this transaction made sure of it
    if new:
        yield from log(
            now, tenant, "tenant.paused", principal, reason_sha256=canonical.sha256(reason)
        )
        yield from _tell(now, tenant, brakes.paused(pause), conversation)
    return pause


def _resume(
    now: datetime, tenant: str, principal: str, conversation: str | None
) -> Transaction[Brake | None]:
    ended = yield from rows(
        "DELETE FROM brake WHERE tenant = :tenant AND name = '' RETURNING *", tenant=tenant
    )
    if not ended:
        return None
    yield from log(now, tenant, "tenant.resumed", principal, since=ended[0]["since"])
    yield from _tell(now, tenant, brakes.resumed(principal), conversation)
    yield from _go_on(tenant)
    return _built(ended[0])


def _windows(now: datetime, tenant: str, lasting: Sequence[Brake]) -> Transaction[None]:
    names = json.dumps([one.name for one in lasting])
    gone = yield from rows(
        "DELETE FROM brake WHERE tenant = :tenant AND name <> ''"
        " AND name NOT IN (SELECT value FROM json_each(:names)) RETURNING name",
        tenant=tenant, names=names,
    )  # fmt: skip
    for row in gone:
        yield from log(now, tenant, "freeze.ended", SYSTEM, freeze=row["name"])
        yield from _tell(now, tenant, brakes.over(row["name"]))
        yield from _go_on(tenant)
    for one in lasting:
        if (yield from _begins(tenant, one)):
            yield from log(now, tenant, "freeze.began", SYSTEM, freeze=one.name)
            yield from _tell(now, tenant, brakes.began(one))


def _begins(tenant: str, one: Brake) -> Transaction[bool]:
    """Keep a window that lasts; return whether it was not known. Its end may have been changed."""
    yield sql(
        "UPDATE brake SET until = :until, spares = :spares WHERE tenant = :tenant AND name = :name",
        tenant=tenant, name=one.name, until=_until(one),
        spares=json.dumps(sorted(one.spares)),
    )  # fmt: skip
    return (
        yield from changed(
            "INSERT INTO brake (tenant, name, since, until, set_by, reason, spares)"
            " VALUES (:tenant, :name, :since, :until, :by, '', :spares)"
            " ON CONFLICT DO NOTHING RETURNING tenant",
            tenant=tenant, name=one.name, since=text_of(one.since), by=SYSTEM,
            until=_until(one), spares=json.dumps(sorted(one.spares)),
        )
    )  # fmt: skip


def _until(one: Brake) -> str | None:
    return text_of(one.until) if one.until else None


def _tell(
    now: datetime, tenant: str, text: str, conversation: str | None = None
) -> Transaction[None]:
    """Say it once in every conversation in which something waits, and show it on its cards."""
    live = yield from rows(
        "SELECT id, conversation FROM request WHERE tenant = :tenant"
        " AND state IN ('open', 'granted') ORDER BY opened_at, id",
        tenant=tenant,
    )
    here = yield from rows(
        "SELECT id FROM conversation WHERE id = :id AND tenant = :tenant",
        id=conversation, tenant=tenant,
    )  # fmt: skip
    where = [*(row["id"] for row in here), *(row["conversation"] for row in live)]
    for place in dict.fromkeys(where):
        yield from append(now, place, "note", SYSTEM, text)
    for row in live:
        yield from redraw(now, row["conversation"], row["id"])


def _go_on(tenant: str) -> Transaction[None]:
    """Have runs that were put off be tried at once."""
    yield sql(
        "UPDATE job SET run_at = '' WHERE tenant = :tenant AND kind = :run AND state = 'queued'"
        " AND tries > 0",
        tenant=tenant, run=RUN,
    )  # fmt: skip


def _blocked(tenant: str, conversation: str) -> Transaction[str | None]:
    if not (yield from is_blocked(tenant, conversation, again=None)):
        return None
    found = yield from rows(
        "SELECT id FROM request WHERE tenant = :tenant AND conversation = :conversation"
        " AND state = 'denied' ORDER BY ended_at DESC, id LIMIT 1",
        tenant=tenant, conversation=conversation,
    )  # fmt: skip
    last: str = found[0]["id"]
    return last


def _lift(now: datetime, tenant: str, conversation: str, principal: str) -> Transaction[bool]:
    lifted = yield from changed(
        "UPDATE conversation SET denials = 0 WHERE id = :id AND tenant = :tenant"
        " AND denials >= :most RETURNING id",
        id=conversation, tenant=tenant, most=MOST_DENIALS,
    )  # fmt: skip
    if lifted:
        yield from log(now, tenant, "conversation.lifted", principal, conversation=conversation)
        text = f"{principal} allowed that things are proposed here again. What was denied stays refused."
        yield from append(now, conversation, "note", SYSTEM, text)
    return lifted


def _built(row: Row) -> Brake:
    spares: Iterable[str] = json.loads(row["spares"])
    return Brake(
        name=row["name"],
        since=time_of(row["since"]),
        until=time_of(row["until"]) if row["until"] else None,
        set_by=row["set_by"],
        reason=row["reason"],
        spares=frozenset(spares),
    )
