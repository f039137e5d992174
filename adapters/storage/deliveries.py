"""What is to be posted, and as which message it was. Implements `core.deliveries.Deliveries`."""

from dataclasses import dataclass, replace

from adapters.storage import drafts, turns
from adapters.storage.entries import place_of
from adapters.storage.transactions import Database, Row, Transaction, changed, rows, sql
from core.deliveries import Delivery, Opening, Posted
from core.events import OPENS, Place

_COLUMNS = (
    "entry.*, posted.message, conversation.platform, conversation.workspace,"
    " conversation.channel, conversation.thread,"
    " (SELECT principal FROM turn WHERE turn.conversation = entry.conversation"
    " ORDER BY received_at DESC, rowid DESC LIMIT 1) AS asker"
    " FROM entry JOIN conversation ON conversation.id = entry.conversation"
    " LEFT JOIN posted ON posted.conversation = entry.conversation AND posted.seq = entry.seq"
)


@dataclass(frozen=True, slots=True)
class Deliveries:
    """One database's deliveries."""

    database: Database

    async def entry(self, tenant: str, conversation: str, seq: int) -> Delivery | None:
        """See the port."""
        return await self.database.transact(lambda _: _entry(tenant, conversation, seq))

    async def place(self, tenant: str, conversation: str) -> Place | None:
        """See the port."""
        return await self.database.transact(lambda _: _place(tenant, conversation))

    async def opening(self, tenant: str, conversation: str) -> Opening | None:
        """See the port."""
        return await self.database.transact(lambda _: _opening(tenant, conversation))

    async def opened(self, tenant: str, conversation: str, thread: str) -> bool:
        """See the port."""
        return await self.database.transact(lambda _: _opened(tenant, conversation, thread))

    async def posted(self, tenant: str, conversation: str, seq: int, message: str) -> None:
        """See the port."""
        await self.database.transact(lambda _: _posted(tenant, conversation, seq, message))

    async def card(self, tenant: str, request: str) -> Posted | None:
        """See the port."""
        return await self.database.transact(lambda _: _card(tenant, request))

    async def progress(self, tenant: str, run: str) -> Delivery | None:
        """See the port."""
        return await self.database.transact(lambda _: _progress(tenant, run))


def _entry(tenant: str, conversation: str, seq: int) -> Transaction[Delivery | None]:
    found = yield from rows(
        f"SELECT {_COLUMNS} WHERE entry.conversation = :conversation AND entry.seq = :seq"
        " AND conversation.tenant = :tenant AND entry.text <> ''",
        conversation=conversation, seq=seq, tenant=tenant,
    )  # fmt: skip
    if not found:
        return None
    drafted = yield from drafts.of_entry(tenant, conversation, seq)
    called = yield from rows(
        "SELECT principal FROM called WHERE conversation = :conversation AND seq = :seq"
        " ORDER BY principal",
        conversation=conversation, seq=seq,
    )  # fmt: skip
    names = tuple(row["principal"] for row in called)
    return replace(_delivery(found[0]), drafted=drafted, calls=names)


def _posted(tenant: str, conversation: str, seq: int, message: str) -> Transaction[None]:
    yield sql(
        "INSERT INTO posted (conversation, seq, message)"
        " SELECT id, :seq, :message FROM conversation"
        " WHERE id = :conversation AND tenant = :tenant ON CONFLICT DO NOTHING",
        tenant=tenant, conversation=conversation, seq=seq, message=message,
    )  # fmt: skip
    yield from drafts.taken(tenant, conversation, seq)


def _place(tenant: str, conversation: str) -> Transaction[Place | None]:
    found = yield from rows(
        "SELECT * FROM conversation WHERE id = :id AND tenant = :tenant",
        id=conversation, tenant=tenant,
    )  # fmt: skip
    return place_of(found[0]) if found else None


def _opening(tenant: str, conversation: str) -> Transaction[Opening | None]:
    found = yield from rows(
        "SELECT id FROM turn WHERE conversation = :conversation AND tenant = :tenant"
        " ORDER BY received_at, rowid LIMIT 1",
        conversation=conversation, tenant=tenant,
    )  # fmt: skip
    first = (yield from turns.read(tenant, found[0]["id"])) if found else None
    return Opening(author=first.principal, text=first.wish.shown) if first else None


def _opened(tenant: str, conversation: str, thread: str) -> Transaction[bool]:
    # Somebody may have answered in the thread before it was known whose it is.
    return changed(
        "UPDATE conversation SET thread = :thread WHERE id = :id AND tenant = :tenant"
        " AND (thread = :thread OR substr(thread, 1, :length) = :opens AND NOT EXISTS"
        " (SELECT 1 FROM conversation other WHERE other.tenant = conversation.tenant"
        " AND other.platform = conversation.platform AND other.workspace = conversation.workspace"
        " AND other.channel = conversation.channel AND other.thread = :thread)) RETURNING id",
        id=conversation, tenant=tenant, thread=thread, opens=OPENS, length=len(OPENS),
    )  # fmt: skip


def _progress(tenant: str, run: str) -> Transaction[Delivery | None]:
    found = yield from rows(
        f"SELECT {_COLUMNS} WHERE entry.kind = 'progress' AND entry.about = :run"
        " AND conversation.tenant = :tenant",
        run=run, tenant=tenant,
    )  # fmt: skip
    return _delivery(found[0]) if found else None


def _delivery(row: Row) -> Delivery:
    return Delivery(
        place=place_of(row),
        kind=row["kind"],
        text=row["text"],
        about=row["about"],
        posted=row["message"],
        asker=row["asker"],
    )


def _card(tenant: str, request: str) -> Transaction[Posted | None]:
    found = yield from rows(
        f"SELECT {_COLUMNS} WHERE entry.kind = 'card' AND entry.about = :request"
        " AND conversation.tenant = :tenant AND posted.message IS NOT NULL"
        " ORDER BY entry.seq DESC LIMIT 1",
        request=request, tenant=tenant,
    )  # fmt: skip
    return Posted(place=place_of(found[0]), message=found[0]["message"]) if found else None
