"""Frames: the task of each conversation. Implements `core.frame.Frames`."""

import json
from dataclasses import dataclass
from datetime import datetime

from adapters.storage.transactions import Database, Row, Transaction, rows, sql, text_of
from core import canonical
from core.entities import Entity
from core.frame import Frame, Known


@dataclass(frozen=True, slots=True)
class Frames:
    """One database's frames."""

    database: Database

    async def known(self, tenant: str, conversation: str) -> Known:
        """See the port."""
        return await self.database.transact(lambda now: _known(now, tenant, conversation))


def keep(tenant: str, conversation: str, frame: Frame) -> Transaction[None]:
    """Keep what a conversation is about; only the end of a turn calls this."""
    entities = [[one.kind, one.value] for one in sorted(frame.entities)]
    yield sql(
        "INSERT INTO frame (conversation, tenant, intent, entities, since)"
        " VALUES (:conversation, :tenant, :intent, :entities, :since)"
        " ON CONFLICT (conversation) DO UPDATE SET intent = excluded.intent,"
        " entities = excluded.entities, since = excluded.since"
        " WHERE frame.tenant = excluded.tenant",
        conversation=conversation, tenant=tenant, intent=frame.intent,
        entities=canonical.encode(entities), since=frame.since,
    )  # fmt: skip


def _known(now: datetime, tenant: str, conversation: str) -> Transaction[Known]:
    found = yield from rows(
        "SELECT intent, entities, since FROM frame"
        " WHERE conversation = :conversation AND tenant = :tenant",
        conversation=conversation, tenant=tenant,
    )  # fmt: skip
    frame = _built(found[0]) if found else Frame()
    last = yield from rows(
        "SELECT coalesce(max(seq), 0) AS seq FROM entry JOIN conversation"
        " ON conversation.id = entry.conversation"
        " WHERE conversation = :conversation AND tenant = :tenant",
        conversation=conversation, tenant=tenant,
    )  # fmt: skip
    pending = yield from _pending(now, tenant, conversation, frame.since)
    return Known(frame=frame, pending=pending, here=last[0]["seq"])


def _pending(
    now: datetime, tenant: str, conversation: str, since: int
) -> Transaction[tuple[str, ...]]:
    """Return the requests that turns of the task opened, or found open, and that wait still."""
    found = yield from rows(
        "SELECT id FROM request WHERE conversation = :conversation AND tenant = :tenant"
        " AND state IN ('open', 'granted') AND expires_at > :now AND EXISTS ("
        " SELECT 1 FROM turn JOIN entry ON entry.about = turn.id AND entry.kind = 'asked'"
        " WHERE turn.request = request.id AND entry.conversation = request.conversation"
        " AND entry.seq > :since) ORDER BY opened_at, id",
        conversation=conversation, tenant=tenant, since=since, now=text_of(now),
    )  # fmt: skip
    return tuple(row["id"] for row in found)


def _built(row: Row) -> Frame:
    pairs = json.loads(row["entities"])
    return Frame(
        intent=row["intent"],
        entities=frozenset(Entity(kind=kind, value=value) for kind, value in pairs),
        since=row["since"],
    )
