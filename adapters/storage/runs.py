"""Runs and their steps. Implements `approvals.store.RunStore`."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from adapters.storage.transactions import (
    Database,
    Row,
    Transaction,
    append,
    changed,
    log,
    rows,
    sql,
    text_of,
    time_of,
)
from approvals.cards import report
from approvals.models import Request, Run, RunState, Step, StepEnd, StepState
from core.errors import Refused

_SYSTEM = "sayso"
COLUMNS = "run.*, request.plan FROM run JOIN request ON request.id = run.request"
_ENDS = {
    StepState.FAILED: RunState.FAILED,
    StepState.UNKNOWN: RunState.UNKNOWN,
    StepState.CANCELLED: RunState.CANCELLED,
}


@dataclass(frozen=True, slots=True)
class Runs:
    """One database's runs."""

    database: Database
    is_dead: Callable[[str], bool]
    """Whether the process that an owner names is provably gone."""

    async def begin_step(self, run: Run, index: int) -> bool:
        """See the port."""
        return await self.database.transact(lambda now: _begin_step(now, run, index))

    async def end_step(self, run: Run, index: int, end: StepEnd) -> Run:
        """See the port."""
        return await self.database.transact(lambda now: _end_step(now, run, index, end))

    async def cancel(self, run: Run, *, why: str) -> Run:
        """See the port."""
        return await self.database.transact(lambda now: _cancel(now, run.tenant, run.id, why))

    async def run(self, tenant: str, run: str) -> Run | None:
        """See the port."""
        return await self.database.transact(lambda _: read(tenant, run))

    async def notice_dead(self) -> list[Run]:
        """End every run whose process is gone: what had begun is unknown, the rest did not happen."""
        running = await self.database.transact(
            lambda _: rows("SELECT id, tenant, owner FROM run WHERE state = 'running'")
        )
        return [await self._abandon(row) for row in running if self.is_dead(row["owner"])]

    async def resolve(
        self, tenant: str, run: str, index: int, *, happened: bool, principal: str
    ) -> Run:
        """See the port."""
        return await self.database.transact(
            lambda now: _resolve(now, tenant, run, index, principal, happened=happened)
        )

    async def _abandon(self, left: Row) -> Run:
        return await self.database.transact(lambda now: _abandon(now, left))


def start(now: datetime, request: Request, run: str, owner: str) -> Transaction[None]:
    """Insert a running run with all its steps; only the spend calls this."""
    yield sql(
        "INSERT INTO run (id, tenant, conversation, request, state, owner, started_at)"
        " VALUES (:id, :tenant, :conversation, :request, 'running', :owner, :now)",
        id=run, tenant=request.tenant, conversation=request.conversation, request=request.id,
        owner=owner, now=text_of(now),
    )  # fmt: skip
    tools = [call.tool for call in request.plan.calls for _ in call.steps]
    for number, tool in enumerate(tools):
        yield sql(
            "INSERT INTO step (run, number, tool, state, output, note)"
            " VALUES (:run, :number, :tool, 'pending', '', '')",
            run=run, number=number, tool=tool,
        )  # fmt: skip


def read(tenant: str, run: str) -> Transaction[Run | None]:
    """Return a run as it is now."""
    found = yield from rows(
        f"SELECT {COLUMNS} WHERE run.id = :id AND run.tenant = :tenant",
        id=run, tenant=tenant,
    )  # fmt: skip
    if not found:
        return None
    steps = yield from rows("SELECT * FROM step WHERE run = :run ORDER BY number", run=run)
    votes = yield from rows(
        "SELECT * FROM vote WHERE request = :request ORDER BY at, principal",
        request=found[0]["request"],
    )
    return built(found[0], steps, votes)


def _begin_step(now: datetime, run: Run, index: int) -> Transaction[bool]:
    begun = yield from changed(
        "UPDATE step SET state = 'running', started_at = :now"
        " WHERE run = :run AND number = :number AND state = 'pending'"
        " AND EXISTS (SELECT 1 FROM run WHERE id = :run AND tenant = :tenant AND state = 'running')"
        " AND NOT EXISTS (SELECT 1 FROM step WHERE run = :run AND number < :number"
        " AND state <> 'succeeded') RETURNING number",
        now=text_of(now), run=run.id, tenant=run.tenant, number=index,
    )  # fmt: skip
    if begun:
        yield from log(now, run.tenant, "step.begun", _SYSTEM, run=run.id, index=index)
    return begun


