"""What an operator may read. Implements `approvals.store.Records`."""

from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import datetime

from adapters.storage import brakes, deciding, exports, log_rows, request_rows, run_rows, turns
from adapters.storage.transactions import Database, Row, Rows, Transaction, rows
from approvals.models import LIVE, RUN, Request, Run
from core import deliveries
from core.audit import Entry
from core.conversations import Said, Turn, lane_of
from core.exports import Export


@dataclass(frozen=True, slots=True)
class Records:
    """One database, read only."""

    database: Database

    async def requests(self) -> list[Request]:
        """See the port."""
        return await self.database.transact(_requests)

    async def request(self, request: str) -> Request | None:
        """See the port."""
        return await self.database.transact(lambda now: _request(now, request))

    async def runs(self) -> list[Run]:
        """See the port."""
        return await self.database.transact(lambda _: _runs())

    async def run(self, run: str) -> Run | None:
        """See the port."""
        return await self.database.transact(lambda _: _run(run))

    async def said(self, conversation: str) -> list[Said]:
        """See the port."""
        found = await self.database.transact(
            lambda _: rows(
                "SELECT * FROM entry WHERE conversation = :conversation ORDER BY seq",
                conversation=conversation,
            )
        )
        return [exports.said_of(row) for row in found]

    async def export(self, conversation: str) -> Export | None:
        """See the port."""
        return await self.database.transact(lambda _: exports.export(conversation))

    async def waiting(self, conversation: str) -> list[Turn]:
        """See the port."""
        found = await self.database.transact(lambda _: turns.waiting(None, conversation))
        return [one.turn for one in found]

    async def unfinished(self, conversation: str) -> frozenset[str]:
        """See the port."""
        return await self.database.transact(lambda _: _unfinished(conversation))

    async def plans(self, plan: str) -> list[str]:
        """See the port."""
        found = await self.database.transact(
            lambda _: rows(
                "SELECT body FROM plan WHERE id = :id AND body <> '' ORDER BY tenant", id=plan
            )
        )
        return [row["body"] for row in found]

    async def audit(self) -> list[Entry]:
        """See the port."""
        return await self.database.transact(lambda _: log_rows.since(0))

    async def head(self) -> Entry | None:
        """See the port."""
        return await self.database.transact(lambda _: log_rows.newest())


def _requests(now: datetime) -> Transaction[list[Request]]:
    yield from deciding.expire(now)
    found = yield from rows(
        f"SELECT {request_rows.COLUMNS} ORDER BY request.opened_at DESC, request.id"
    )
    votes = yield from _votes()
    built = [request_rows.built(row, votes[row["allowed_by"] or row["id"]]) for row in found]
    held = yield from brakes.every()
    return [
        replace(one, brakes=held.get(one.tenant, ())) if one.state in LIVE else one for one in built
    ]


def _request(now: datetime, request: str) -> Transaction[Request | None]:
    yield from deciding.expire(now)
    found = yield from rows("SELECT tenant FROM request WHERE id = :id", id=request)
    return (yield from request_rows.read(found[0]["tenant"], request)) if found else None


def _run(run: str) -> Transaction[Run | None]:
    found = yield from rows("SELECT tenant FROM run WHERE id = :id", id=run)
    one = (yield from run_rows.read(found[0]["tenant"], run)) if found else None
    return one


def _runs() -> Transaction[list[Run]]:
    found = yield from rows(f"SELECT {run_rows.COLUMNS} ORDER BY run.started_at DESC, run.id")
    steps = _by("run", (yield from rows(f"{run_rows.STEPS} ORDER BY step.number")))
    votes = yield from _votes()
    return [
        run_rows.built(row, steps[row["id"]], votes[row["allowed_by"] or row["request"]])
        for row in found
    ]


def _unfinished(conversation: str) -> Transaction[frozenset[str]]:
    found = yield from rows(
        "SELECT DISTINCT job.kind FROM job LEFT JOIN request ON job.kind = :run"
        " AND request.id = json_extract(job.payload, '$.request')"
        " WHERE job.state IN ('queued', 'running')"
        " AND (job.lane IN (:turns, :deliveries) OR request.conversation = :conversation)",
        run=RUN, turns=lane_of(conversation), deliveries=deliveries.lane_of(conversation),
        conversation=conversation,
    )  # fmt: skip
    return frozenset(row["kind"] for row in found)


def _votes() -> Transaction[dict[str, list[Row]]]:
    found = yield from rows("SELECT * FROM vote ORDER BY at, principal")
    return _by("request", found)


def _by(column: str, found: Rows) -> dict[str, list[Row]]:
    grouped: dict[str, list[Row]] = defaultdict(list)
    for row in found:
        grouped[row[column]].append(row)
    return grouped
