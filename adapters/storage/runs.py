"""Runs and their steps. Implements `approvals.store.RunStore`."""

from dataclasses import dataclass
from datetime import datetime

from adapters.storage import artifacts, jobs, progress, wanted
from adapters.storage.entries import append, redraw
from adapters.storage.run_rows import must_read, read
from adapters.storage.transactions import (
    SYSTEM,
    Database,
    Transaction,
    changed,
    each,
    log,
    rows,
    sql,
    text_of,
)
from approvals.models import Request, Run, RunState, StepEnd, StepState, Verification
from approvals.reports import report, verification
from approvals.run_ends import end_of
from core import canonical
from core.errors import Refused
from core.ids import step_id
from core.jobs import Job, LeaseLost

STOPPED = "stopped before it began"
"""Why a step did not run."""


@dataclass(frozen=True, slots=True)
class Runs:
    """One database's runs."""

    database: Database

    async def begin_step(self, run: Run, index: int) -> bool:
        """See the port."""
        return await self.database.transact(lambda now: _begin_step(now, run, index))

    async def end_step(self, run: Run, index: int, end: StepEnd) -> Run:
        """See the port."""
        return await self.database.transact(lambda now: _end_step(now, run, index, end))

    async def cancel(self, run: Run, *, why: str) -> Run:
        """See the port."""
        return await self.database.transact(lambda now: _cancel(now, run, why))

    async def run(self, tenant: str, run: str) -> Run | None:
        """See the port."""
        return await self.database.transact(lambda _: read(tenant, run))

    async def run_of(self, tenant: str, request: str) -> Run | None:
        """See the port."""
        return await self.database.transact(lambda _: _run_of(tenant, request))

    async def live(self, tenant: str, conversation: str | None) -> list[Run]:
        """See the port."""
        return await self.database.transact(lambda _: _live(tenant, conversation))

    async def stop(self, run: Run, *, principal: str) -> None:
        """See the port."""
        await self.database.transact(lambda now: _stop(now, run, principal))

    async def resolve(
        self, tenant: str, run: str, index: int, *, happened: bool, principal: str
    ) -> Run:
        """See the port."""
        return await self.database.transact(
            lambda now: _resolve(now, tenant, run, index, principal, happened=happened)
        )

    async def show_output(self, run: Run, index: int, *, principal: str) -> None:
        """See the port."""
        await self.database.transact(lambda now: wanted.show(now, run, index, principal))

    async def verified(self, seen: Verification) -> None:
        """See the port."""
        await self.database.transact(lambda now: _verified(now, seen))


def start(now: datetime, request: Request, run: str, job: Job) -> Transaction[None]:
    """Insert a running run with all its steps; only the spend calls this."""
    yield sql(
        "INSERT INTO run (id, tenant, conversation, request, state, job, fence, started_at, does)"
        " VALUES (:id, :tenant, :conversation, :request, 'running', :job, :fence, :now, :does)",
        does=request.plan.does, id=run, tenant=request.tenant, conversation=request.conversation, request=request.id,
        job=job.id, fence=job.fence, now=text_of(now),
    )  # fmt: skip
    steps = [(call.tool, step) for call in request.plan.calls for step in call.steps]
    for number, (tool, step) in enumerate(steps):
        yield sql(
            "INSERT INTO step (run, number, tool, state, output, note, on_failure)"
            " VALUES (:run, :number, :tool, 'pending', '', '', :on_failure)",
            run=run, number=number, tool=tool, on_failure=step.on_failure,
        )  # fmt: skip


def adopt(request: Request, job: Job) -> Transaction[Run | None]:
    """Give a run to another claim of its job, if none of its steps has begun."""
    adopted = yield from rows(
        "UPDATE run SET fence = :fence WHERE request = :request AND tenant = :tenant"
        " AND job = :job AND state = 'running' AND NOT EXISTS"
        " (SELECT 1 FROM step WHERE run = run.id AND state <> 'pending') RETURNING id",
        fence=job.fence, request=request.id, tenant=request.tenant, job=job.id,
    )  # fmt: skip
    if not adopted:
        return None
    run = yield from must_read(request.tenant, adopted[0]["id"])
    return run


def cut(now: datetime, tenant: str, run: str, why: str) -> Transaction[None]:
    """End a run where it is: a step that had begun is unknown, and so is the run; the rest is not run."""
    begun = yield from changed(
        "UPDATE step SET state = 'unknown', ended_at = :now, note = :why"
        " WHERE run = :run AND state = 'running' RETURNING number",
        now=text_of(now), run=run, why=why,
    )  # fmt: skip
    state = RunState.UNKNOWN if begun else RunState.CANCELLED
    yield from end_run(now, tenant, run, state, why)


def running_step(job: Job) -> Transaction[str | None]:
    """Return the id of the step that a run's holder was at."""
    found = yield from rows(
        "SELECT step.run, step.number FROM step JOIN run ON run.id = step.run"
        " WHERE run.job = :job AND step.state = 'running'",
        job=job.id,
    )
    return step_id(found[0]["run"], found[0]["number"]) if found else None


def _run_of(tenant: str, request: str) -> Transaction[Run | None]:
    found = yield from rows("SELECT id FROM run WHERE request = :request", request=request)
    run = (yield from read(tenant, found[0]["id"])) if found else None
    return run


