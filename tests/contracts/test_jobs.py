"""`core.jobs`: what every engine promises about lanes, leases, stops and the dead, on every database."""

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

import pytest

from adapters.jobs.kinds import Pace, Settle
from adapters.jobs.table import MOST_TRIES
from adapters.storage import jobs
from adapters.storage.transactions import Transaction, changed, rows, sql
from core.errors import Invalid, Refused, SaysoError, Unavailable
from core.jobs import Hold, Job, JobState, LeaseLost, Loss, Replay
from tests.fakes.clock import FrozenClock
from tests.jobs import LEASE, NEVER, PATIENCE, QUICK, TENANT, Cluster, Hands, a_job, soon
from tests.stores import Closable, Connect

ENDS = (JobState.DONE, JobState.FAILED, JobState.CANCELLED, JobState.UNKNOWN)
BLIND = replace(QUICK, beat=NEVER)
"""Renews and takes nothing, so that only its looks for changes can tell it anything."""
SHORT = replace(QUICK, lease=timedelta(seconds=0.3))
"""A lease that really ends: `check` goes by a clock that no test sets."""


@pytest.fixture
def cluster(connect: Connect, clock: FrozenClock, database: Closable) -> Cluster:
    return Cluster(connect, clock, database)


@pytest.fixture
def hands() -> Hands:
    return Hands()


def settling(state: JobState) -> Settle:
    """Return a kind's word on whatever its dead holders left."""

    def settle(_: datetime, __: Job, ___: Loss) -> Transaction[JobState]:
        yield from ()
        return state

    return settle


async def refuses(hold: Hold) -> bool:
    """Whether its holder may not act any more."""
    try:
        hold.check()
    except LeaseLost:
        return True
    return False


async def renewed(cluster: Cluster, job: str, before: str) -> None:
    """Wait until its lease ends later than it did."""

    async def is_longer() -> bool:
        return bool((await cluster.row(job))["lease_until"] > before)

    await soon(is_longer)


async def until_refused(hold: Hold) -> None:
    """Wait until its holder may not act any more."""

    async def is_refused() -> bool:
        return await refuses(hold)

    await soon(is_refused)


# Submitting


async def test_a_job_arrives_as_it_was_submitted(cluster: Cluster, hands: Hands) -> None:
    new = a_job("1", "lane", payload={"run": "r_1", "n": [1, None]}, replay=Replay.NEVER)
    assert await cluster.submit(new) == ["1"]
    hands.let_go("1")
    async with (await cluster.engine(hands)).serving():
        assert (await hands.next()).job == Job(
            id="1",
            kind="work",
            tenant=TENANT,
            payload={"run": "r_1", "n": [1, None]},
            replay=Replay.NEVER,
            lane="lane",
            fence=1,
            attempt=1,
        )
    assert await cluster.state("1") == JobState.DONE


@pytest.mark.parametrize("end", ENDS)
async def test_a_second_job_with_a_key_is_never_queued_however_the_first_one_ended(
    cluster: Cluster, hands: Hands, end: JobState
) -> None:
    engine = await cluster.engine(hands, owner="b", settle=settling(end))
    await cluster.submit(a_job("1", dedupe="key"))
    dies = await cluster.engine(hands, owner="a")
    async with dies.serving() as serving:
        await hands.next()
        await dies.die(serving)
    cluster.dead.add("a")
    await engine.table.notice()
    assert await cluster.state("1") == end
    assert await cluster.submit(a_job("2", dedupe="key"), a_job("3", dedupe="other")) == ["1", "3"]
    assert await cluster.states() == {"1": end, "3": JobState.QUEUED}


