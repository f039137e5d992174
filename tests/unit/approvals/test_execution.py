"""Running what was approved: the stored steps, once each, with the intent written before the effect."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from adapters.storage import jobs
from adapters.storage.transactions import rows
from approvals.execution import Execution
from approvals.models import Run, RunState, Spent, StepEnd, StepState, Verification
from approvals.proposals import NewRequest
from approvals.reports import report
from approvals.store import RunStore
from core import ids
from core.errors import OutcomeUnknown, Unavailable
from core.jobs import LeaseLost
from core.plans import OnFailure, Retry
from core.ports import Ended, Ending
from tests.builders import TENANT, a_checked, a_new_request, a_tool
from tests.fakes.artifacts import keeping
from tests.fakes.hold import FakeHold
from tests.fakes.runner import FakeRunner, ended, exited, for_ever, words_of
from tests.fakes.watch import FakeWatch
from tests.gates import World
from tests.stores import LEASE, Stores, claimed, everything, granted, log_of, notice, said_in
from tests.stores import spend as spend_request

STEPS = 3


async def spend(stores: Stores, new: NewRequest | None = None) -> Spent:
    """Spend a request for three steps, or this one."""
    new = new or a_new_request(a_checked(tool=a_tool(steps=STEPS)))
    request = await granted(stores, new)
    spent = await spend_request(stores, request, ids.run_id())
    assert spent is not None
    return spent


async def hold_of(stores: Stores, spent: Spent, stop: asyncio.Event | None = None) -> FakeHold:
    """Return the hold of whoever spent it; `stop` tells it to end."""
    return FakeHold(await claimed(stores, spent.request), stop=stop or asyncio.Event())


async def execute(
    stores: Stores,
    runner: FakeRunner,
    spent: Spent,
    stop: asyncio.Event | None = None,
    watch: FakeWatch | None = None,
) -> Run:
    execution = Execution(store=stores.runs, runner=runner, keeping=keeping())
    hold = await hold_of(stores, spent, stop)
    return await execution.execute(spent, hold, watch or FakeWatch())


async def stored(stores: Stores, spent: Spent) -> Run:
    run = await stores.runs.run(TENANT, spent.run.id)
    assert run is not None
    return run


def states(run: Run) -> list[StepState]:
    return [step.state for step in run.steps]


async def test_the_steps_run_in_order_once_each_and_the_run_succeeds(stores: Stores) -> None:
    spent = await spend(stores)
    runner = FakeRunner(endings={("append-word", "1"): exited(output="second\n")})
    run = await execute(stores, runner, spent)
    assert runner.ran == [words_of(step) for step in spent.request.plan.calls[0].steps]
    assert run == await stored(stores, spent)
    assert run.state is RunState.SUCCEEDED
    assert states(run) == [StepState.SUCCEEDED] * STEPS
    assert (run.steps[1].output, run.steps[1].exit_code) == ("second\n", 0)


async def test_c94_every_step_gets_a_stable_id_of_its_own(stores: Stores) -> None:
    spent, runner = await spend(stores), FakeRunner()
    await execute(stores, runner, spent)
    assert runner.step_ids == [f"{spent.run.id}.{index}" for index in range(STEPS)]


async def test_i2_i4_the_intent_is_written_before_each_effect(stores: Stores) -> None:
    spent, runner = await spend(stores), FakeRunner()
    seen: list[tuple[RunState, list[StepState], str]] = []

    async def look() -> None:
        run = await stored(stores, spent)
        seen.append((run.state, states(run), (await log_of(stores))[-1].kind))

    runner.meanwhile["append-word",] = look
    await execute(stores, runner, spent)
    done, now, then = StepState.SUCCEEDED, StepState.RUNNING, StepState.PENDING
    assert seen == [
        (RunState.RUNNING, [now, then, then], "step.begun"),
        (RunState.RUNNING, [done, now, then], "step.begun"),
        (RunState.RUNNING, [done, done, now], "step.begun"),
    ]


async def test_the_steps_of_all_calls_are_one_list(stores: Stores) -> None:
    new = a_new_request(
        a_checked("a", tool=a_tool("one", steps=2)), a_checked("b", tool=a_tool("two"))
    )
    spent, runner = await spend(stores, new), FakeRunner()
    run = await execute(stores, runner, spent)
    assert [argv[:3] for argv in runner.ran] == [
        ("one", "0", "a"),
        ("one", "1", "a"),
        ("two", "0", "b"),
    ]
    assert [step.tool for step in run.steps] == ["one", "one", "two"]


async def test_what_answers_as_expected_has_succeeded_without_an_exit_code(stores: Stores) -> None:
    answered = replace(ended(Ending.ANSWERED, "fine\n"), note="status 200")
    spent = await spend(stores)
    run = await execute(stores, FakeRunner(endings={("append-word", "1"): answered}), spent)
    assert run.state is RunState.SUCCEEDED
    assert (run.steps[1].exit_code, run.steps[1].note) == (None, "status 200")
    assert "  1. append-word succeeded: status 200\n     fine\n" in report(run)


async def test_i6_what_runs_is_what_was_stored_even_if_the_catalogue_changed(
    stores: Stores,
) -> None:
    world = World(stores)
    spent = await world.spend(await world.granted())
    world.tools = ()
    world.files.digests.clear()
    runner = FakeRunner()
    run = await execute(stores, runner, spent)
    assert runner.ran == [("append-word", "0", "alpha", "words.txt")]
    assert run.state is RunState.SUCCEEDED


FAILING: Sequence[tuple[Ended, StepEnd]] = [
    (exited(3, "no\n"), StepEnd(state=StepState.FAILED, exit_code=3, output="no\n")),
    (exited(-15), StepEnd(state=StepState.FAILED, exit_code=-15)),
    (
        exited(-9, "half"),
        StepEnd(state=StepState.UNKNOWN, output="half", note="it was killed from outside"),
    ),
    (
        ended(Ending.NOT_STARTED),
        StepEnd(state=StepState.FAILED, note="it could not be started"),
    ),
    (
        replace(ended(Ending.NOT_STARTED, "No."), note="nothing was sent"),
        StepEnd(state=StepState.FAILED, output="No.", note="nothing was sent"),
    ),
    (
        replace(ended(Ending.ANSWERED_OTHERWISE, "no\n"), note="status 503, expected 200"),
        StepEnd(state=StepState.FAILED, output="no\n", note="status 503, expected 200"),
    ),
    (
        ended(Ending.BROKEN_OFF, "half"),
        StepEnd(state=StepState.UNKNOWN, output="half", note="its answer broke off"),
    ),
    (
        ended(Ending.TIMED_OUT, "begun"),
        StepEnd(state=StepState.UNKNOWN, output="begun", note="it ran longer than its time limit"),
    ),
    (
        ended(Ending.TOO_MUCH_OUTPUT),
        StepEnd(state=StepState.UNKNOWN, note="it printed more than its output limit"),
    ),
]


@pytest.mark.parametrize(("how", "told"), FAILING)
async def test_i4_after_a_step_that_did_not_succeed_the_rest_does_not_run(
    stores: Stores, how: Ended, told: StepEnd
) -> None:
    spent = await spend(stores)
    runner = FakeRunner(endings={("append-word", "1"): how})
    run = await execute(stores, runner, spent)
    assert len(runner.ran) == 2
    assert states(run) == [StepState.SUCCEEDED, told.state, StepState.NOT_RUN]
    failed = run.steps[1]
    assert (failed.exit_code, failed.output, failed.note) == (
        told.exit_code,
        told.output,
        told.note,
    )
    assert run.state.value == told.state.value
    assert run == await stored(stores, spent)


async def test_i4_a_step_that_stop_cuts_is_unknown_and_no_further_one_runs(stores: Stores) -> None:
    spent, runner, stop = await spend(stores), FakeRunner(), asyncio.Event()

    async def hang() -> None:
        runner.printed("alpha")
        runner.printed("alpha", "beta")
        stop.set()
        await for_ever()

    runner.meanwhile["append-word", "1"] = hang
    run = await execute(stores, runner, spent, stop)
    assert runner.cut == [f"{spent.run.id}.1"]
    assert len(runner.ran) == 2
    assert run.state is RunState.UNKNOWN
    assert states(run) == [StepState.SUCCEEDED, StepState.UNKNOWN, StepState.NOT_RUN]
    assert run.steps[1].note == "it was cut while it ran"
    assert [step.output for step in run.steps] == ["", "alpha\nbeta", ""]
    assert run == await stored(stores, spent)


async def test_a_step_that_ended_as_stop_came_is_told_as_it_ended(stores: Stores) -> None:
    spent, runner, stop = await spend(stores), FakeRunner(), asyncio.Event()

    async def end_now() -> None:
        stop.set()

    runner.meanwhile["append-word", "0"] = end_now
    run = await execute(stores, runner, spent, stop)
    assert states(run) == [StepState.SUCCEEDED, StepState.NOT_RUN, StepState.NOT_RUN]
    assert run.state is RunState.CANCELLED
    assert run.steps[1].note == "stopped before it began"
    assert len(runner.ran) == 1


async def test_stop_before_the_first_step_cancels_and_nothing_runs(stores: Stores) -> None:
    spent, runner, stop = await spend(stores), FakeRunner(), asyncio.Event()
    stop.set()
    run = await execute(stores, runner, spent, stop)
    assert run.state is RunState.CANCELLED
    assert states(run) == [StepState.NOT_RUN] * STEPS
    assert runner.ran == []


async def test_i4_the_same_spend_cannot_be_executed_twice(stores: Stores) -> None:
    spent, runner = await spend(stores), FakeRunner()
    run = await execute(stores, runner, spent)
    before = await everything(stores.database)
    assert await execute(stores, runner, spent) == run
    assert len(runner.ran) == STEPS
    assert await everything(stores.database) == before


async def test_i4_two_executions_at_once_run_every_step_once(stores: Stores) -> None:
    spent, runner = await spend(stores), FakeRunner()
    await asyncio.gather(execute(stores, runner, spent), execute(stores, runner, spent))
    assert len(runner.ran) == len(set(runner.step_ids)) <= STEPS
    run = await stored(stores, spent)
    # The two are one claim, so the one that may not begin a step ends the run for both.
    # Whether that was between two steps or in the middle of one, no step is told wrong.
    unknown = states(run).count(StepState.UNKNOWN)
    assert run.state is (RunState.UNKNOWN if unknown else RunState.CANCELLED)
    assert states(run).count(StepState.SUCCEEDED) + unknown == len(runner.ran)
    assert len(await said_in(stores, spent.run.conversation, "report")) == 1


async def test_a_run_that_somebody_ended_meanwhile_goes_no_further(stores: Stores) -> None:
    spent, runner = await spend(stores), FakeRunner()

    async def end_the_run() -> None:
        await stores.runs.cancel(spent.run, why="its process died or failed")

    runner.meanwhile["append-word", "0"] = end_the_run
    run = await execute(stores, runner, spent)
    assert len(runner.ran) == 1
    assert (run.state, run) == (RunState.UNKNOWN, await stored(stores, spent))
    assert states(run) == [StepState.UNKNOWN, StepState.NOT_RUN, StepState.NOT_RUN]


async def test_whoever_may_no_longer_hold_the_job_begins_no_step(stores: Stores) -> None:
    spent, runner = await spend(stores), FakeRunner()
    hold = await hold_of(stores, spent)

    async def lose() -> None:
        hold.is_lost = True

    runner.meanwhile["append-word", "0"] = lose
    with pytest.raises(LeaseLost):
        await Execution(store=stores.runs, runner=runner, keeping=keeping()).execute(
            spent, hold, FakeWatch()
        )
    assert len(runner.ran) == 1
    run = await stored(stores, spent)
    assert states(run) == [StepState.SUCCEEDED, StepState.PENDING, StepState.PENDING]
    assert run.state is RunState.RUNNING  # whoever has it now says what became of it


async def test_the_hold_is_asked_before_each_effect(stores: Stores) -> None:
    spent, runner = await spend(stores), FakeRunner()
    hold = await hold_of(stores, spent)
    await Execution(store=stores.runs, runner=runner, keeping=keeping()).execute(
        spent, hold, FakeWatch()
    )
    assert hold.checks == STEPS


async def test_a_claim_that_was_taken_over_runs_nothing_and_leaves_the_run_to_the_other(
    stores: Stores,
) -> None:
    spent, runner = await spend(stores), FakeRunner()
    stale = await hold_of(stores, spent)
    await notice(stores, stores.owner)
    job = await claimed(Stores(stores.database, owner="another"), spent.request)
    resumed = await stores.requests.resume(spent.request, job=job)
    assert resumed is not None
    before = await everything(stores.database)
    with pytest.raises(LeaseLost):
        await Execution(store=stores.runs, runner=runner, keeping=keeping()).execute(
            spent, stale, FakeWatch()
        )
    assert runner.ran == []
    assert await everything(stores.database) == before
    assert (await execute(stores, runner, resumed)).state is RunState.SUCCEEDED
    assert len(runner.ran) == STEPS


async def test_a_claim_that_is_taken_over_while_it_runs_begins_and_cancels_nothing_more(
    stores: Stores,
) -> None:
    spent, runner = await spend(stores), FakeRunner()

    async def lose() -> None:
        await stores.database.transact(lambda _: rows("UPDATE run SET fence = fence + 1"))
        await stores.database.transact(lambda _: rows("UPDATE job SET fence = fence + 1"))

    runner.meanwhile["append-word", "0"] = lose
    with pytest.raises(LeaseLost):
        await execute(stores, runner, spent)
    assert len(runner.ran) == 1
    run = await stored(stores, spent)
    assert run.state is RunState.RUNNING
    assert states(run) == [StepState.RUNNING, StepState.PENDING, StepState.PENDING]


@pytest.mark.parametrize("stops", [False, True])
async def test_a_claim_that_was_seized_ends_nothing_that_whoever_seized_it_may_resume(
    stores: Stores, *, stops: bool
) -> None:
    """It was only paused, and comes back between the seizing and the settling."""
    spent, runner = await spend(stores), FakeRunner()
    stale = await hold_of(stores, spent)
    seized = await stores.database.transact(
        lambda now: jobs.seize(now, "taker", LEASE, stale.job, stores.owner)
    )
    assert seized is not None
    if stops:
        stale.stop.set()
    before = await everything(stores.database)
    with pytest.raises(LeaseLost):
        await Execution(store=stores.runs, runner=runner, keeping=keeping()).execute(
            spent, stale, FakeWatch()
        )
    assert runner.ran == []
    assert await everything(stores.database) == before


async def test_a_lost_lease_passes_at_once_and_nothing_is_tried_again(stores: Stores) -> None:
    spent, runner = await spend(stores), FakeRunner()
    hold = await hold_of(stores, spent)
    failing = FailingRuns(stores.runs, failures=1000, error=LeaseLost("It is not yours any more."))
    with pytest.raises(LeaseLost):
        await Execution(store=failing, runner=runner, keeping=keeping()).execute(
            spent, hold, FakeWatch()
        )
    assert failing.tried == [0]


async def test_a_stop_that_only_the_database_knows_of_keeps_the_next_step_from_running(
    stores: Stores,
) -> None:
    spent, runner = await spend(stores), FakeRunner()

    async def stop() -> None:
        await stores.runs.stop(spent.run, principal="bob")

    runner.meanwhile["append-word", "0"] = stop
    run = await execute(stores, runner, spent)
    assert len(runner.ran) == 1
    assert run.state is RunState.CANCELLED
    assert states(run) == [StepState.SUCCEEDED, StepState.NOT_RUN, StepState.NOT_RUN]
    assert run.steps[1].note == "stopped before it began"


async def test_cancelling_the_execution_kills_the_step_and_leaves_its_intent(
    stores: Stores,
) -> None:
    spent, runner, started = await spend(stores), FakeRunner(), asyncio.Event()

    async def hang() -> None:
        started.set()
        await for_ever()

    runner.meanwhile["append-word", "0"] = hang
    executing = asyncio.create_task(execute(stores, runner, spent))
    await started.wait()
    executing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await executing
    assert runner.cut == [f"{spent.run.id}.0"]
    assert states(await stored(stores, spent))[0] is StepState.RUNNING


async def test_i12_the_report_of_a_run_is_told_in_its_conversation(stores: Stores) -> None:
    spent = await spend(stores)
    await execute(stores, FakeRunner(), spent)
    [report] = await said_in(stores, spent.run.conversation, "report")
    assert report.startswith(f"Run {spent.run.id} succeeded: append-word.")


@dataclass
class FailingRuns:
    """Runs on a database that fails so many times at the end of a step."""

    store: RunStore
    failures: int
    error: Exception = field(
        default_factory=lambda: Unavailable("The database is busy.", where="here")
    )
    tried: list[int] = field(default_factory=list[int])

    async def begin_step(self, run: Run, index: int) -> bool:
        return await self.store.begin_step(run, index)

    async def end_step(self, run: Run, index: int, end: StepEnd) -> Run:
        self.tried.append(index)
        if len(self.tried) <= self.failures:
            raise self.error
        return await self.store.end_step(run, index, end)

    async def cancel(self, run: Run, *, why: str) -> Run:
        return await self.store.cancel(run, why=why)

    async def run(self, tenant: str, run: str) -> Run | None:
        return await self.store.run(tenant, run)

    async def run_of(self, tenant: str, request: str) -> Run | None:
        return await self.store.run_of(tenant, request)

    async def live(self, tenant: str, conversation: str | None) -> Sequence[Run]:
        return await self.store.live(tenant, conversation)

    async def stop(self, run: Run, *, principal: str) -> None:
        await self.store.stop(run, principal=principal)

    async def resolve(
        self, tenant: str, run: str, index: int, *, happened: bool, principal: str
    ) -> Run:
        return await self.store.resolve(tenant, run, index, happened=happened, principal=principal)

    async def show_output(self, run: Run, index: int, *, principal: str) -> None:
        await self.store.show_output(run, index, principal=principal)

    async def verified(self, seen: Verification) -> None:
        await self.store.verified(seen)


async def test_i4_a_result_is_written_again_while_the_database_fails_and_the_step_not_repeated(
    stores: Stores,
) -> None:
    spent, runner = await spend(stores), FakeRunner()
    failing = FailingRuns(stores.runs, failures=2)
    run = await Execution(store=failing, runner=runner, keeping=keeping()).execute(
        spent, await hold_of(stores, spent), FakeWatch()
    )
    assert run.state is RunState.SUCCEEDED
    assert failing.tried == [0, 0, 0, 1, 2]
    assert len(runner.ran) == STEPS


async def test_i4_a_result_that_cannot_be_written_is_unknown_and_nothing_more_runs(
    stores: Stores,
) -> None:
    spent, runner = await spend(stores), FakeRunner()
    failing = FailingRuns(stores.runs, failures=1000)
    execution = Execution(store=failing, runner=runner, keeping=keeping(), patience=0.0)
    with pytest.raises(OutcomeUnknown) as unknown:
        await execution.execute(spent, await hold_of(stores, spent), FakeWatch())
    assert unknown.value.shown.startswith(
        "The run began, but how it goes on could not be written down."
    )
    assert unknown.value.detail == {"error": {"where": "here"}}
    assert len(runner.ran) == 1
    assert states(await stored(stores, spent))[0] is StepState.RUNNING


async def test_a_step_whose_runner_fails_is_unknown(
    stores: Stores, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken() -> None:
        raise OSError("no more processes")

    spent = await spend(stores)
    run = await execute(stores, FakeRunner(meanwhile={("append-word", "1"): broken}), spent)
    assert run.state is RunState.UNKNOWN
    assert states(run) == [StepState.SUCCEEDED, StepState.UNKNOWN, StepState.NOT_RUN]
    assert "its runner failed" in caplog.text


# What is done where a step failed


def careful(times: int = 2, wait_ms: int = 1, on_failure: OnFailure = "stop") -> NewRequest:
    """Return a request for three steps that may be done again so often."""
    retry = Retry(times=times, wait_ms=wait_ms) if times else None
    return a_new_request(a_checked(tool=a_tool(steps=STEPS, retry=retry, on_failure=on_failure)))


def one_after_another(runner: FakeRunner, *endings: Ended) -> None:
    """Have the second step end like this, one try after another."""
    ends = iter(endings)

    async def turn() -> None:
        runner.endings["append-word", "1"] = next(ends)

    runner.meanwhile["append-word", "1"] = turn


async def test_c94_a_step_that_failed_is_tried_again_under_the_same_id(stores: Stores) -> None:
    spent, runner, watch = await spend(stores, careful()), FakeRunner(), FakeWatch()
    one_after_another(runner, exited(3, "no\n"), ended(Ending.NOT_STARTED), exited(0, "yes\n"))
    run = await execute(stores, runner, spent, watch=watch)
    assert run.state is RunState.SUCCEEDED
    names = [f"{spent.run.id}.{index}" for index in (0, 1, 1, 1, 2)]
    assert runner.step_ids == names
    step = run.steps[1]
    assert (step.state, step.exit_code, step.note) == (StepState.SUCCEEDED, 0, "try 3 of 3")
    assert step.output == (
        "[try 1 of 3: exit code 3]\nno\n[try 2 of 3: it could not be started]\n[try 3 of 3]\nyes\n"
    )
    assert (run.steps[0].output, run.steps[0].note) == ("", "")
    tried = ["moved", "try 1 of 3", "try 2 of 3", "try 3 of 3", "moved"]
    assert watch.told[3:8] == tried


async def test_a_step_that_fails_at_every_try_has_failed(stores: Stores) -> None:
    spent, runner = await spend(stores, careful(1)), FakeRunner()
    runner.endings["append-word", "1"] = exited(3, "\n".join(map(str, range(100))))
    run = await execute(stores, runner, spent)
    assert len(runner.ran) == 3
    assert run.state is RunState.FAILED
    step = run.steps[1]
    assert (step.state, step.exit_code, step.note) == (StepState.FAILED, 3, "try 2 of 2")
    told = step.output.splitlines()
    cut = "[try 1 of 2: exit code 3; only the end of what it printed is kept]"
    assert told[:2] == [cut, "90"]
    assert told[10:13] == ["99", "[try 2 of 2]", "0"]
    assert run == await stored(stores, spent)


@pytest.mark.parametrize(
    "how",
    [ended(Ending.TIMED_OUT), ended(Ending.TOO_MUCH_OUTPUT), exited(-9)],
    ids=["timed out", "flooded", "killed"],
)
async def test_i4_a_try_that_may_have_happened_is_never_followed_by_another(
    stores: Stores, how: Ended
) -> None:
    spent, runner = await spend(stores, careful(on_failure="continue")), FakeRunner()
    one_after_another(runner, exited(1), how)
    run = await execute(stores, runner, spent)
    assert len(runner.ran) == 3
    assert run.state is RunState.UNKNOWN
    assert states(run) == [StepState.SUCCEEDED, StepState.UNKNOWN, StepState.NOT_RUN]
    assert run.steps[1].note.startswith("try 2 of 3: it ")


async def test_i4_a_try_that_stop_cuts_is_never_followed_by_another(stores: Stores) -> None:
    spent, runner, stop = await spend(stores, careful()), FakeRunner(), asyncio.Event()

    async def hang() -> None:
        stop.set()
        await for_ever()

    runner.meanwhile["append-word", "1"] = hang
    run = await execute(stores, runner, spent, stop)
    assert len(runner.ran) == 2
    assert states(run) == [StepState.SUCCEEDED, StepState.UNKNOWN, StepState.NOT_RUN]


@pytest.mark.parametrize("on_failure", ["stop", "continue"])
async def test_a_stop_ends_the_wait_for_the_next_try_at_once(
    stores: Stores, on_failure: OnFailure
) -> None:
    new = careful(wait_ms=600_000, on_failure=on_failure)
    spent, runner, stop = await spend(stores, new), FakeRunner(), asyncio.Event()
    runner.endings["append-word", "1"] = exited(1, "no\n")

    async def fail() -> None:
        asyncio.get_running_loop().call_later(0.01, stop.set)

    runner.meanwhile["append-word", "1"] = fail
    run = await execute(stores, runner, spent, stop)
    assert len(runner.ran) == 2
    assert states(run) == [StepState.SUCCEEDED, StepState.FAILED, StepState.NOT_RUN]
    step = run.steps[1]
    assert (step.output, step.note) == ("no\n", "stopped before it was tried again")
    ends = {"stop": RunState.FAILED, "continue": RunState.CANCELLED}
    assert run.state is ends[on_failure]


async def test_whoever_lost_the_job_tries_nothing_again(stores: Stores) -> None:
    spent, runner = await spend(stores, careful()), FakeRunner()
    hold = await hold_of(stores, spent)
    runner.endings["append-word", "1"] = exited(1)

    async def lose() -> None:
        hold.is_lost = True

    runner.meanwhile["append-word", "1"] = lose
    with pytest.raises(LeaseLost):
        await Execution(store=stores.runs, runner=runner, keeping=keeping()).execute(
            spent, hold, FakeWatch()
        )
    assert len(runner.ran) == 2
    assert states(await stored(stores, spent))[1] is StepState.RUNNING


async def test_what_stands_behind_a_failed_step_runs_where_the_plan_says_so(
    stores: Stores,
) -> None:
    spent, runner = await spend(stores, careful(0, on_failure="continue")), FakeRunner()
    runner.endings["append-word", "0"] = exited(1)
    watch = FakeWatch()
    run = await execute(stores, runner, spent, watch=watch)
    assert len(runner.ran) == STEPS
    assert states(run) == [StepState.FAILED, StepState.SUCCEEDED, StepState.SUCCEEDED]
    assert run.state is RunState.FAILED
    assert watch.told == [*["moved"] * 5, "over", "moved"]
    assert run == await stored(stores, spent)


# What is told while it goes on


async def test_c61_whoever_watches_hears_of_each_step_and_of_what_it_prints(stores: Stores) -> None:
    spent, runner, watch = await spend(stores), FakeRunner(), FakeWatch()

    async def prints() -> None:
        runner.printed("halfway")

    runner.meanwhile["append-word", "1"] = prints
    await execute(stores, runner, spent, watch=watch)
    first, second, third = ["moved"] * 2, ["moved", "halfway", "moved"], ["moved", "over", "moved"]
    assert watch.told == [*first, *second, *third]


@pytest.mark.parametrize("end", ["failed", "cut", "cancelled"])
async def test_whoever_watches_hears_that_it_is_over_before_that_is_written(
    stores: Stores, end: str
) -> None:
    spent, runner, watch, stop = await spend(stores), FakeRunner(), FakeWatch(), asyncio.Event()
    if end == "failed":
        runner.endings["append-word", "0"] = exited(1)
    else:

        async def stops() -> None:
            stop.set()
            if end == "cut":
                await for_ever()

        runner.meanwhile["append-word", "0"] = stops
    run = await execute(stores, runner, spent, stop, watch)
    assert run.state is not RunState.RUNNING
    assert watch.told.count("over") == 1
    before = {"failed": ["moved"], "cut": ["moved"], "cancelled": ["moved"] * 2}[end]
    assert watch.told[: watch.told.index("over")] == before
