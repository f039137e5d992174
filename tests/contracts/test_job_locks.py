"""`core.jobs`: jobs that share a lock never run at the same time, and none of them waits for ever."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from datetime import timedelta

import pytest

from adapters.storage import jobs
from core.jobs import Hold, Job, JobState, NewJob
from tests.fakes.clock import FrozenClock
from tests.jobs import LEASE, Cluster, Hands, a_job
from tests.stores import OTHER_TENANT, Closable, Connect

ENDS = (JobState.DONE, JobState.FAILED, JobState.CANCELLED, JobState.UNKNOWN)


@pytest.fixture
def cluster(connect: Connect, clock: FrozenClock, database: Closable) -> Cluster:
    return Cluster(connect, clock, database)


@pytest.fixture
def hands() -> Hands:
    return Hands()


async def claim(
    cluster: Cluster, owner: str = "a", *, most: int = 50, only: str | None = None
) -> dict[str, Job]:
    """Claim what is to be had, as one process does."""
    found = await cluster.database.transact(
        lambda now: jobs.claim(now, owner, LEASE, ["work"], most=most, only=only)
    )
    return {job.id: job for job in found}


async def claims(cluster: Cluster, owner: str = "a", *, only: str | None = None) -> list[str]:
    return sorted(await claim(cluster, owner, only=only))


async def end(cluster: Cluster, job: Job, state: JobState = JobState.DONE) -> None:
    assert await cluster.database.transact(lambda now: jobs.finish(now, job, state))


async def seized(cluster: Cluster, job: Job, dead: str | None) -> Job:
    taken = await cluster.database.transact(lambda now: jobs.seize(now, "heir", LEASE, job, dead))
    assert taken is not None
    return taken


async def locks(cluster: Cluster) -> list[tuple[str, str]]:
    rows = await cluster.query("SELECT job, lock FROM job_lock ORDER BY job, lock")
    return [(row["job"], row["lock"]) for row in rows]


# Claiming


async def test_one_claim_of_many_takes_the_first_of_each_lock(cluster: Cluster) -> None:
    await cluster.submit(
        a_job("1", locks=("web",)),
        a_job("2", locks=("web",)),
        a_job("3", locks=("db",)),
        a_job("4"),
        a_job("5", locks=("web",)),
    )
    assert await claims(cluster) == ["1", "3", "4"]
    assert await claims(cluster, "b") == []


async def test_what_shares_a_lock_runs_one_after_another_in_the_order_of_submission(
    cluster: Cluster, hands: Hands
) -> None:
    names = [f"{n:02}" for n in range(12)]
    await cluster.submit(*(a_job(name, locks=("web",)) for name in names))
    engines = [await cluster.engine(hands, owner=owner) for owner in "abc"]
    async with engines[0].serving(), engines[1].serving(), engines[2].serving():
        for name in names:
            assert (await hands.next()).job.id == name
            running = await cluster.query("SELECT id FROM job WHERE state = 'running'")
            assert [row["id"] for row in running] == [name]
            hands.let_go(name)
    assert hands.begun == names
    assert await locks(cluster) == []


async def test_a_job_takes_all_its_locks_at_once_or_none(cluster: Cluster) -> None:
    await cluster.submit(
        a_job("1", locks=("db", "web")),
        a_job("2", locks=("cache", "web")),
        a_job("3", locks=("cache",)),  # nobody has this one, but it is the second's turn
        a_job("4", locks=("mail",)),
    )
    first = await claim(cluster)
    assert sorted(first) == ["1", "4"]
    await end(cluster, first["1"])
    second = await claim(cluster)
    assert sorted(second) == ["2"]
    await end(cluster, second["2"])
    assert await claims(cluster) == ["3"]


async def test_locks_in_another_order_do_not_wait_for_one_another_for_ever(
    cluster: Cluster,
) -> None:
    await cluster.submit(a_job("1", locks=("a", "b")), a_job("2", locks=("b", "a")))
    first = await claim(cluster)
    assert sorted(first) == ["1"]
    await end(cluster, first["1"])
    assert await claims(cluster) == ["2"]


async def test_the_same_lock_twice_is_one(cluster: Cluster) -> None:
    await cluster.submit(a_job("1", locks=("web", "web")))
    assert await locks(cluster) == [("1", "web")]
    assert await claims(cluster) == ["1"]


async def test_an_empty_text_is_a_lock_and_only_the_very_same_text_is_the_same(
    cluster: Cluster,
) -> None:
    texts = ("", "", "web", "Web", "web ", "w\u00e9b", "we\u0301b", '["web"]', "\U0001f512")
    await cluster.submit(*(a_job(str(n), locks=(text,)) for n, text in enumerate(texts)))
    assert await claims(cluster) == ["0", "2", "3", "4", "5", "6", "7", "8"]
    assert {text for _, text in await locks(cluster)} == set(texts)


async def test_another_tenants_lock_is_another_one(cluster: Cluster) -> None:
    await cluster.submit(
        a_job("ours", locks=("web",)), a_job("theirs", locks=("web",), tenant=OTHER_TENANT)
    )
    assert await claims(cluster) == ["ours", "theirs"]


async def test_no_more_than_wanted_are_taken_and_the_oldest_first(cluster: Cluster) -> None:
    await cluster.submit(*(a_job(str(n), locks=(f"lock {n % 3}",)) for n in range(6)))
    assert sorted(await claim(cluster, most=2)) == ["0", "1"]
    assert sorted(await claim(cluster, most=2)) == ["2"]


CANNOT_BE_HAD: Mapping[str, NewJob] = {
    "later": a_job("1", locks=("web",), delay=timedelta(minutes=1)),
    "of another kind": a_job("1", locks=("web",), kind="newer"),
    "kept for somebody else": a_job("1", locks=("web",), reserved_for="b"),
}


@pytest.mark.parametrize("first", CANNOT_BE_HAD)
async def test_an_earlier_job_that_this_claim_cannot_have_is_not_waited_for(
    cluster: Cluster, first: str
) -> None:
    await cluster.submit(CANNOT_BE_HAD[first], a_job("2", locks=("web",)))
    assert await claims(cluster) == ["2"]


async def test_an_earlier_job_that_is_kept_for_the_claimant_is_waited_for(
    cluster: Cluster,
) -> None:
    await cluster.submit(a_job("1", locks=("web",), reserved_for="a"), a_job("2", locks=("web",)))
    assert await claims(cluster) == ["1"]


async def test_who_wants_one_job_alone_does_not_wait_for_one_that_nobody_runs(
    cluster: Cluster,
) -> None:
    await cluster.submit(a_job("1", locks=("web",)), a_job("2", locks=("web",)))
    assert await claims(cluster, only="2") == ["2"]
    assert await claims(cluster, "b") == []


async def test_who_wants_one_job_alone_has_it_once_its_lock_is_free(cluster: Cluster) -> None:
    await cluster.submit(
        a_job("1", locks=("web",)), a_job("2", locks=("web",)), a_job("3", locks=("db", "web"))
    )
    held = await claim(cluster, only="1")
    assert await claims(cluster, "b", only="3") == []
    await end(cluster, held["1"])
    assert await claims(cluster, "b", only="3") == ["3"]


async def test_what_runs_is_waited_for_whoever_runs_it_and_whatever_it_is(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.submit(a_job("1", locks=("web",), kind="newer"))
    async with (await cluster.engine(hands, "newer", owner="young")).serving():
        await hands.next()
        await cluster.submit(a_job("2", locks=("web",)))
        assert await claims(cluster) == []
        hands.let_go("1")
    assert await claims(cluster) == ["2"]


async def test_the_next_begins_without_waiting_for_a_beat_or_a_poll(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.submit(*(a_job(name, locks=("web",)) for name in "123456"))
    hands.let_go(*"123456")
    async with (await cluster.engine(hands)).serving():
        assert [(await hands.next()).job.id for _ in range(6)] == list("123456")


# Ending


async def _finished(cluster: Cluster, job: Job, state: JobState) -> None:
    await end(cluster, job, state)


async def _released(cluster: Cluster, job: Job, state: JobState) -> None:
    taken = await seized(cluster, job, "a")
    await cluster.database.transact(lambda now: jobs.release(now, taken, state))


@pytest.mark.parametrize("state", ENDS)
@pytest.mark.parametrize("ended", [_finished, _released])
async def test_however_it_ends_its_locks_are_free_and_forgotten(
    cluster: Cluster,
    ended: Callable[[Cluster, Job, JobState], Awaitable[None]],
    state: JobState,
) -> None:
    await cluster.submit(a_job("1", locks=("db", "web")), a_job("2", locks=("web",)))
    held = await claim(cluster)
    assert sorted(held) == ["1"]
    await ended(cluster, held["1"], state)
    assert await cluster.state("1") == state
    assert await locks(cluster) == [("2", "web")]
    assert await claims(cluster) == ["2"]


async def test_what_is_cancelled_in_the_queue_is_not_waited_for(cluster: Cluster) -> None:
    await cluster.submit(a_job("1", locks=("web",)), a_job("2", locks=("web",)))
    await cluster.cancel("1")
    assert await locks(cluster) == [("2", "web")]
    assert await claims(cluster) == ["2"]


async def test_what_was_told_to_end_is_waited_for_until_it_has(cluster: Cluster) -> None:
    await cluster.submit(a_job("1", locks=("web",)), a_job("2", locks=("web",)))
    held = await claim(cluster)
    await cluster.cancel("1")
    assert await claims(cluster, "b") == []
    await end(cluster, held["1"], JobState.CANCELLED)
    assert await claims(cluster, "b") == ["2"]


async def test_a_job_whose_lease_is_over_is_waited_for_until_somebody_took_it(
    cluster: Cluster,
) -> None:
    await cluster.submit(a_job("1", locks=("web",)), a_job("2", locks=("web",)))
    held = await claim(cluster)
    cluster.clock.pass_by(LEASE * 2)
    assert await claims(cluster, "b") == []
    taken = await seized(cluster, held["1"], None)
    assert await claims(cluster, "b") == []
    await cluster.database.transact(lambda now: jobs.release(now, taken, JobState.UNKNOWN))
    assert await claims(cluster, "b") == ["2"]


async def test_a_job_that_is_queued_again_has_its_locks_and_its_place(cluster: Cluster) -> None:
    await cluster.submit(a_job("1", locks=("db", "web")), a_job("2", locks=("web",)))
    held = await claim(cluster)
    taken = await seized(cluster, held["1"], "a")
    await cluster.database.transact(lambda now: jobs.release(now, taken, JobState.QUEUED))
    assert await locks(cluster) == [("1", "db"), ("1", "web"), ("2", "web")]
    again = await claim(cluster, "b")
    assert {job.id: job.attempt for job in again.values()} == {"1": 2}
    assert await claims(cluster, "c", only="2") == []


async def test_a_dead_holders_locks_are_free_once_what_it_left_is_ended(
    cluster: Cluster, hands: Hands
) -> None:
    await cluster.submit(a_job("1", locks=("web",)), a_job("2", locks=("web",)))
    await claim(cluster, "dies", only="1")
    cluster.dead.add("dies")
    seen: list[list[str]] = []

    async def clean(_: Job) -> None:
        seen.append(await claims(cluster, "b"))

    await (await cluster.engine(hands, owner="c", clean=clean)).table.notice()
    assert seen == [[]]
    assert await claims(cluster, "b") == ["1"]  # it was safe, so it is queued again, in its place


# Submitting


async def test_a_job_that_is_not_queued_a_second_time_adds_no_lock(cluster: Cluster) -> None:
    await cluster.submit(a_job("1", dedupe="key", locks=("web",)))
    assert await cluster.submit(a_job("2", dedupe="key", locks=("db",))) == ["1"]
    assert await locks(cluster) == [("1", "web")]


# Many at once


class Watching:
    """A handler that notes whenever two jobs have a lock at the same time."""

    def __init__(self, wanted: Mapping[str, Collection[str]]) -> None:
        self.ran: list[str] = []
        self.clashes: list[tuple[str, str]] = []
        self._wanted = wanted
        self._inside: set[str] = set()

    async def __call__(self, hold: Hold) -> None:
        """Be inside for a few turns of the loop."""
        name = hold.job.id
        mine = set(self._wanted[name])
        self.clashes += [(name, o) for o in self._inside if mine & set(self._wanted[o])]
        self._inside.add(name)
        for _ in range(3):
            await asyncio.sleep(0)
        self._inside.remove(name)
        self.ran.append(name)


async def test_whatever_locks_many_jobs_have_none_clash_and_all_end(cluster: Cluster) -> None:
    wanted = {
        f"{n:02}": tuple(lock for bit, lock in enumerate("abcd") if n >> bit & 1) for n in range(48)
    }
    watching = Watching(wanted)
    engines = [await cluster.engine(watching, owner=owner) for owner in "xyz"]
    async with engines[0].serving(), engines[1].serving(), engines[2].serving():
        await cluster.submit(*(a_job(name, locks=has) for name, has in wanted.items()))
        for name in wanted:
            await cluster.until(name, JobState.DONE)
    assert watching.clashes == []
    assert sorted(watching.ran) == sorted(wanted)
    assert await locks(cluster) == []