async def test_a_second_job_with_a_key_is_not_queued_beside_one_that_waits_or_runs(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.submit(a_job("1", dedupe="key"))
    assert await cluster.submit(a_job("2", dedupe="key")) == ["1"]
    async with (await cluster.engine(hands)).serving():
        await hands.next()
        assert await cluster.submit(a_job("3", dedupe="key")) == ["1"]
        hands.let_go("1")
    assert await cluster.states() == {"1": JobState.DONE}


async def test_racing_submits_of_one_key_queue_one_job(cluster: Cluster, connect: Connect) -> None:
    others = [Cluster(connect, cluster.clock, await connect()) for _ in range(8)]
    found = await asyncio.gather(
        *(other.submit(a_job(str(n), dedupe="key")) for n, other in enumerate(others))
    )
    assert len({ids[0] for ids in found}) == 1
    assert list(await cluster.states()) == found[0]


# Lanes


async def test_a_lane_runs_one_job_after_another_in_the_order_of_submission(
    cluster: Cluster, hands: Hands
) -> None:
    names = [f"{n:02}" for n in range(12)]
    await cluster.submit(*(a_job(name, "lane") for name in names))
    engines = [await cluster.engine(hands, owner=owner) for owner in "abc"]
    async with engines[0].serving(), engines[1].serving(), engines[2].serving():
        for name in names:
            assert (await hands.next()).job.id == name
            running = await cluster.query("SELECT id FROM job WHERE state = 'running'")
            assert [row["id"] for row in running] == [name]
            hands.let_go(name)
    assert hands.begun == names


async def test_lanes_do_not_wait_for_one_another(cluster: Cluster, hands: Hands) -> None:
    names = [str(n) for n in range(120)]
    await cluster.submit(*(a_job(name, f"lane {name}") for name in names))
    async with (await cluster.engine(hands)).serving():
        assert {(await hands.next()).job.id for _ in names} == set(names)
        hands.let_go(*names)


async def test_without_a_lane_jobs_run_side_by_side(cluster: Cluster, hands: Hands) -> None:
    await cluster.submit(a_job("1"), a_job("2"))
    async with (await cluster.engine(hands)).serving():
        assert {(await hands.next()).job.id for _ in range(2)} == {"1", "2"}
        hands.let_go("1", "2")


async def test_each_job_is_claimed_by_one_engine(cluster: Cluster, hands: Hands) -> None:
    names = [str(n) for n in range(100)]
    hands.let_go(*names)
    engines = [await cluster.engine(hands, owner=owner) for owner in "abc"]
    async with engines[0].serving(), engines[1].serving(), engines[2].serving():
        await cluster.submit(*(a_job(name, f"lane {int(name) % 30}") for name in names))
        for _ in names:
            await hands.next()
    assert sorted(hands.begun) == sorted(names)
    assert set((await cluster.states()).values()) == {JobState.DONE}


async def test_the_oldest_begin_first_and_no_more_than_fit_in_hand(
    cluster: Cluster, hands: Hands
) -> None:
    names = [str(n) for n in range(6)]
    await cluster.submit(*(a_job(name) for name in names))
    async with (await cluster.engine(hands, pace=replace(QUICK, most=2))).serving():
        await hands.next()
        await hands.next()
        for name, follower in zip(names, names[2:], strict=False):
            hands.let_go(name)
            assert (await hands.next()).job.id == follower
            await cluster.until(name, JobState.DONE)
            assert list((await cluster.states()).values()).count(JobState.RUNNING) == 2
        hands.let_go(*names)


async def test_a_delayed_job_waits_and_does_not_block_its_lane(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.submit(a_job("late", "lane", delay=timedelta(minutes=1)), a_job("now", "lane"))
    hands.let_go("now", "late")
    async with (await cluster.engine(hands)).serving():
        assert (await hands.next()).job.id == "now"
        cluster.clock.pass_by(timedelta(seconds=59))
        await cluster.submit(a_job("later", "lane"))
        hands.let_go("later")
        assert (await hands.next()).job.id == "later"
        await cluster.until("later", JobState.DONE)
        assert await cluster.state("late") == JobState.QUEUED
        cluster.clock.pass_by(timedelta(seconds=1))
        assert (await hands.next()).job.id == "late"


async def test_i8_a_clock_that_goes_back_holds_up_nothing_and_changes_no_order(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.submit(a_job("first", "lane"), a_job("other"))
    cluster.clock.pass_by(-timedelta(minutes=30))
    await cluster.submit(a_job("second", "lane"))
    hands.let_go("first", "other", "second")
    async with (await cluster.engine(hands)).serving():
        await cluster.until("second", JobState.DONE)
        await cluster.until("other", JobState.DONE)
    assert hands.begun.index("first") < hands.begun.index("second")


async def test_a_job_that_is_put_back_waits_for_no_clock_that_went_back(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.submit(a_job("1"))
    claim = partial(jobs.claim, owner="a", lease=LEASE, kinds=["work"], most=1, only=None)
    (job,) = await cluster.database.transact(claim)
    assert await cluster.database.transact(partial(jobs.put_back, job=job, pause=None))
    cluster.clock.pass_by(-timedelta(minutes=30))
    hands.let_go("1")
    assert await (await cluster.engine(hands)).table.run("1", asyncio.Event())


async def test_a_job_that_is_tried_again_waits_for_no_clock_that_went_back(
    cluster: Cluster,
) -> None:
    engine = await cluster.engine(Away(cluster, 2))
    await cluster.submit(a_job("1"))
    assert await engine.table.run("1", asyncio.Event())
    cluster.clock.pass_by(-timedelta(minutes=30))
    assert await engine.table.run("1", asyncio.Event())
    assert (await cluster.row("1"))["tries"] == 2


async def test_whoever_waits_behind_it_sees_it_through_where_the_clock_went_back(
    cluster: Cluster,
) -> None:
    engine = await cluster.engine(Away(cluster, 1))
    await cluster.submit(a_job("1", "lane"), a_job("2", "lane"))
    assert await engine.table.run("1", asyncio.Event())
    cluster.clock.pass_by(-timedelta(minutes=30))
    async with asyncio.timeout(PATIENCE):
        await engine.table.see_through("2", asyncio.Event())
    assert set((await cluster.states()).values()) == {JobState.DONE}


async def test_a_kind_that_an_engine_does_not_know_waits_for_one_that_does(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.submit(a_job("new", "lane", kind="newer"), a_job("next", "lane"), a_job("other"))
    hands.let_go("new", "next", "other")
    async with (await cluster.engine(hands, owner="old")).serving():
        assert (await hands.next()).job.id == "other"
        await cluster.until("other", JobState.DONE)
        assert await cluster.states() == {
            "new": JobState.QUEUED,
            "next": JobState.QUEUED,
            "other": JobState.DONE,
        }
        young = await cluster.engine(hands, "work", "newer", owner="young")
        async with young.serving():
            await cluster.until("next", JobState.DONE)
    assert hands.begun == ["other", "new", "next"]


# How a job ends


async def test_a_handler_that_raises_fails_its_job_and_the_lane_goes_on(
    cluster: Cluster, hands: Hands, caplog: pytest.LogCaptureFixture
) -> None:
    hands.have_raise("1", ValueError("no such thing"))
    hands.have_raise("2", Refused("The runbook is gone."))
    hands.let_go("3")
    await cluster.submit(*(a_job(name, "lane") for name in "123"))
    async with (await cluster.engine(hands)).serving():
        await cluster.until("3", JobState.DONE)
    assert await cluster.states() == {"1": "failed", "2": "failed", "3": "done"}
    assert "no such thing" in caplog.text


@pytest.mark.parametrize("error", [Refused("It says no."), Invalid("It makes no sense.")])
async def test_what_a_handler_raises_on_purpose_is_a_warning_and_settles_its_failed_job(
    cluster: Cluster, caplog: pytest.LogCaptureFixture, error: SaysoError
) -> None:
    settled: list[tuple[str, Loss, str]] = []

    def settle(_: datetime, job: Job, loss: Loss) -> Transaction[JobState]:
        (row,) = yield from rows("SELECT state FROM job WHERE id = :id", id=job.id)
        settled.append((job.id, loss, row["state"]))
        return JobState.QUEUED  # is not asked for: it is not tried again

    hands = Hands()
    hands.have_raise("1", error)
    await cluster.submit(a_job("1"))
    engine = await cluster.engine(hands, settle=settle)
    assert await engine.table.run("1", asyncio.Event())
    assert await cluster.state("1") == JobState.FAILED
    assert settled == [("1", Loss.FAILED, JobState.FAILED)]
    (record,) = caplog.records
    assert (record.levelname, record.exc_info) == ("WARNING", None)
    assert record.getMessage() == f"job 1: {error.shown}"


# What cannot be done now is put back


class Away:
    """A handler for which something outside does not answer so many times."""

    def __init__(self, cluster: Cluster, times: int) -> None:
        self.cluster = cluster
        self.left = times
        self.begun: list[tuple[str, datetime]] = []
        self.attempts: list[tuple[int, int]] = []
        """Attempt and tries of each claim."""

    async def __call__(self, hold: Hold) -> None:
        self.begun.append((hold.job.id, self.cluster.clock.now()))
        self.attempts.append((hold.job.attempt, hold.job.tries))
        if self.left:
            self.left -= 1
            raise Unavailable("It does not answer.")


async def test_what_could_not_be_done_is_put_back_as_if_it_had_not_been_begun(
    cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    await cluster.submit(a_job("1", "lane", replay=Replay.NEVER))
    engine = await cluster.engine(Away(cluster, 1), settle=_is_not_asked)
    assert await engine.table.run("1", asyncio.Event())
    row = await cluster.row("1")
    assert (row["state"], row["attempt"], row["tries"]) == (JobState.QUEUED, 0, 1)
    assert (row["owner"], row["lease_until"], row["ended_at"]) == (None, None, None)
    assert row["fence"] > 1
    (record,) = caplog.records
    assert (record.levelname, record.exc_info) == ("WARNING", None)
    assert record.getMessage() == "job 1: It does not answer."


async def test_the_claim_that_was_put_back_holds_nothing_any_more(cluster: Cluster) -> None:
    await cluster.submit(a_job("1"))
    held: list[Job] = []

    async def handler(hold: Hold) -> None:
        held.append(hold.job)
        raise Unavailable("It does not answer.")

    engine = await cluster.engine(handler)
    assert await engine.table.run("1", asyncio.Event())
    cluster.clock.pass_by(timedelta(minutes=1))
    assert await engine.table.run("1", asyncio.Event())
    first, second = held
    assert second.fence > first.fence
    for job in held:
        assert not await cluster.database.transact(
            partial(jobs.finish, job=job, state=JobState.DONE)
        )


async def test_it_is_tried_again_later_and_later_and_keeps_its_lane_meanwhile(
    cluster: Cluster,
) -> None:
    away, pauses = Away(cluster, 9), list[float]()
    await cluster.submit(a_job("1", "lane"), a_job("2", "lane"), a_job("3", "other"))
    engine = await cluster.engine(away)
    stop = asyncio.Event()
    for tries in range(1, 10):
        assert await engine.table.run("1", stop)
        row = await cluster.row("1")
        assert (row["state"], row["tries"]) == (JobState.QUEUED, tries)
        pause = datetime.fromisoformat(row["run_at"]) - cluster.clock.now()
        pauses.append(pause.total_seconds())
        assert not await engine.table.run("2", stop)
        cluster.clock.pass_by(pause - timedelta(microseconds=1))
        assert not await engine.table.run("1", stop)
        assert not await engine.table.run("2", stop)
        cluster.clock.pass_by(timedelta(microseconds=1))
        assert not await engine.table.run("2", stop)
    assert pauses == [0.5, 1, 2, 4, 8, 16, 32, 60, 60]
    assert await engine.table.run("3", stop)  # what is elsewhere does not wait
    assert await engine.table.run("1", stop)
    assert await engine.table.run("2", stop)
    assert away.attempts[:9] == [(1, tries) for tries in range(9)]
    assert set((await cluster.states()).values()) == {JobState.DONE}


@pytest.mark.parametrize(("after", "pause"), [(600, 600), (0.1, 0.5)])
async def test_c60_what_says_for_how_long_it_wants_no_try_gets_none_before(
    cluster: Cluster, after: float, pause: float
) -> None:
    await cluster.submit(a_job("1", "lane"))

    async def handler(hold: Hold) -> None:
        del hold
        raise Unavailable("Slow down.", after=timedelta(seconds=after))

    engine = await cluster.engine(handler)
    assert await engine.table.run("1", asyncio.Event())
    row = await cluster.row("1")
    waits = datetime.fromisoformat(row["run_at"]) - cluster.clock.now()
    assert (row["state"], waits.total_seconds()) == (JobState.QUEUED, pause)


async def test_a_job_knows_whether_somebody_began_it_before(cluster: Cluster) -> None:
    await cluster.submit(a_job("1"))
    begun = list[bool]()

    async def handler(hold: Hold) -> None:
        begun.append(hold.job.was_begun)
        raise Unavailable("It does not answer.")

    engine = await cluster.engine(handler)
    for _ in range(2):
        assert await engine.table.run("1", asyncio.Event())
        cluster.clock.pass_by(timedelta(minutes=1))
    assert begun == [False, True]


async def test_whoever_serves_tries_it_again_and_the_lane_goes_on_behind_it(
    cluster: Cluster,
) -> None:
    away = Away(cluster, 3)
    await cluster.submit(a_job("1", "lane"), a_job("2", "lane"))
    async with (await cluster.engine(away)).serving():

        async def is_done() -> bool:
            cluster.clock.pass_by(timedelta(seconds=1))
            return await cluster.state("2") == JobState.DONE

        await soon(is_done)
    assert [name for name, _ in away.begun] == ["1", "1", "1", "1", "2"]
    assert await cluster.state("1") == JobState.DONE


async def test_whoever_waits_behind_what_was_put_back_sees_it_through(cluster: Cluster) -> None:
    away = Away(cluster, 1)
    await cluster.submit(a_job("1", "lane"), a_job("2", "lane"))
    engine = await cluster.engine(away)
    seen = asyncio.create_task(engine.table.see_through("2", asyncio.Event()))

    async def is_put_back() -> bool:
        return bool((await cluster.row("1"))["tries"])

    await soon(is_put_back)
    await engine.polls(3)
    assert [name for name, _ in away.begun] == ["1"]
    cluster.clock.pass_by(timedelta(seconds=1))
    await asyncio.wait_for(seen, PATIENCE)
    assert [name for name, _ in away.begun] == ["1", "1", "2"]


async def test_what_was_put_back_can_be_cancelled_and_frees_its_lane(cluster: Cluster) -> None:
    away = Away(cluster, 1)
    await cluster.submit(a_job("1", "lane"), a_job("2", "lane"))
    engine = await cluster.engine(away)
    assert await engine.table.run("1", asyncio.Event())
    assert await cluster.cancel("1") is True
    assert await engine.table.run("2", asyncio.Event())
    assert await cluster.states() == {"1": JobState.CANCELLED, "2": JobState.DONE}


async def test_it_is_put_back_so_many_times_and_then_it_failed(cluster: Cluster) -> None:
    losses: list[Loss] = []

    def settle(_: datetime, __: Job, loss: Loss) -> Transaction[JobState]:
        yield from ()
        losses.append(loss)
        return JobState.FAILED

    await cluster.submit(a_job("1"))
    engine = await cluster.engine(Away(cluster, 2), settle=settle)
    await cluster.database.transact(
        lambda _: changed("UPDATE job SET tries = :tries RETURNING id", tries=MOST_TRIES - 1)
    )
    assert await engine.table.run("1", asyncio.Event())
    assert (await cluster.state("1"), losses) == (JobState.QUEUED, [])
    cluster.clock.pass_by(timedelta(minutes=1))
    assert await engine.table.run("1", asyncio.Event())
    assert (await cluster.state("1"), losses) == (JobState.FAILED, [Loss.FAILED])


async def test_what_was_told_to_end_is_settled_instead_of_put_back(cluster: Cluster) -> None:
    losses: list[Loss] = []

    def settle(_: datetime, __: Job, loss: Loss) -> Transaction[JobState]:
        yield from ()
        losses.append(loss)
        return JobState.QUEUED  # is not asked for

    async def handler(hold: Hold) -> None:
        await cluster.cancel(hold.job.id)
        raise Unavailable("It does not answer.")

    await cluster.submit(a_job("1"))
    engine = await cluster.engine(handler, settle=settle, pace=BLIND)
    assert await engine.table.run("1", asyncio.Event())
    assert (await cluster.state("1"), losses) == (JobState.CANCELLED, [Loss.STOPPED])


@pytest.mark.parametrize("heard", [True, False])
async def test_a_handler_that_returns_though_it_was_told_to_end_is_cancelled_and_settled(
    cluster: Cluster, *, heard: bool
) -> None:
    settled: list[tuple[str, Loss, str]] = []

    def settle(_: datetime, job: Job, loss: Loss) -> Transaction[JobState]:
        (row,) = yield from rows("SELECT state FROM job WHERE id = :id", id=job.id)
        settled.append((job.id, loss, row["state"]))
        return JobState.QUEUED  # is not asked for

    async def handler(hold: Hold) -> None:
        await cluster.cancel(hold.job.id)
        if heard:
            await asyncio.wait_for(hold.stopped(), PATIENCE)

    await cluster.submit(a_job("1"))
    pace = BLIND if heard else replace(QUICK, beat=NEVER, poll=NEVER)
    engine = await cluster.engine(handler, settle=settle, pace=pace)
    assert await engine.table.run("1", asyncio.Event())
    assert await cluster.state("1") == JobState.CANCELLED
    assert settled == [("1", Loss.STOPPED, JobState.CANCELLED)]


async def test_one_that_failed_is_failed_though_it_was_told_to_end(cluster: Cluster) -> None:
    losses: list[Loss] = []

    def settle(_: datetime, __: Job, loss: Loss) -> Transaction[JobState]:
        yield from ()
        losses.append(loss)
        return JobState.QUEUED  # is not asked for

    async def handler(hold: Hold) -> None:
        await cluster.cancel(hold.job.id)
        raise Refused("It says no.")

    await cluster.submit(a_job("1"))
    engine = await cluster.engine(handler, settle=settle)
    assert await engine.table.run("1", asyncio.Event())
    assert (await cluster.state("1"), losses) == (JobState.FAILED, [Loss.FAILED])


async def test_what_somebody_took_is_not_put_back(
    cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    async def handler(_: Hold) -> None:
        await cluster.database.transact(lambda _: changed("UPDATE job SET fence = fence + 1"))
        raise Unavailable("It does not answer.")

    await cluster.submit(a_job("1"))
    engine = await cluster.engine(handler, pace=replace(QUICK, beat=NEVER, poll=NEVER))
    assert await engine.table.run("1", asyncio.Event())
    row = await cluster.row("1")
    assert (row["state"], row["tries"], row["attempt"]) == (JobState.RUNNING, 0, 1)
    assert "somebody else has it" in caplog.text


@pytest.mark.parametrize("state", ENDS)
async def test_a_handler_may_end_its_job_in_a_transaction_of_its_own(
    cluster: Cluster, caplog: pytest.LogCaptureFixture, state: JobState
) -> None:
    async def handler(hold: Hold) -> None:
        assert await cluster.database.transact(lambda now: jobs.finish(now, hold.job, state))

    await cluster.submit(a_job("1"))
    engine = await cluster.engine(handler, settle=_is_not_asked)
    assert await engine.table.run("1", asyncio.Event())
    assert await cluster.state("1") == state
    assert caplog.records == []


def _is_not_asked(_: datetime, __: Job, ___: Loss) -> Transaction[JobState]:
    raise AssertionError("nothing has to be settled")


async def test_what_was_ended_by_somebody_else_is_no_end_of_ours(
    cluster: Cluster, hands: Hands, caplog: pytest.LogCaptureFixture
) -> None:
    await cluster.submit(a_job("1"))
    engine = await cluster.engine(hands, pace=BLIND)
    async with engine.serving():
        hold = await hands.next()
        await cluster.database.transact(lambda _: changed("UPDATE job SET fence = fence + 1"))
        taken = replace(hold.job, fence=hold.job.fence + 1)
        assert await cluster.database.transact(
            lambda now: jobs.finish(now, taken, JobState.UNKNOWN)
        )
        hands.let_go("1")
    assert await cluster.state("1") == JobState.UNKNOWN
    assert "somebody else has it" in caplog.text


async def test_an_end_frees_the_job_of_its_holder(cluster: Cluster, hands: Hands) -> None:
    await cluster.submit(a_job("1"))
    hands.let_go("1")
    async with (await cluster.engine(hands)).serving():
        await cluster.until("1", JobState.DONE)
    row = await cluster.row("1")
    assert (row["owner"], row["lease_until"], row["ended_at"] is None) == (None, None, False)


async def test_the_next_of_a_lane_begins_without_waiting_for_a_beat_or_a_poll(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.submit(*(a_job(name, "lane") for name in "123456"))
    hands.let_go(*"123456")
    engine = await cluster.engine(hands, pace=Pace(lease=LEASE, beat=NEVER, poll=NEVER))
    async with engine.serving():
        assert [(await hands.next()).job.id for _ in range(6)] == list("123456")


# New work


async def test_work_from_another_process_is_seen_at_the_next_poll(
    cluster: Cluster, hands: Hands
) -> None:
    hands.let_go("1", "2")
    engine = await cluster.engine(hands, pace=BLIND)
    async with engine.serving():
        await engine.polls(2)
        await cluster.submit(a_job("1"))
        assert (await hands.next()).job.id == "1"
        await engine.polls(2)
        await cluster.submit(a_job("2"))
        assert (await hands.next()).job.id == "2"


async def test_work_from_the_same_process_is_seen_at_the_next_poll(
    cluster: Cluster, hands: Hands
) -> None:
    hands.let_go("1")
    engine = await cluster.engine(hands, pace=BLIND)
    async with engine.serving():
        await engine.polls(2)
        await engine.database.transact(lambda now: jobs.submit(now, a_job("1")))
        assert (await hands.next()).job.id == "1"


async def test_whoever_says_so_has_it_look_at_once(cluster: Cluster, hands: Hands) -> None:
    hands.let_go("1")
    engine = await cluster.engine(hands, pace=Pace(lease=LEASE, beat=NEVER, poll=NEVER))
    async with engine.serving():
        await engine.polls(1)
        await cluster.submit(a_job("1"))
        engine.table.look()
        assert (await hands.next()).job.id == "1"


async def test_engines_with_nothing_to_do_leave_the_database_alone(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.submit(a_job("1"), a_job("2"))
    first, second = [await cluster.engine(hands, owner=owner, pace=BLIND) for owner in "ab"]
    async with first.serving(), second.serving():
        await hands.next()
        await hands.next()
        await first.polls(5)
        await second.polls(5)
        written = await cluster.database.changes()
        transactions = first.database.transactions, second.database.transactions
        await first.polls(30)
        await second.polls(30)
        assert await cluster.database.changes() == written
        assert (first.database.transactions, second.database.transactions) == transactions
        hands.let_go("1", "2")


# Stopping


async def test_what_is_queued_is_cancelled_and_never_begins(cluster: Cluster, hands: Hands) -> None:
    await cluster.submit(a_job("1", "lane"), a_job("2", "lane"))
    assert await cluster.cancel("1") is True
    hands.let_go("2")
    async with (await cluster.engine(hands)).serving():
        await cluster.until("2", JobState.DONE)
    assert hands.begun == ["2"]
    assert (await cluster.row("1"))["ended_at"] is not None


@pytest.mark.parametrize("process", ["another", "its own"])
async def test_what_runs_hears_of_a_stop_at_the_next_poll(
    cluster: Cluster, hands: Hands, process: str
) -> None:
    await cluster.submit(a_job("1"), a_job("2"))
    engine = await cluster.engine(hands, pace=BLIND)
    async with engine.serving():
        holds = {hold.job.id: hold for hold in [await hands.next(), await hands.next()]}
        assert not holds["1"].is_stopping
        database = cluster.database if process == "another" else engine.database
        told = await database.transact(lambda now: jobs.cancel(now, "1"))
        assert told == jobs.Told(job=holds["1"].job, was_queued=False)
        assert await cluster.cancel("1") is None  # it was told
        await asyncio.wait_for(holds["1"].stopped(), PATIENCE)
        assert (holds["1"].is_stopping, holds["2"].is_stopping) == (True, False)
        hands.let_go("1", "2")
    assert await cluster.states() == {"1": JobState.CANCELLED, "2": JobState.DONE}


async def test_what_runs_hears_of_a_stop_with_its_renewal(cluster: Cluster, hands: Hands) -> None:
    await cluster.submit(a_job("1"))
    engine = await cluster.engine(hands, pace=replace(QUICK, poll=NEVER))
    async with engine.serving():
        hold = await hands.next()
        before = (await cluster.row("1"))["lease_until"]
        cluster.clock.pass_by(LEASE / 2)
        await renewed(cluster, "1", before)
        await cluster.cancel("1")
        await asyncio.wait_for(hold.stopped(), PATIENCE)
        hands.let_go("1")


async def test_the_lane_stays_taken_until_what_was_stopped_is_gone(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.submit(a_job("1", "lane"), a_job("2", "lane"))
    hands.let_go("2", "3")
    async with (await cluster.engine(hands)).serving():
        hold = await hands.next()
        await cluster.cancel("1")
        await asyncio.wait_for(hold.stopped(), PATIENCE)
        await cluster.submit(a_job("3"))
        await cluster.until("3", JobState.DONE)
        assert await cluster.state("2") == JobState.QUEUED
        hands.let_go("1")
        await cluster.until("2", JobState.DONE)


async def test_what_has_ended_is_not_cancelled(cluster: Cluster, hands: Hands) -> None:
    await cluster.submit(a_job("1", "lane"))
    hands.let_go("1")
    async with (await cluster.engine(hands)).serving():
        await cluster.until("1", JobState.DONE)
    before = dict(await cluster.row("1"))
    assert await cluster.cancel("1") is None
    assert dict(await cluster.row("1")) == before


# Leases


async def test_a_lease_is_prolonged_while_the_handler_works(cluster: Cluster, hands: Hands) -> None:
    await cluster.submit(a_job("1", replay=Replay.NEVER))
    other = await cluster.engine(hands, owner="b")
    async with (await cluster.engine(hands, owner="a")).serving():
        hold = await hands.next()
        for _ in range(3):
            before = (await cluster.row("1"))["lease_until"]
            cluster.clock.pass_by(LEASE * 0.9)
            await renewed(cluster, "1", before)
            await other.table.notice()
        assert await cluster.is_held(hold.job)
        hold.check()
        hands.let_go("1")
    row = await cluster.row("1")
    assert (row["state"], row["fence"], row["attempt"]) == (JobState.DONE, 1, 1)


async def test_is_held_refuses_what_is_lost_over_stopped_or_ended(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.submit(a_job("lost"), a_job("stopped"), a_job("ended"), a_job("over"))
    async with (await cluster.engine(hands, pace=BLIND)).serving():
        held = {hold.job.id: hold.job for hold in [await hands.next() for _ in range(4)]}
        assert all([await cluster.is_held(job) for job in held.values()])
        assert not await cluster.is_held(replace(held["lost"], fence=held["lost"].fence + 1))
        await cluster.cancel("stopped")
        hands.let_go("ended")
        await cluster.until("ended", JobState.DONE)
        cluster.clock.pass_by(LEASE - timedelta(microseconds=1))
        assert [name for name, job in held.items() if await cluster.is_held(job)] == [
            name for name in held if name in {"lost", "over"}
        ]
        cluster.clock.pass_by(timedelta(microseconds=1))
        assert not await cluster.is_held(held["over"])
        hands.let_go(*held)


async def test_a_process_that_was_paused_refuses_to_act_before_anybody_took_its_job(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.submit(a_job("1"))
    engine = await cluster.engine(hands, pace=SHORT)
    async with engine.serving():
        hold = await hands.next()
        hold.check()
        engine.database.moving.clear()
        await until_refused(hold)
        assert await cluster.state("1") == JobState.RUNNING
        engine.database.moving.set()
        hands.let_go("1")


async def test_a_pause_that_nobody_noticed_does_no_harm(cluster: Cluster, hands: Hands) -> None:
    await cluster.submit(a_job("1"))
    engine = await cluster.engine(hands, pace=SHORT)
    async with engine.serving():
        hold = await hands.next()
        engine.database.moving.clear()
        await until_refused(hold)
        cluster.clock.pass_by(LEASE)
        engine.database.moving.set()

        async def may_act() -> bool:
            return not await refuses(hold)

        await soon(may_act)
        assert await cluster.is_held(hold.job)
        hands.let_go("1")
    row = await cluster.row("1")
    assert (row["state"], row["fence"]) == (JobState.DONE, 1)


async def test_a_holder_that_lost_its_job_hears_of_it_and_cannot_end_it(
    cluster: Cluster, hands: Hands, caplog: pytest.LogCaptureFixture
) -> None:
    mine, theirs = Hands(), hands
    await cluster.submit(a_job("1", "lane"))
    slow = await cluster.engine(mine, owner="slow")
    async with slow.serving():
        old = await mine.next()
        slow.database.moving.clear()
        cluster.clock.pass_by(LEASE)
        async with (await cluster.engine(theirs, owner="quick")).serving():
            new = await theirs.next()
            assert (new.job.fence > old.job.fence, new.job.attempt) == (True, 2)
            assert [await cluster.is_held(job) for job in (old.job, new.job)] == [False, True]
            slow.database.moving.set()
            await asyncio.wait_for(old.stopped(), PATIENCE)
            assert await refuses(old)
            mine.let_go("1")

            async def is_told() -> bool:
                return "somebody else has it" in caplog.text

            await soon(is_told)
            assert await cluster.state("1") == JobState.RUNNING
            new.check()
            theirs.let_go("1")
    assert await cluster.state("1") == JobState.DONE
    assert mine.begun == theirs.begun == ["1"]


async def test_one_engine_can_hold_a_job_again_while_its_lost_handler_still_works(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.submit(a_job("1"))
    engine = await cluster.engine(hands, owner="a")
    async with engine.serving():
        old = await hands.next()
        row = await cluster.row("1")
        cluster.dead.add("a")
        await (await cluster.engine(hands, owner="b")).table.notice()
        new = await hands.next()
        assert (new.job.attempt, row["fence"] < new.job.fence) == (2, True)
        await asyncio.wait_for(old.stopped(), PATIENCE)
        assert await refuses(old)
        before = (await cluster.row("1"))["lease_until"]
        cluster.clock.pass_by(LEASE / 2)
        await renewed(cluster, "1", before)
        new.check()
        assert not new.is_stopping
        hands.let_go("1")
    assert await cluster.state("1") == JobState.DONE


async def test_a_handler_that_says_it_lost_the_lease_does_not_end_the_job(
    cluster: Cluster, hands: Hands
) -> None:
    hands.have_raise("1", LeaseLost("It is not mine any more."))
    await cluster.submit(a_job("1", "lane"))
    engine = await cluster.engine(hands, settle=settling(JobState.UNKNOWN))
    async with engine.serving():
        await hands.next()
        await engine.polls(3)
        assert await cluster.state("1") == JobState.RUNNING
        cluster.clock.pass_by(LEASE)
        await cluster.until("1", JobState.UNKNOWN)


# What the dead left


async def left_by_the_dead(
    cluster: Cluster, *names: str, owner: str = "dead", kind: str = "work"
) -> None:
    """Leave these running, by a process that is gone without a word."""
    hands = Hands()
    await cluster.submit(*(a_job(name, f"lane {name}", kind=kind) for name in names))
    engine = await cluster.engine(hands, kind, owner=owner)
    async with engine.serving() as serving:
        for _ in names:
            await hands.next()
        await engine.die(serving)
    cluster.dead.add(owner)


async def test_a_dead_holder_is_noticed_at_once(cluster: Cluster, hands: Hands) -> None:
    await left_by_the_dead(cluster, "1")
    hands.let_go("1")
    async with (await cluster.engine(hands)).serving():
        assert (await hands.next()).job.attempt == 2
    assert await cluster.state("1") == JobState.DONE


async def test_a_silent_holder_is_noticed_when_its_lease_is_over_and_not_before(
    cluster: Cluster, hands: Hands
) -> None:
    await left_by_the_dead(cluster, "1")
    cluster.dead.clear()
    engine = await cluster.engine(hands)
    cluster.clock.pass_by(LEASE - timedelta(microseconds=1))
    await engine.table.notice()
    assert (await cluster.row("1"))["owner"] == "dead"
    cluster.clock.pass_by(timedelta(microseconds=1))
    await engine.table.notice()
    assert await cluster.state("1") == JobState.QUEUED


async def test_a_safe_job_is_queued_again_so_many_times_and_then_failed(
    cluster: Cluster, hands: Hands
) -> None:
    engine = await cluster.engine(hands, owner="notices")
    await cluster.submit(a_job("1"))
    for attempt in range(1, jobs.MOST_REQUEUES + 2):
        assert await cluster.state("1") == JobState.QUEUED
        dies = await cluster.engine(hands, owner="dies")
        async with dies.serving() as serving:
            assert (await hands.next()).job.attempt == attempt
            await dies.die(serving)
        cluster.dead.add("dies")
        await engine.table.notice()
        cluster.dead.clear()
    row = await cluster.row("1")
    assert (row["state"], row["ended_at"] is None) == (JobState.FAILED, False)


async def test_what_was_told_to_end_is_not_queued_again(cluster: Cluster, hands: Hands) -> None:
    await left_by_the_dead(cluster, "1")
    await cluster.cancel("1")
    await (await cluster.engine(hands)).table.notice()
    row = await cluster.row("1")
    assert (row["state"], row["ended_at"] is None) == (JobState.CANCELLED, False)


async def test_whoever_settles_is_told_whether_it_was_to_end(
    cluster: Cluster, hands: Hands
) -> None:
    def settle(_: datetime, __: Job, loss: Loss) -> Transaction[JobState]:
        yield from ()
        return JobState.FAILED if loss is Loss.STOPPED else JobState.UNKNOWN

    await left_by_the_dead(cluster, "1", "2")
    await cluster.cancel("1")
    await (await cluster.engine(hands, settle=settle)).table.notice()
    assert await cluster.states() == {"1": JobState.FAILED, "2": JobState.UNKNOWN}


async def test_an_unknown_job_does_not_block_its_lane(cluster: Cluster, hands: Hands) -> None:
    await left_by_the_dead(cluster, "1")
    await cluster.submit(a_job("2", "lane 1"))
    hands.let_go("2")
    async with (await cluster.engine(hands, settle=settling(JobState.UNKNOWN))).serving():
        assert (await hands.next()).job.id == "2"
    assert await cluster.states() == {"1": JobState.UNKNOWN, "2": JobState.DONE}


async def test_its_kind_decides_inside_the_transaction_what_became_of_it(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.database.transact(lambda _: changed("CREATE TABLE begun (job TEXT)"))
    await cluster.database.transact(lambda _: changed("INSERT INTO begun VALUES ('2') RETURNING 1"))

    def settle(_: datetime, job: Job, __: Loss) -> Transaction[JobState]:
        begun = yield from changed("SELECT 1 FROM begun WHERE job = :job", job=job.id)
        return JobState.UNKNOWN if begun else JobState.QUEUED

    await left_by_the_dead(cluster, "1", "2")
    await (await cluster.engine(hands, settle=settle)).table.notice()
    assert await cluster.states() == {"1": JobState.QUEUED, "2": JobState.UNKNOWN}


async def test_what_is_settled_is_written_only_if_nobody_took_it_meanwhile(
    cluster: Cluster, hands: Hands, caplog: pytest.LogCaptureFixture
) -> None:
    await cluster.database.transact(lambda _: changed("CREATE TABLE settled (job TEXT)"))

    def settle(_: datetime, job: Job, __: Loss) -> Transaction[JobState]:
        yield sql("INSERT INTO settled VALUES (:job)", job=job.id)
        yield sql("UPDATE job SET fence = fence + 1")  # as somebody else would have
        return JobState.UNKNOWN

    await left_by_the_dead(cluster, "1")
    await (await cluster.engine(hands, settle=settle)).table.notice()
    assert await cluster.query("SELECT * FROM settled") == []
    assert await cluster.state("1") == JobState.RUNNING
    assert "Another process took this job meanwhile." in caplog.text


async def test_what_a_dead_holder_left_is_ended_once_it_is_fenced_and_before_it_is_settled(
    cluster: Cluster, hands: Hands
) -> None:
    await left_by_the_dead(cluster, "1")
    old = jobs.job_of(await cluster.row("1"))
    seen: list[object] = []

    async def clean(job: Job) -> None:
        row = await cluster.row("1")
        seen.append((job.id, await cluster.is_held(old), row["state"], row["owner"]))

    engine = await cluster.engine(hands, clean=clean, settle=settling(JobState.UNKNOWN))
    await engine.table.notice()
    assert seen == [("1", False, JobState.RUNNING, "a")]
    assert await cluster.state("1") == JobState.UNKNOWN


async def test_what_could_not_be_ended_keeps_its_lane_and_is_tried_again(
    cluster: Cluster, hands: Hands, caplog: pytest.LogCaptureFixture
) -> None:
    tries: list[str] = []

    async def clean(job: Job) -> None:
        tries.append(job.id)
        if len(tries) == 1:
            raise OSError("its processes do not die")

    await left_by_the_dead(cluster, "1")
    engine = await cluster.engine(hands, clean=clean, settle=settling(JobState.UNKNOWN))
    await engine.table.notice()
    await engine.table.notice()
    assert (tries, await cluster.state("1")) == (["1"], JobState.RUNNING)
    assert "its processes do not die" in caplog.text
    cluster.clock.pass_by(LEASE)
    await engine.table.notice()
    assert (tries, await cluster.state("1")) == (["1", "1"], JobState.UNKNOWN)


async def test_several_that_notice_at_once_take_it_once(cluster: Cluster, hands: Hands) -> None:
    cleaned: list[str] = []

    async def clean(job: Job) -> None:
        cleaned.append(job.id)

    await left_by_the_dead(cluster, "1", "2")
    engines = [await cluster.engine(hands, owner=f"{n}", clean=clean) for n in range(6)]
    await asyncio.gather(*(engine.table.notice() for engine in engines))
    assert sorted(cleaned) == ["1", "2"]
    assert await cluster.states() == {"1": JobState.QUEUED, "2": JobState.QUEUED}


async def test_only_what_is_still_over_or_held_by_the_dead_can_be_seized(
    cluster: Cluster,
) -> None:
    await left_by_the_dead(cluster, "1")
    job = jobs.job_of(await cluster.row("1"))

    async def seize(job: Job, dead: str | None) -> bool:
        taken = await cluster.database.transact(lambda now: jobs.seize(now, "me", LEASE, job, dead))
        return taken is not None

    assert not await seize(job, None)
    assert not await seize(job, "another")
    assert not await seize(replace(job, fence=job.fence + 1), "dead")
    assert await seize(job, "dead")
    assert not await seize(job, "dead")


async def test_what_is_in_hand_here_is_not_taken_from_ourselves(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.submit(a_job("1"))
    engine = await cluster.engine(hands, pace=BLIND)
    async with engine.serving():
        hold = await hands.next()
        cluster.clock.pass_by(2 * LEASE)
        await engine.table.notice()
        row = await cluster.row("1")
        assert (row["state"], row["fence"]) == (JobState.RUNNING, hold.job.fence)
        hands.let_go("1")
    assert await cluster.state("1") == JobState.DONE


async def test_the_dead_jobs_of_an_unknown_kind_are_left_to_a_newer_version(
    cluster: Cluster, hands: Hands
) -> None:
    await left_by_the_dead(cluster, "1", kind="newer")
    await (await cluster.engine(hands)).table.notice()
    assert (await cluster.row("1"))["owner"] == "dead"


async def test_one_that_cannot_be_taken_does_not_keep_the_others(
    cluster: Cluster, hands: Hands, caplog: pytest.LogCaptureFixture
) -> None:
    def settle(_: datetime, job: Job, __: Loss) -> Transaction[JobState]:
        yield from ()
        if job.id == "1":
            raise LookupError("no run belongs to it")
        return JobState.QUEUED

    await left_by_the_dead(cluster, "1", "2")
    await (await cluster.engine(hands, settle=settle)).table.notice()
    assert await cluster.states() == {"1": JobState.RUNNING, "2": JobState.QUEUED}
    assert "no run belongs to it" in caplog.text


async def test_ending_what_the_dead_left_does_not_keep_others_from_being_renewed(
    cluster: Cluster, hands: Hands
) -> None:
    cleaning, go_on = asyncio.Event(), asyncio.Event()

    async def clean(_: Job) -> None:
        cleaning.set()
        await go_on.wait()

    await left_by_the_dead(cluster, "1")
    await cluster.submit(a_job("mine"))
    async with (await cluster.engine(hands, clean=clean)).serving():
        hold = await hands.next()
        await asyncio.wait_for(cleaning.wait(), PATIENCE)
        before = (await cluster.row("mine"))["lease_until"]
        cluster.clock.pass_by(LEASE / 2)
        await renewed(cluster, "mine", before)
        await cluster.cancel("mine")
        await asyncio.wait_for(hold.stopped(), PATIENCE)
        go_on.set()
        hands.let_go("mine", "1")


# Ending the engine


async def test_told_to_stop_it_claims_nothing_more_and_waits_for_the_end_of_what_runs(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.submit(a_job("1", "lane"), a_job("2", "lane"))
    engine, stop = await cluster.engine(hands), asyncio.Event()
    serving = asyncio.create_task(engine.table.serve(stop))
    await hands.next()
    stop.set()
    cluster.clock.pass_by(LEASE / 2)
    await engine.polls(5)
    assert not serving.done()
    engine.database.moving.clear()
    hands.let_go("1")
    await asyncio.sleep(0)
    assert not serving.done()
    engine.database.moving.set()
    await asyncio.wait_for(serving, PATIENCE)
    assert await cluster.states() == {"1": JobState.DONE, "2": JobState.QUEUED}


async def test_with_nothing_to_do_it_stops_at_once(cluster: Cluster, hands: Hands) -> None:
    engine = await cluster.engine(hands, pace=Pace(lease=LEASE, beat=NEVER, poll=NEVER))
    async with engine.serving():
        await engine.polls(1)


async def test_cancelled_it_leaves_no_task_and_puts_back_what_may_be_done_again(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.submit(a_job("safe", "lane"), a_job("never", replay=Replay.NEVER))
    before = asyncio.all_tasks()
    async with (await cluster.engine(hands)).serving() as serving:
        holds = {hold.job.id: hold for hold in [await hands.next(), await hands.next()]}
        serving.cancel()
        await asyncio.wait([serving])
        assert asyncio.all_tasks() == before
    assert serving.cancelled()
    assert sorted(hands.cancelled) == ["never", "safe"]
    assert await cluster.states() == {"safe": JobState.QUEUED, "never": JobState.RUNNING}
    row = await cluster.row("safe")
    assert (row["attempt"], row["tries"], row["owner"], row["lease_until"]) == (0, 0, None, None)
    assert row["fence"] > holds["safe"].job.fence
    hands.let_go("safe")
    async with (await cluster.engine(hands, owner="b")).serving():
        assert (await hands.next()).job.attempt == 1
        await cluster.until("safe", JobState.DONE)
    assert await cluster.state("never") == JobState.RUNNING


async def test_however_often_its_server_stops_a_safe_job_does_not_count_as_what_kills_it(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.submit(a_job("1"))
    for _ in range(jobs.MOST_REQUEUES + 2):
        async with (await cluster.engine(hands)).serving() as serving:
            assert (await hands.next()).job.attempt == 1
            serving.cancel()
    assert await cluster.state("1") == JobState.QUEUED


async def test_what_was_told_to_end_is_not_put_back_by_a_server_that_stops(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.submit(a_job("1"))
    async with (await cluster.engine(hands)).serving() as serving:
        hold = await hands.next()
        await cluster.cancel("1")
        await asyncio.wait_for(hold.stopped(), PATIENCE)
        serving.cancel()
    assert await cluster.state("1") == JobState.RUNNING
    cluster.dead.add("a")
    await (await cluster.engine(hands, owner="b")).table.notice()
    assert await cluster.state("1") == JobState.CANCELLED
    assert hands.begun == ["1"]


async def test_what_somebody_took_is_not_put_back_by_a_server_that_stops(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.submit(a_job("1"))
    async with (await cluster.engine(hands, pace=BLIND)).serving() as serving:
        await hands.next()
        await cluster.database.transact(lambda _: changed("UPDATE job SET fence = fence + 1"))
        before = dict(await cluster.row("1"))
        serving.cancel()
    assert dict(await cluster.row("1")) == before


async def test_cancelled_it_still_writes_the_end_of_what_has_ended(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.submit(a_job("1"))
    engine = await cluster.engine(hands, pace=BLIND)
    async with engine.serving() as serving:
        await hands.next()
        await engine.polls(5)
        engine.database.moving.clear()
        before = engine.database.transactions
        hands.let_go("1")

        async def is_writing() -> bool:
            return engine.database.transactions > before

        await soon(is_writing)
        serving.cancel()
        await asyncio.sleep(0)
        engine.database.moving.set()
    assert await cluster.state("1") == JobState.DONE


# One job alone


async def test_run_claims_only_that_job_and_waits_for_nothing_else(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.submit(a_job("1"), a_job("2"), a_job("3"))
    hands.let_go("2")
    engine = await cluster.engine(hands)
    assert await asyncio.wait_for(engine.table.run("2", asyncio.Event()), PATIENCE)
    assert await cluster.states() == {"1": "queued", "2": "done", "3": "queued"}
    assert hands.begun == ["2"]


async def test_run_is_false_for_what_is_not_to_be_had(cluster: Cluster, hands: Hands) -> None:
    await cluster.submit(
        a_job("running", "busy"),
        a_job("behind", "busy"),
        a_job("late", delay=LEASE),
        a_job("cancelled"),
    )
    await cluster.cancel("cancelled")
    alone, stop = await cluster.engine(hands, owner="alone"), asyncio.Event()
    async with (await cluster.engine(hands)).serving():
        await hands.next()
        before = await cluster.states()
        for name in ("running", "behind", "late", "cancelled", "no such"):
            assert not await alone.table.run(name, stop)
        assert await cluster.states() == before
        hands.let_go("running", "behind")
    assert not await alone.table.run("running", stop)


async def test_what_run_runs_is_prolonged_and_can_be_stopped_from_elsewhere(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.submit(a_job("1"))
    engine = await cluster.engine(hands)
    running = asyncio.create_task(engine.table.run("1", asyncio.Event()))
    hold = await hands.next()
    before = (await cluster.row("1"))["lease_until"]
    cluster.clock.pass_by(LEASE / 2)
    await renewed(cluster, "1", before)
    await cluster.cancel("1")
    await asyncio.wait_for(hold.stopped(), PATIENCE)
    hands.let_go("1")
    assert await asyncio.wait_for(running, PATIENCE)
    assert await cluster.state("1") == JobState.CANCELLED


async def test_stop_tells_what_run_runs_to_end(cluster: Cluster, hands: Hands) -> None:
    await cluster.submit(a_job("1"))
    engine, stop = await cluster.engine(hands, pace=BLIND), asyncio.Event()
    running = asyncio.create_task(engine.table.run("1", stop))
    hold = await hands.next()
    engine.database.fails = True
    stop.set()
    await asyncio.wait_for(hold.stopped(), PATIENCE)
    engine.database.fails = False

    async def is_refused() -> bool:
        return not await cluster.is_held(hold.job)

    await soon(is_refused)
    hands.let_go("1")
    assert await asyncio.wait_for(running, PATIENCE)
    assert await cluster.state("1") == JobState.CANCELLED


@pytest.mark.parametrize(
    ("replay", "state"), [(Replay.SAFE, JobState.QUEUED), (Replay.NEVER, JobState.RUNNING)]
)
async def test_a_cancelled_run_leaves_no_task_and_does_not_end_the_job(
    cluster: Cluster, hands: Hands, replay: Replay, state: JobState
) -> None:
    await cluster.submit(a_job("1", replay=replay))
    engine = await cluster.engine(hands)
    before = asyncio.all_tasks()
    running = asyncio.create_task(engine.table.run("1", asyncio.Event()))
    await hands.next()
    running.cancel()
    await asyncio.wait([running])
    assert running.cancelled()
    assert asyncio.all_tasks() == before
    assert hands.cancelled == ["1"]
    assert await cluster.state("1") == state


async def test_a_handler_that_cancels_itself_does_not_cancel_whoever_waits(
    cluster: Cluster,
) -> None:
    async def handler(_: Hold) -> None:
        raise asyncio.CancelledError

    await cluster.submit(a_job("1"))
    assert await (await cluster.engine(handler)).table.run("1", asyncio.Event())
    assert await cluster.state("1") == JobState.RUNNING


async def test_see_through_returns_once_a_job_has_ended_elsewhere(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.submit(a_job("1"))
    waits = await cluster.engine(hands, owner="waits")
    async with (await cluster.engine(hands)).serving():
        await hands.next()
        ended = asyncio.create_task(waits.table.see_through("1", asyncio.Event()))
        await waits.polls(3)
        assert not ended.done()
        hands.let_go("1")
        await asyncio.wait_for(ended, PATIENCE)
    assert await cluster.state("1") == JobState.DONE


async def test_see_through_returns_at_once_for_what_has_ended_or_never_was(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.submit(a_job("done"), a_job("cancelled"), a_job("waits"))
    await cluster.cancel("cancelled")
    hands.let_go("done")
    engine = await cluster.engine(hands, pace=Pace(lease=LEASE, beat=NEVER, poll=NEVER))
    assert await engine.table.run("done", asyncio.Event())
    for name in ("done", "cancelled", "no such"):
        await asyncio.wait_for(engine.table.see_through(name, asyncio.Event()), PATIENCE)
    assert hands.begun == ["done"]


async def test_see_through_runs_a_job_here_as_soon_as_its_lane_is_free(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.submit(a_job("1", "lane"), a_job("2", "lane"), a_job("3", "lane"), a_job("4"))
    there, here = await cluster.engine(hands, owner="there"), await cluster.engine(hands)
    running = asyncio.create_task(there.table.run("1", asyncio.Event()))
    await hands.next()
    seen = asyncio.create_task(here.table.see_through("2", asyncio.Event()))
    await here.polls(3)
    assert hands.begun == ["1"]
    hands.let_go("1", "2")
    await asyncio.wait_for(seen, PATIENCE)
    assert await asyncio.wait_for(running, PATIENCE)
    assert await cluster.states() == {"1": "done", "2": "done", "3": "queued", "4": "queued"}


async def test_see_through_first_runs_what_nobody_runs_and_stands_before_it_in_its_lane(
    cluster: Cluster, hands: Hands
) -> None:
    late = a_job("late", "lane", delay=LEASE)
    names = ("1", "2", "3", "behind")
    await cluster.submit(late, *(a_job(name, "lane") for name in names), a_job("1b", "other"))
    hands.let_go(*names)
    engine = await cluster.engine(hands)
    await asyncio.wait_for(engine.table.see_through("3", asyncio.Event()), PATIENCE)
    assert hands.begun == ["1", "2", "3"]
    states = await cluster.states()
    assert {name for name, state in states.items() if state == "queued"} == {"late", "behind", "1b"}


async def test_see_through_does_not_run_what_a_living_process_reserved_for_itself(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.submit(a_job("1", "lane", reserved_for="living"), a_job("2", "lane"))
    hands.let_go("1", "2")
    living, here = await cluster.engine(hands, owner="living"), await cluster.engine(hands)
    seen = asyncio.create_task(here.table.see_through("2", asyncio.Event()))
    await here.polls(5)
    assert hands.begun == []
    assert await living.table.run("1", asyncio.Event())
    await asyncio.wait_for(seen, PATIENCE)
    assert hands.begun == ["1", "2"]


async def test_see_through_runs_what_a_dead_process_reserved_for_itself(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.submit(a_job("1", "lane", reserved_for="dead"), a_job("2", "lane"))
    cluster.dead.add("dead")
    hands.let_go("1", "2")
    engine = await cluster.engine(hands)
    await asyncio.wait_for(engine.table.see_through("2", asyncio.Event()), PATIENCE)
    assert hands.begun == ["1", "2"]


async def test_see_through_runs_what_was_reserved_for_this_process(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.submit(a_job("1", reserved_for="a"))
    hands.let_go("1")
    engine = await cluster.engine(hands, owner="a")
    await asyncio.wait_for(engine.table.see_through("1", asyncio.Event()), PATIENCE)
    assert await cluster.state("1") == JobState.DONE


async def test_see_through_runs_again_what_a_dead_holder_left_where_its_kind_says_so(
    cluster: Cluster, hands: Hands
) -> None:
    await left_by_the_dead(cluster, "1")
    hands.let_go("1")
    engine = await cluster.engine(hands, settle=settling(JobState.QUEUED))
    await asyncio.wait_for(engine.table.see_through("1", asyncio.Event()), PATIENCE)
    row = await cluster.row("1")
    assert (row["state"], row["attempt"], hands.begun) == (JobState.DONE, 2, ["1"])


async def test_whoever_sees_a_queued_job_through_can_stop_it_and_its_kind_is_told(
    cluster: Cluster, hands: Hands
) -> None:
    settled: list[tuple[str, Loss]] = []

    def settle(_: datetime, job: Job, loss: Loss) -> Transaction[JobState]:
        yield from ()
        settled.append((job.id, loss))
        return JobState.CANCELLED

    await cluster.submit(a_job("1", "lane"), a_job("2", "lane"))
    there = await cluster.engine(hands, owner="there")
    running = asyncio.create_task(there.table.run("1", asyncio.Event()))
    await hands.next()
    here, stop = await cluster.engine(hands, settle=settle), asyncio.Event()
    seen = asyncio.create_task(here.table.see_through("2", stop))
    stop.set()
    await asyncio.wait_for(seen, PATIENCE)
    assert await cluster.states() == {"1": JobState.RUNNING, "2": JobState.CANCELLED}
    assert settled == [("2", Loss.STOPPED)]
    hands.let_go("1")
    await asyncio.wait_for(running, PATIENCE)
    assert hands.begun == ["1"]


async def test_what_is_written_for_a_stopped_job_is_written_with_its_stop_or_not_at_all(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.database.transact(lambda _: changed("CREATE TABLE settled (job TEXT)"))
    fails = [True]

    def settle(_: datetime, job: Job, __: Loss) -> Transaction[JobState]:
        yield sql("INSERT INTO settled VALUES (:job)", job=job.id)
        if fails:
            fails.clear()
            raise Unavailable("The database is in a bad mood.")
        return JobState.CANCELLED

    await cluster.submit(a_job("1", "lane"), a_job("2", "lane"))
    there = await cluster.engine(hands, owner="there")
    running = asyncio.create_task(there.table.run("1", asyncio.Event()))
    await hands.next()
    here, stop = await cluster.engine(hands, settle=settle), asyncio.Event()
    stop.set()
    await asyncio.wait_for(here.table.see_through("2", stop), PATIENCE)
    assert [row["job"] for row in await cluster.query("SELECT job FROM settled")] == ["2"]
    assert await cluster.state("2") == JobState.CANCELLED
    hands.let_go("1")
    await asyncio.wait_for(running, PATIENCE)


async def test_cancelled_see_through_leaves_no_task_and_ends_no_job(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.submit(a_job("1", "lane"), a_job("2", "lane"))
    engine = await cluster.engine(hands)
    before = asyncio.all_tasks()
    seen = asyncio.create_task(engine.table.see_through("2", asyncio.Event()))
    await hands.next()
    seen.cancel()
    await asyncio.wait([seen])
    assert seen.cancelled()
    assert asyncio.all_tasks() == before
    assert (hands.cancelled, await cluster.state("1")) == (["1"], JobState.QUEUED)


async def test_whoever_waits_for_the_end_can_stop_it(cluster: Cluster, hands: Hands) -> None:
    await cluster.submit(a_job("1"))
    waits, stop = await cluster.engine(hands, owner="waits"), asyncio.Event()
    async with (await cluster.engine(hands)).serving():
        hold = await hands.next()
        ended = asyncio.create_task(waits.table.see_through("1", stop))
        stop.set()
        await asyncio.wait_for(hold.stopped(), PATIENCE)
        hands.let_go("1")
        await asyncio.wait_for(ended, PATIENCE)
    assert await cluster.state("1") == JobState.CANCELLED


async def test_whoever_waits_for_the_end_notices_that_its_holder_died(
    cluster: Cluster, hands: Hands
) -> None:
    await left_by_the_dead(cluster, "1")
    waits = await cluster.engine(hands, settle=settling(JobState.UNKNOWN))
    await asyncio.wait_for(waits.table.see_through("1", asyncio.Event()), PATIENCE)
    assert await cluster.state("1") == JobState.UNKNOWN


async def test_whoever_leaves_does_not_wait_for_what_stands_before_it(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.submit(a_job("old", "lane"), a_job("mine", "lane"))
    engine, stop = await cluster.engine(hands), asyncio.Event()
    seeing = asyncio.create_task(engine.table.see_through("mine", stop))
    assert (await hands.next()).job.id == "old"
    stop.set()
    await asyncio.wait_for(seeing, PATIENCE)
    assert (hands.begun, hands.cancelled) == (["old"], ["old"])
    assert await cluster.states() == {"old": JobState.QUEUED, "mine": JobState.CANCELLED}
    assert (await cluster.row("old"))["attempt"] == 0


# Whoever waits does not wait for ever


@pytest.mark.parametrize("replay", Replay)
async def test_what_does_not_hear_that_it_is_to_end_is_cut_after_a_while(
    cluster: Cluster, hands: Hands, monkeypatch: pytest.MonkeyPatch, replay: Replay
) -> None:
    monkeypatch.setattr("adapters.jobs.table._PATIENCE", 0.1)
    await cluster.submit(a_job("1", replay=replay))
    engine, stop = await cluster.engine(hands), asyncio.Event()
    running = asyncio.create_task(engine.table.run("1", stop))
    await hands.next()
    stop.set()
    assert await asyncio.wait_for(running, PATIENCE)
    assert hands.cancelled == ["1"]
    assert await cluster.state("1") == JobState.RUNNING  # whoever finds us gone settles it
    cluster.dead.add("a")
    await (await cluster.engine(hands, owner="b", settle=jobs.settle_safe)).table.notice()
    assert await cluster.state("1") == JobState.CANCELLED


async def test_whoever_stops_what_another_holds_and_does_not_end_gives_up(
    cluster: Cluster, hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.jobs.table._PATIENCE", 0.1)
    await cluster.submit(a_job("1"))
    waits, stop = await cluster.engine(hands, owner="waits"), asyncio.Event()
    async with (await cluster.engine(hands)).serving():
        hold = await hands.next()
        seeing = asyncio.create_task(waits.table.see_through("1", stop))
        await waits.polls(20)
        assert not seeing.done()  # nobody asked it to end
        stop.set()
        with pytest.raises(Unavailable, match="could not be written down"):
            await asyncio.wait_for(seeing, PATIENCE)
        assert hold.is_stopping
        hands.let_go("1")
    assert await cluster.state("1") == JobState.CANCELLED


async def test_whoever_lost_their_own_job_and_cannot_take_it_again_gives_up(
    cluster: Cluster, hands: Hands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.jobs.table._PATIENCE", 0.1)
    hands.have_raise("1", LeaseLost("It is not mine any more."))
    await cluster.submit(a_job("1", replay=Replay.NEVER))
    engine = await cluster.engine(hands, pace=SHORT)  # on the clock of the tests it never ends
    with pytest.raises(Unavailable, match="could not be written down"):
        await asyncio.wait_for(engine.table.see_through("1", asyncio.Event()), PATIENCE)
    assert await cluster.state("1") == JobState.RUNNING
    assert hands.begun == ["1"]


# A database that fails for a while


async def test_a_failing_database_stops_neither_claims_nor_stops_nor_renewals(
    cluster: Cluster, hands: Hands, caplog: pytest.LogCaptureFixture
) -> None:
    await cluster.submit(a_job("1"))
    engine = await cluster.engine(hands)
    async with engine.serving():
        hold = await hands.next()
        engine.database.fails = True

        async def is_noticed() -> bool:
            return all(f"{what}: The database" in caplog.text for what in (
                "claiming jobs", "renewing leases", "looking for changes", "noticing the dead"
            ))  # fmt: skip

        await soon(is_noticed)
        await cluster.submit(a_job("2"))
        before = (await cluster.row("1"))["lease_until"]
        cluster.clock.pass_by(LEASE / 2)
        engine.database.fails = False
        assert (await hands.next()).job.id == "2"
        await renewed(cluster, "1", before)
        await cluster.cancel("1")
        await asyncio.wait_for(hold.stopped(), PATIENCE)
        hands.let_go("1", "2")
    assert hands.begun == ["1", "2"]


async def test_an_end_is_written_again_and_again_while_the_database_fails(
    cluster: Cluster, hands: Hands, caplog: pytest.LogCaptureFixture
) -> None:
    await cluster.submit(a_job("1", replay=Replay.NEVER))
    engine = await cluster.engine(hands)
    async with engine.serving():
        await hands.next()
        engine.database.fails = True
        hands.let_go("1")

        async def is_noticed() -> bool:
            return caplog.text.count("ending job 1: The database") >= 2

        await soon(is_noticed)
        assert await cluster.state("1") == JobState.RUNNING
        engine.database.fails = False
    assert await cluster.state("1") == JobState.DONE
    assert hands.begun == ["1"]


async def test_an_end_that_cannot_be_written_is_given_up_with_the_lease(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.submit(a_job("1", replay=Replay.NEVER))
    engine = await cluster.engine(hands, pace=SHORT)
    async with engine.serving():
        await hands.next()
        engine.database.fails = True
        hands.let_go("1")
    row = await cluster.row("1")
    assert (row["state"], row["fence"]) == (JobState.RUNNING, 1)


async def test_the_end_of_a_handler_that_was_late_is_still_written_if_nobody_took_the_job(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.submit(a_job("1", replay=Replay.NEVER))
    engine = await cluster.engine(hands, pace=replace(SHORT, beat=NEVER))
    async with engine.serving():
        hold = await hands.next()
        await until_refused(hold)
        hands.let_go("1")
    assert await cluster.state("1") == JobState.DONE


async def test_a_mistake_of_ours_does_not_end_the_loops(
    cluster: Cluster, hands: Hands, caplog: pytest.LogCaptureFixture
) -> None:
    await left_by_the_dead(cluster, "1")
    cluster.dead = _Broken()
    engine = await cluster.engine(hands)
    async with engine.serving():

        async def is_noticed() -> bool:
            return "nobody thought of this" in caplog.text

        await soon(is_noticed)
        await cluster.submit(a_job("2"))
        hands.let_go("2")
        await hands.next()


class _Broken(set[str]):
    def __contains__(self, _: object) -> bool:
        raise RuntimeError("nobody thought of this")
