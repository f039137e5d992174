"""What shows a run in its thread: when it is queued, who is to draw its end, and that no cut loses it."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial

import pytest

from adapters.storage import jobs
from adapters.storage.transactions import Row, Transaction, rows
from approvals.models import Request, Run, RunState, StepEnd
from core.deliveries import EDIT, POST, Delivery, lane_of, post_of
from core.jobs import Job, JobState, LeaseLost
from tests.builders import TENANT, THREAD, a_checked, a_new_request, a_new_turn, a_tool
from tests.fakes.clock import FrozenClock
from tests.stores import (
    FAILED,
    LEASE,
    OTHER_TENANT,
    OWNER,
    SUCCEEDED,
    UNKNOWN,
    Act,
    Stores,
    claimed,
    erasing,
    granted,
    heard,
    jobs_of,
    notice,
    opened,
    said_in,
    stepped,
    whole_or_nothing,
)

HERE = "c_thread"
SHOWS = post_of(HERE, 3)
SOON = timedelta(seconds=2)
TWO = a_tool(steps=2)


@pytest.fixture
async def thread(stores: Stores) -> Stores:
    """Return the stores, with a conversation in a thread in which alice asked something."""
    await heard(stores, a_new_turn("t_thread", opens=HERE, place=THREAD))
    return stores


async def _granted(stores: Stores) -> Request:
    return await granted(stores, a_new_request(a_checked(tool=TWO), conversation=HERE))


async def _running(stores: Stores, request: Request | None = None) -> Run:
    """Return a run that its job's holder has begun."""
    request = request or await _granted(stores)
    job = await claimed(stores, request)
    spent = await stores.requests.spend(request, job=job, run="r_1")
    assert spent is not None
    return spent.run


async def _shown(stores: Stores, clock: FrozenClock) -> Run:
    """Return a run that is shown in its thread."""
    run = await _running(stores)
    await _delivered(stores)
    clock.pass_by(SOON)
    assert await _delivered(stores) == [SHOWS]
    await stores.deliveries.posted(TENANT, HERE, 3, "m1")
    return run


async def _delivered(stores: Stores, *, by: str = "another process") -> list[str]:
    """Have everything that is due be delivered, in order."""
    done = list[str]()
    while job := await _claim(stores, by=by):
        assert await stores.database.transact(partial(_finished, job))
        done.append(job.id)
    return done


def _finished(job: Job, now: datetime) -> Transaction[bool]:
    return jobs.finish(now, job, JobState.DONE)


async def _claim(
    stores: Stores, *, only: str | None = None, by: str = "another process"
) -> Job | None:
    found = await stores.database.transact(
        lambda now: jobs.claim(now, by, LEASE, [POST, EDIT], most=1, only=only)
    )
    return found[0] if found else None


async def _job(stores: Stores, name: str) -> Row:
    return next(row for row in await jobs_of(stores, POST, EDIT) if row["id"] == name)


async def _redrawn(stores: Stores) -> list[Row]:
    """Return the jobs that are to draw the run anew."""
    return [row for row in await jobs_of(stores, EDIT) if '"run":' in row["payload"]]


async def test_a_run_that_begins_leaves_a_delivery_that_waits_a_little(thread: Stores) -> None:
    run = await _running(thread)
    job = await _job(thread, SHOWS)
    assert (job["kind"], job["state"], job["lane"]) == (POST, "queued", lane_of(HERE))
    assert job["run_at"] == "2026-03-01T09:30:02.000000Z"
    assert await said_in(thread, HERE, "progress") == ["Run r_1 began: append-word."]
    shown = Delivery(
        place=THREAD,
        kind="progress",
        text="Run r_1 began: append-word.",
        about=run.id,
        posted=None,
        asker="alice",
    )
    assert await thread.deliveries.entry(TENANT, HERE, 3) == shown
    assert await thread.deliveries.progress(TENANT, run.id) == shown
    assert await thread.deliveries.progress(OTHER_TENANT, run.id) is None
    assert await thread.deliveries.progress(TENANT, "r_none") is None


async def test_it_holds_up_nothing_that_is_said_meanwhile(
    thread: Stores, clock: FrozenClock
) -> None:
    await _running(thread)
    await opened(thread, a_new_request(a_checked("beta"), conversation=HERE))
    assert (await _delivered(thread))[-1] == post_of(HERE, 4)
    clock.pass_by(SOON)
    assert await _delivered(thread) == [SHOWS]


async def test_where_there_is_no_thread_nothing_shows_a_run(stores: Stores) -> None:
    request = await granted(stores)
    run = await _running(stores, request)
    assert await stores.deliveries.progress(TENANT, run.id) is None
    await stepped(stores, run, SUCCEEDED)
    assert await jobs_of(stores, POST, EDIT) == []
    assert await said_in(stores, request.conversation, "progress") == []


ENDS: Mapping[str, StepEnd] = {"succeeded": SUCCEEDED, "failed": FAILED, "unknown": UNKNOWN}


async def _ends(stores: Stores, run: Run, end: str) -> None:
    """Have a run end in one of the ways in which runs do."""
    if end == "cancelled":
        await stores.runs.cancel(run, why="stopped before it began")
    elif end == "died":
        assert await stores.runs.begin_step(run, 0)
        await notice(stores, OWNER)
    else:
        before = [SUCCEEDED] if end == "succeeded" else []
        await stepped(stores, run, *before, ENDS[end])