def _live(tenant: str, conversation: str | None) -> Transaction[list[Run]]:
    found = yield from rows(
        "SELECT id FROM run WHERE tenant = :tenant AND state = 'running'"
        " AND (:conversation IS NULL OR conversation = :conversation) ORDER BY started_at, id",
        tenant=tenant, conversation=conversation,
    )  # fmt: skip
    return (yield from each(must_read, tenant, [row["id"] for row in found]))


def _stop(now: datetime, run: Run, principal: str) -> Transaction[None]:
    live = yield from rows(
        "SELECT job FROM run WHERE id = :run AND tenant = :tenant AND state = 'running'",
        run=run.id, tenant=run.tenant,
    )  # fmt: skip
    told = (yield from jobs.cancel(now, live[0]["job"])) if live else None
    if told is None:
        return
    yield from log(now, run.tenant, "run.stop_asked", principal, run=run.id)
    if told.was_queued:
        # Nobody has it, so nobody else would end it; it is queued only where nothing had begun.
        yield from end_run(now, run.tenant, run.id, RunState.CANCELLED, STOPPED)


def _must_hold(now: datetime, run: Run, *, also_late: bool = False) -> Transaction[bool]:
    """Return whether the run was told to end; raise `LeaseLost` where this claim lost it.

    What has happened may be written `also_late`, as long as nobody else took the job.
    """
    found = yield from rows(
        "SELECT job.cancel_at, job.lease_until > :now AS is_in_time FROM run"
        " JOIN job ON job.id = run.job WHERE run.id = :run AND run.tenant = :tenant"
        " AND run.fence = :fence AND job.fence = :fence AND job.state = 'running'",
        now=text_of(now), run=run.id, tenant=run.tenant, fence=run.fence,
    )  # fmt: skip
    if not found or not (found[0]["is_in_time"] or also_late):
        raise LeaseLost("This process no longer holds the run, so it writes nothing about it.")
    return found[0]["cancel_at"] is not None


def _begin_step(now: datetime, run: Run, index: int) -> Transaction[bool]:
    if (yield from _must_hold(now, run)):
        return False
    begun = yield from changed(
        "UPDATE step SET state = 'running', started_at = :now"
        " WHERE run = :run AND number = :number AND state = 'pending'"
        " AND EXISTS (SELECT 1 FROM run WHERE id = :run AND state = 'running')"
        " AND NOT EXISTS (SELECT 1 FROM step WHERE run = :run AND number < :number"
        " AND state <> 'succeeded' AND (state <> 'failed' OR on_failure = 'stop'))"
        " RETURNING number",
        now=text_of(now), run=run.id, number=index,
    )  # fmt: skip
    if begun:
        yield from log(now, run.tenant, "step.begun", SYSTEM, run=run.id, index=index)
    return begun


def _end_step(now: datetime, run: Run, index: int, end: StepEnd) -> Transaction[Run]:
    yield from _must_hold(now, run, also_late=True)
    done = yield from changed(
        "UPDATE step SET state = :state, exit_code = :exit_code, output = :output, note = :note,"
        " ended_at = :now WHERE run = :run AND number = :number AND state = 'running'"
        " RETURNING number",
        state=end.state, exit_code=end.exit_code, output=end.output, note=end.note,
        now=text_of(now), run=run.id, number=index,
    )  # fmt: skip
    if done:
        yield from log(
            now, run.tenant, "step.ended", SYSTEM, run=run.id, index=index,
            state=end.state, exit_code=end.exit_code, output_sha256=canonical.sha256(end.output),
            **_proof(end),
        )  # fmt: skip
        if end.whole:
            yield from artifacts.add(now, run, index, end.whole)
        ended = end_of((yield from must_read(run.tenant, run.id)).steps)
        if ended is not None:
            yield from end_run(now, run.tenant, run.id, ended)
    return (yield from must_read(run.tenant, run.id))


def _proof(end: StepEnd) -> dict[str, str | int]:
    """Return what the log has to hold of a whole output; nothing where none was kept."""
    stored = end.whole and end.whole.stored
    return {"whole_bytes": stored.bytes, "whole_sha256": stored.sha256} if stored else {}


def _cancel(now: datetime, run: Run, why: str) -> Transaction[Run]:
    yield from _must_hold(now, run)
    yield from cut(now, run.tenant, run.id, why)
    current = yield from must_read(run.tenant, run.id)
    return current


def end_run(
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
    yield from log(now, tenant, "run.ended", SYSTEM, run=run, state=state)
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
    end = end_of((yield from must_read(tenant, run)).steps)
    yield sql(
        "UPDATE run SET state = :state, does = NULL WHERE id = :run AND state = 'unknown'",
        state=end or RunState.FAILED, run=run,
    )  # fmt: skip
    yield from log(now, tenant, "step.resolved", principal, run=run, index=index, happened=happened)
    yield from _report(now, tenant, run)
    current = yield from must_read(tenant, run)
    return current


def _verified(now: datetime, seen: Verification) -> Transaction[None]:
    run = yield from must_read(seen.run.tenant, seen.run.id)
    yield from log(
        now, run.tenant, "step.verified", seen.principal, run=run.id, index=seen.index,
        exit_code=seen.ended.exit_code,
    )  # fmt: skip
    yield from append(now, run.conversation, "note", SYSTEM, verification(seen))


def _report(now: datetime, tenant: str, run: str) -> Transaction[None]:
    current = yield from must_read(tenant, run)
    yield from redraw(now, current.conversation, current.request)
    yield from append(
        now, current.conversation, "report", SYSTEM, report(current), about=current.id
    )
    yield from progress.end(now, current)
