"""`approvals.store.RunStore`: each sentence of the port, on every database."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import pytest

from adapters.storage import jobs
from adapters.storage.transactions import rows
from approvals.models import Request, Run, RunState, State, StepEnd, StepState, Verification, job_of
from approvals.proposals import NewRequest
from approvals.reports import report, verification
from approvals.store import RunStore
from core.canonical import sha256
from core.errors import Refused
from core.jobs import LeaseLost
from core.ports import Ended, Ending
from tests.builders import CONVERSATION, TENANT, a_checked, a_new_request, a_tool
from tests.fakes.clock import START, FrozenClock
from tests.fakes.runner import ended, exited
from tests.stores import (
    FAILED,
    LEASE,
    LOST,
    OTHER_CONVERSATION,
    OTHER_TENANT,
    SUCCEEDED,
    THEIR_CONVERSATION,
    UNKNOWN,
    Act,
    Connect,
    Contents,
    CutDatabase,
    CutHere,
    Prepare,
    Stores,
    claimed,
    everything,
    facts_of,
    granted,
    log_of,
    logged_by,
    lose,
    notice,
    principal_of,
    running,
    said_in,
    spend,
    stepped,
)

A_MOMENT = timedelta(microseconds=1)
NOT_SUCCEEDED = (StepState.FAILED, StepState.UNKNOWN, StepState.CANCELLED)


def _long(steps: int = 3, word: str = "alpha") -> NewRequest:
    return a_new_request(a_checked(word, tool=a_tool(steps=steps)))


def _states(run: Run) -> tuple[RunState, tuple[StepState, ...]]:
    return run.state, tuple(step.state for step in run.steps)


async def _now(stores: Stores, run: Run) -> Run:
    found = await stores.runs.run(run.tenant, run.id)
    assert found is not None
    return found


async def _unknown(stores: Stores, *before: StepEnd, steps: int = 3) -> Run:
    """Return a run whose step after those before is unknown."""
    return await stepped(stores, await running(stores, _long(steps)), *before, UNKNOWN)


async def _died(stores: Stores, *before: StepEnd, begun: bool = True, word: str = "alpha") -> Run:
    """Return a run that its process left in the step after those before, or before that step."""
    run = await running(stores, _long(word=word))
    run = await stepped(stores, run, *before) if before else run
    if begun:
        assert await stores.runs.begin_step(run, len(before))
    return await _now(stores, run)


async def _request(stores: Stores, run: Run) -> Request:
    found = await stores.requests.get(run.tenant, run.request)
    assert found is not None
    return found


async def _job(stores: Stores, run: Run) -> tuple[str, str | None]:
    """Return where the run's job is, and who holds it."""
    (row,) = await stores.database.transact(
        lambda _: rows("SELECT state, owner FROM job WHERE id = :id", id=job_of(run.request))
    )
    return row["state"], row["owner"]


async def _left(stores: Stores, run: Run) -> Run:
    """Have another process notice that the run's process died; return what is left of the run."""
    await notice(stores, stores.owner)
    return await _now(stores, run)


async def _taken_over(stores: Stores) -> tuple[Run, Run]:
    """Return a run as its first process has it, and as the one that took it over has it."""
    stale = await running(stores, _long())
    await notice(stores, stores.owner)
    other = Stores(stores.database, owner="another")
    request = await _request(stores, stale)
    spent = await stores.requests.resume(request, job=await claimed(other, request))
    assert spent is not None
    return stale, spent.run


# begin_step


async def test_the_intent_to_run_a_step_is_written(stores: Stores) -> None:
    run = await running(stores, _long())
    assert await stores.runs.begin_step(run, 0)
    assert _states(await _now(stores, run)) == (
        RunState.RUNNING,
        (StepState.RUNNING, StepState.PENDING, StepState.PENDING),
    )


@pytest.mark.parametrize("index", [1, 2, 3, -1])
async def test_a_step_that_is_not_next_must_not_begin(stores: Stores, index: int) -> None:
    run = await running(stores, _long())
    before = await everything(stores.database)
    assert not await stores.runs.begin_step(run, index)
    assert await everything(stores.database) == before


async def test_no_step_begins_while_the_one_before_it_runs(stores: Stores) -> None:
    run = await running(stores, _long())
    assert await stores.runs.begin_step(run, 0)
    assert not await stores.runs.begin_step(run, 1)
    run = await stores.runs.end_step(run, 0, SUCCEEDED)
    assert await stores.runs.begin_step(run, 1)


@pytest.mark.parametrize("end", [FAILED, UNKNOWN])
async def test_no_step_begins_once_the_run_has_ended(stores: Stores, end: StepEnd) -> None:
    run = await running(stores, _long())
    ended = await stepped(stores, run, end)
    before = await everything(stores.database)
    for held in (run, ended):
        for index in range(3):
            assert not await stores.runs.begin_step(held, index)
    assert await everything(stores.database) == before


async def test_no_step_begins_after_a_stop(stores: Stores) -> None:
    run = await stepped(stores, await running(stores, _long()), SUCCEEDED)
    await stores.runs.cancel(run, why="stopped")
    assert not await stores.runs.begin_step(run, 1)


async def test_no_step_of_an_unknown_run_begins(stores: Stores) -> None:
    run = replace(await running(stores, _long()), id="r_unknown")
    with pytest.raises(LeaseLost):
        await stores.runs.begin_step(run, 0)


# I4: a step that may have happened is never repeated


