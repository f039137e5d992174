"""`approvals.store.ApprovalStore`: each sentence of the port, on every database."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from approvals import cards
from approvals.cards import Shown, card_for
from approvals.models import Denial, Request, Run, RunState, State, StepState
from approvals.store import ApprovalStore
from core import ids
from core.cards import encode
from core.errors import Refused
from core.transcript import AgentText
from tests.builders import (
    CONVERSATION,
    TENANT,
    a_checked,
    a_new_request,
    a_plan,
    a_rule,
    a_tool,
    a_turn,
)
from tests.fakes.clock import START, FrozenClock
from tests.stores import (
    OTHER_CONVERSATION,
    OTHER_TENANT,
    SUCCEEDED,
    THEIR_CONVERSATION,
    Act,
    Connect,
    CutDatabase,
    CutHere,
    Prepare,
    Stores,
    everything,
    granted,
    log_of,
    logged_by,
    now,
    opened,
    running,
    said_in,
    stepped,
    whole_or_nothing,
)

HOUR = timedelta(hours=1)
A_MOMENT = timedelta(microseconds=1)
TWO = a_rule(quorum=2)


# Ways for a request to end. Each leaves it in the state that it is named after.


async def _deny(stores: Stores, request: Request) -> Request:
    return await stores.requests.deny(
        request.tenant, request.id, principal="carol", reason="not now"
    )


async def _revoke(stores: Stores, request: Request) -> Request:
    return await stores.requests.revoke(
        request.tenant, request.id, principal="bob", reason="the file words.txt changed"
    )


async def _end(stores: Stores, clock: FrozenClock, state: State) -> Request:
    """Return a request that ended like this."""
    request = await granted(stores)
    if state is State.SPENT:
        assert await stores.requests.spend(request, principal="bob", run=ids.run_id())
    elif state is State.DENIED:
        await _deny(stores, request)
    elif state is State.REVOKED:
        await _revoke(stores, request)
    elif state is State.SUPERSEDED:
        await opened(stores, a_new_request(supersedes=request.id))
    else:
        clock.pass_by(HOUR)
    ended = await now(stores, request)
    assert ended.state is state
    return ended


ENDS = (State.SPENT, State.DENIED, State.EXPIRED, State.REVOKED, State.SUPERSEDED)


# open


async def test_a_request_is_kept_as_it_was_given(
    requests: ApprovalStore, clock: FrozenClock
) -> None:
    about = AgentText(rationale="it is missing", limitations="none", alternatives="wait")
    calls = (a_checked("alpha"), a_checked("beta", tool=a_tool("add-word", steps=2)))
    new = a_new_request(*calls, rule=a_rule(2, True, 3 * HOUR, name="high"), about=about)
    request = await requests.open(new)
    assert isinstance(request, Request)
    assert await requests.get(TENANT, new.id) == request
    assert request == Request(
        id=new.id,
        tenant=TENANT,
        conversation=CONVERSATION,
        turn="t_1",
        requester="alice",
        plan_body=new.plan.canonical,
        plan_sha256=new.plan.sha256,
        rule=new.rule,
        state=State.OPEN,
        votes=(),
        about=about,
        card=new.card(new.id, clock.now() + 3 * HOUR),
        times_asked=1,
        opened_at=clock.now(),
        expires_at=clock.now() + 3 * HOUR,
        ended_by=None,
        reason="",
    )
    assert request.plan == new.plan


async def test_the_card_is_said_in_the_conversation(stores: Stores) -> None:
    request = await opened(stores)
    assert await said_in(stores, CONVERSATION, "card") == [encode(request.card)]
    assert await said_in(stores, OTHER_CONVERSATION, "card") == []


@pytest.mark.parametrize("voters", [(), ("bob",)], ids=["open", "granted"])
async def test_c32_the_same_asked_again_is_counted_and_no_second_request(
    stores: Stores, clock: FrozenClock, voters: tuple[str, ...]
) -> None:
    first = await granted(stores, None, *voters) if voters else await opened(stores)
    clock.pass_by(HOUR / 2)
    again = await stores.requests.open(a_new_request())
    assert isinstance(again, Request)
    assert again == replace(first, times_asked=2)
    assert again.expires_at == START + HOUR
    assert await stores.records.requests() == [again]
    assert len(await said_in(stores, CONVERSATION, "card")) == 1


@pytest.mark.parametrize("state", ENDS)
async def test_c32_what_has_ended_is_no_twin(
    stores: Stores, clock: FrozenClock, state: State
) -> None:
    ended = await _end(stores, clock, state)
    if state is State.SUPERSEDED:
        await stores.requests.revoke(
            TENANT, (await stores.records.requests())[0].id, principal="bob", reason="test"
        )
        for live in await stores.records.requests():
            await stores.requests.revoke(TENANT, live.id, principal="bob", reason="test")
    supersedes = ended.id if state is State.DENIED else None
    fresh = await opened(stores, a_new_request(supersedes=supersedes))
    assert fresh.id != ended.id
    assert (fresh.state, fresh.times_asked, fresh.votes) == (State.OPEN, 1, ())
    assert await now(stores, ended) == ended


@pytest.mark.parametrize(
    "other",
    [
        a_new_request(requester="dave"),
        a_new_request(conversation=OTHER_CONVERSATION),
        a_new_request(a_checked("beta")),
        a_new_request(plan=a_plan(rules="other rules")),
        a_new_request(plan=a_plan(sandbox="docker")),
    ],
    ids=["requester", "conversation", "arguments", "rules", "sandbox"],
)
async def test_c32_whatever_differs_is_another_request(
    stores: Stores, other: Callable[[], object]
) -> None:
    first = await opened(stores)
    assert isinstance(other, type(a_new_request()))
    second = await opened(stores, other)
    assert second.id == other.id
    assert await now(stores, first) == first


async def test_c32_agent_text_is_replaced_only_before_the_first_vote(stores: Stores) -> None:
    first = await opened(stores, a_new_request(rule=TWO, about=AgentText(rationale="one")))
    asked = a_new_request(rule=TWO, about=AgentText(rationale="two"))
    second = await opened(stores, asked)
    assert second.about.rationale == "two"
    assert second.card == asked.card(first.id, first.expires_at)
    assert second.card != first.card
    await stores.requests.vote(TENANT, first.id, principal="bob")
    third = await opened(stores, a_new_request(rule=TWO, about=AgentText(rationale="three")))
    assert (third.about, third.card) == (second.about, second.card)
    assert third.times_asked == 3


async def test_c32_two_processes_that_ask_the_same_get_one_request(
    stores: Stores, connect: Connect
) -> None:
    others = [Stores(await connect()) for _ in range(8)]
    found = await asyncio.gather(*(opened(other) for other in others))
    assert len({request.id for request in found}) == 1
    assert sorted(request.times_asked for request in found) == [1, 2, 3, 4, 5, 6, 7, 8]


async def test_c32_a_short_id_that_names_another_plan_is_refused(stores: Stores) -> None:
    new = a_new_request()
    await stores.conversations.keep_plan(TENANT, new.plan.id, "0" * 64, "another plan")
    before = await everything(stores.database)
    with pytest.raises(Refused, match="same short id"):
        await stores.requests.open(new)
    assert await everything(stores.database) == before


async def test_c32_a_short_id_of_another_tenant_is_free(stores: Stores) -> None:
    new = a_new_request()
    await stores.conversations.keep_plan(OTHER_TENANT, new.plan.id, "0" * 64, "another plan")
    assert (await opened(stores, new)).plan == new.plan


@pytest.mark.parametrize("voters", [(), ("bob",)], ids=["open", "granted"])
async def test_what_supersedes_a_live_request_ends_it(
    stores: Stores, voters: tuple[str, ...]
) -> None:
    old = await granted(stores, None, *voters) if voters else await opened(stores)
    new = await opened(stores, a_new_request(supersedes=old.id, requester="dave"))
    assert (new.state, new.times_asked, new.votes) == (State.OPEN, 1, ())
    ended = await now(stores, old)
    assert ended == replace(old, state=State.SUPERSEDED, ended_by="dave")


@pytest.mark.parametrize("state", ENDS)
async def test_what_supersedes_an_ended_request_leaves_its_end(
    stores: Stores, clock: FrozenClock, state: State
) -> None:
    ended = await _end(stores, clock, state)
    await opened(stores, a_new_request(a_checked("beta"), supersedes=ended.id))
    assert await now(stores, ended) == ended


# get


@pytest.mark.parametrize("unknown", ["", "0" * 32, "p_1", "' OR 1=1 --", "\0", "*", "é" * 4000])
async def test_get_returns_none_for_an_unknown_id(requests: ApprovalStore, unknown: str) -> None:
    await requests.open(a_new_request())
    assert await requests.get(TENANT, unknown) is None


# A request past its time is expired before anything else is done to it.


async def test_a_request_lives_until_the_moment_before_its_time(
    stores: Stores, clock: FrozenClock
) -> None:
    request = await granted(stores)
    clock.pass_by(HOUR - A_MOMENT)
    assert (await now(stores, request)).state is State.GRANTED
    assert await stores.requests.spend(request, principal="bob", run="r_1") is not None


@pytest.mark.parametrize("late", [timedelta(0), A_MOMENT, 100 * HOUR])
async def test_now_equal_to_expires_at_is_expired(
    stores: Stores, clock: FrozenClock, late: timedelta
) -> None:
    request = await granted(stores)
    clock.pass_by(HOUR + late)
    assert await stores.requests.spend(request, principal="bob", run="r_1") is None
    assert await stores.runs.run(TENANT, "r_1") is None
    assert (await now(stores, request)).state is State.EXPIRED


async def test_the_spend_itself_refuses_at_the_boundary(stores: Stores, clock: FrozenClock) -> None:
    """Even where the expiry before it had done nothing, the spend's own condition holds."""
    request = await granted(stores)
    clock.pass_by(HOUR)
    blind = Stores(_Forgetting(stores.database, "SET state = 'expired'"))
    assert await blind.requests.spend(request, principal="bob", run="r_1") is None
    assert await stores.runs.run(TENANT, "r_1") is None


class _Forgetting(CutDatabase):
    """A database that skips the statements that hold a text, as if they had found nothing."""

    def __init__(self, database: object, text: str) -> None:
        super().__init__(database, -1)  # type: ignore[arg-type]
        self.text = text