def _end_step(now: datetime, run: Run, index: int, end: StepEnd) -> Transaction[Run]:
    done = yield from changed(
        "UPDATE step SET state = :state, exit_code = :exit_code, output = :output, note = :note,"
        " ended_at = :now WHERE run = :run AND number = :number AND state = 'running'"
        " RETURNING number",
        state=end.state, exit_code=end.exit_code, output=end.output, note=end.note,
        now=text_of(now), run=run.id, number=index,
    )  # fmt: skip
    if done:
        yield from log(
            now, run.tenant, "step.ended", _SYSTEM, run=run.id, index=index,
            state=end.state, exit_code=end.exit_code,
        )  # fmt: skip
        if end.state is not StepState.SUCCEEDED:
            yield from _end_run(now, run.tenant, run.id, _ENDS[end.state])
        elif index == len(run.steps) - 1:
            yield from _end_run(now, run.tenant, run.id, RunState.SUCCEEDED)
    current = yield from _must_read(run.tenant, run.id)
    return current


def _cancel(now: datetime, tenant: str, run: str, why: str) -> Transaction[Run]:
    yield from _end_run(now, tenant, run, RunState.CANCELLED, why)
    current = yield from _must_read(tenant, run)
    return current


def _abandon(now: datetime, left: Row) -> Transaction[Run]:
    cut = yield from changed(
        "UPDATE step SET state = 'unknown', ended_at = :now, note = 'its process died'"
        " WHERE run = :run AND state = 'running'"
        " AND EXISTS (SELECT 1 FROM run WHERE id = :run AND state = 'running' AND owner = :owner)"
        " RETURNING number",
        now=text_of(now), run=left["id"], owner=left["owner"],
    )  # fmt: skip
    state = RunState.UNKNOWN if cut else RunState.CANCELLED
    yield from _end_run(now, left["tenant"], left["id"], state, "the process that ran it died")
    current = yield from _must_read(left["tenant"], left["id"])
    return current


def _end_run(
    now: datetime, tenant: str, run: str, state: RunState, why: str = ""
) -> Transaction[None]:
    """End a running run, mark what did not begin, and store its report: one transaction."""
    ended = yield from changed(
        "UPDATE run SET state = :state, ended_at = :now"
        " WHERE id = :run AND tenant = :tenant AND state = 'running' RETURNING id",
        state=state, now=text_of(now), run=run, tenant=tenant,
    )  # fmt: skip
    if not ended:
        return
    yield sql(
        "UPDATE step SET state = 'not_run', note = :why WHERE run = :run AND state = 'pending'",
        run=run, why=why,
    )  # fmt: skip
    yield from log(now, tenant, "run.ended", _SYSTEM, run=run, state=state)
    yield from _report(now, tenant, run)


def _resolve(
    now: datetime, tenant: str, run: str, index: int, principal: str, *, happened: bool
) -> Transaction[Run]:
    state = StepState.SUCCEEDED if happened else StepState.NOT_RUN
    note = f"{principal} found that it {'happened' if happened else 'did not happen'}"
    resolved = yield from changed(
        "UPDATE step SET state = :state, note = :note WHERE run = :run AND number = :number"
        " AND state = 'unknown'"
        " AND EXISTS (SELECT 1 FROM run WHERE id = :run AND tenant = :tenant) RETURNING number",
        state=state, note=note, run=run, number=index, tenant=tenant,
    )  # fmt: skip
    if not resolved:
        raise Refused("That step is not unknown, so there is nothing to resolve.")
    last = yield from rows("SELECT max(number) AS number FROM step WHERE run = :run", run=run)
    whole = happened and index == last[0]["number"]
    yield sql(
        "UPDATE run SET state = :state WHERE id = :run AND state = 'unknown'",
        state=RunState.SUCCEEDED if whole else RunState.FAILED, run=run,
    )  # fmt: skip
    yield from log(now, tenant, "step.resolved", principal, run=run, index=index, happened=happened)
    yield from _report(now, tenant, run)
    current = yield from _must_read(tenant, run)
    return current


def _report(now: datetime, tenant: str, run: str) -> Transaction[None]:
    current = yield from _must_read(tenant, run)
    yield from append(now, current.conversation, "report", _SYSTEM, report(current))


def _must_read(tenant: str, run: str) -> Transaction[Run]:
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
        steps=tuple(_step(step) for step in steps),
        started_at=time_of(row["started_at"]),
        ended_at=time_of(row["ended_at"]) if row["ended_at"] else None,
    )


def _step(row: Row) -> Step:
    return Step(
        index=row["number"],
        tool=row["tool"],
        state=StepState(row["state"]),
        exit_code=row["exit_code"],
        output=row["output"],
        note=row["note"],
    )