async def test_i4_a_step_is_begun_once(stores: Stores, connect: Connect) -> None:
    others = [Stores(await connect()) for _ in range(20)]
    run = await running(stores, _long())
    begun = await asyncio.gather(*(other.runs.begin_step(run, 0) for other in others))
    assert sorted(begun) == [False] * 19 + [True]
    assert [e.kind for e in await log_of(stores)].count("step.begun") == 1


@pytest.mark.parametrize("end", [SUCCEEDED, FAILED, UNKNOWN])
async def test_i4_a_step_that_ended_is_never_begun_again(stores: Stores, end: StepEnd) -> None:
    run = await running(stores, _long())
    await stepped(stores, run, end)
    assert not await stores.runs.begin_step(run, 0)


async def test_i4_a_step_whose_process_died_is_never_begun_again(stores: Stores) -> None:
    run = await _died(stores)
    assert not await stores.runs.begin_step(run, 0)
    await _left(stores, run)
    before = await everything(stores.database)
    with pytest.raises(LeaseLost):
        await stores.runs.begin_step(run, 0)
    assert await everything(stores.database) == before


@pytest.mark.parametrize("happened", [True, False])
async def test_i4_a_step_that_somebody_resolved_is_never_begun_again(
    stores: Stores, *, happened: bool
) -> None:
    run = await _unknown(stores)
    await stores.runs.resolve(TENANT, run.id, 0, happened=happened, principal="bob")
    for index in range(3):
        assert not await stores.runs.begin_step(run, index)


async def test_i4_a_late_result_does_not_change_an_unknown_step(stores: Stores) -> None:
    run = await _died(stores)
    await _left(stores, run)
    before = await everything(stores.database)
    with pytest.raises(LeaseLost):
        await stores.runs.end_step(run, 0, SUCCEEDED)
    assert await everything(stores.database) == before


# end_step


async def test_a_step_that_succeeded_leaves_the_run_running(stores: Stores) -> None:
    run = await stepped(stores, await running(stores, _long()), SUCCEEDED)
    assert run.state is RunState.RUNNING
    step = run.steps[0]
    assert (step.state, step.exit_code, step.output, step.note) == (
        StepState.SUCCEEDED,
        0,
        "done\n",
        "",
    )
    assert (run.steps[1].state, run.ended_at) == (StepState.PENDING, None)
    assert run == await _now(stores, run)
    assert await said_in(stores, CONVERSATION, "report") == []


async def test_the_run_succeeds_with_its_last_step(stores: Stores, clock: FrozenClock) -> None:
    run = await running(stores, _long(2))
    clock.pass_by(A_MOMENT)
    run = await stepped(stores, run, SUCCEEDED, SUCCEEDED)
    assert _states(run) == (RunState.SUCCEEDED, (StepState.SUCCEEDED,) * 2)
    assert (run.started_at, run.ended_at) == (START, START + A_MOMENT)


@pytest.mark.parametrize("state", NOT_SUCCEEDED)
@pytest.mark.parametrize("before", [0, 1, 2])
async def test_the_run_ends_with_a_step_that_did_not_succeed(
    stores: Stores, state: StepState, before: int
) -> None:
    end = StepEnd(state=state, exit_code=None, output="half", note="it was cut")
    run = await running(stores, _long())
    run = await stepped(stores, run, *[SUCCEEDED] * before, end)
    rest = (StepState.NOT_RUN,) * (2 - before)
    assert _states(run) == (RunState(state), (StepState.SUCCEEDED,) * before + (state, *rest))
    assert (run.steps[before].output, run.steps[before].note) == ("half", "it was cut")
    assert run.ended_at == START
    assert run == await _now(stores, run)


@pytest.mark.parametrize("ends", [[SUCCEEDED, SUCCEEDED], [SUCCEEDED, FAILED], [UNKNOWN]])
async def test_the_end_of_a_run_stores_its_report_in_its_conversation(
    stores: Stores, ends: list[StepEnd]
) -> None:
    run = await stepped(stores, await running(stores, _long(2)), *ends)
    assert await said_in(stores, CONVERSATION, "report") == [report(run)]
    assert await said_in(stores, OTHER_CONVERSATION, "report") == []


@pytest.mark.parametrize("index", [0, 1, 2, 3, -1])
async def test_a_step_that_does_not_run_cannot_end(stores: Stores, index: int) -> None:
    run = await stepped(stores, await running(stores, _long()), SUCCEEDED)
    before = await everything(stores.database)
    assert await stores.runs.end_step(run, index, FAILED) == run
    assert await everything(stores.database) == before


async def test_any_output_is_kept_as_it_is(stores: Stores) -> None:
    end = replace(FAILED, output="\0'\"\n\ufffd\u202e😀" * 1000, note="';--")
    run = await stepped(stores, await running(stores), end)
    assert ((await _now(stores, run)).steps[0].output, run.steps[0].note) == (end.output, end.note)


# on_failure


def _lenient(steps: int = 3) -> NewRequest:
    """Return a request of whose steps none keeps those behind it from running."""
    return a_new_request(a_checked(tool=a_tool(steps=steps, on_failure="continue")))


async def test_the_steps_behind_a_failed_one_run_where_the_plan_says_so(stores: Stores) -> None:
    run = await stepped(stores, await running(stores, _lenient()), FAILED)
    assert _states(run) == (
        RunState.RUNNING,
        (StepState.FAILED, StepState.PENDING, StepState.PENDING),
    )
    assert await said_in(stores, CONVERSATION, "report") == []
    run = await stepped(stores, run, SUCCEEDED, SUCCEEDED)
    ends = (StepState.FAILED, StepState.SUCCEEDED, StepState.SUCCEEDED)
    assert _states(run) == (RunState.FAILED, ends)
    assert await said_in(stores, CONVERSATION, "report") == [report(run)]
    assert "Of its 3 steps, 2 succeeded, 1 failed." in report(run)


