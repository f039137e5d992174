"""Answers that are shown while they are written. Implements `core.deliveries.Drafts`."""

from dataclasses import dataclass
from datetime import datetime

from adapters.storage.transactions import Database, Row, Transaction, rows, sql
from adapters.storage.turns import must_hold
from core.conversations import Turn
from core.deliveries import Drafted, draft_of
from core.jobs import Job

_OF_ENTRY = (
    "FROM draft JOIN turn ON turn.id = draft.turn JOIN entry ON entry.conversation = draft.conversation"
    " WHERE draft.conversation = :conversation AND draft.tenant = :tenant AND entry.seq = :seq"
    " AND entry.about IN (turn.id, turn.request)"
)
"""Those of a turn that an entry tells of: nothing tells of one before it has ended."""


@dataclass(frozen=True, slots=True)
class Drafts:
    """One database's drafts."""

    database: Database

    async def begin(self, turn: Turn, job: Job) -> Drafted | None:
        """See the port."""
        return await self.database.transact(lambda now: _begin(now, turn, job))

    async def drafted(self, turn: Turn, job: Job, message: str) -> None:
        """See the port."""
        await self.database.transact(lambda now: _drafted(now, turn, job, message))


def _begin(now: datetime, turn: Turn, job: Job) -> Transaction[Drafted | None]:
    yield from must_hold(now, turn, job)
    found = yield from rows("SELECT * FROM draft WHERE turn = :turn", turn=turn.id)
    if found:
        return _built(found[0])
    yield sql(
        "INSERT INTO draft (turn, tenant, conversation, message)"
        " VALUES (:turn, :tenant, :conversation, '')",
        turn=turn.id, tenant=turn.tenant, conversation=turn.conversation,
    )  # fmt: skip
    return None


def _drafted(now: datetime, turn: Turn, job: Job, message: str) -> Transaction[None]:
    yield from must_hold(now, turn, job)
    yield sql(
        "UPDATE draft SET message = :message WHERE turn = :turn", message=message, turn=turn.id
    )


def of_entry(tenant: str, conversation: str, seq: int) -> Transaction[Drafted | None]:
    """Return the message whose place an entry takes; None where there is none."""
    found = yield from rows(
        f"SELECT draft.turn, draft.message {_OF_ENTRY}",
        tenant=tenant, conversation=conversation, seq=seq,
    )  # fmt: skip
    return _built(found[0]) if found else None


def taken(tenant: str, conversation: str, seq: int) -> Transaction[None]:
    """Forget the message whose place an entry took."""
    yield sql(
        f"DELETE FROM draft WHERE turn IN (SELECT draft.turn {_OF_ENTRY})",  # noqa: S608 - constants
        tenant=tenant, conversation=conversation, seq=seq,
    )  # fmt: skip


def _built(row: Row) -> Drafted:
    return Drafted(key=draft_of(row["turn"]), message=row["message"] or None)
