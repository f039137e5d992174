"""Memories of conversations. Implements `core.memories.Memories`."""
# ruff: noqa: S608 - nothing but constants becomes SQL

from dataclasses import dataclass
from datetime import datetime, timedelta

from adapters.storage import jobs
from adapters.storage.transactions import (
    SYSTEM,
    Database,
    Row,
    Transaction,
    log,
    rows,
    text_of,
    time_of,
)
from core import canonical
from core.canonical import JsonObject, sha256
from core.errors import Refused
from core.memories import Kind, Memory, NewMemory, Trust, episode
from core.tools import Caller

_HERE = "EXISTS (SELECT 1 FROM conversation WHERE id = :conversation AND tenant = :tenant)"


@dataclass(frozen=True, slots=True)
class Memories:
    """One database's memories."""

    database: Database

    async def keep(self, new: NewMemory, *, retention: timedelta, most: int) -> Memory:
        """See the port."""
        return await self.database.transact(lambda now: _keep(now, new, retention, most))

    async def kept(self, tenant: str, conversation: str) -> list[Memory]:
        """See the port."""
        return await self.database.transact(lambda now: _kept(now, tenant, conversation))

    async def episodes(
        self, tenant: str, conversation: str, *, retention: timedelta, most: int
    ) -> list[Memory]:
        """See the port."""
        return await self.database.transact(
            lambda now: _episodes(now, (tenant, conversation), retention, most)
        )

    async def forget(self, caller: Caller, memory: str, *, trust: Trust | None) -> bool:
        """See the port."""
        return await self.database.transact(lambda now: _forget(now, caller, memory, trust))


def _expire(now: datetime) -> Transaction[None]:
    """Remove what is past its time, of every conversation; `now == expires_at` is past it."""
    gone = yield from rows(
        "DELETE FROM memory WHERE expires_at <= :now RETURNING id, tenant", now=text_of(now)
    )
    for row in gone:
        yield from log(now, row["tenant"], "memory.expired", SYSTEM, memory=row["id"])


def _keep(now: datetime, new: NewMemory, retention: timedelta, most: int) -> Transaction[Memory]:
    caller = new.caller
    yield from jobs.must_go_on(now, caller.claim)
    yield from _expire(now)
    kept = yield from rows(
        "INSERT INTO memory (id, tenant, conversation, seq, kind, trust, source, text, sha256, at,"
        " expires_at) SELECT :id, :tenant, :conversation, (SELECT coalesce(max(seq), 0) + 1"
        " FROM memory WHERE conversation = :conversation), :kind, :trust, :source, :text, :sha256,"
        f" :now, :until WHERE {_HERE}"
        " AND (SELECT count(*) FROM memory WHERE conversation = :conversation AND id <> :id) < :most"
        " ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, source = excluded.source,"
        " at = excluded.at, expires_at = excluded.expires_at RETURNING *",
        id=new.id, tenant=caller.tenant, conversation=caller.conversation, kind=new.kind,
        trust=new.trust, source=new.source, text=new.text, sha256=new.sha256, now=text_of(now),
        until=text_of(now + retention), most=most,
    )  # fmt: skip
    if not kept:
        yield from _must_be_here(caller)
        raise Refused(
            f"This conversation remembers {most} things, which is the most. Forget some that no "
            "longer matter, then remember this."
        )
    yield from log(
        now, caller.tenant, "memory.kept", caller.principal, memory=new.id,
        conversation=caller.conversation, memory_kind=new.kind, trust=new.trust, sha256=new.sha256,
    )  # fmt: skip
    return _built(kept[0])


def _must_be_here(caller: Caller) -> Transaction[None]:
    here = yield from rows(
        f"SELECT 1 WHERE {_HERE}", conversation=caller.conversation, tenant=caller.tenant
    )
    if not here:
        raise Refused("There is no such conversation here, so nothing is remembered in it.")


def _kept(now: datetime, tenant: str, conversation: str) -> Transaction[list[Memory]]:
    """Read by conversation alone, so that a row of another tenant is found and not passed over."""
    yield from _expire(now)
    found = yield from rows(
        f"SELECT * FROM memory WHERE conversation = :conversation AND {_HERE} ORDER BY seq DESC",
        conversation=conversation, tenant=tenant,
    )  # fmt: skip
    return [_built(row) for row in found]


def _episodes(
    now: datetime, here: tuple[str, str], retention: timedelta, most: int
) -> Transaction[list[Memory]]:
    tenant, conversation = here
    found = yield from rows(
        "SELECT * FROM happening WHERE conversation = :conversation"
        f" AND kind IN ('looked', 'guarded', 'finished') AND at > :since AND {_HERE}"
        " ORDER BY at DESC, turn DESC, seq DESC LIMIT :most",
        conversation=conversation, tenant=tenant, since=text_of(now - retention), most=most,
    )  # fmt: skip
    return [_episode(row, retention) for row in found]


def _forget(now: datetime, caller: Caller, memory: str, trust: Trust | None) -> Transaction[bool]:
    yield from jobs.must_go_on(now, caller.claim)
    yield from _expire(now)
    tenant, conversation = caller.tenant, caller.conversation
    gone = yield from rows(
        "DELETE FROM memory WHERE id = :id AND tenant = :tenant AND conversation = :conversation"
        " AND (:trust IS NULL OR trust = :trust) RETURNING sha256",
        id=memory, tenant=tenant, conversation=conversation, trust=trust,
    )  # fmt: skip
    for row in gone:
        yield from log(
            now, tenant, "memory.forgotten", caller.principal, memory=memory, conversation=conversation,
            sha256=row["sha256"],
        )  # fmt: skip
    return bool(gone)


def _episode(row: Row, retention: timedelta) -> Memory:
    body: JsonObject = canonical.parse(row["body"])  # type: ignore[assignment]  # as `core.trail` has it
    return Memory(
        id=f"{row['turn']}.{row['seq']}",
        tenant=row["tenant"],
        conversation=row["conversation"],
        kind=Kind.EPISODIC,
        trust=Trust.SOFTWARE,
        source=row["turn"],
        text=episode(row["kind"], body),
        sha256=sha256(row["body"]),
        at=time_of(row["at"]),
        expires_at=time_of(row["at"]) + retention,
    )


def _built(row: Row) -> Memory:
    return Memory(
        id=row["id"],
        tenant=row["tenant"],
        conversation=row["conversation"],
        kind=Kind(row["kind"]),
        trust=Trust(row["trust"]),
        source=row["source"],
        text=row["text"],
        sha256=row["sha256"],
        at=time_of(row["at"]),
        expires_at=time_of(row["expires_at"]),
    )
