"""What a decision leads to, in whichever process the run happens."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

import pytest

from adapters.jobs.table import TableEngine
from adapters.storage.jobs import RESERVED
from adapters.storage.transactions import rows, text_of
from approvals import cards
from approvals.models import Request, RunState, State, StepState, job_of
from core.errors import Refused
from core.events import Approve, Deny
from tests.bots import Bots
from tests.builders import CONVERSATION, a_tool
from tests.fakes.clock import FrozenClock
from tests.fakes.runner import exited, for_ever
from tests.gates import HIGH, World, who
from tests.jobs import PATIENCE, soon
from tests.stores import Stores, claimed, log_of, said_in


@pytest.fixture
async def bots(stores: Stores) -> AsyncGenerator[Bots]:
    bots = Bots(World(stores))
    yield bots
    await bots.at_rest()


async def refused(deciding: Awaitable[object]) -> str:
    with pytest.raises(Refused) as told:
        await deciding
    return told.value.shown


async def test_the_last_yes_runs_it_and_tells_how_it_ended(bots: Bots) -> None:
    request = await bots.world.propose()
    decided = await bots.approve("bob", request)
    assert decided.request == await bots.world.now(request)
    assert decided.request.state is State.SPENT
    assert decided.run == await bots.run_of(request)
    assert decided.run is not None
    assert decided.run.state is RunState.SUCCEEDED
    assert len(bots.world.effects()) == 1
    assert await bots.job(request) == "done"


async def test_a_yes_of_several_runs_nothing_yet(bots: Bots) -> None:
    request = await bots.world.propose(HIGH)
    decided = await bots.approve("bob", request)
    assert (decided.request.state, decided.request.voters) == (State.OPEN, ("bob",))
    assert decided.run is None
    assert bots.world.effects() == []
    both = await bots.approve("carol", request)
    assert both.run is not None
    assert both.run.voters == ("bob", "carol")
    assert len(bots.world.effects()) == 2


async def test_a_vote_without_waiting_leaves_the_run_to_whoever_serves(bots: Bots) -> None:
    request = await bots.world.propose()
    decided = await bots.vote("bob", request)
    assert (decided.request.state, decided.run) == (State.GRANTED, None)
    assert await bots.job(request) == "queued"
    assert bots.world.effects() == []
    async with bots.serving():
        await bots.ended(request)
    assert len(bots.world.effects()) == 1


async def test_a_denial_ends_it(bots: Bots) -> None:
    request = await bots.vote("bob", await bots.world.propose())
    denied = await bots.deciding().deny(
        Deny(identity=who("carol"), request=request.request.id, reason="not now")
    )
    assert (denied.state, denied.reason) == (State.DENIED, "not now")
    async with bots.serving():
        await bots.ended(denied)
    assert bots.world.effects() == []


async def test_p36_what_is_revoked_between_vote_and_run_is_told_and_is_on_the_card(
    bots: Bots,
) -> None:
    request = await bots.world.propose()
    previews = 0

    async def change() -> None:
        nonlocal previews
        previews += 1
        if previews == 2:  # one for the click, one for the spend
            bots.world.runner.endings["preview",] = exited(output="another preview")

    bots.world.runner.meanwhile["preview",] = change
    told = await refused(bots.approve("bob", request))
    revoked = await bots.world.now(request)
    assert (revoked.state, revoked.ended_by) == (State.REVOKED, "bob")
    assert told == f"Not run. {cards.status(revoked)}"
    assert "preview" in revoked.reason
    assert await said_in(bots.world.stores, CONVERSATION, "note") == [cards.status(revoked)]
    assert bots.world.effects() == []


async def test_p06_a_click_on_what_was_granted_when_its_process_died_takes_it_up(
    bots: Bots,
) -> None:
    request = await bots.world.granted()
    await claimed(Stores(bots.world.stores.database, owner="dies"), request)
    bots.dead.add("dies")
    await bots.engine("b").notice()
    decided = await bots.approve("carol", request, owner="b")
    assert decided.run is not None
    assert (decided.run.state, decided.run.voters) == (RunState.SUCCEEDED, ("bob",))
    assert len(bots.world.effects()) == 1


async def test_p29_a_click_after_a_death_in_the_step_is_told_who_decided(bots: Bots) -> None:
    request = await bots.world.granted()
    job = await claimed(Stores(bots.world.stores.database, owner="dies"), request)
    spent = await bots.world.gate.spend(request, job)
    assert spent is not None
    assert await bots.world.stores.runs.begin_step(spent.run, 0)
    bots.dead.add("dies")
    await bots.engine("b").notice()
    told = await refused(bots.approve("carol", request, owner="b"))
    assert told == "Already decided. Approved by bob."
    run = await bots.run_of(request)
    assert run is not None
    assert run.state is RunState.UNKNOWN
    assert bots.world.effects() == []


async def test_p27_who_comes_while_it_runs_is_told_who_decided(bots: Bots) -> None:
    request = await bots.world.propose()
    async with bots.hanging(request):
        for person in ("bob", "carol"):
            told = await refused(bots.approve(person, request, owner="another"))
            assert told == "Already decided. Approved by bob."
    assert len(bots.world.effects()) == 1


async def test_p27_who_comes_while_it_is_about_to_run_is_told_that_it_is_granted(
    bots: Bots,
) -> None:
    request = await bots.world.granted()
    await claimed(Stores(bots.world.stores.database, owner="another"), request)
    told = await refused(bots.approve("carol", request))
    assert told == "Already decided. Approved by bob; waiting to run."
    assert bots.world.effects() == []


@pytest.mark.parametrize("clicks", [("bob", "bob"), ("bob", "carol")])
async def test_p27_two_clicks_at_once_in_two_processes_have_one_effect(
    bots: Bots, clicks: tuple[str, str]
) -> None:
    request = await bots.world.propose()
    ends = await asyncio.gather(
        *(bots.approve(person, request, owner=f"p{n}") for n, person in enumerate(clicks)),
        return_exceptions=True,
    )
    assert len(bots.world.effects()) == 1
    run = await bots.run_of(request)
    assert run is not None
    assert run.state is RunState.SUCCEEDED
    for end in ends:
        if isinstance(end, Refused):
            assert "pproved by" in end.shown
        else:
            assert not isinstance(end, BaseException)
            assert end.run == run
    assert sum(not isinstance(end, BaseException) for end in ends) >= 1


@dataclass
class Slow:
    """An engine that comes too late: somebody else has the job, or is already through with it."""

    table: TableEngine
    first: Callable[[], Awaitable[None]]

    @property
    def owner(self) -> str:
        return self.table.owner

    async def run(self, job: str, stop: asyncio.Event) -> bool:
        await self.first()
        return await self.table.run(job, stop)

    async def see_through(self, job: str, stop: asyncio.Event) -> None:
        await self.first()
        await self.table.see_through(job, stop)

    def look(self) -> None:
        self.table.look()

    async def serve(self, stop: asyncio.Event) -> None:
        await self.table.serve(stop)


async def test_who_voted_waits_for_the_run_that_a_server_took(bots: Bots) -> None:
    request, going = await bots.world.propose(), asyncio.Event()
    bots.dead.add("slow")  # else nobody takes what it is about to run itself
    bots.world.runner.meanwhile["append-word",] = going.wait

    async def until_it_runs() -> None:
        async def is_there() -> bool:
            return bool(bots.world.effects())

        await soon(is_there)
        going.set()

    deciding = bots.deciding(engine=Slow(bots.engine("slow"), until_it_runs))
    async with bots.serving():
        click = Approve(identity=who("bob"), request=request.id)
        decided = await asyncio.wait_for(deciding.approve(click, asyncio.Event()), PATIENCE)
    assert decided.run is not None
    assert decided.run.state is RunState.SUCCEEDED
    assert len(bots.world.effects()) == 1


async def test_who_voted_may_stop_the_run_that_a_server_took(bots: Bots) -> None:
    request, stop = await bots.world.propose(), asyncio.Event()
    bots.dead.add("slow")
    bots.world.runner.meanwhile["append-word",] = for_ever

    async def until_it_runs() -> None:
        async def is_there() -> bool:
            return bool(bots.world.effects())

        await soon(is_there)
        stop.set()

    deciding = bots.deciding(engine=Slow(bots.engine("slow"), until_it_runs))
    async with bots.serving():
        click = Approve(identity=who("bob"), request=request.id)
        decided = await asyncio.wait_for(deciding.approve(click, stop), PATIENCE)
    assert decided.run is not None
    assert [step.state for step in decided.run.steps] == [StepState.UNKNOWN]
    assert len(bots.world.runner.cut) == 1


async def test_stopping_while_waiting_cuts_the_step(bots: Bots) -> None:
    request, stop = await bots.world.propose(), asyncio.Event()

    async def hang() -> None:
        stop.set()
        await for_ever()

    bots.world.runner.meanwhile["append-word",] = hang
    decided = await bots.approve("bob", request, stop=stop)
    assert decided.run is not None
    assert decided.run.state is RunState.UNKNOWN
    assert len(bots.world.runner.cut) == 1


async def test_the_job_of_a_run_is_queued_with_the_grant_and_never_twice(bots: Bots) -> None:
    request = await bots.world.propose()
    await bots.vote("bob", request)
    await bots.approve("carol", request)
    found: list[Request] = await bots.world.requests()
    assert [one.id for one in found] == [request.id]
    kinds = [entry.kind for entry in await log_of(bots.world.stores)]
    assert (kinds.count("request.granted"), kinds.count("run.started")) == (1, 1)
    assert job_of(request.id) == f"run:{request.id}"


async def test_p27_nobody_takes_a_run_from_the_process_whose_vote_it_was(bots: Bots) -> None:
    request = await bots.world.propose()
    click = Approve(identity=who("bob"), request=request.id)
    voted = await bots.world.gate.approve(click, runner="voter")
    assert voted.job is not None
    for other in ("b", "c"):
        told = await refused(bots.approve("carol", request, owner=other))
        assert told == "Already decided. Approved by bob; waiting to run."
    assert bots.world.effects() == []
    assert await bots.engine("voter").run(voted.job, asyncio.Event())
    assert len(bots.world.effects()) == 1


LOCKED = a_tool("locked", lock="{word}", steps=1)


@pytest.mark.parametrize("end", ["denied", "withdrawn", "expired"])
async def test_who_waits_for_a_lock_is_told_as_soon_as_their_request_has_ended(
    bots: Bots, end: str
) -> None:
    bots.world.tools += (LOCKED,)
    holds = await bots.world.propose(LOCKED)
    waits = await bots.elsewhere(LOCKED, "alpha")
    async with bots.hanging(holds, at=("locked",)):
        approving = asyncio.create_task(bots.approve("bob", waits, owner="second"))

        async def is_granted() -> bool:
            return (await bots.world.now(waits)).state is State.GRANTED

        await soon(is_granted)
        assert await bots.job(waits) == "queued"
        if end == "denied":
            await bots.world.deny("carol", waits)
        elif end == "withdrawn":
            await bots.stop("alice", waits.conversation)
        else:
            # Not by letting time pass: that would end the leases too.
            await bots.world.stores.database.transact(
                lambda now: rows(
                    "UPDATE request SET expires_at = :now WHERE id = :id RETURNING id",
                    now=text_of(now), id=waits.id,
                )
            )  # fmt: skip
            await bots.world.stores.requests.expire()
        with pytest.raises(Refused, match="Not run"):
            await asyncio.wait_for(approving, PATIENCE)
        assert await bots.job(waits) == "cancelled"
        assert await bots.job(holds) == "running"
    assert len(bots.world.effects()) == 1


async def test_p06_what_was_kept_for_a_process_that_died_is_free_for_the_next(bots: Bots) -> None:
    request = await bots.world.propose()
    click = Approve(identity=who("bob"), request=request.id)
    await bots.world.gate.approve(click, runner="voter")
    bots.dead.add("voter")
    await bots.engine("b").notice()
    decided = await bots.approve("carol", request, owner="b")
    assert decided.run is not None
    assert decided.run.state is RunState.SUCCEEDED
    assert len(bots.world.effects()) == 1


async def test_p35_what_was_kept_for_a_process_that_nobody_can_judge_is_free_after_a_while(
    bots: Bots, clock: FrozenClock
) -> None:
    request = await bots.world.propose()
    click = Approve(identity=who("bob"), request=request.id)
    await bots.world.gate.approve(click, runner="in another container")
    clock.pass_by(RESERVED - timedelta(microseconds=1))
    await bots.engine("b").notice()
    assert "waiting to run" in await refused(bots.approve("carol", request, owner="b"))
    clock.pass_by(timedelta(microseconds=1))
    await bots.engine("b").notice()
    decided = await bots.approve("carol", request, owner="b")
    assert decided.run is not None
    assert len(bots.world.effects()) == 1