@pytest.mark.parametrize("ends", [[FAILED] * 3, [SUCCEEDED, SUCCEEDED, FAILED]])
async def test_a_run_has_failed_where_any_of_its_steps_has(
    stores: Stores, ends: list[StepEnd]
) -> None:
    run = await stepped(stores, await running(stores, _lenient()), *ends)
    assert _states(run) == (RunState.FAILED, tuple(end.state for end in ends))


async def test_i4_nothing_runs_behind_an_unknown_step_whatever_the_plan_says(
    stores: Stores,
) -> None:
    run = await stepped(stores, await running(stores, _lenient()), FAILED, UNKNOWN)
    assert _states(run) == (
        RunState.UNKNOWN,
        (StepState.FAILED, StepState.UNKNOWN, StepState.NOT_RUN),
    )
    assert not await stores.runs.begin_step(run, 2)


async def test_a_run_with_a_failed_step_that_is_stopped_between_two_is_cancelled(
    stores: Stores,
) -> None:
    run = await stepped(stores, await running(stores, _lenient()), FAILED)
    stopped = await stores.runs.cancel(run, why="stopped before it began")
    ends = (StepState.FAILED, StepState.NOT_RUN, StepState.NOT_RUN)
    assert _states(stopped) == (RunState.CANCELLED, ends)


async def test_a_run_of_which_a_step_failed_has_not_succeeded_once_its_last_one_happened(
    stores: Stores,
) -> None:
    run = await stepped(stores, await running(stores, _lenient(2)), FAILED, UNKNOWN)
    run = await stores.runs.resolve(TENANT, run.id, 1, happened=True, principal="bob")
    assert _states(run) == (RunState.FAILED, (StepState.FAILED, StepState.SUCCEEDED))


# cancel


@pytest.mark.parametrize("done", [0, 1, 2])
async def test_what_has_not_begun_at_a_stop_is_not_run(stores: Stores, done: int) -> None:
    run = await running(stores, _long())
    run = await stepped(stores, run, *[SUCCEEDED] * done) if done else run
    stopped = await stores.runs.cancel(run, why="stopped before it began")
    rest = 3 - done
    assert _states(stopped) == (
        RunState.CANCELLED,
        (StepState.SUCCEEDED,) * done + (StepState.NOT_RUN,) * rest,
    )
    assert [step.note for step in stopped.steps] == [""] * done + ["stopped before it began"] * rest
    assert stopped.ended_at == START
    assert stopped == await _now(stores, run)
    assert await said_in(stores, CONVERSATION, "report") == [report(stopped)]


@pytest.mark.parametrize("end", [SUCCEEDED, FAILED, UNKNOWN])
async def test_a_run_that_has_ended_is_not_cancelled(stores: Stores, end: StepEnd) -> None:
    run = await stepped(stores, await running(stores), end)
    before = await everything(stores.database)
    assert await stores.runs.cancel(run, why="too late") == run
    assert await everything(stores.database) == before


async def test_a_stop_and_the_next_step_at_once_agree(stores: Stores, connect: Connect) -> None:
    stopping, going = Stores(await connect()), Stores(await connect())
    for number in range(10):
        run = await running(stores, _long(word=f"word-{number}"))
        stopped, begun = await asyncio.gather(
            stopping.runs.cancel(run, why="stopped"), going.runs.begin_step(run, 0)
        )
        first = StepState.UNKNOWN if begun else StepState.NOT_RUN
        assert (await _now(stores, run)).steps[0].state is first
        assert stopped.state is RunState.CANCELLED or begun


# run


@pytest.mark.parametrize("unknown", ["", "r_1'--", "\0", "0" * 32])
async def test_an_unknown_run_is_none(runs: RunStore, unknown: str) -> None:
    assert await runs.run(TENANT, unknown) is None


# Whose claim it is: begin_step, end_step and cancel


WRITES: Mapping[str, Callable[[Stores, Run, int], Awaitable[object]]] = {
    "begin": lambda on, run, index: on.runs.begin_step(run, index),
    "end": lambda on, run, index: on.runs.end_step(run, index, FAILED),
    "cancel": lambda on, run, _: on.runs.cancel(run, why="mine"),
}
"""Whatever a holder writes about its run, at one of its steps."""


@pytest.mark.parametrize("write", WRITES)
async def test_a_claim_that_was_taken_over_begins_ends_and_cancels_nothing(
    stores: Stores, write: str
) -> None:
    stale, fresh = await _taken_over(stores)
    assert fresh.fence > stale.fence
    before = await everything(stores.database)
    for index in range(3):
        with pytest.raises(LeaseLost):
            await WRITES[write](stores, stale, index)
    assert await everything(stores.database) == before
    assert await stores.runs.begin_step(fresh, 0)
    before = await everything(stores.database)
    for index in range(3):
        with pytest.raises(LeaseLost):
            await WRITES[write](stores, stale, index)
    assert await everything(stores.database) == before
    assert _states(await stores.runs.end_step(fresh, 0, SUCCEEDED))[1][0] is StepState.SUCCEEDED


