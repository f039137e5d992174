"""What the database knows of whole outputs. Implements `core.artifacts.Kept`."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from adapters.storage.transactions import Database, Row, Transaction, rows, sql, text_of
from approvals.models import Run, Whole
from core.artifacts import Stored, name_of

_LYING = "SELECT run, number FROM artifact WHERE sha256 IS NOT NULL AND removed_at IS NULL"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptArtifacts:
    """One database's whole outputs, each kept for so long."""

    database: Database
    lasts: timedelta

    async def outlived(self) -> frozenset[str]:
        """See the port."""
        return await self.database.transact(lambda now: _outlived(now, now - self.lasts))

    async def lying(self) -> frozenset[str]:
        """See the port."""
        return await self.database.transact(lambda _: _names(_LYING))

    async def of(self, conversation: str) -> frozenset[str]:
        """See the port."""
        return await self.database.transact(
            lambda _: _names(
                "SELECT run, number FROM artifact"
                " WHERE conversation = :conversation AND sha256 IS NOT NULL",
                conversation=conversation,
            )
        )


def add(now: datetime, run: Run, index: int, whole: Whole) -> Transaction[None]:
    """Keep what became of all that a step printed; whoever writes that it ended calls this."""
    stored = whole.stored
    yield sql(
        "INSERT INTO artifact"
        " (run, number, tenant, conversation, requester, bytes, sha256, why_not, kept_at)"
        " SELECT :run, :number, tenant, conversation, requester, :bytes, :sha256, :why_not, :now"
        " FROM request WHERE id = :request",
        run=run.id, number=index, request=run.request,
        bytes=stored.bytes if stored else None, sha256=stored.sha256 if stored else None,
        why_not=whole.why_not, now=text_of(now),
    )  # fmt: skip


def of_step(row: Row) -> Whole | None:
    """Return what became of all that a step printed, of a row of `run_rows.STEPS`."""
    if row["kept_at"] is None:
        return None
    return Whole(
        stored=Stored(bytes=row["bytes"], sha256=row["sha256"]) if row["sha256"] else None,
        why_not=row["why_not"],
        is_gone=row["removed_at"] is not None,
    )


def _outlived(now: datetime, before: datetime) -> Transaction[frozenset[str]]:
    return _names(
        "UPDATE artifact SET removed_at = :now WHERE kept_at <= :before"
        " AND sha256 IS NOT NULL AND removed_at IS NULL RETURNING run, number",
        now=text_of(now), before=text_of(before),
    )  # fmt: skip


def _names(statement: str, **values: str) -> Transaction[frozenset[str]]:
    found = yield from rows(statement, **values)
    return frozenset(name_of(row["run"], row["number"]) for row in found)
