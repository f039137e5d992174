"""`approvals.store.Records`: each sentence of the port, on every database."""

from dataclasses import replace
from datetime import timedelta

from approvals.models import State
from approvals.store import Records
from core import audit
from core.conversations import Said
from tests.builders import (
    CONVERSATION,
    TENANT,
    THREAD,
    a_checked,
    a_new_request,
    a_new_turn,
    a_rule,
    a_tool,
)
from tests.fakes.clock import START, FrozenClock
from tests.stores import (
    OTHER_TENANT,
    SUCCEEDED,
    THEIR_CONVERSATION,
    Stores,
    everything,
    granted,
    heard,
    now,
    opened,
    running,
    stepped,
)

HOUR = timedelta(hours=1)
THREAD_ELSEWHERE = replace(THREAD, thread="18.1")
A_MOMENT = timedelta(microseconds=1)
THEIRS = a_new_request(tenant=OTHER_TENANT, conversation=THEIR_CONVERSATION, turn="t_theirs")


async def test_nothing_is_there_at_first(records: Records) -> None:
    assert list(await records.requests()) == []
    assert list(await records.runs()) == []
    assert list(await records.plans("p_1")) == []


async def test_all_requests_of_every_tenant_are_read_newest_first(
    stores: Stores, clock: FrozenClock
) -> None:
    asked = [
        a_new_request(a_checked("alpha"), rule=a_rule(3, expires=2 * HOUR)),
        THEIRS,
        a_new_request(a_checked("beta")),
    ]
    for new in asked:
        await opened(stores, new)
        clock.pass_by(A_MOMENT)
    await stores.requests.vote(TENANT, asked[0].id, principal="zoe")
    clock.pass_by(A_MOMENT)
    await stores.requests.vote(TENANT, asked[0].id, principal="bob")
    await stores.requests.deny(OTHER_TENANT, THEIRS.id, principal="carol", reason="no")
    found = await stores.records.requests()
    assert [request.id for request in found] == [new.id for new in reversed(asked)]
    assert found == [await now(stores, request) for request in found]
    assert [request.state for request in found] == [State.OPEN, State.DENIED, State.OPEN]
    assert found[2].voters == ("zoe", "bob")


async def test_one_request_is_read_by_its_id_alone_as_it_is_now(
    stores: Stores, clock: FrozenClock
) -> None:
    ours, theirs = await opened(stores), await opened(stores, THEIRS)
    await stores.requests.vote(OTHER_TENANT, theirs.id, principal="zoe")
    clock.pass_by(HOUR)
    for one in (ours, theirs):
        as_it_is = await now(stores, one)
        assert as_it_is.state is State.EXPIRED
        assert await stores.records.request(one.id) == as_it_is
    assert await stores.records.request("0" * 32) is None


async def test_a_request_past_its_time_is_read_as_expired(
    stores: Stores, clock: FrozenClock
) -> None:
    await opened(stores)
    clock.pass_by(HOUR)
    assert [request.state for request in await stores.records.requests()] == [State.EXPIRED]


async def test_all_runs_of_every_tenant_are_read_newest_first(
    stores: Stores, clock: FrozenClock
) -> None:
    long = a_checked(tool=a_tool("long", steps=12))
    started = [await running(stores, a_new_request(long), "bob")]
    clock.pass_by(A_MOMENT)
    started.append(await running(stores, THEIRS, "carol"))
    clock.pass_by(A_MOMENT)
    started.append(await running(stores, a_new_request(rule=a_rule(2)), "dave", "bob"))
    await stepped(stores, started[0], SUCCEEDED)
    found = await stores.records.runs()
    assert [run.id for run in found] == [run.id for run in reversed(started)]
    assert found == [await stores.runs.run(run.tenant, run.id) for run in found]
    assert [run.tenant for run in found] == [TENANT, OTHER_TENANT, TENANT]


async def test_what_is_not_answered_yet_is_read_in_order_of_arrival(stores: Stores) -> None:
    for name in ("t_7", "t_5", "t_6"):
        await stores.conversations.receive(a_new_turn(name, conversation=CONVERSATION))
    await stores.conversations.receive(a_new_turn("t_else", opens="c_else"))
    assert [turn.id for turn in await stores.records.waiting(CONVERSATION)] == ["t_7", "t_5", "t_6"]
    assert await stores.records.waiting("c_none") == []


async def test_everything_that_was_said_is_read_oldest_first(
    stores: Stores, clock: FrozenClock
) -> None:
    for number in range(12):
        clock.pass_by(-A_MOMENT)
        new = a_new_turn(
            f"t_{number + 10}",
            f"text {number}",
            conversation=CONVERSATION,
            principal=f"asker-{number}",
        )
        await heard(stores, new)
    assert await stores.records.said(CONVERSATION) == [
        Said(at=START, kind="asked", author="alice", text="append alpha"),
        *(
            Said(
                at=START - (number + 1) * A_MOMENT,
                kind="asked",
                author=f"asker-{number}",
                text=f"text {number}",
            )
            for number in range(12)
        ),
    ]


async def test_nothing_was_said_in_an_unknown_conversation(records: Records) -> None:
    assert list(await records.said("c_none")) == []


async def test_the_plans_of_a_name_are_read_one_a_tenant(stores: Stores) -> None:
    ours, other = a_new_request(), a_new_request(a_checked("beta"))
    assert ours.plan.id == THEIRS.plan.id
    for new in (ours, other):
        await opened(stores, new)
    assert await stores.records.plans(ours.plan.id) == [ours.plan.canonical]
    await opened(stores, THEIRS)
    assert await stores.records.plans(ours.plan.id) == [ours.plan.canonical] * 2
    assert await stores.records.plans("p_none") == []


async def test_the_audit_log_is_read_oldest_first_and_holds_together(
    stores: Stores, clock: FrozenClock
) -> None:
    for number in range(5):
        clock.pass_by(-A_MOMENT)
        await granted(stores, a_new_request(a_checked(f"word-{number}")))
    entries = await stores.records.audit()
    assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
    assert [entry.kind for entry in entries] == ["turn.received", "turn.ended"] * 3 + [
        "request.opened",
        "vote.cast",
        "request.granted",
    ] * 5
    assert audit.verify(entries) == audit.Intact(entries=len(entries), head=entries[-1].hash)


async def test_reading_changes_nothing(stores: Stores) -> None:
    await stepped(stores, await running(stores), SUCCEEDED)
    before = await everything(stores.database)
    await stores.records.requests()
    await stores.records.runs()
    await stores.records.said(CONVERSATION)
    await stores.records.plans("p_1")
    await stores.records.audit()
    assert await everything(stores.database) == before


async def test_what_is_left_to_do_in_a_conversation_is_known_by_kind(stores: Stores) -> None:
    here = "c_thread"
    await stores.conversations.receive(a_new_turn("t_thread", opens=here, place=THREAD))
    assert await stores.records.unfinished(here) == {"turn"}
    await heard(stores, a_new_turn("t_other", opens="c_other", place=THREAD_ELSEWHERE))
    assert await stores.records.unfinished("c_other") == set()
    await granted(stores, a_new_request(conversation="c_other", turn="t_other"))
    assert await stores.records.unfinished("c_other") == {"post", "edit", "run"}
    assert await stores.records.unfinished(here) == {"turn"}
    assert await stores.records.unfinished("c_none") == set()