@pytest.mark.parametrize("write", WRITES)
async def test_a_claim_that_was_seized_writes_nothing_though_the_run_is_still_its_own(
    stores: Stores, write: str
) -> None:
    """Whoever seized the job has neither settled it nor taken the run over yet."""
    run = await running(stores, _long())
    assert await stores.runs.begin_step(run, 0)
    job = await claimed(stores, await _request(stores, run))
    seized = await stores.database.transact(
        lambda now: jobs.seize(now, "taker", LEASE, job, stores.owner)
    )
    assert seized is not None
    before = await everything(stores.database)
    for held in (run, replace(run, fence=seized.fence)):
        with pytest.raises(LeaseLost):
            await WRITES[write](stores, held, 0)
    assert await everything(stores.database) == before


async def test_whoever_took_it_over_ends_and_cancels_it(stores: Stores) -> None:
    _, fresh = await _taken_over(stores)
    run = await stepped(stores, fresh, SUCCEEDED)
    cancelled = await stores.runs.cancel(run, why="stopped before it began")
    assert _states(cancelled) == (
        RunState.CANCELLED,
        (StepState.SUCCEEDED, StepState.NOT_RUN, StepState.NOT_RUN),
    )


@pytest.mark.parametrize(
    ("write", "how"),
    [(w, h) for w in WRITES for h in LOST if (w, h) != ("end", "lease over")],  # see below
)
async def test_whoever_lost_the_job_writes_nothing_about_the_run(
    stores: Stores, write: str, how: str
) -> None:
    run = await stepped(stores, await running(stores, _long()), SUCCEEDED)
    if write == "end":
        assert await stores.runs.begin_step(run, 1)
    await lose(stores, await claimed(stores, await _request(stores, run)), how)
    before = await everything(stores.database)
    with pytest.raises(LeaseLost):
        await WRITES[write](stores, run, 1)
    assert await everything(stores.database) == before


@pytest.mark.parametrize("write", WRITES)
async def test_i14_nothing_is_written_about_a_run_of_another_tenant(
    stores: Stores, write: str
) -> None:
    run = await running(stores, _long())
    assert await stores.runs.begin_step(run, 0)
    before = await everything(stores.database)
    with pytest.raises(LeaseLost):
        await WRITES[write](stores, replace(run, tenant=OTHER_TENANT), 0)
    assert await everything(stores.database) == before


async def test_once_it_was_told_to_end_no_step_begins_and_what_runs_ends_as_it_does(
    stores: Stores,
) -> None:
    run = await running(stores, _long())
    assert await stores.runs.begin_step(run, 0)
    await stores.runs.stop(run, principal="bob")
    run = await stores.runs.end_step(run, 0, SUCCEEDED)
    assert _states(run)[1][0] is StepState.SUCCEEDED
    before = await everything(stores.database)
    assert not await stores.runs.begin_step(run, 1)
    assert await everything(stores.database) == before
    assert (await stores.runs.cancel(run, why="stopped")).state is RunState.CANCELLED


async def test_a_step_begins_until_the_moment_before_the_lease_ends(
    stores: Stores, clock: FrozenClock
) -> None:
    run = await running(stores, _long())
    clock.pass_by(LEASE - A_MOMENT)
    assert await stores.runs.begin_step(run, 0)
    run = await stores.runs.end_step(run, 0, SUCCEEDED)
    clock.pass_by(A_MOMENT)
    with pytest.raises(LeaseLost):
        await stores.runs.begin_step(run, 1)


async def test_a_late_end_of_a_step_is_still_written_while_nobody_took_the_job(
    stores: Stores, clock: FrozenClock
) -> None:
    run = await running(stores, _long())
    assert await stores.runs.begin_step(run, 0)
    clock.pass_by(LEASE)
    run = await stores.runs.end_step(run, 0, SUCCEEDED)
    assert run.steps[0].state is StepState.SUCCEEDED


# resume


async def test_a_run_none_of_whose_steps_has_begun_is_taken_over(stores: Stores) -> None:
    first = await running(stores, _long())
    await notice(stores, stores.owner)
    other, request = Stores(stores.database, owner="another"), await _request(stores, first)
    job = await claimed(other, request)
    assert (job.fence > first.fence, job.attempt) == (True, 2)
    spent = await stores.requests.resume(request, job=job)
    assert spent is not None
    assert spent.request == request
    assert spent.run == replace(first, fence=job.fence) == await _now(stores, first)
    assert [run.id for run in await stores.records.runs()] == [first.id]
    again = await stepped(other, spent.run, SUCCEEDED, SUCCEEDED, SUCCEEDED)
    assert again.state is RunState.SUCCEEDED


@pytest.mark.parametrize("begun", [0, 1, 2])
@pytest.mark.parametrize("end", [None, SUCCEEDED, FAILED, UNKNOWN])
async def test_a_run_of_which_something_has_begun_is_not_taken_over(
    stores: Stores, begun: int, end: StepEnd | None
) -> None:
    run = await running(stores, _long())
    run = await stepped(stores, run, *[SUCCEEDED] * begun) if begun else run
    assert await stores.runs.begin_step(run, begun)
    if end:
        await stores.runs.end_step(run, begun, end)
    request = await _request(stores, run)
    job = await claimed(stores, request)
    before = await everything(stores.database)
    assert await stores.requests.resume(request, job=job) is None
    assert await everything(stores.database) == before


