"""The job that runs a request: whatever became of it meanwhile, it has one effect or says why none."""

import asyncio
from dataclasses import replace

import pytest

from adapters.storage.runs import Runs
from approvals import cards
from approvals.models import Request, RunState, State, StepState
from core.errors import Unavailable
from tests.bots import Bots
from tests.builders import CONVERSATION
from tests.fakes.clock import FrozenClock
from tests.fakes.hold import FakeHold
from tests.fakes.runner import exited
from tests.gates import HIGH, HOUR, World, edited
from tests.jobs import LEASE, PATIENCE
from tests.stores import OTHER_TENANT, Stores, claimed, everything, said_in


@pytest.fixture
def bots(stores: Stores) -> Bots:
    return Bots(World(stores))


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
    bots.world.unreadable = Unavailable("The directory cannot be read.")
    await bots.running(hold)
    revoked = await bots.world.now(request)
    assert revoked.state is State.REVOKED
    assert "The directory cannot be read" in revoked.reason
    assert bots.world.effects() == []


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
    assert len(bots.world.effects()) == 1
    # It was only paused: whatever it does now does nothing.
    await bots.running.execution.execute(spent, first)
    await bots.running(first)
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
