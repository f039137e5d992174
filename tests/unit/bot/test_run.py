"""The job that runs a request: whatever became of it meanwhile, it has one effect or says why none."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from adapters.storage.requests import Requests
from adapters.storage.runs import Runs
from adapters.storage.transactions import rows
from approvals import cards
from approvals.models import Request, RunState, Spent, State, StepState, job_of
from bot.stop import Stopped
from core.errors import Invalid, Refused, Unavailable
from core.jobs import Job, LeaseLost
from tests.bots import Bots
from tests.builders import CONVERSATION
from tests.fakes.clock import FrozenClock
from tests.fakes.hold import FakeHold
from tests.fakes.runner import exited
from tests.fakes.watch import FakeWatch
from tests.gates import HIGH, HOUR, World, edited
from tests.jobs import LEASE, PATIENCE, soon
from tests.stores import OTHER_TENANT, Stores, claimed, everything, lose, said_in


@pytest.fixture
async def bots(stores: Stores) -> AsyncGenerator[Bots]:
    bots = Bots(World(stores))
    yield bots
    await bots.at_rest()


async def hold_of(bots: Bots, request: Request, owner: str = "a") -> FakeHold:
    return FakeHold(await claimed(Stores(bots.world.stores.database, owner=owner), request))


async def test_a_granted_request_is_spent_and_run(bots: Bots) -> None:
    request = await bots.world.granted(HIGH, "bob", "carol")
    await bots.running(await hold_of(bots, request))
    run = await bots.run_of(request)
    assert run is not None
    assert (run.state, run.voters) == (RunState.SUCCEEDED, ("bob", "carol"))
    assert [argv[:2] for argv in bots.world.effects()] == [("wipe", "0"), ("wipe", "1")]
    assert (await bots.world.now(request)).state is State.SPENT


async def test_p51_what_changed_between_vote_and_run_is_said_on_the_card(bots: Bots) -> None:
    request = await bots.world.granted()
    bots.world.edit("append-word", edited)
    await bots.running(await hold_of(bots, request))
    revoked = await bots.world.now(request)
    assert (revoked.state, revoked.ended_by) == (State.REVOKED, "bob")
    assert "append-word was edited" in revoked.reason
    notes = await said_in(bots.world.stores, CONVERSATION, "note")
    assert notes == [cards.status(revoked)]
    assert await bots.run_of(request) is None
    assert bots.world.effects() == []


async def test_p36_somebody_who_lost_the_right_between_vote_and_run_revokes_it(bots: Bots) -> None:
    request = await bots.world.granted()
    bots.world.groups["bob"] = set()
    await bots.running(await hold_of(bots, request))
    revoked = await bots.world.now(request)
    assert (revoked.state, revoked.reason) == (State.REVOKED, "bob may no longer approve it")
    assert bots.world.effects() == []


async def test_authority_that_cannot_be_read_runs_nothing(bots: Bots) -> None:
    request = await bots.world.granted()
    hold = await hold_of(bots, request)
    before = await everything(bots.world.stores.database)
    for error in (Unavailable("The directory cannot be read."), Invalid("sayso.yml: line 3.")):
        bots.world.unreadable = error
        with pytest.raises(Unavailable, match=error.shown):
            await bots.running(hold)
    assert await everything(bots.world.stores.database) == before
    assert (bots.world.effects(), await bots.world.now(request)) == ([], request)
    bots.world.unreadable = None
    await bots.running(hold)
    assert len(bots.world.effects()) == 1


async def test_a_granted_request_that_lost_all_its_votes_runs_nothing(bots: Bots) -> None:
    request = await bots.world.granted()
    hold = await hold_of(bots, request)
    voteless = replace(request, votes=())
    assert await bots.world.gate.spend(voteless, hold.job) is None
    assert bots.world.effects() == []


@pytest.mark.parametrize("state", [State.DENIED, State.REVOKED, State.EXPIRED])
async def test_what_ended_before_the_run_does_nothing(
    bots: Bots, clock: FrozenClock, state: State
) -> None:
    request = await bots.world.granted()
    hold = await hold_of(bots, request)
    if state is State.DENIED:
        await bots.world.deny("carol", request)
    elif state is State.REVOKED:
        await bots.stop("alice")
    else:
        clock.pass_by(HOUR)
    assert (await bots.world.now(request)).state is state
    before = await everything(bots.world.stores.database)
    await bots.running(hold)
    assert await everything(bots.world.stores.database) == before
    assert bots.world.effects() == []


async def test_a_job_of_another_tenants_request_does_nothing(bots: Bots) -> None:
    request = await bots.world.granted()
    hold = await hold_of(bots, request)
    theirs = replace(hold.job, tenant=OTHER_TENANT)
    unknown = replace(hold.job, payload={"request": "0" * 32})
    before = await everything(bots.world.stores.database)
    for job in (theirs, unknown):
        await bots.running(FakeHold(job))
    assert await everything(bots.world.stores.database) == before


async def test_p29_a_death_between_spend_and_first_step_is_resumed_with_one_effect(
    bots: Bots,
) -> None:
    request = await bots.world.granted()
    first = await hold_of(bots, request, "dies")
    spent = await bots.world.gate.spend(request, first.job)
    assert spent is not None
    bots.dead.add("dies")
    async with bots.serving():
        await bots.ended(request)
    run = await bots.run_of(request)
    assert run is not None
    assert (run.id, run.state) == (spent.run.id, RunState.SUCCEEDED)
    assert bots.world.runner.step_ids[-1] == f"{spent.run.id}.0"
    assert len(bots.world.effects()) == 1
    # It was only paused: whatever it does now does nothing.
    for late in (bots.running.execution.execute(spent, first, FakeWatch()), bots.running(first)):
        with pytest.raises(LeaseLost):
            await late
    assert len(bots.world.effects()) == 1
    assert await bots.run_of(request) == run


async def test_p29_a_death_in_a_step_is_never_repeated(bots: Bots) -> None:
    request = await bots.world.granted()
    hold = await hold_of(bots, request, "dies")
    spent = await bots.world.gate.spend(request, hold.job)
    assert spent is not None
    assert await bots.world.stores.runs.begin_step(spent.run, 0)
    bots.dead.add("dies")
    async with bots.serving():
        await bots.ended(request)
    run = await bots.run_of(request)
    assert run is not None
    assert [step.state for step in run.steps] == [StepState.UNKNOWN]
    assert await bots.job(request) == "unknown"
    assert bots.world.effects() == []


# Work that could get lost: what does not answer, and stops at the wrong moment


async def told_to_end(bots: Bots, request: Request) -> bool:
    (row,) = await bots.world.stores.database.transact(
        lambda _: rows("SELECT cancel_at FROM job WHERE id = :id", id=job_of(request.id))
    )
    return row["cancel_at"] is not None


def meanwhile(
    monkeypatch: pytest.MonkeyPatch, name: str, what: Callable[[Job], Awaitable[object]]
) -> None:
    """Do something between the claim and the moment when a request is spent, or its run resumed."""
    real = getattr(Requests, name)

    async def late(self: Requests, request: Request, *, job: Job, **more: str) -> Spent | None:
        await what(job)
        spent: Spent | None = await real(self, request, job=job, **more)
        return spent

    monkeypatch.setattr(Requests, name, late)


async def test_a_database_that_is_busy_before_the_spend_puts_it_back_and_it_runs_once(
    bots: Bots, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    request, failures = await bots.world.granted(), list[str]()

    async def fails(job: Job) -> None:
        if len(failures) < 2:
            failures.append(job.id)
            raise Unavailable("The database is busy.")

    meanwhile(monkeypatch, "spend", fails)
    async with bots.serving():

        async def is_over() -> bool:
            clock.pass_by(timedelta(seconds=0.5))
            return await bots.job(request) not in {"queued", "running"}

        await soon(is_over)
    assert len(failures) == 2
    assert (await bots.job(request), len(bots.world.effects())) == ("done", 1)
    assert (await bots.world.now(request)).state is State.SPENT


async def test_a_run_that_could_not_be_resumed_just_now_is_put_back_and_resumed(
    bots: Bots, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    request, failures = await bots.world.granted(), list[str]()
    spent = await bots.world.gate.spend(request, (await hold_of(bots, request, "dies")).job)
    assert spent is not None
    bots.dead.add("dies")

    async def fails(job: Job) -> None:
        if not failures:
            failures.append(job.id)
            raise Unavailable("The database is busy.")

    meanwhile(monkeypatch, "resume", fails)
    async with bots.serving():

        async def is_over() -> bool:
            clock.pass_by(timedelta(seconds=0.5))
            return await bots.job(request) not in {"queued", "running"}

        await soon(is_over)
    assert (len(failures), len(bots.world.effects())) == (1, 1)
    run = await bots.run_of(request)
    assert run is not None
    assert (run.id, run.state) == (spent.run.id, RunState.SUCCEEDED)


async def test_p03_whoever_leaves_during_the_checks_before_the_spend_revokes_it(
    bots: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    request, stop = await bots.world.propose(), asyncio.Event()

    async def leaves(_: Job) -> None:
        stop.set()

        async def is_told() -> bool:
            return await told_to_end(bots, request)

        await soon(is_told)

    meanwhile(monkeypatch, "spend", leaves)
    with pytest.raises(Refused, match="it was stopped"):
        await bots.approve("bob", request, stop=stop)
    revoked = await bots.world.now(request)
    assert (revoked.state, revoked.reason) == (State.REVOKED, "it was stopped")
    assert await bots.job(request) == "cancelled"
    assert await bots.run_of(request) is None
    assert bots.world.effects() == []
    assert cards.status(revoked) in await said_in(bots.world.stores, CONVERSATION, "note")
    # It is no twin of what is asked for next.
    again = await bots.world.propose()
    assert (again.id != request.id, again.state) == (True, State.OPEN)


async def test_p35_whoever_was_paused_before_the_spend_leaves_it_to_whoever_takes_it(
    bots: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    request, paused = await bots.world.granted(), list[str]()

    async def pauses(job: Job) -> None:
        if not paused:
            paused.append(job.id)
            await lose(bots.world.stores, job, "lease over")

    meanwhile(monkeypatch, "spend", pauses)
    assert await bots.engine("a").run(job_of(request.id), asyncio.Event())
    assert (await bots.world.now(request)).state is State.GRANTED
    assert await bots.job(request) == "running"
    assert bots.world.effects() == []
    async with bots.serving():
        await bots.ended(request)
    assert (await bots.job(request), len(bots.world.effects())) == ("done", 1)


async def test_p03_a_stop_between_claim_and_resume_cancels_the_run(
    bots: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = await bots.world.granted()
    first = await hold_of(bots, request, "dies")
    spent = await bots.world.gate.spend(request, first.job)
    assert spent is not None
    bots.dead.add("dies")
    stopping = list["asyncio.Task[Stopped]"]()

    async def stops(_: Job) -> None:
        stopping.append(asyncio.create_task(bots.stop("alice", CONVERSATION)))

        async def is_told() -> bool:
            return await told_to_end(bots, request)

        await soon(is_told)

    meanwhile(monkeypatch, "resume", stops)
    async with bots.serving():
        await bots.ended(request)
    [stopped] = await asyncio.gather(*stopping)
    run = await bots.run_of(request)
    assert run is not None
    assert (run.state, [step.state for step in run.steps]) == (
        RunState.CANCELLED,
        [StepState.NOT_RUN],
    )
    assert (stopped.runs, stopped.pending) == ((run,), ())
    assert await bots.job(request) == "cancelled"
    assert bots.world.effects() == []
    assert await bots.stop("alice", CONVERSATION) == Stopped()


async def test_p35_whoever_was_paused_before_the_resume_leaves_it_to_whoever_takes_it(
    bots: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    request, paused = await bots.world.granted(), list[str]()
    first = await hold_of(bots, request, "dies")
    assert await bots.world.gate.spend(request, first.job)
    bots.dead.add("dies")

    async def pauses(job: Job) -> None:
        if not paused:
            paused.append(job.id)
            await lose(bots.world.stores, job, "lease over")

    meanwhile(monkeypatch, "resume", pauses)
    async with bots.serving():
        await bots.ended(request)
    run = await bots.run_of(request)
    assert run is not None
    assert (run.state, len(bots.world.effects())) == (RunState.SUCCEEDED, 1)


async def test_p35_a_server_that_stops_in_a_step_leaves_the_run_to_whoever_notices(
    bots: Bots,
) -> None:
    request = await bots.world.propose()
    async with bots.hanging(request):
        pass  # its process is told to leave
    assert await bots.job(request) == "running"
    bots.dead.add("process 0")
    await bots.engine("b").notice()
    run = await bots.run_of(request)
    assert run is not None
    assert [step.state for step in run.steps] == [StepState.UNKNOWN]
    assert len(bots.world.effects()) == 1


async def test_two_who_serve_run_each_request_once(bots: Bots) -> None:
    requests = [
        await bots.world.granted(),
        await bots.world.approve("bob", await bots.elsewhere()),
    ]
    async with bots.serving("one"), bots.serving("two"):
        for request in requests:
            await bots.ended(request)
    assert sorted(argv[2] for argv in bots.world.effects()) == ["alpha", "beta"]
    assert [await bots.job(request) for request in requests] == ["done", "done"]


async def test_a_run_that_fails_is_no_failure_of_its_job(bots: Bots) -> None:
    request = await bots.world.granted()
    bots.world.runner.endings["append-word",] = exited(3)
    async with bots.serving():
        await bots.ended(request)
    run = await bots.run_of(request)
    assert run is not None
    assert run.state is RunState.FAILED
    assert await bots.job(request) == "done"


async def test_p51_a_result_that_could_not_be_written_leaves_the_job_to_whoever_takes_it(
    bots: Bots, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = asyncio.Event()

    async def fails(*_: object) -> None:
        failed.set()
        raise Unavailable("The database is busy.")

    monkeypatch.setattr(Runs, "end_step", fails)
    request = await bots.world.propose()
    impatient = replace(bots.running, execution=replace(bots.running.execution, patience=0.0))
    monkeypatch.setattr(Bots, "running", impatient)
    approving = asyncio.create_task(bots.approve("bob", request))
    await asyncio.wait_for(failed.wait(), PATIENCE)
    assert await bots.job(request) == "running"
    run = await bots.run_of(request)
    assert run is not None
    assert run.state is RunState.RUNNING
    clock.pass_by(LEASE)
    await bots.engine("another").notice()
    decided = await approving  # who waits for it is told as soon as somebody has taken it
    assert decided.run == await bots.run_of(request)
    assert decided.run is not None
    assert [step.state for step in decided.run.steps] == [StepState.UNKNOWN]
    assert len(bots.world.effects()) == 1


@pytest.mark.parametrize("begun", [False, True])
async def test_p15_a_handler_that_fails_leaves_no_run_behind_that_nobody_ends(
    bots: Bots, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, *, begun: bool
) -> None:
    request = await bots.world.propose()

    async def break_down(*_: object, **__: object) -> None:
        raise ValueError("nobody foresaw this")

    monkeypatch.setattr(Runs, "end_step" if begun else "begin_step", break_down)
    decided = await bots.approve("bob", request)
    assert decided.run is not None
    first = StepState.UNKNOWN if begun else StepState.NOT_RUN
    assert decided.run.steps[0].state is first
    assert decided.run.state is (RunState.UNKNOWN if begun else RunState.CANCELLED)
    assert len(bots.world.effects()) == int(begun)
    assert len(await said_in(bots.world.stores, CONVERSATION, "report")) == 1
    assert "nobody foresaw this" in caplog.text