async def test_only_a_claim_that_holds_the_runs_own_job_takes_it_over(stores: Stores) -> None:
    stale, other = await running(stores, _long()), await running(stores, _long(word="beta"))
    request, others = await _request(stores, stale), await _request(stores, other)
    old = await claimed(stores, request)
    await notice(stores, stores.owner)
    another = Stores(stores.database, owner="another")
    fresh, foreign = await claimed(another, request), await claimed(another, others)
    before = await everything(stores.database)
    for job in (old, replace(fresh, fence=fresh.fence + 1)):
        with pytest.raises(LeaseLost):
            await stores.requests.resume(request, job=job)
    theirs = replace(request, tenant=OTHER_TENANT)
    for given, job in (
        (request, foreign),
        (others, fresh),
        (theirs, fresh),
        (theirs, replace(fresh, tenant=OTHER_TENANT)),
    ):
        assert await stores.requests.resume(given, job=job) is None
    assert await everything(stores.database) == before


@pytest.mark.parametrize("how", LOST)
async def test_whoever_lost_the_job_takes_no_run_over(stores: Stores, how: str) -> None:
    run = await running(stores, _long())
    request = await _request(stores, run)
    await notice(stores, stores.owner)
    job = await claimed(Stores(stores.database, owner="another"), request)
    await lose(stores, job, how)
    before = await everything(stores.database)
    with pytest.raises(LeaseLost):
        await stores.requests.resume(request, job=job)
    assert await everything(stores.database) == before


async def test_a_run_that_was_told_to_end_is_not_taken_over(stores: Stores) -> None:
    run = await running(stores, _long())
    request = await _request(stores, run)
    await notice(stores, stores.owner)
    job = await claimed(Stores(stores.database, owner="another"), request)
    await stores.runs.stop(run, principal="bob")
    before = await everything(stores.database)
    assert await stores.requests.resume(request, job=job) is None
    assert await everything(stores.database) == before


async def test_a_request_that_was_not_spent_has_no_run_to_take_over(stores: Stores) -> None:
    request = await granted(stores)
    job = await claimed(stores, request)
    assert await stores.requests.resume(request, job=job) is None
    assert (await _request_now(stores, request)).state is State.GRANTED


async def _request_now(stores: Stores, request: Request) -> Request:
    found = await stores.requests.get(request.tenant, request.id)
    assert found is not None
    return found


# run_of, live


async def test_the_run_of_a_request_is_found_by_its_tenant(stores: Stores) -> None:
    run, other = await running(stores), await granted(stores, _long(word="beta"))
    assert await stores.runs.run_of(TENANT, run.request) == run
    assert await stores.runs.run_of(OTHER_TENANT, run.request) is None
    assert await stores.runs.run_of(TENANT, other.id) is None
    assert await stores.runs.run_of(TENANT, "' OR 1=1 --") is None


async def test_what_runs_is_listed_oldest_first_by_conversation_and_tenant(
    stores: Stores, clock: FrozenClock
) -> None:
    first = await running(stores, _long(word="first"))
    clock.pass_by(A_MOMENT)
    ended = await stepped(stores, await running(stores, _long(1, "ended")), SUCCEEDED)
    elsewhere = await running(
        stores, a_new_request(a_checked("second"), conversation=OTHER_CONVERSATION)
    )
    clock.pass_by(A_MOMENT)
    theirs = await running(
        stores,
        a_new_request(tenant=OTHER_TENANT, conversation=THEIR_CONVERSATION, turn="t_theirs"),
    )
    last = await running(stores, _long(word="last"))
    assert await stores.runs.live(TENANT, None) == [first, elsewhere, last]
    assert await stores.runs.live(TENANT, CONVERSATION) == [first, last]
    assert await stores.runs.live(TENANT, OTHER_CONVERSATION) == [elsewhere]
    assert await stores.runs.live(OTHER_TENANT, None) == [theirs]
    assert await stores.runs.live(OTHER_TENANT, CONVERSATION) == []
    assert ended.state is RunState.SUCCEEDED


# stop


@pytest.mark.parametrize("begun", [True, False])
async def test_a_stop_tells_the_process_that_has_it_and_is_on_record(
    stores: Stores, *, begun: bool
) -> None:
    run = await running(stores, _long())
    if begun:
        assert await stores.runs.begin_step(run, 0)
    now = await _now(stores, run)
    job = await claimed(stores, await _request(stores, run))
    await stores.runs.stop(run, principal="bob")
    assert await _now(stores, run) == now
    told = await stores.database.transact(lambda _: jobs.to_be_stopped(stores.owner))
    assert told == {job.claim}
    assert (await log_of(stores))[-1].kind == "run.stop_asked"
    assert facts_of((await log_of(stores))[-1]) == {"principal": "bob", "run": run.id}
    assert not await stores.runs.begin_step(run, int(begun))


async def test_a_second_stop_changes_nothing(stores: Stores, clock: FrozenClock) -> None:
    run = await running(stores)
    await stores.runs.stop(run, principal="bob")
    before = await everything(stores.database)
    clock.pass_by(A_MOMENT)
    await stores.runs.stop(run, principal="carol")
    assert await everything(stores.database) == before


@pytest.mark.parametrize("end", [SUCCEEDED, FAILED, UNKNOWN])
async def test_only_what_runs_is_stopped(stores: Stores, end: StepEnd) -> None:
    run = await stepped(stores, await running(stores), end)
    other = await running(stores, _long(word="beta"))
    before = await everything(stores.database)
    await stores.runs.stop(run, principal="bob")
    await stores.runs.stop(replace(other, tenant=OTHER_TENANT), principal="eve")
    await stores.runs.stop(replace(other, id="r_none"), principal="bob")
    assert await everything(stores.database) == before


