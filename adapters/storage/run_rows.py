"""Runs as rows: how they are read."""

from collections.abc import Iterable

from adapters.storage import artifacts
from adapters.storage.transactions import Row, Transaction, rows, time_of
from approvals.grants import Use
from approvals.models import Run, RunState, Step, StepState
from core.errors import Refused

COLUMNS = (
    "run.*, request.plan, request.under, request.broken_by, request.broken_why,"
    " grant_use.number AS use, standing_grant.most,"
    " standing_grant.until, standing_grant.request AS allowed_by"
    " FROM run JOIN request ON request.id = run.request"
    " LEFT JOIN grant_use ON grant_use.request = run.request"
    " LEFT JOIN standing_grant ON standing_grant.id = request.under"
)
STEPS = (
    "SELECT step.*, artifact.bytes, artifact.sha256, artifact.why_not, artifact.kept_at,"
    " artifact.removed_at FROM step"
    " LEFT JOIN artifact ON artifact.run = step.run AND artifact.number = step.number"
)


def read(tenant: str, run: str) -> Transaction[Run | None]:
    """Return a run as it is now."""
    found = yield from rows(
        f"SELECT {COLUMNS} WHERE run.id = :id AND run.tenant = :tenant",
        id=run, tenant=tenant,
    )  # fmt: skip
    if not found:
        return None
    steps = yield from rows(f"{STEPS} WHERE step.run = :run ORDER BY step.number", run=run)
    votes = yield from rows(
        "SELECT * FROM vote WHERE request = :request ORDER BY at, principal",
        request=found[0]["allowed_by"] or found[0]["request"],
    )
    return built(found[0], steps, votes)


def must_read(tenant: str, run: str) -> Transaction[Run]:
    """Return a run that has to be there."""
    found = yield from read(tenant, run)
    if found is None:
        raise Refused("There is no such run.")
    return found


def built(row: Row, steps: Iterable[Row], votes: Iterable[Row]) -> Run:
    """Return the run that a row of `COLUMNS`, its steps and its request's votes describe."""
    return Run(
        id=row["id"],
        tenant=row["tenant"],
        conversation=row["conversation"],
        request=row["request"],
        voters=tuple(vote["principal"] for vote in votes),
        plan=row["plan"],
        state=RunState(row["state"]),
        fence=row["fence"],
        steps=tuple(_step(step) for step in steps),
        started_at=time_of(row["started_at"]),
        ended_at=time_of(row["ended_at"]) if row["ended_at"] else None,
        under=_use(row) if row["under"] else None,
        broken_by=row["broken_by"],
        broken_why=row["broken_why"],
    )


def _use(row: Row) -> Use:
    return Use(grant=row["under"], number=row["use"], most=row["most"], until=time_of(row["until"]))


def _step(row: Row) -> Step:
    return Step(
        index=row["number"],
        tool=row["tool"],
        state=StepState(row["state"]),
        exit_code=row["exit_code"],
        output=row["output"],
        note=row["note"],
        whole=artifacts.of_step(row),
        started_at=time_of(row["started_at"]) if row["started_at"] else None,
        ended_at=time_of(row["ended_at"]) if row["ended_at"] else None,
        on_failure=row["on_failure"],
    )
