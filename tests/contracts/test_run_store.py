"""`approvals.store.RunStore`: each sentence of the port, on every database."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from approvals.cards import report
from approvals.models import NewRequest, Run, RunState, StepEnd, StepState
from approvals.store import RunStore
from core.errors import Refused
from tests.builders import CONVERSATION, TENANT, a_checked, a_new_request, a_tool
from tests.fakes.clock import START, FrozenClock
from tests.stores import (
    FAILED,
    OTHER_CONVERSATION,
    OTHER_TENANT,
    OWNER,
    SUCCEEDED,
    UNKNOWN,
    Act,
    Connect,
    Prepare,
    Stores,
    everything,
    facts_of,
    log_of,
    logged_by,
    principal_of,
    running,
    said_in,
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


async def _died(stores: Stores, *before: StepEnd, begun: bool = True) -> Run:
    """Return a run whose process is gone, in the step after those before or before it."""
    run = await running(stores, _long())
    run = await stepped(stores, run, *before) if before else run
    if begun:
        assert await stores.runs.begin_step(run, len(before))
    stores.dead.add(OWNER)
    return await _now(stores, run)


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
    for claimed in (run, ended):
        for index in range(3):
            assert not await stores.runs.begin_step(claimed, index)
    assert await everything(stores.database) == before


async def test_no_step_begins_after_a_stop(stores: Stores) -> None:
    run = await stepped(stores, await running(stores, _long()), SUCCEEDED)
    await stores.runs.cancel(run, why="stopped")
    assert not await stores.runs.begin_step(run, 1)


async def test_no_step_of_an_unknown_run_begins(stores: Stores) -> None:
    run = replace(await running(stores, _long()), id="r_unknown")
    assert not await stores.runs.begin_step(run, 0)


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
    await stores.runs.notice_dead()
    assert not await stores.runs.begin_step(run, 0)


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
    (left,) = await stores.runs.notice_dead()
    before = await everything(stores.database)
    assert await stores.runs.end_step(run, 0, SUCCEEDED) == left
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
        first = StepState.RUNNING if begun else StepState.NOT_RUN
        assert (await _now(stores, run)).steps[0].state is first
        assert stopped.state is RunState.CANCELLED or begun


# run


@pytest.mark.parametrize("unknown", ["", "r_1'--", "\0", "0" * 32])
async def test_an_unknown_run_is_none(runs: RunStore, unknown: str) -> None:
    assert await runs.run(TENANT, unknown) is None


# notice_dead


async def test_what_had_begun_when_the_process_died_is_unknown(
    stores: Stores, clock: FrozenClock
) -> None:
    run = await _died(stores, SUCCEEDED)
    clock.pass_by(A_MOMENT)
    (left,) = await stores.runs.notice_dead()
    assert _states(left) == (
        RunState.UNKNOWN,
        (StepState.SUCCEEDED, StepState.UNKNOWN, StepState.NOT_RUN),
    )
    assert [step.note for step in left.steps] == [
        "",
        "its process died",
        "the process that ran it died",
    ]
    assert left.ended_at == START + A_MOMENT
    assert left == await _now(stores, run)
    assert await said_in(stores, CONVERSATION, "report") == [report(left)]


@pytest.mark.parametrize("before", [(), (SUCCEEDED,)], ids=["at-the-start", "between-steps"])
async def test_a_run_whose_process_died_between_steps_did_nothing_more(
    stores: Stores, before: tuple[StepEnd, ...]
) -> None:
    await _died(stores, *before, begun=False)
    (left,) = await stores.runs.notice_dead()
    done = (StepState.SUCCEEDED,) * len(before)
    assert _states(left) == (RunState.CANCELLED, (*done, *[StepState.NOT_RUN] * (3 - len(before))))


async def test_only_runs_of_dead_processes_are_ended(stores: Stores) -> None:
    dead = Stores(stores.database, owner="dead")
    lost = [await running(dead, _long(word="alpha")), await running(dead, _long(word="beta"))]
    ended = await stepped(dead, await running(dead, _long(1, "gamma")), SUCCEEDED)
    alive = await running(stores, _long(word="delta"))
    assert await stores.runs.begin_step(alive, 0)
    stores.dead.add("dead")
    left = await stores.runs.notice_dead()
    assert {run.id for run in left} == {run.id for run in lost}
    assert await _now(stores, ended) == ended
    assert (await _now(stores, alive)).state is RunState.RUNNING
    assert list(await stores.runs.notice_dead()) == []


async def test_nobody_dead_is_no_run(stores: Stores) -> None:
    await running(stores)
    before = await everything(stores.database)
    assert list(await stores.runs.notice_dead()) == []
    assert await everything(stores.database) == before


async def test_a_death_that_many_notice_is_reported_once(stores: Stores, connect: Connect) -> None:
    others = [Stores(await connect(), dead={OWNER}) for _ in range(8)]
    run = await _died(stores)
    await asyncio.gather(*(other.runs.notice_dead() for other in others))
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


async def _noticing(stores: Stores, *, begun: bool) -> Act:
    await _died(stores, begun=begun)
    return lambda on: on.runs.notice_dead()


async def _resolving(stores: Stores) -> Act:
    run = await _unknown(stores)
    return lambda on: on.runs.resolve(TENANT, run.id, 0, happened=True, principal="bob")


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
    "notice in a step": (lambda on: _noticing(on, begun=True), [("run.ended", "sayso")]),
    "notice between steps": (lambda on: _noticing(on, begun=False), [("run.ended", "sayso")]),
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


async def test_i11_the_entries_say_which_step_and_how_it_ended(stores: Stores) -> None:
    run = await stepped(stores, await running(stores, _long()), SUCCEEDED, UNKNOWN)
    await stores.runs.resolve(TENANT, run.id, 1, happened=False, principal="bob")
    told = [(e.kind, facts_of(e)) for e in await log_of(stores) if e.kind in _OF_A_RUN]
    by = {"principal": "sayso", "run": run.id}
    assert told == [
        ("step.begun", {**by, "index": 0}),
        ("step.ended", {**by, "index": 0, "state": "succeeded", "exit_code": 0}),
        ("step.begun", {**by, "index": 1}),
        ("step.ended", {**by, "index": 1, "state": "unknown", "exit_code": None}),
        ("run.ended", {**by, "state": "unknown"}),
        ("step.resolved", {**by, "principal": "bob", "index": 1, "happened": False}),
    ]


_OF_A_RUN = {"step.begun", "step.ended", "run.ended", "step.resolved"}