async def test_a_run_that_waits_for_another_process_ends_with_the_stop(stores: Stores) -> None:
    """It was queued again, so no process would ever hear of the stop."""
    run = await _left(stores, await running(stores, _long()))
    assert (run.state, await _job(stores, run)) == (RunState.RUNNING, ("queued", None))
    await stores.runs.stop(run, principal="bob")
    stopped = await _now(stores, run)
    assert _states(stopped) == (RunState.CANCELLED, (StepState.NOT_RUN,) * 3)
    assert stopped.steps[0].note == "stopped before it began"
    assert await _job(stores, run) == ("cancelled", None)
    assert await said_in(stores, CONVERSATION, "report") == [report(stopped)]
    before = await everything(stores.database)
    await stores.runs.stop(run, principal="bob")
    assert await everything(stores.database) == before


# What becomes of a run whose process died


async def test_what_was_not_spent_yet_is_queued_again(stores: Stores) -> None:
    request = await granted(stores)
    await claimed(stores, request)
    await notice(stores, stores.owner)
    assert await _request_now(stores, request) == request
    other = Stores(stores.database, owner="another")
    assert (await claimed(other, request)).attempt == 2
    assert await spend(other, request)


async def test_what_had_begun_when_the_process_died_is_unknown(
    stores: Stores, clock: FrozenClock
) -> None:
    run = await _died(stores, SUCCEEDED)
    clock.pass_by(A_MOMENT)
    left = await _left(stores, run)
    assert _states(left) == (
        RunState.UNKNOWN,
        (StepState.SUCCEEDED, StepState.UNKNOWN, StepState.NOT_RUN),
    )
    assert [step.note for step in left.steps] == [
        "",
        "its process is gone, or did not answer for too long",
        "its process is gone, or did not answer for too long",
    ]
    assert left.ended_at == START + A_MOMENT
    assert await said_in(stores, CONVERSATION, "report") == [report(left)]
    assert await _job(stores, run) == ("unknown", None)


@pytest.mark.parametrize("done", [1, 2])
async def test_a_run_whose_process_died_between_steps_did_nothing_more(
    stores: Stores, done: int
) -> None:
    run = await _died(stores, *[SUCCEEDED] * done, begun=False)
    left = await _left(stores, run)
    rest = [StepState.NOT_RUN] * (3 - done)
    assert _states(left) == (RunState.CANCELLED, (*[StepState.SUCCEEDED] * done, *rest))
    assert await said_in(stores, CONVERSATION, "report") == [report(left)]
    assert await _job(stores, run) == ("unknown", None)


async def test_a_run_whose_process_died_before_the_first_step_waits_for_another(
    stores: Stores,
) -> None:
    run = await _died(stores, begun=False)
    assert await _left(stores, run) == run
    assert await _job(stores, run) == ("queued", None)
    assert await said_in(stores, CONVERSATION, "report") == []


@pytest.mark.parametrize("end", [SUCCEEDED, FAILED, UNKNOWN])
async def test_a_run_that_had_ended_when_its_process_died_stays_as_it_ended(
    stores: Stores, end: StepEnd
) -> None:
    run = await stepped(stores, await running(stores), end)
    assert await _left(stores, run) == run
    assert await _job(stores, run) == ("done", None)
    assert await said_in(stores, CONVERSATION, "report") == [report(run)]


async def test_a_run_that_was_told_to_stop_before_its_process_died_is_not_taken_up_again(
    stores: Stores,
) -> None:
    run = await running(stores, _long())
    await stores.runs.stop(run, principal="bob")
    left = await _left(stores, run)
    assert _states(left) == (RunState.CANCELLED, (StepState.NOT_RUN,) * 3)
    assert left.steps[0].note == "stopped before it began"
    assert await _job(stores, run) == ("cancelled", None)
    assert await said_in(stores, CONVERSATION, "report") == [report(left)]


async def test_a_step_that_was_being_stopped_when_its_process_died_is_unknown(
    stores: Stores,
) -> None:
    run = await _died(stores)
    await stores.runs.stop(run, principal="bob")
    assert (await _left(stores, run)).state is RunState.UNKNOWN


async def test_only_runs_of_dead_processes_are_ended(stores: Stores) -> None:
    dead = Stores(stores.database, owner="dead")
    lost = [await _died(dead, word="alpha"), await _died(dead, word="beta")]
    ended = await stepped(dead, await running(dead, _long(1, "gamma")), SUCCEEDED)
    alive = await _died(stores, word="delta")
    await notice(stores, "dead")
    assert [(await _now(stores, run)).state for run in lost] == [RunState.UNKNOWN] * 2
    assert await _now(stores, ended) == ended
    assert await _now(stores, alive) == alive
    assert await _job(stores, alive) == ("running", stores.owner)
    before = await everything(stores.database)
    await notice(stores, "dead")
    assert await everything(stores.database) == before


async def test_nobody_dead_is_no_run(stores: Stores) -> None:
    await running(stores)
    before = await everything(stores.database)
    await notice(stores)
    assert await everything(stores.database) == before


async def test_whoever_let_the_lease_end_counts_as_dead(stores: Stores, clock: FrozenClock) -> None:
    run = await _died(stores)
    clock.pass_by(LEASE - A_MOMENT)
    await notice(stores)
    assert await _now(stores, run) == run
    clock.pass_by(A_MOMENT)
    await notice(stores)
    assert (await _now(stores, run)).state is RunState.UNKNOWN