WAYS = (*ENDS, "cancelled", "died")


@pytest.mark.parametrize("end", WAYS)
async def test_a_run_that_is_over_before_anybody_began_to_show_it_is_never_shown(
    thread: Stores, clock: FrozenClock, end: str
) -> None:
    await _ends(thread, await _running(thread), end)
    assert (await _job(thread, SHOWS))["state"] == "cancelled"
    clock.pass_by(SOON)
    assert await _claim(thread, only=SHOWS) is None
    assert await _redrawn(thread) == []


@pytest.mark.parametrize("end", WAYS)
async def test_a_run_that_is_shown_is_drawn_anew_however_it_ends_behind_its_report(
    thread: Stores, clock: FrozenClock, end: str
) -> None:
    run = await _shown(thread, clock)
    await _ends(thread, run, end)
    *_, report, last = await jobs_of(thread, POST, EDIT)
    [drawn] = await _redrawn(thread)
    assert (report["kind"], last["id"]) == (POST, drawn["id"])
    assert drawn["payload"] == '{"conversation":"c_thread","run":"r_1"}'
    assert (drawn["lane"], drawn["replay"], drawn["tenant"]) == (lane_of(HERE), "safe", TENANT)
    # Where its process is gone no edit of it can be under way, so anybody may draw it.
    assert drawn["owner"] == (None if end == "died" else OWNER)


async def test_an_end_between_two_steps_is_no_end_of_the_run(
    thread: Stores, clock: FrozenClock
) -> None:
    await stepped(thread, await _shown(thread, clock), SUCCEEDED)
    assert await _redrawn(thread) == []


async def test_one_that_somebody_may_have_posted_without_a_word_is_drawn_anew_behind_that(
    thread: Stores, clock: FrozenClock
) -> None:
    run = await _running(thread)
    await _delivered(thread)
    clock.pass_by(SOON)
    posting = await _claim(thread, only=SHOWS)
    assert posting is not None
    await thread.database.transact(lambda now: jobs.put_back(now, posting, None))
    await stepped(thread, run, FAILED)
    assert (await _job(thread, SHOWS))["state"] == "queued"
    [drawn] = await _redrawn(thread)
    delivered = await _delivered(thread, by=OWNER)
    assert (delivered[0], delivered[-1]) == (SHOWS, drawn["id"])


async def test_what_a_person_found_out_is_drawn_too(thread: Stores, clock: FrozenClock) -> None:
    run = await _shown(thread, clock)
    await stepped(thread, run, UNKNOWN)
    await thread.database.transact(
        lambda _: rows("UPDATE job SET state = 'done' WHERE kind = 'run'")
    )
    await thread.runs.resolve(TENANT, run.id, 0, happened=True, principal="bob")
    first, second = await _redrawn(thread)
    assert (first["owner"], second["owner"]) == (OWNER, None)


async def test_a_run_that_was_never_shown_is_not_drawn_for_what_a_person_found_out(
    thread: Stores,
) -> None:
    run = await _running(thread)
    await stepped(thread, run, UNKNOWN)
    await thread.runs.resolve(TENANT, run.id, 0, happened=True, principal="bob")
    assert await _redrawn(thread) == []


async def _spending(stores: Stores) -> Act:
    request = await _granted(stores)
    job = await claimed(stores, request)
    return lambda on: on.requests.spend(request, job=job, run="r_1")


async def _ending(stores: Stores) -> Act:
    run = await _running(stores)
    assert await stores.runs.begin_step(run, 0)
    return lambda on: on.runs.end_step(run, 0, FAILED)


@pytest.mark.parametrize("what", ["begins", "ends"])
async def test_i11_a_run_and_what_shows_it_are_one_transaction(thread: Stores, what: str) -> None:
    act = await (_spending if what == "begins" else _ending)(thread)
    await whole_or_nothing(thread, act)
    state = "queued" if what == "begins" else "cancelled"
    assert (await _job(thread, SHOWS))["state"] == state


async def test_i11_the_end_of_a_run_that_is_shown_and_its_drawing_are_one_transaction(
    thread: Stores, clock: FrozenClock
) -> None:
    run = await _shown(thread, clock)
    assert await thread.runs.begin_step(run, 0)
    await whole_or_nothing(thread, lambda on: on.runs.end_step(run, 0, FAILED))
    assert len(await _redrawn(thread)) == 1


async def test_whoever_lost_the_run_draws_nothing(thread: Stores, clock: FrozenClock) -> None:
    run = await _shown(thread, clock)
    await thread.database.transact(lambda _: rows("UPDATE job SET fence = fence + 1"))
    with pytest.raises(LeaseLost):
        await thread.runs.cancel(run, why="late")
    assert await _redrawn(thread) == []


async def test_erasing_leaves_nothing_to_post(thread: Stores) -> None:
    run = await _running(thread)
    ended = await stepped(thread, run, FAILED)
    assert ended.state is RunState.FAILED
    await erasing(thread).erase(HERE, account="root")
    assert await thread.deliveries.entry(TENANT, HERE, 3) is None
