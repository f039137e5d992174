"""`approvals.store.Newest`: each sentence of the port, on every database."""

from datetime import timedelta

import pytest

from adapters.storage import newest
from adapters.storage.transactions import rows
from approvals.models import Request, RunState, State
from approvals.store import Ran
from tests.builders import CONVERSATION, TENANT, a_checked, a_new_request
from tests.fakes.clock import FrozenClock
from tests.stores import (
    IN_A_FILE,
    OTHER_CONVERSATION,
    OTHER_TENANT,
    SUCCEEDED,
    THEIR_CONVERSATION,
    UNKNOWN,
    Stores,
    now,
    opened,
    running,
    stepped,
)

A_MOMENT = timedelta(microseconds=1)
HOUR = timedelta(hours=1)


async def ran(stores: Stores, clock: FrozenClock, *ends: object) -> list[Ran]:
    """Return runs that ended like this, one each, newest first: two began at the same time."""
    made = list[Ran]()
    for number, end in enumerate(ends):
        started = await running(stores, a_new_request(a_checked(f"word-{number}")))
        run = await stepped(stores, started, end)  # type: ignore[arg-type]  # each is a StepEnd
        request = await stores.requests.get(TENANT, run.request)
        assert request is not None
        made.append((run, request))
        clock.pass_by(A_MOMENT if number else timedelta())
    await running(
        stores,
        a_new_request(tenant=OTHER_TENANT, conversation=THEIR_CONVERSATION, turn="t_theirs"),
    )
    return sorted(made, key=lambda one: (one[0].started_at, one[0].id), reverse=True)


async def test_runs_are_read_newest_first_a_page_at_a_time(
    stores: Stores, clock: FrozenClock
) -> None:
    made = await ran(stores, clock, SUCCEEDED, UNKNOWN, SUCCEEDED, UNKNOWN, SUCCEEDED)
    read = stores.newest.runs
    assert await read(TENANT, most=9) == made
    assert await read(TENANT, most=2) == made[:2]
    for last in range(5):
        assert await read(TENANT, most=2, before=made[last][0]) == made[last + 1 : last + 3]


async def test_runs_with_an_unknown_step_are_read_alone_and_only_while_it_is(
    stores: Stores, clock: FrozenClock
) -> None:
    made = await ran(stores, clock, SUCCEEDED, UNKNOWN, SUCCEEDED, UNKNOWN)
    new, old = unknown = [one for one in made if one[0].state is RunState.UNKNOWN]
    read = stores.newest.unknown
    assert await read(TENANT, most=9) == unknown
    assert await read(TENANT, most=1) == [new]
    assert await read(TENANT, most=1, before=new[0]) == [old]
    await stores.runs.resolve(TENANT, new[0].id, 0, happened=True, principal="bob")
    assert await read(TENANT, most=9) == [old]


async def test_requests_that_may_be_asked_for_again_are_read_of_one_conversation(
    stores: Stores, clock: FrozenClock
) -> None:
    made = list[Request]()
    for number in range(5):
        made.append(await opened(stores, a_new_request(a_checked(f"word-{number}"))))
        clock.pass_by(A_MOMENT)
    elsewhere = await opened(stores, a_new_request(conversation=OTHER_CONVERSATION, turn="t_2"))
    spent, denied, revoked, waits, *expired = made
    await stores.requests.deny(TENANT, denied.id, principal="bob", reason="")
    await stores.requests.deny(TENANT, elsewhere.id, principal="bob", reason="")
    await stores.requests.revoke(TENANT, revoked.id, principal="bob", reason="stopped")
    read = stores.newest.ended
    ended = [await now(stores, one) for one in (revoked, denied)]
    assert await read(TENANT, CONVERSATION, most=9) == ended
    assert await read(TENANT, CONVERSATION, most=1) == ended[:1]
    assert await read(TENANT, CONVERSATION, most=1, before=ended[0]) == ended[1:]
    clock.pass_by(HOUR)
    found = await read(TENANT, CONVERSATION, most=9)
    ids = [one.id for one in (*reversed(expired), waits, revoked, denied, spent)]
    assert [one.id for one in found] == ids
    assert {one.state for one in found} == {State.EXPIRED, State.REVOKED, State.DENIED}


@IN_A_FILE
@pytest.mark.parametrize(
    ("query", "index"),
    [
        (newest.RUNS, "run_newest (tenant=? AND (started_at,id)<(?,?))"),
        (newest.UNKNOWN, "run_unknown (tenant=? AND (started_at,id)<(?,?))"),
        (
            newest.ENDED,
            "request_ended (tenant=? AND conversation=? AND (opened_at,id)<(?,?))",
        ),
    ],
)
async def test_each_page_is_found_by_an_index_and_needs_no_sorting(
    stores: Stores, query: str, index: str
) -> None:
    given: dict[str, str | int] = {
        "tenant": TENANT,
        "conversation": CONVERSATION,
        "at": "~",
        "id": "",
        "most": 1,
    }
    used = {name: value for name, value in given.items() if f":{name}" in query}
    plan = await stores.database.transact(lambda _: rows(f"EXPLAIN QUERY PLAN {query}", **used))
    assert [row["detail"].partition("INDEX ")[2] for row in plan] == [index]