async def test_a_death_that_many_notice_is_reported_once(stores: Stores, connect: Connect) -> None:
    others = [Stores(await connect()) for _ in range(8)]
    run = await _died(stores)
    await asyncio.gather(
        *(notice(other, stores.owner, by=f"process {n}") for n, other in enumerate(others))
    )
    assert (await _now(stores, run)).state is RunState.UNKNOWN
    assert len(await said_in(stores, CONVERSATION, "report")) == 1
    assert [e.kind for e in await log_of(stores)].count("run.ended") == 1


# resolve


async def test_a_step_that_happened_after_all_succeeded(stores: Stores) -> None:
    run = await _unknown(stores, SUCCEEDED)
    resolved = await stores.runs.resolve(TENANT, run.id, 1, happened=True, principal="bob")
    assert _states(resolved) == (
        RunState.FAILED,
        (StepState.SUCCEEDED, StepState.SUCCEEDED, StepState.NOT_RUN),
    )
    assert resolved.steps[1].note == "bob found that it happened"
    assert resolved == await _now(stores, run)


async def test_a_run_whose_last_step_happened_after_all_succeeded(stores: Stores) -> None:
    run = await _unknown(stores, SUCCEEDED, steps=2)
    resolved = await stores.runs.resolve(TENANT, run.id, 1, happened=True, principal="bob")
    assert _states(resolved) == (RunState.SUCCEEDED, (StepState.SUCCEEDED,) * 2)


@pytest.mark.parametrize("steps", [1, 3])
async def test_a_step_that_did_not_happen_was_not_run(stores: Stores, steps: int) -> None:
    run = await _unknown(stores, steps=steps)
    resolved = await stores.runs.resolve(TENANT, run.id, 0, happened=False, principal="bob")
    assert _states(resolved) == (RunState.FAILED, (StepState.NOT_RUN,) * steps)
    assert resolved.steps[0].note == "bob found that it did not happen"


async def test_what_a_person_found_out_is_reported(stores: Stores) -> None:
    run = await _unknown(stores)
    resolved = await stores.runs.resolve(TENANT, run.id, 0, happened=True, principal="bob")
    assert await said_in(stores, CONVERSATION, "report") == [report(run), report(resolved)]


@pytest.mark.parametrize("ends", [[], [SUCCEEDED], [FAILED], [SUCCEEDED] * 3])
async def test_a_step_that_is_not_unknown_cannot_be_resolved(
    stores: Stores, ends: list[StepEnd]
) -> None:
    run = await running(stores, _long())
    run = await stepped(stores, run, *ends) if ends else run
    await _refuses_to_resolve(stores, TENANT, run.id, range(-1, 4))


async def test_a_step_that_runs_cannot_be_resolved(stores: Stores) -> None:
    run = await running(stores)
    assert await stores.runs.begin_step(run, 0)
    await _refuses_to_resolve(stores, TENANT, run.id, [0])


@pytest.mark.parametrize("happened", [True, False])
async def test_a_step_is_resolved_once(stores: Stores, *, happened: bool) -> None:
    run = await _unknown(stores)
    await stores.runs.resolve(TENANT, run.id, 0, happened=happened, principal="bob")
    await _refuses_to_resolve(stores, TENANT, run.id, range(3))


async def test_a_run_that_is_not_there_cannot_be_resolved(stores: Stores) -> None:
    run = await _unknown(stores)
    await _refuses_to_resolve(stores, TENANT, "r_unknown", [0])
    await _refuses_to_resolve(stores, OTHER_TENANT, run.id, [0])


async def _refuses_to_resolve(
    stores: Stores, tenant: str, run: str, indexes: Sequence[int]
) -> None:
    before = await everything(stores.database)
    for index in indexes:
        for happened in (True, False):
            with pytest.raises(Refused, match="not unknown"):
                await stores.runs.resolve(tenant, run, index, happened=happened, principal="bob")
    assert await everything(stores.database) == before


# verified


def _seen(run: Run, how: Ended | None = None) -> Verification:
    """Return what bob saw of the first step."""
    return Verification(run=run, index=0, principal="bob", ended=how or exited(1, "no web\n"))


@pytest.mark.parametrize("how", [exited(1, "no web\n"), ended(Ending.TIMED_OUT, "still waiting")])
async def test_what_looking_printed_is_noted_and_nothing_else_changes(
    stores: Stores, how: Ended
) -> None:
    run = await _unknown(stores)
    before = await everything(stores.database)
    await stores.runs.verified(_seen(run, how))
    after = await everything(stores.database)
    assert {table for table in after if after[table] != before[table]} == {"audit", "entry"}
    assert await said_in(stores, CONVERSATION, "note") == [verification(_seen(run, how))]
    last = (await log_of(stores))[-1]
    assert (last.kind, last.tenant) == ("step.verified", TENANT)
    assert facts_of(last) == {
        "principal": "bob", "run": run.id, "index": 0, "exit_code": how.exit_code,
    }  # fmt: skip


# I11: whole transactions


async def _beginning(stores: Stores) -> Act:
    run = await running(stores, _long())
    return lambda on: on.runs.begin_step(run, 0)


async def _ending(stores: Stores, end: StepEnd, steps: int) -> Act:
    run = await running(stores, _long(steps))
    assert await stores.runs.begin_step(run, 0)
    return lambda on: on.runs.end_step(run, 0, end)


async def _cancelling(stores: Stores) -> Act:
    run = await stepped(stores, await running(stores, _long()), SUCCEEDED)
    return lambda on: on.runs.cancel(run, why="stopped")


async def _stopping(stores: Stores) -> Act:
    run = await running(stores, _long())
    return lambda on: on.runs.stop(run, principal="bob")


