"""`approvals.store.ApprovalStore`: each sentence of the port, on every database."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from adapters.storage import jobs
from adapters.storage.transactions import rows, text_of
from approvals import cards
from approvals.models import (
    LIVE,
    REMIND,
    RUN,
    Denial,
    Request,
    Run,
    RunState,
    Spent,
    State,
    Step,
    StepState,
    Vote,
    Voted,
    Yes,
    job_of,
)
from approvals.proposals import NewRequest
from approvals.store import ApprovalStore
from core import canonical, ids
from core.canonical import sha256
from core.cards import encode
from core.errors import Refused
from core.jobs import LeaseLost
from core.rates import REFUSALS
from core.tools import Checked
from core.transcript import AgentText
from tests.builders import (
    CONVERSATION,
    TENANT,
    a_checked,
    a_new_request,
    a_plan,
    a_rule,
    a_tool,
)
from tests.fakes.clock import START, FrozenClock
from tests.stores import (
    LOST,
    OTHER_CONVERSATION,
    OTHER_TENANT,
    TABLES,
    THEIR_CONVERSATION,
    Act,
    Connect,
    ForgetfulDatabase,
    Prepare,
    Stores,
    at_rest,
    claimed,
    everything,
    facts_of,
    granted,
    jobs_of,
    kept_plan,
    log_of,
    logged_by,
    lose,
    now,
    opened,
    principal_of,
    said_in,
    spend,
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
        assert await spend(stores, request, ids.run_id())
    elif state is State.DENIED:
        await _deny(stores, request)
    elif state is State.REVOKED:
        await _revoke(stores, request)
    elif state is State.SUPERSEDED:
        await opened(stores, a_new_request(a_checked("beta"), supersedes=request.id))
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
    new = a_new_request(
        *calls, rule=a_rule(2, requester_may_vote=True, expires=3 * HOUR, name="high"), about=about
    )
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
        card_body=encode(new.card(new.id, clock.now() + 3 * HOUR)),
        card_sha256=sha256(encode(new.card(new.id, clock.now() + 3 * HOUR))),
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
async def test_c32_whatever_differs_is_another_request(stores: Stores, other: NewRequest) -> None:
    first = await opened(stores)
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
    assert [request.times_asked for request in await stores.records.requests()] == [8]


async def test_c32_a_short_id_that_names_another_plan_is_refused(stores: Stores) -> None:
    new = a_new_request()
    await kept_plan(stores, TENANT, new.plan.id, "0" * 64, "another plan")
    before = await everything(stores.database)
    with pytest.raises(Refused, match="same short id"):
        await stores.requests.open(new)
    assert await everything(stores.database) == before


async def test_c32_a_short_id_of_another_tenant_is_free(stores: Stores) -> None:
    new = a_new_request()
    await kept_plan(stores, OTHER_TENANT, new.plan.id, "0" * 64, "another plan")
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
    assert await spend(stores, request, "r_1") is not None


@pytest.mark.parametrize("late", [timedelta(0), A_MOMENT, 100 * HOUR])
async def test_now_equal_to_expires_at_is_expired(
    stores: Stores, clock: FrozenClock, late: timedelta
) -> None:
    request = await granted(stores)
    clock.pass_by(HOUR + late)
    assert await spend(stores, request, "r_1") is None
    assert await stores.runs.run(TENANT, "r_1") is None
    assert (await now(stores, request)).state is State.EXPIRED


async def test_the_condition_of_the_spend_holds_the_time_itself(
    stores: Stores, clock: FrozenClock
) -> None:
    request = await granted(stores)
    clock.pass_by(HOUR)
    blind = Stores(ForgetfulDatabase(stores.database, "SET state = 'expired'"))
    assert await spend(blind, request, "r_1") is None
    assert await stores.runs.run(TENANT, "r_1") is None


LATE: Mapping[str, Callable[[Stores, Request], Awaitable[object]]] = {
    "get": now,
    "vote": lambda on, request: on.requests.vote(TENANT, request.id, principal="dave"),
    "deny": _deny,
    "revoke": _revoke,
    "spend": lambda on, request: spend(on, request, "r_1"),
    "open another": lambda on, _: on.requests.open(a_new_request(a_checked("beta"))),
    "open the same": lambda on, _: on.requests.open(a_new_request()),
    "supersede": lambda on, request: on.requests.open(a_new_request(supersedes=request.id)),
    "live": lambda on, _: on.requests.live(TENANT, None),
    "remind": lambda on, request: on.requests.remind(TENANT, request.id, "Still waiting."),
    "expire": lambda on, _: on.requests.expire(),
    "records": lambda on, _: on.records.requests(),
}


@pytest.mark.parametrize("method", LATE)
@pytest.mark.parametrize("voters", [(), ("bob",)], ids=["open", "granted"])
async def test_a_request_past_its_time_is_expired_before_anything_else(
    stores: Stores, clock: FrozenClock, method: str, voters: tuple[str, ...]
) -> None:
    request = await granted(stores, None, *voters) if voters else await opened(stores)
    clock.pass_by(HOUR)
    await LATE[method](stores, request)
    # The log is read first: reading the request would expire it, too.
    expired = [entry for entry in await log_of(stores) if entry.kind == "request.expired"]
    assert [canonical.parse(entry.body) for entry in expired] == [
        {"principal": "sayso", "request": request.id}
    ]
    assert await now(stores, request) == replace(request, state=State.EXPIRED)
    assert cards.expired(await now(stores, request)) in await said_in(stores, CONVERSATION, "note")


# vote


async def test_a_vote_is_recorded_with_its_time(stores: Stores, clock: FrozenClock) -> None:
    request = await opened(stores, a_new_request(rule=TWO))
    clock.pass_by(A_MOMENT)
    voted = await stores.requests.vote(TENANT, request.id, principal="bob")
    vote = Vote(principal="bob", at=START + A_MOMENT)
    assert voted == Voted(request=replace(request, votes=(vote,)), yes=Yes.COUNTED, job=None)
    assert await now(stores, request) == voted.request


@pytest.mark.parametrize("quorum", [1, 2, 3])
async def test_the_vote_that_completes_the_quorum_grants(stores: Stores, quorum: int) -> None:
    request = await opened(stores, a_new_request(rule=a_rule(quorum)))
    for number in range(1, quorum + 1):
        voted = await stores.requests.vote(TENANT, request.id, principal=f"voter-{number}")
        assert voted.request.state is (State.GRANTED if number == quorum else State.OPEN)
    assert (await now(stores, request)).voters == tuple(
        f"voter-{number}" for number in range(1, quorum + 1)
    )


async def test_one_person_has_one_vote(stores: Stores, clock: FrozenClock) -> None:
    request = await opened(stores, a_new_request(rule=TWO))
    once = await stores.requests.vote(TENANT, request.id, principal="bob")
    clock.pass_by(A_MOMENT)
    again = await stores.requests.vote(TENANT, request.id, principal="bob")
    assert (once.yes, again) == (Yes.COUNTED, replace(once, yes=Yes.AGAIN))
    assert once.request.state is State.OPEN


@pytest.mark.parametrize("state", [State.GRANTED, *ENDS])
async def test_a_vote_counts_only_while_the_request_is_open(
    stores: Stores, clock: FrozenClock, state: State
) -> None:
    request = await (granted(stores) if state is State.GRANTED else _end(stores, clock, state))
    before = await everything(stores.database)
    late = await stores.requests.vote(TENANT, request.id, principal="dave")
    assert late == Voted(request=request, yes=Yes.LATE, job=None)
    assert await everything(stores.database) == before


async def test_last_votes_cast_at_once_grant_once(stores: Stores, connect: Connect) -> None:
    others = [Stores(await connect()) for _ in range(8)]
    request = await opened(stores, a_new_request(rule=a_rule(8)))
    await asyncio.gather(
        *(
            other.requests.vote(TENANT, request.id, principal=f"voter-{number}")
            for number, other in enumerate(others)
        )
    )
    voted = await now(stores, request)
    assert (voted.state, len(set(voted.voters))) == (State.GRANTED, 8)
    assert [e.kind for e in await log_of(stores)].count("request.granted") == 1


# The job that runs it


async def _runs(stores: Stores) -> list[tuple[str, ...]]:
    return await _jobs(stores, RUN)


async def _jobs(stores: Stores, kind: str) -> list[tuple[str, ...]]:
    found = await stores.database.transact(
        lambda _: rows(
            "SELECT id, kind, tenant, payload, replay, state FROM job WHERE kind = :kind"
            " ORDER BY seq",
            kind=kind,
        )
    )
    return [tuple(row) for row in found]


@pytest.mark.parametrize("quorum", [1, 2, 3])
async def test_the_vote_that_grants_queues_one_run_and_no_other_vote_does(
    stores: Stores, quorum: int
) -> None:
    request = await opened(stores, a_new_request(rule=a_rule(quorum)))
    for number in range(1, quorum):
        voted = await stores.requests.vote(TENANT, request.id, principal=f"voter-{number}")
        assert voted.job is None
    assert await _runs(stores) == []
    voted = await stores.requests.vote(TENANT, request.id, principal="last")
    assert voted.job == job_of(request.id) == f"run:{request.id}"
    payload = f'{{"request":"{request.id}"}}'
    queued = [(voted.job, "run", TENANT, payload, "never", "queued")]
    assert await _runs(stores) == queued
    for voter, yes in (("last", Yes.AGAIN), ("one more", Yes.LATE)):
        late = await stores.requests.vote(TENANT, request.id, principal=voter)
        assert late == Voted(request=voted.request, yes=yes, job=None)
    assert await _runs(stores) == queued


async def test_last_votes_cast_at_once_queue_one_run(stores: Stores, connect: Connect) -> None:
    others = [Stores(await connect()) for _ in range(8)]
    request = await opened(stores, a_new_request(rule=TWO))
    voted = await asyncio.gather(
        *(
            other.requests.vote(TENANT, request.id, principal=f"voter-{number}")
            for number, other in enumerate(others)
        )
    )
    assert [one.job for one in voted if one.job] == [job_of(request.id)]
    assert [row[0] for row in await _runs(stores)] == [job_of(request.id)]


async def test_i11_a_grant_without_its_job_or_a_job_without_its_grant_cannot_be(
    stores: Stores,
) -> None:
    request = await opened(stores)
    cuts = await whole_or_nothing(
        stores, lambda on: on.requests.vote(TENANT, request.id, principal="bob")
    )
    assert cuts >= len(("vote", "audit", "grant", "audit", "job", "commit"))
    assert (await now(stores, request)).state is State.GRANTED
    assert [row[0] for row in await _runs(stores)] == [job_of(request.id)]


@pytest.mark.parametrize("how", LOST)
async def test_a_claim_that_is_not_held_any_more_spends_nothing(stores: Stores, how: str) -> None:
    request = await granted(stores)
    job = await claimed(stores, request)
    await lose(stores, job, how)
    before = await everything(stores.database)
    with pytest.raises(LeaseLost):
        await stores.requests.spend(request, job=job, run="r_1")
    assert await everything(stores.database) == before


async def test_a_claim_that_was_told_to_end_spends_nothing(stores: Stores) -> None:
    request = await granted(stores)
    job = await claimed(stores, request)
    await stores.database.transact(lambda at: jobs.cancel(at, job.id))
    before = await everything(stores.database)
    assert await stores.requests.spend(request, job=job, run="r_1") is None
    assert await everything(stores.database) == before


async def test_a_request_is_spent_under_its_own_job_only(stores: Stores) -> None:
    request, other = await granted(stores), await granted(stores, a_new_request(a_checked("beta")))
    foreign = await claimed(stores, other)
    before = await everything(stores.database)
    assert await stores.requests.spend(request, job=foreign, run="r_1") is None
    assert await everything(stores.database) == before
    assert await spend(stores, request, "r_1") is not None


# The end of a request ends what would run it


def _superseded(stores: Stores, request: Request) -> Awaitable[Request]:
    return opened(stores, a_new_request(a_checked("beta"), supersedes=request.id))


def _denied_on_another_card(stores: Stores, request: Request) -> Awaitable[Request]:
    async def deny() -> Request:
        twin = await opened(stores, a_new_request(requester="dave"))
        assert twin.id != request.id
        return await _deny(stores, twin)

    return deny()


DROPS: Mapping[str, Callable[[Stores, Request], Awaitable[object]]] = {
    "deny": _deny,
    "deny another": _denied_on_another_card,
    "revoke": _revoke,
    "supersede": _superseded,
    "expire": lambda on, _: on.requests.expire(),
}


@pytest.mark.parametrize("how", DROPS)
async def test_the_end_of_a_granted_request_ends_its_queued_run(
    stores: Stores, clock: FrozenClock, how: str
) -> None:
    request, other = await granted(stores), await granted(stores, a_new_request(a_checked("kept")))
    clock.pass_by(HOUR if how == "expire" else A_MOMENT)
    await DROPS[how](stores, request)
    assert (await now(stores, request)).state not in LIVE
    states = {row["id"]: (row["state"], row["ended_at"]) for row in await jobs_of(stores, RUN)}
    assert states[job_of(request.id)] == ("cancelled", text_of(clock.now()))
    if how != "expire":
        assert states[job_of(other.id)] == ("queued", None)
    await at_rest(stores)


@pytest.mark.parametrize("how", DROPS)
async def test_the_end_of_a_granted_request_tells_the_claim_of_its_run_to_end(
    stores: Stores, clock: FrozenClock, how: str
) -> None:
    request = await granted(stores)
    job = await claimed(stores, request)
    clock.pass_by(HOUR if how == "expire" else A_MOMENT)
    await DROPS[how](stores, request)
    told = await stores.database.transact(lambda _: jobs.to_be_stopped(stores.owner))
    assert told == {job.claim}
    assert await stores.requests.spend(request, job=job, run="r_1") is None


@pytest.mark.parametrize("how", DROPS)
async def test_what_was_spent_is_not_told_to_end_by_what_comes_too_late(
    stores: Stores, clock: FrozenClock, how: str
) -> None:
    request = await granted(stores)
    assert await spend(stores, request, "r_1")
    clock.pass_by(HOUR if how == "expire" else A_MOMENT)
    await DROPS[how](stores, request)
    assert (await now(stores, request)).state is State.SPENT
    assert await stores.database.transact(lambda _: jobs.to_be_stopped(stores.owner)) == set()


# live


async def test_what_is_open_or_granted_is_listed_oldest_first_by_conversation_and_tenant(
    stores: Stores, clock: FrozenClock
) -> None:
    first = await opened(stores, a_new_request(a_checked("first"), rule=a_rule(expires=2 * HOUR)))
    clock.pass_by(A_MOMENT)
    elsewhere = await granted(stores, a_new_request(conversation=OTHER_CONVERSATION))
    clock.pass_by(A_MOMENT)
    theirs = await opened(
        stores,
        a_new_request(tenant=OTHER_TENANT, conversation=THEIR_CONVERSATION, turn="t_theirs"),
    )
    last = await granted(stores, a_new_request(a_checked("last"), rule=a_rule(expires=2 * HOUR)))
    live = stores.requests.live
    assert await live(TENANT, None) == [first, elsewhere, last]
    assert await live(TENANT, CONVERSATION) == [first, last]
    assert await live(TENANT, OTHER_CONVERSATION) == [elsewhere]
    assert await live(OTHER_TENANT, None) == [theirs]
    assert await live(OTHER_TENANT, CONVERSATION) == []
    clock.pass_by(HOUR)
    assert await live(TENANT, None) == [first, last]
    assert (await now(stores, elsewhere)).state is State.EXPIRED


@pytest.mark.parametrize("state", ENDS)
async def test_what_has_ended_is_not_listed(
    stores: Stores, clock: FrozenClock, state: State
) -> None:
    ended = await _end(stores, clock, state)
    assert ended.id not in {request.id for request in await stores.requests.live(TENANT, None)}


# remind


async def test_what_is_open_is_brought_to_mind_in_its_conversation(stores: Stores) -> None:
    request = await opened(stores)
    (entry,) = await logged_by(
        stores, lambda on: on.requests.remind(TENANT, request.id, "Still waiting.")
    )
    facts = {"principal": "sayso", "request": request.id}
    assert (entry.kind, facts_of(entry)) == ("request.reminded", facts)
    assert await said_in(stores, CONVERSATION, "note") == ["Still waiting."]
    assert await now(stores, request) == request


async def test_it_is_brought_to_mind_once_however_often_its_job_is_begun(
    stores: Stores, clock: FrozenClock
) -> None:
    request = await opened(stores)
    await stores.requests.remind(TENANT, request.id, "Still waiting.")
    clock.pass_by(A_MOMENT)
    before = await everything(stores.database)
    await stores.requests.remind(TENANT, request.id, "Still waiting.")
    assert await everything(stores.database) == before
    assert await said_in(stores, CONVERSATION, "note") == ["Still waiting."]


async def test_i14_nobody_is_reminded_of_another_tenants_request(stores: Stores) -> None:
    request = await opened(stores)
    before = await everything(stores.database)
    await stores.requests.remind(OTHER_TENANT, request.id, "Still waiting.")
    assert await everything(stores.database) == before
    await stores.requests.remind(TENANT, request.id, "Still waiting.")
    assert await said_in(stores, CONVERSATION, "note") == ["Still waiting."]


@pytest.mark.parametrize("state", [State.GRANTED, *ENDS])
async def test_nobody_is_reminded_of_what_does_not_wait_for_votes(
    stores: Stores, clock: FrozenClock, state: State
) -> None:
    request = await (granted(stores) if state is State.GRANTED else _end(stores, clock, state))
    before = await everything(stores.database)
    await stores.requests.remind(TENANT, request.id, "Still waiting.")
    assert await everything(stores.database) == before


async def test_a_request_leaves_one_job_for_its_reminder_where_it_has_one(
    stores: Stores,
) -> None:
    await opened(stores, a_new_request(a_checked("beta")))
    assert await _jobs(stores, REMIND) == []
    request = await opened(stores, replace(a_new_request(), remind_in=HOUR / 2))
    assert (await opened(stores, replace(a_new_request(), remind_in=HOUR / 2))).times_asked == 2
    name, payload = f"remind:{request.id}", f'{{"request":"{request.id}"}}'
    assert await _jobs(stores, REMIND) == [(name, REMIND, TENANT, payload, "safe", "queued")]
    (job,) = await jobs_of(stores, REMIND)
    assert job["run_at"] == "2026-03-01T10:00:00.000000Z"


# deny and revoke


@pytest.mark.parametrize("voters", [(), ("bob",)], ids=["open", "granted"])
@pytest.mark.parametrize(
    ("end", "expected"),
    [
        (_deny, {"state": State.DENIED, "ended_by": "carol", "reason": "not now"}),
        (_revoke, {"state": State.REVOKED, "reason": "the file words.txt changed"}),
    ],
)
async def test_denial_and_revocation_end_a_live_request(
    stores: Stores,
    voters: tuple[str, ...],
    end: Callable[[Stores, Request], Awaitable[Request]],
    expected: Mapping[str, str],
) -> None:
    request = await granted(stores, None, *voters) if voters else await opened(stores)
    ended = await end(stores, request)
    assert {name: getattr(ended, name) for name in expected} == expected
    assert (ended.votes, ended.plan_sha256) == (request.votes, request.plan_sha256)
    assert await now(stores, request) == ended
    assert await said_in(stores, CONVERSATION, "note") == [cards.status(ended)]
    assert await spend(stores, request, "r_1") is None


@pytest.mark.parametrize("end", [_deny, _revoke])
@pytest.mark.parametrize("state", ENDS)
async def test_whoever_comes_after_the_end_gets_back_what_has_become_of_the_request(
    stores: Stores,
    clock: FrozenClock,
    state: State,
    end: Callable[[Stores, Request], Awaitable[Request]],
) -> None:
    ended = await _end(stores, clock, state)
    before = await everything(stores.database)
    assert await end(stores, ended) == ended
    assert await everything(stores.database) == before


async def test_a_revocation_refuses_no_effect(stores: Stores) -> None:
    revoked = await _revoke(stores, await opened(stores))
    assert (await opened(stores)).id != revoked.id


# I13: a refused effect stays refused


async def _denied(stores: Stores, *calls: Checked) -> Request:
    return await _deny(stores, await opened(stores, a_new_request(*calls)))


@pytest.mark.parametrize(
    "again",
    [
        a_checked("alpha beta"),
        a_checked("  alpha \t beta\n"),
        a_checked("alpha\u00a0beta"),
        a_checked("ａｌｐｈａ beta"),
        replace(a_checked(), arguments={"word": "alpha beta", "file": "words.txt"}),
        replace(a_checked(), arguments={"file": "words.txt", "word": "alpha beta"}),
        a_checked("alpha beta", tool=a_tool(definition="0" * 64, risk="low", steps=3)),
    ],
    ids=["same", "spaces", "no-break", "wide", "order", "other-order", "edited-runbook"],
)
async def test_i13_a_denied_effect_is_refused_however_it_is_worded(
    stores: Stores, again: Checked
) -> None:
    await _denied(stores, a_checked("alpha beta"))
    before = await everything(stores.database)
    refused = await stores.requests.open(a_new_request(again, requester="dave"))
    assert refused == Denial(tool="append-word", by="carol", reason="not now")
    assert await everything(stores.database) == before


@pytest.mark.parametrize(
    "other",
    [
        a_checked("alphabeta"),
        a_checked("Alpha beta"),
        a_checked("alpha beta", file="other.txt"),
        a_checked("alpha beta", tool=a_tool("add-word")),
    ],
    ids=["word", "case", "file", "tool"],
)
async def test_i13_another_effect_is_not_refused(stores: Stores, other: Checked) -> None:
    await _denied(stores, a_checked("alpha beta"))
    assert (await opened(stores, a_new_request(other))).state is State.OPEN


async def test_i13_one_denied_effect_refuses_every_plan_that_holds_it(stores: Stores) -> None:
    alpha, beta, gamma = a_checked("alpha"), a_checked("beta"), a_checked("gamma")
    await _denied(stores, alpha, beta)
    for calls in ((alpha,), (beta,), (gamma, beta), (beta, alpha, gamma)):
        assert isinstance(await stores.requests.open(a_new_request(*calls)), Denial)
    assert (await opened(stores, a_new_request(gamma))).state is State.OPEN


async def test_i13_a_denial_holds_for_its_conversation_only(stores: Stores) -> None:
    await _denied(stores)
    assert (await opened(stores, a_new_request(conversation=OTHER_CONVERSATION))).votes == ()


async def test_i13_a_denial_outlives_any_time(stores: Stores, clock: FrozenClock) -> None:
    await _denied(stores)
    clock.pass_by(10_000 * HOUR)
    assert isinstance(await stores.requests.open(a_new_request()), Denial)


async def test_i13_asking_again_lifts_the_denials_that_the_request_left(stores: Stores) -> None:
    alpha, beta = a_checked("alpha"), a_checked("beta")
    denied = await _denied(stores, alpha, beta)
    again = await opened(stores, a_new_request(alpha, beta, supersedes=denied.id))
    assert again.state is State.OPEN
    for calls in ((alpha,), (beta,)):
        assert (await opened(stores, a_new_request(*calls))).state is State.OPEN


async def test_i13_asking_again_for_one_request_lifts_no_other_denial(stores: Stores) -> None:
    alpha, beta = a_checked("alpha"), a_checked("beta")
    first = await _denied(stores, alpha)
    await _denied(stores, beta)
    before = await everything(stores.database)
    assert isinstance(
        await stores.requests.open(a_new_request(alpha, beta, supersedes=first.id)), Denial
    )
    assert await everything(stores.database) == before
    await opened(stores, a_new_request(alpha, supersedes=first.id))
    assert isinstance(await stores.requests.open(a_new_request(beta)), Denial)


async def test_i13_what_was_asked_again_can_be_denied_again(stores: Stores) -> None:
    first = await _denied(stores)
    second = await opened(stores, a_new_request(supersedes=first.id))
    await _deny(stores, second)
    assert isinstance(await stores.requests.open(a_new_request()), Denial)
    assert isinstance(await stores.requests.open(a_new_request(supersedes=first.id)), Denial)
    assert (await opened(stores, a_new_request(supersedes=second.id))).state is State.OPEN


async def test_i13_a_denial_beats_a_twin_that_is_still_open(stores: Stores) -> None:
    theirs = await opened(stores, a_new_request(requester="dave"))
    await _denied(stores)
    assert isinstance(await stores.requests.open(a_new_request(requester="dave")), Denial)
    assert (await now(stores, theirs)).times_asked == 1


# spend


async def test_the_spend_turns_a_granted_request_into_a_running_run(
    stores: Stores, clock: FrozenClock
) -> None:
    calls = (a_checked("alpha"), a_checked("beta", tool=a_tool("add-word", steps=2)))
    request = await granted(stores, a_new_request(*calls, rule=TWO), "bob", "carol")
    clock.pass_by(A_MOMENT)
    spent = await spend(stores, request, "r_1")
    assert spent is not None
    assert spent.request == replace(request, state=State.SPENT) == await now(stores, request)
    assert spent.run == await stores.runs.run(TENANT, "r_1")
    assert spent.run == Run(
        id="r_1",
        tenant=TENANT,
        conversation=CONVERSATION,
        request=request.id,
        plan=request.plan.id,
        voters=("bob", "carol"),
        state=RunState.RUNNING,
        fence=1,
        steps=tuple(
            Step(index=n, tool=t, state=StepState.PENDING, exit_code=None, output="", note="")
            for n, t in enumerate(("append-word", "add-word", "add-word"))
        ),
        started_at=clock.now(),
        ended_at=None,
    )


@pytest.mark.parametrize("state", [State.OPEN, *ENDS])
async def test_only_a_granted_request_can_be_spent(
    stores: Stores, clock: FrozenClock, state: State
) -> None:
    request = await (opened(stores) if state is State.OPEN else _end(stores, clock, state))
    await claimed(stores, request)
    before = await everything(stores.database)
    for pretended in (request, replace(request, state=State.GRANTED)):
        assert await spend(stores, pretended, "r_2") is None
    assert await everything(stores.database) == before


@pytest.mark.parametrize(
    "wrong",
    [
        {"tenant": OTHER_TENANT},
        {"conversation": OTHER_CONVERSATION},
        {"plan_sha256": a_plan(a_checked("beta")).sha256},
        {
            "plan_sha256": a_plan(a_checked("beta")).sha256,
            "plan_body": a_plan(a_checked("beta")).canonical,
        },
        {"id": "0" * 32},
    ],
    ids=["tenant", "conversation", "hash", "plan", "id"],
)
async def test_the_spend_is_bound_to_tenant_conversation_and_plan(
    stores: Stores, wrong: Mapping[str, str]
) -> None:
    request = await granted(stores)
    await claimed(stores, request)
    before = await everything(stores.database)
    forged = replace(request, **wrong)  # type: ignore[arg-type]
    assert await spend(stores, forged, of=request) is None
    assert await everything(stores.database) == before


async def test_a_plan_whose_stored_bytes_changed_is_never_run(stores: Stores) -> None:
    request = await granted(stores)
    tampered = replace(request, plan_body=a_plan(a_checked("beta")).canonical)
    await claimed(stores, request)
    before = await everything(stores.database)
    with pytest.raises(Refused, match="not the one that was shown"):
        await spend(stores, tampered, "r_1")
    assert await everything(stores.database) == before


@pytest.mark.parametrize(
    "checked",
    [
        (),
        ("bob",),
        ("bob", "bob"),
        ("bob", "dave"),
        ("bob", "carol", "dave"),
        ("bob", "carol", "carol"),
        ("BOB", "carol"),
    ],
)
async def test_the_spend_holds_only_for_exactly_the_votes_that_were_checked(
    stores: Stores, checked: tuple[str, ...]
) -> None:
    request = await granted(stores, a_new_request(rule=TWO), "bob", "carol")
    await claimed(stores, request)
    before = await everything(stores.database)
    votes = tuple(Vote(principal=voter, at=START) for voter in checked)
    assert await spend(stores, replace(request, votes=votes)) is None
    assert await everything(stores.database) == before


async def test_a_removed_vote_keeps_a_granted_request_from_being_spent(stores: Stores) -> None:
    """Somebody took a vote out of the table: fewer than the quorum remain, all of them checked."""
    request = await granted(stores, a_new_request(rule=TWO), "bob", "carol")
    await stores.database.transact(lambda _: rows("DELETE FROM vote WHERE principal = 'carol'"))
    fewer = await now(stores, request)
    assert (fewer.state, fewer.voters) == (State.GRANTED, ("bob",))
    assert await spend(stores, fewer, "r_1") is None
    assert await spend(stores, request, "r_1") is None


async def test_c37_of_fifty_spends_at_once_exactly_one_wins(
    stores: Stores, connect: Connect
) -> None:
    others = [Stores(await connect(), owner=f"process {number}") for number in range(50)]
    request = await granted(stores)
    found = await asyncio.gather(
        *(spend(other, request, f"r_{number}") for number, other in enumerate(others))
    )
    (won,) = [spent for spent in found if spent is not None]
    assert await stores.records.runs() == [won.run]
    assert [e.kind for e in await log_of(stores)].count("run.started") == 1


async def test_c37_a_spend_and_a_denial_at_once_have_one_outcome(
    stores: Stores, connect: Connect
) -> None:
    other = Stores(await connect())
    for number in range(20):
        await stores.brakes.lift(TENANT, CONVERSATION, principal="bob")
        call = a_checked(f"word-{number}")
        request = await granted(stores, a_new_request(call))
        sides = [
            spend(stores, request, f"r_{number}"),
            _deny(other, request),
        ]
        spent, denied = await asyncio.gather(*sides)
        ended = await now(stores, request)
        assert denied == ended
        assert ended.state is (State.SPENT if spent else State.DENIED)
        ran = await stores.runs.run(TENANT, f"r_{number}")
        assert (ran is not None) is (ended.state is State.SPENT)
        again = await stores.requests.open(a_new_request(call))
        assert isinstance(again, Denial) is (ended.state is State.DENIED)


async def test_c37_a_last_vote_and_a_denial_at_once_end_denied(
    stores: Stores, connect: Connect
) -> None:
    voting, denying, spending = [Stores(await connect()) for _ in range(3)]

    async def vote_and_spend(request: Request, run: str) -> tuple[Voted, Spent | None]:
        voted = await voting.requests.vote(TENANT, request.id, principal="bob")
        return voted, await spend(spending, request, run)  # it holds no vote that was checked

    for number in range(20):
        await stores.brakes.lift(TENANT, CONVERSATION, principal="bob")
        request = await opened(stores, a_new_request(a_checked(f"word-{number}")))
        (voted, spent), denied = await asyncio.gather(
            vote_and_spend(request, f"r_{number}"), _deny(denying, request)
        )
        assert spent is None
        assert denied == await now(stores, request)
        assert denied.state is State.DENIED
        assert voted.request.state in {State.GRANTED, State.DENIED}
        assert (voted.request.state is State.GRANTED) == bool(denied.votes)
        assert (voted.job is not None) == bool(denied.votes)


# attempt_refused


async def test_a_refused_attempt_is_noted_without_what_was_given(stores: Stores) -> None:
    given = "s3cret \ud800 \0"
    before = await everything(stores.database)
    await stores.requests.attempt_refused(TENANT, principal="eve", request=given, why="Unknown.")
    after = await everything(stores.database)
    assert {**after, "audit": [], "rate": []} == {**before, "audit": [], "rate": []}
    entry = (await log_of(stores))[-1]
    assert (entry.kind, entry.tenant) == ("attempt.refused", TENANT)
    body = canonical.parse(entry.body)
    assert isinstance(body, Mapping)
    assert (body["principal"], body["why"]) == ("eve", "Unknown.")
    assert "s3cret" not in entry.body


async def test_of_one_person_so_many_refused_attempts_are_noted_and_that_there_were_more(
    stores: Stores, clock: FrozenClock
) -> None:
    async def noted(times: int, tenant: str, principal: str) -> list[str]:
        before = len(await log_of(stores))
        for _ in range(times):
            await stores.requests.attempt_refused(
                tenant, principal=principal, request="x", why="No."
            )
        return [str(facts_of(entry)["why"]) for entry in (await log_of(stores))[before:]]

    more = "Refused too often: what else is refused within the hour is not noted one by one."
    assert await noted(REFUSALS.most + 9, TENANT, "eve") == ["No."] * REFUSALS.most + [more]
    assert await noted(1, TENANT, "bob") == ["No."]
    assert await noted(1, OTHER_TENANT, "eve") == ["No."]
    assert await noted(1, TENANT, "eve") == []
    clock.pass_by(HOUR / 2)
    assert await noted(REFUSALS.most, TENANT, "eve") == ["No."] * (REFUSALS.most // 2)
    clock.pass_by(HOUR)
    assert await noted(REFUSALS.most + 9, TENANT, "eve") == ["No."] * REFUSALS.most + [more]


# I2 and I11: whole transactions


async def test_i2_the_spend_is_one_transaction_with_run_and_audit(stores: Stores) -> None:
    calls = (a_checked(tool=a_tool(steps=3)),)
    request = await granted(stores, a_new_request(*calls))
    job = await claimed(stores, request)
    before = await everything(stores.database)
    cuts = await whole_or_nothing(stores, lambda on: on.requests.spend(request, job=job, run="r_1"))
    assert cuts >= len(("spend", "run", "step", "step", "step", "audit", "commit"))
    after = await everything(stores.database)
    added = {table: len(after[table]) - len(before[table]) for table in TABLES}
    assert {t: n for t, n in added.items() if n} == {"run": 1, "step": 3, "audit": 1}
    assert (await now(stores, request)).state is State.SPENT


async def _opening(_: Stores) -> Act:
    new = a_new_request()
    return lambda on: on.requests.open(new)


async def _repeating(stores: Stores) -> Act:
    await opened(stores)
    new = a_new_request(about=AgentText(rationale="again"))
    return lambda on: on.requests.open(new)


async def _superseding(stores: Stores) -> Act:
    new = a_new_request(supersedes=(await granted(stores)).id)
    return lambda on: on.requests.open(new)


async def _asking_again(stores: Stores) -> Act:
    new = a_new_request(supersedes=(await _denied(stores)).id)
    return lambda on: on.requests.open(new)


async def _voting(stores: Stores) -> Act:
    request = await opened(stores, a_new_request(rule=TWO))
    return lambda on: on.requests.vote(TENANT, request.id, principal="bob")


async def _granting(stores: Stores) -> Act:
    request = await opened(stores)
    return lambda on: on.requests.vote(TENANT, request.id, principal="bob")


async def _denying(stores: Stores) -> Act:
    request = await opened(stores, a_new_request(a_checked("alpha"), a_checked("beta")))
    return lambda on: _deny(on, request)


async def _revoking(stores: Stores) -> Act:
    request = await granted(stores)
    return lambda on: _revoke(on, request)


async def _spending(stores: Stores) -> Act:
    request = await granted(stores)
    job = await claimed(stores, request)
    return lambda on: on.requests.spend(request, job=job, run="r_1")


async def _noting(_: Stores) -> Act:
    return lambda on: on.requests.attempt_refused(TENANT, principal="bob", request="", why="No.")


CHANGES: Mapping[str, tuple[Prepare, Sequence[tuple[str, str]]]] = {
    "open": (_opening, [("request.opened", "alice")]),
    "open the same": (_repeating, [("request.repeated", "alice")]),
    "supersede": (_superseding, [("request.superseded", "alice"), ("request.opened", "alice")]),
    "ask again": (_asking_again, [("request.opened", "alice")]),
    "vote": (_voting, [("vote.cast", "bob")]),
    "last vote": (_granting, [("vote.cast", "bob"), ("request.granted", "bob")]),
    "deny": (_denying, [("request.denied", "carol")]),
    "revoke": (_revoking, [("request.revoked", "bob")]),
    "spend": (_spending, [("run.started", "bob")]),
    "refuse": (_noting, [("attempt.refused", "bob")]),
}


@pytest.mark.parametrize("change", CHANGES)
async def test_i11_every_state_change_has_its_audit_entry_or_does_not_happen(
    stores: Stores, change: str
) -> None:
    prepare, expected = CHANGES[change]
    logged = await logged_by(stores, await prepare(stores))
    assert [(entry.kind, principal_of(entry)) for entry in logged] == expected
    assert {entry.tenant for entry in logged} == {TENANT}


async def test_i11_an_expiry_has_its_audit_entry_or_does_not_happen(
    stores: Stores, clock: FrozenClock
) -> None:
    request, other = await opened(stores), await granted(stores, a_new_request(a_checked("beta")))
    clock.pass_by(HOUR)
    logged = await logged_by(stores, lambda on: now(on, request))
    assert [entry.kind for entry in logged] == ["request.expired"] * 2
    bodies = [canonical.parse(entry.body) for entry in logged]
    assert {str(body) for body in bodies} == {
        str({"principal": "sayso", "request": r.id}) for r in (request, other)
    }


async def test_i11_the_entries_say_which_request_plan_card_votes_and_why(stores: Stores) -> None:
    request = await granted(stores)
    await spend(stores, request, "r_1")
    denied = await _denied(stores, a_checked("beta"))
    facts = {
        (entry.kind, canonical.encode(fact))
        for entry in await log_of(stores)
        for fact in facts_of(entry).items()
    }
    for kind, name, value in (
        ("request.opened", "request", request.id),
        ("request.opened", "plan_sha256", request.plan_sha256),
        ("request.opened", "card_sha256", canonical.sha256(encode(request.card))),
        ("vote.cast", "request", request.id),
        ("request.granted", "request", request.id),
        ("run.started", "request", request.id),
        ("run.started", "run", "r_1"),
        ("run.started", "plan_sha256", request.plan_sha256),
        ("run.started", "voters", ["bob"]),
        ("request.denied", "request", denied.id),
        ("request.denied", "reason_sha256", sha256("not now")),
    ):
        assert (kind, canonical.encode([name, value])) in facts