async def _stopping_what_waits(stores: Stores) -> Act:
    run = await _left(stores, await running(stores, _long()))
    return lambda on: on.runs.stop(run, principal="bob")


async def _resuming(stores: Stores) -> Act:
    request = await _request(stores, await running(stores, _long()))
    await notice(stores, stores.owner)
    job = await claimed(stores, request)
    return lambda on: on.requests.resume(request, job=job)


async def _resolving(stores: Stores) -> Act:
    run = await _unknown(stores)
    return lambda on: on.runs.resolve(TENANT, run.id, 0, happened=True, principal="bob")


async def _verifying(stores: Stores) -> Act:
    seen = _seen(await _unknown(stores))
    return lambda on: on.runs.verified(seen)


CHANGES: Mapping[str, tuple[Prepare, Sequence[tuple[str, str]]]] = {
    "begin": (_beginning, [("step.begun", "sayso")]),
    "end": (lambda on: _ending(on, SUCCEEDED, 2), [("step.ended", "sayso")]),
    "end the last": (
        lambda on: _ending(on, SUCCEEDED, 1),
        [("step.ended", "sayso"), ("run.ended", "sayso")],
    ),
    "fail": (
        lambda on: _ending(on, FAILED, 3),
        [("step.ended", "sayso"), ("run.ended", "sayso")],
    ),
    "cut": (
        lambda on: _ending(on, UNKNOWN, 3),
        [("step.ended", "sayso"), ("run.ended", "sayso")],
    ),
    "cancel": (_cancelling, [("run.ended", "sayso")]),
    "stop": (_stopping, [("run.stop_asked", "bob")]),
    "stop what waits": (
        _stopping_what_waits,
        [("run.stop_asked", "bob"), ("run.ended", "sayso")],
    ),
    "resume": (_resuming, [("run.resumed", "sayso")]),
    "verify": (_verifying, [("step.verified", "bob")]),
    "resolve": (_resolving, [("step.resolved", "bob")]),
}


@pytest.mark.parametrize("change", CHANGES)
async def test_i11_every_state_change_has_its_audit_entry_or_does_not_happen(
    stores: Stores, change: str
) -> None:
    prepare, expected = CHANGES[change]
    logged = await logged_by(stores, await prepare(stores))
    assert [(entry.kind, principal_of(entry)) for entry in logged] == expected
    assert {entry.tenant for entry in logged} == {TENANT}


async def _told_to_stop(stores: Stores) -> Run:
    run = await running(stores, _long())
    await stores.runs.stop(run, principal="bob")
    return run


DEATHS: Mapping[str, tuple[Callable[[Stores], Awaitable[Run]], list[str]]] = {
    "in a step": (_died, ["run.ended"]),
    "between steps": (lambda on: _died(on, SUCCEEDED, begun=False), ["run.ended"]),
    "told to stop": (_told_to_stop, ["run.ended"]),
    "before the first step": (lambda on: _died(on, begun=False), []),
}


@pytest.mark.parametrize("death", DEATHS)
async def test_i11_a_death_is_settled_in_one_transaction_with_its_audit_entry(
    stores: Stores, clock: FrozenClock, death: str
) -> None:
    die, expected = DEATHS[death]
    await die(stores)
    before, logged, cuts = await _all_but_jobs(stores), len(await log_of(stores)), 0
    while True:
        # Each cut takes the job and dies: the next one may take it once the lease is over.
        cutting = CutDatabase(stores.database, cuts)
        with suppress(CutHere):
            await notice(Stores(cutting), stores.owner, by="one that dies")
        if not cutting.died:
            break
        assert await _all_but_jobs(stores) == before, f"cut before statement {cuts}"
        clock.pass_by(LEASE)
        cuts += 1
    assert cuts > len(("running", "commit", "seize", "commit", "settle", "release", "commit"))
    assert [entry.kind for entry in (await log_of(stores))[logged:]] == expected
    assert (await _all_but_jobs(stores) == before) is (not expected)
    states = await stores.database.transact(
        lambda _: rows("SELECT state FROM job WHERE kind = 'run'")
    )
    assert [row["state"] for row in states] in (["unknown"], ["queued"], ["cancelled"])


async def _all_but_jobs(stores: Stores) -> Contents:
    found = await everything(stores.database)
    return {table: rows for table, rows in found.items() if table != "job"}


async def test_i11_the_entries_say_which_step_and_how_it_ended(stores: Stores) -> None:
    run = await stepped(stores, await running(stores, _long()), SUCCEEDED, UNKNOWN)
    await stores.runs.resolve(TENANT, run.id, 1, happened=False, principal="bob")
    told = [(e.kind, facts_of(e)) for e in await log_of(stores) if e.kind in _OF_A_RUN]
    by = {"principal": "sayso", "run": run.id}
    assert told == [
        ("step.begun", {**by, "index": 0}),
        (
            "step.ended",
            {
                **by,
                "index": 0,
                "state": "succeeded",
                "exit_code": 0,
                "output_sha256": sha256(SUCCEEDED.output),
            },
        ),
        ("step.begun", {**by, "index": 1}),
        (
            "step.ended",
            {
                **by,
                "index": 1,
                "state": "unknown",
                "exit_code": None,
                "output_sha256": sha256(""),
            },
        ),
        ("run.ended", {**by, "state": "unknown"}),
        ("step.resolved", {**by, "principal": "bob", "index": 1, "happened": False}),
    ]


_OF_A_RUN = {"step.begun", "step.ended", "run.ended", "step.resolved"}
