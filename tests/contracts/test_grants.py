"""`approvals.grants.Grants`, and what `ApprovalStore` does for grants, on every database."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, TypeVar

import pytest

from adapters.storage.transactions import Database, Transaction, Work, rows
from approvals import denials
from approvals.grants import Grant, GrantState, Under, Use
from approvals.models import Denial, Request, State, job_of
from core import ids
from core.errors import Refused
from core.jobs import LeaseLost
from core.outcomes import Reason
from core.transcript import Noted
from tests.builders import (
    CONVERSATION,
    PLACE,
    TENANT,
    THREAD,
    a_checked,
    a_new_request,
    a_new_turn,
    a_plan,
    a_rule,
    a_tool,
)
from tests.fakes.clock import FrozenClock
from tests.grants import HOUR, a_proposed, a_use, active, made_by, now, proposed, used
from tests.stores import (
    OTHER_CONVERSATION,
    OTHER_TENANT,
    OVER,
    Connect,
    Stores,
    answering,
    at_rest,
    claimed,
    everything,
    facts_of,
    granted,
    heard,
    jobs_of,
    log_of,
    logged_by,
    lose,
    opened,
    said_in,
    spend,
)
from tests.stores import now as request_now

T = TypeVar("T")
A_MOMENT = timedelta(microseconds=1)
BETA = a_checked("beta")


@dataclass(frozen=True)
class WithoutQuorum:
    """A database for which every request has votes enough."""

    database: Database

    async def transact(self, work: Work[T]) -> T:
        """Run it, each statement without what it says of the quorum of a spend."""
        return await self.database.transact(lambda now: self._without(work(now)))

    async def changes(self) -> int:
        """Look."""
        return await self.database.changes()

    def _without(self, transaction: Transaction[T]) -> Transaction[T]:
        asks = (
            "quorum <= json_array_length(:voters) AND :quorum <= json_array_length(:voters)",
            ":quorum = :quorum",
        )
        try:
            statement = next(transaction)
            while True:
                found = yield replace(statement, sql=statement.sql.replace(*asks))
                statement = transaction.send(found)
        except StopIteration as end:
            result: T = end.value
            return result


async def logged(stores: Stores, kind: str) -> list[Mapping[str, object]]:
    """Return what the audit log tells of one kind."""
    return [facts_of(entry) for entry in await log_of(stores) if entry.kind == kind]


async def stored(stores: Stores, statement: str, **values: str) -> list[dict[str, object]]:
    """Run a statement behind Sayso's back."""
    found = await stores.database.transact(lambda _: rows(statement, **values))
    return [dict(row) for row in found]


# How a grant comes to be


async def test_a_grant_is_proposed_with_its_request_and_as_that_asks(stores: Stores) -> None:
    new = a_proposed(uses=5, lasts=HOUR)
    grant = await proposed(stores, new)
    request = await request_now(stores, replace(await opened(stores, new)))
    assert grant == Grant(
        id=new.grant or "",
        tenant=TENANT,
        state=GrantState.PROPOSED,
        request=request.id,
        requester="alice",
        proposer="bob",
        place=PLACE.resource,
        plan_sha256=a_plan().sha256,
        used=0,
        most=5,
        lasts=HOUR,
        until=None,
        proposed_at=grant.proposed_at,
        ended_by=None,
        reason="",
    )
    assert await stores.grants.get(TENANT, grant.id) == grant
    assert await stores.grants.known(TENANT) == [grant]
    assert await stores.grants.active(TENANT, "alice", CONVERSATION) == []
    [entry] = await logged(stores, "grant.proposed")
    assert (entry["principal"], entry["uses"], entry["grant"]) == ("bob", 5, grant.id)


async def test_i11_a_proposal_is_whole_or_not_there(stores: Stores) -> None:
    new = a_proposed()

    def propose(on: Stores) -> Awaitable[object]:
        return on.requests.open(new)

    entries = await logged_by(stores, propose)
    assert [entry.kind for entry in entries] == ["request.opened", "grant.proposed"]


@pytest.mark.parametrize("wrong", [{"place": THREAD.resource}, {"requester": "carol"}])
async def test_a_grant_for_another_place_or_person_than_its_request_is_refused(
    stores: Stores, wrong: dict[str, Any]
) -> None:
    new = a_proposed()
    assert new.plan.standing
    plan = replace(new.plan, standing=replace(new.plan.standing, **wrong))
    before = await everything(stores.database)
    with pytest.raises(Refused):
        await stores.requests.open(replace(new, plan=plan))
    assert await everything(stores.database) == before


async def test_the_spend_of_its_request_has_a_grant_begin_and_runs_nothing(
    stores: Stores, clock: FrozenClock
) -> None:
    call = a_checked(tool=a_tool(lock="{word}"))
    request = await granted(stores, a_proposed(call, lasts=HOUR))
    (job,) = await jobs_of(stores, "run")
    assert (
        await stores.database.transact(
            lambda _: rows("SELECT 1 FROM job_lock WHERE job = :job", job=job["id"])
        )
        == []
    )
    clock.pass_by(timedelta(minutes=5))

    claim = await claimed(stores, request)

    def begin(on: Stores) -> Awaitable[object]:
        return on.requests.spend(request, job=claim, run="r_1")

    entries = await logged_by(stores, begin)
    assert [entry.kind for entry in entries] == ["grant.activated"]
    grant = await made_by(stores, request)
    assert (grant.state, grant.until) == (GrantState.ACTIVE, clock.now() + HOUR)
    assert (await request_now(stores, request)).state is State.SPENT
    assert await stores.records.runs() == []
    assert await stores.grants.active(TENANT, "alice", OTHER_CONVERSATION) == [grant]
    told = await said_in(stores, CONVERSATION, "note")
    assert told[-1].startswith(f"Standing grant {grant.id} is active until 2026-03-01 10:35:00 UTC")
    assert await spend(stores, request) is None


async def test_a_grant_takes_every_vote_of_its_rule(stores: Stores) -> None:
    request = await granted(stores, a_proposed(rule=a_rule(2)), "bob")
    assert await spend(stores, request) is None
    assert (await made_by(stores, request)).state is GrantState.PROPOSED
    request = (await stores.requests.vote(TENANT, request.id, principal="carol")).request
    assert await spend(stores, replace(request, votes=request.votes[:1])) is None
    assert (await made_by(stores, request)).state is GrantState.PROPOSED
    assert await spend(stores, request) is None
    assert (await made_by(stores, request)).state is GrantState.ACTIVE


async def test_i1_whatever_spends_its_request_no_grant_begins_without_all_of_its_votes(
    stores: Stores,
) -> None:
    """Somebody found a way round the quorum of the request: the grant has a condition of its own."""
    request = await granted(stores, a_proposed(), "bob")
    await stored(stores, "UPDATE request SET quorum = 2 WHERE id = :id", id=request.id)
    forgetful = Stores(WithoutQuorum(stores.database), stores.owner)
    with pytest.raises(Refused):
        await spend(forgetful, request)
    assert (await made_by(stores, request)).state is GrantState.PROPOSED
    assert (await request_now(stores, request)).state is State.GRANTED


async def _deny(stores: Stores, grant: Grant) -> object:
    return await stores.requests.deny(TENANT, grant.request, principal="carol", reason="no")


async def _revoke_request(stores: Stores, grant: Grant) -> object:
    return await stores.requests.revoke(TENANT, grant.request, principal="carol", reason="edited")


async def _revoke(stores: Stores, grant: Grant) -> object:
    return await stores.grants.revoke(TENANT, grant.id, principal="carol")


@pytest.mark.parametrize("end", [_deny, _revoke_request, _revoke])
async def test_a_proposal_that_ended_never_becomes_active(
    stores: Stores, end: Callable[[Stores, Grant], Awaitable[object]]
) -> None:
    request = await granted(stores, a_proposed())
    grant = await made_by(stores, request)
    await end(stores, grant)
    ended = await now(stores, grant)
    assert ended.state is (GrantState.DENIED if end is _deny else GrantState.REVOKED)
    assert ended.ended_by == "carol"
    assert await spend(stores, request) is None
    assert (await now(stores, grant)).state is ended.state
    opened_ = await opened(stores, a_use(grant))
    assert (opened_.state, opened_.under) == (State.OPEN, None)


async def test_a_proposal_expires_with_its_request(stores: Stores, clock: FrozenClock) -> None:
    grant = await proposed(stores)
    clock.pass_by(HOUR)
    assert (await now(stores, grant)).state is GrantState.EXPIRED


async def test_to_deny_a_grant_denies_nobody_its_effect(stores: Stores) -> None:
    card = await opened(stores)
    grant = await proposed(stores)
    await _deny(stores, grant)
    assert (await request_now(stores, card)).state is State.OPEN
    assert isinstance(await stores.requests.open(a_new_request()), Request)


async def test_i13_what_was_denied_here_is_no_grant_and_no_use(stores: Stores) -> None:
    grant = await active(stores)
    waits = await used(stores, grant)
    card = await opened(stores, a_new_request(requester="bob"))
    await stores.requests.deny(TENANT, card.id, principal="carol", reason="no")
    assert (await request_now(stores, waits)).state is State.REVOKED
    assert await spend(stores, waits) is None
    assert isinstance(await stores.requests.open(a_use(grant)), Denial)
    assert isinstance(await stores.requests.open(a_proposed()), Denial)
    assert (await now(stores, grant)).used == 0


async def test_i13_a_denial_just_before_the_spend_beats_a_grant(stores: Stores) -> None:
    waits = await used(stores, await active(stores))
    await stored(
        stores,
        "INSERT INTO denial (tenant, conversation, effect, tool, request, denied_by, reason)"
        " SELECT tenant, conversation, :effect, 'append-word', id, 'carol', 'no' FROM request"
        " WHERE id = :id",
        effect=_effect(),
        id=waits.id,
    )
    assert await spend(stores, waits) is None
    ended = await request_now(stores, waits)
    assert (ended.state, ended.ended_by) == (State.REVOKED, "carol")


def _effect() -> str:
    [call] = a_plan().calls
    return denials.effect(call.tool, call.arguments)


# What a grant covers


async def test_a_covered_request_is_granted_at_once_and_its_run_is_queued(stores: Stores) -> None:
    grant = await active(stores, a_proposed(rule=a_rule(2)), "bob", "carol")
    cards = await said_in(stores, OTHER_CONVERSATION, "card")
    request = await used(stores, grant, conversation=OTHER_CONVERSATION, turn="t_2")
    assert (request.state, request.voters) == (State.GRANTED, ("bob", "carol"))
    assert request.under == Under(grant=grant.id, request=grant.request)
    assert await said_in(stores, OTHER_CONVERSATION, "card") == cards
    assert job_of(request.id) in [row["id"] for row in await jobs_of(stores, "run")]
    [*_, entry] = await logged(stores, "request.opened")
    assert (entry["request"], entry["under"]) == (request.id, grant.id)
    await at_rest(stores)


async def test_a_covered_request_ends_its_turn_as_answered(stores: Stores) -> None:
    grant = await active(stores)
    closing = await answering(stores, a_new_turn("t_9", conversation=CONVERSATION))
    closing = replace(closing, end=replace(closing.end, reason=Reason.PROPOSED))

    def propose(on: Stores) -> Awaitable[object]:
        return on.requests.open(replace(a_new_request(closing=closing), grant=grant.id))

    await logged_by(stores, propose)
    turn = await stores.conversations.turn(TENANT, "t_9")
    assert turn is not None
    told = f"Standing grant {grant.id} covers this, so it runs now. Its report follows."
    assert (turn.reason, turn.text) == (Reason.ANSWERED, told)
    assert turn.request is not None
    known = await stores.conversations.history(closing.turn)
    assert Noted(text=told) in known.entries


async def test_the_same_again_while_the_first_waits_is_one_use(stores: Stores) -> None:
    grant = await active(stores)
    first = await used(stores, grant)
    closing = await answering(stores, a_new_turn("t_9", conversation=CONVERSATION))
    new = replace(a_new_request(closing=closing), grant=grant.id)
    again = await opened(stores, new)
    assert (again.id, again.times_asked) == (first.id, 2)
    turn = await stores.conversations.turn(TENANT, "t_9")
    assert turn is not None
    assert (turn.reason, turn.request) == (Reason.ANSWERED, first.id)


async def test_i1_whatever_a_grant_does_not_cover_has_a_card(stores: Stores) -> None:
    grant = await active(stores)
    await heard(stores, a_new_turn("t_9", opens="c_9", place=THREAD))
    for new in (
        a_use(grant, BETA),
        a_use(grant, requester="bob"),
        a_use(grant, conversation="c_9", turn="t_9"),
        a_use(ids.grant_id()),
        replace(a_use(grant), plan=a_plan(rules="f" * 64)),
        replace(a_use(grant), plan=a_plan(folder="elsewhere")),
    ):
        request = await opened(stores, new)
        assert (request.state, request.under) == (State.OPEN, None)
    assert await stores.grants.active(TENANT, "alice", "c_9") == []
    assert await stores.grants.active(TENANT, "bob", CONVERSATION) == []
    assert await stores.grants.active(OTHER_TENANT, "alice", CONVERSATION) == []


async def test_what_waits_to_run_is_as_good_as_used(stores: Stores) -> None:
    grant = await active(stores, a_proposed(uses=2))
    for conversation, turn in ((CONVERSATION, "t_1"), (OTHER_CONVERSATION, "t_2")):
        await used(stores, grant, conversation=conversation, turn=turn)
    await heard(stores, a_new_turn("t_9", opens="c_9"))
    more = await opened(stores, a_use(grant, conversation="c_9", turn="t_9"))
    assert more.state is State.OPEN


# How a grant is used


async def test_i2_a_use_its_run_and_its_entries_are_one_transaction(stores: Stores) -> None:
    grant = await active(stores, a_proposed(uses=2))
    request = await used(stores, grant)
    job = await claimed(stores, request)

    def use(on: Stores) -> Awaitable[object]:
        return on.requests.spend(request, job=job, run="r_1")

    entries = await logged_by(stores, use)
    assert [entry.kind for entry in entries] == ["grant.used", "run.started"]
    assert facts_of(entries[0]) == {
        "principal": "alice", "grant": grant.id, "request": request.id, "number": 1,
    }  # fmt: skip
    assert facts_of(entries[1])["principal"] == "alice"
    assert facts_of(entries[1])["grant"] == grant.id
    run = await stores.runs.run(TENANT, "r_1")
    assert run is not None
    assert grant.until
    assert run.under == Use(grant=grant.id, number=1, most=2, until=grant.until)
    assert run.voters == ("bob",)
    assert [one.under for one in await stores.records.runs()] == [run.under]
    [seen] = [one for one in await stores.records.requests() if one.id == request.id]
    assert (seen.under, seen.voters) == (request.under, ("bob",))
    assert (await now(stores, grant)).used == 1


async def test_the_last_use_uses_a_grant_up(stores: Stores) -> None:
    grant = await active(stores, a_proposed(uses=2))
    for number in range(2):
        assert await spend(stores, await used(stores, grant), f"r_{number}")
    ended = await now(stores, grant)
    assert (ended.state, ended.used) == (GrantState.USED_UP, 2)
    assert (await opened(stores, a_use(grant))).state is State.OPEN


@pytest.mark.parametrize("most", [3, 1])
async def test_of_fifty_uses_at_once_exactly_as_many_run_as_are_left(
    stores: Stores, connect: Connect, most: int
) -> None:
    grant = await active(stores, a_proposed(uses=50))
    waiting = list[Request]()
    for number in range(50):
        conversation, turn = f"c_{number:03}", f"t_{number:03}"
        await heard(stores, a_new_turn(turn, opens=conversation))
        waiting.append(await used(stores, grant, conversation=conversation, turn=turn))
    await stored(stores, f"UPDATE standing_grant SET most = {most}")
    others = [Stores(await connect(), owner=f"process {number}") for number in range(8)]
    found = await asyncio.gather(
        *(
            spend(others[number % 8], request, f"r_{number}")
            for number, request in enumerate(waiting)
        )
    )
    assert len([one for one in found if one]) == most
    assert len(await stores.records.runs()) == most
    ended = await now(stores, grant)
    assert (ended.state, ended.used) == (GrantState.USED_UP, most)
    states = [(await request_now(stores, request)).state for request in waiting]
    assert states.count(State.SPENT) == most
    assert states.count(State.REVOKED) == 50 - most
    assert len(await logged(stores, "grant.used")) == most
    numbers = await stored(stores, "SELECT number FROM grant_use ORDER BY number")
    assert [row["number"] for row in numbers] == [*range(1, most + 1)]


async def test_of_fifty_askers_at_once_as_many_need_no_card_as_are_left(
    stores: Stores, connect: Connect
) -> None:
    grant = await active(stores, a_proposed(uses=3))
    for number in range(50):
        await heard(stores, a_new_turn(f"t_{number:03}", opens=f"c_{number:03}"))
    others = [Stores(await connect()) for _ in range(8)]
    found = await asyncio.gather(
        *(
            opened(
                others[number % 8],
                a_use(grant, conversation=f"c_{number:03}", turn=f"t_{number:03}"),
            )
            for number in range(50)
        )
    )
    assert len([one for one in found if one.under]) == 3


async def test_i3_an_end_between_the_check_and_the_spend_wins(
    stores: Stores, clock: FrozenClock
) -> None:
    """Revoked, suspended, expired, altered: the one condition of the use sees it."""

    async def revoke(grant: Grant) -> None:
        await stores.grants.revoke(TENANT, grant.id, principal="carol")

    async def suspend(grant: Grant) -> None:
        await stores.grants.suspend(TENANT, grant.id, reason="the runbook x was edited")

    async def expire(_: Grant) -> None:
        clock.pass_by(timedelta(minutes=30))

    async def alter(grant: Grant) -> None:
        await stored(
            stores, "UPDATE standing_grant SET plan_sha256 = 'f' WHERE id = :id", id=grant.id
        )

    async def move(grant: Grant) -> None:
        await stored(stores, "UPDATE standing_grant SET place = 'x' WHERE id = :id", id=grant.id)

    for number, (end, why) in enumerate(
        [
            (revoke, "is revoked"), (suspend, "is suspended"), (expire, "is expired"),
            (alter, "does not cover it"), (move, "does not cover it"),
        ]
    ):  # fmt: skip
        call = a_checked(f"word{number}")
        grant = await active(stores, a_proposed(call, lasts=timedelta(minutes=30)))
        request = await used(stores, grant, call)
        await end(grant)
        assert await spend(stores, request, f"r_{number}") is None
        ended = await request_now(stores, request)
        assert (ended.state, ended.reason) == (
            State.REVOKED, f"standing grant {grant.id} {why}",
        )  # fmt: skip
        assert (await now(stores, grant)).used == 0
    assert await stores.records.runs() == []


async def test_a_use_whose_votes_are_not_those_that_were_checked_is_none(stores: Stores) -> None:
    grant = await active(stores)
    request = await used(stores, grant)
    with pytest.raises(Refused):
        await spend(stores, replace(request, votes=()))
    assert (await now(stores, grant)).used == 0
    assert (await request_now(stores, request)).state is State.GRANTED
    assert await stores.records.runs() == []


async def test_a_use_that_was_stopped_or_lost_its_claim_counts_nothing(stores: Stores) -> None:
    for number, how in enumerate(OVER):
        call = a_checked(f"word{number}")
        grant = await active(stores, a_proposed(call))
        request = await used(stores, grant, call)
        job = await claimed(stores, request)
        await lose(stores, job, how)
        try:
            assert await stores.requests.spend(request, job=job, run="r_1") is None
        except LeaseLost:
            assert how != "told to end"
        assert (await now(stores, grant)).used == 0


async def test_a_use_and_a_revocation_at_once_have_one_outcome(
    stores: Stores, connect: Connect
) -> None:
    other = Stores(await connect())
    for number in range(20):
        call = a_checked(f"word{number}")
        grant = await active(stores, a_proposed(call, uses=1))
        request = await used(stores, grant, call)
        spent, revoked = await asyncio.gather(
            spend(stores, request, f"r_{number}"),
            other.grants.revoke(TENANT, grant.id, principal="carol"),
        )
        ended = await now(stores, grant)
        assert revoked is not None
        assert ended.state is (GrantState.USED_UP if spent else GrantState.REVOKED)
        assert ended.used == (1 if spent else 0)


async def test_a_grant_is_over_when_its_time_is_and_not_a_moment_before(
    stores: Stores, clock: FrozenClock
) -> None:
    grant = await active(stores, a_proposed(lasts=timedelta(minutes=30)))
    waits = await used(stores, grant)
    clock.pass_by(timedelta(minutes=30) - A_MOMENT)
    assert (await now(stores, grant)).state is GrantState.ACTIVE
    await spend(stores, waits, "r_1")
    late = await used(stores, grant)
    clock.pass_by(A_MOMENT)
    assert await spend(stores, late, "r_2") is None
    assert (await now(stores, grant)).state is GrantState.EXPIRED
    assert (await opened(stores, a_use(grant))).state is State.OPEN
    assert len(await stores.records.runs()) == 1
    assert [entry["grant"] for entry in await logged(stores, "grant.expired")] == [grant.id]


async def test_a_grant_and_what_waits_under_it_outlive_the_process(
    stores: Stores, connect: Connect
) -> None:
    grant = await active(stores)
    request = await used(stores, grant)
    later = Stores(await connect(), owner="another process")
    assert await later.grants.get(TENANT, grant.id) == grant
    spent = await spend(later, await request_now(later, request))
    assert spent is not None
    assert spent.run.under


async def test_a_use_whose_process_died_before_its_first_step_is_taken_over(stores: Stores) -> None:
    grant = await active(stores)
    request = await used(stores, grant)
    spent = await spend(stores, request)
    assert spent is not None
    job = await claimed(stores, request)
    again = await stores.requests.resume(spent.request, job=job)
    assert again is not None
    assert again.run.under == spent.run.under
    assert (await now(stores, grant)).used == 1


# How a grant ends


@pytest.mark.parametrize("suspended", [False, True])
async def test_a_revoked_grant_says_so_where_people_allowed_it(
    stores: Stores,
    suspended: bool,  # noqa: FBT001 - a parameter
) -> None:
    grant = await active(stores)
    if suspended:
        await stores.grants.suspend(TENANT, grant.id, reason="the runbook x was edited")

    def revoke(on: Stores) -> Awaitable[object]:
        return on.grants.revoke(TENANT, grant.id, principal="carol")

    entries = await logged_by(stores, revoke)
    assert [entry.kind for entry in entries] == ["grant.revoked"]
    told = await said_in(stores, CONVERSATION, "note")
    assert (
        told[-1] == f"carol revoked standing grant {grant.id}. From now on there is a card again."
    )
    ended = await now(stores, grant)
    assert (ended.state, ended.ended_by) == (GrantState.REVOKED, "carol")
    before = await everything(stores.database)
    assert await stores.grants.revoke(TENANT, grant.id, principal="bob") == ended
    await stores.grants.suspend(TENANT, grant.id, reason="late")
    assert await everything(stores.database) == before


async def test_to_revoke_a_proposal_ends_its_request_too(stores: Stores) -> None:
    grant = await proposed(stores)

    def revoke(on: Stores) -> Awaitable[object]:
        return on.grants.revoke(TENANT, grant.id, principal="carol")

    entries = await logged_by(stores, revoke)
    assert [entry.kind for entry in entries] == ["grant.revoked", "request.revoked"]
    voted = await stores.requests.vote(TENANT, grant.request, principal="bob")
    assert voted.request.state is State.REVOKED


async def test_a_suspended_grant_is_told_with_its_reason(stores: Stores) -> None:
    grant = await active(stores)

    def suspend(on: Stores) -> Awaitable[object]:
        return on.grants.suspend(TENANT, grant.id, reason="the runbook x was edited")

    entries = await logged_by(stores, suspend)
    assert [entry.kind for entry in entries] == ["grant.suspended"]
    found = await now(stores, grant)
    assert (found.state, found.reason) == (GrantState.SUSPENDED, "the runbook x was edited")
    told = await said_in(stores, CONVERSATION, "note")
    assert told[-1].endswith("the runbook x was edited. From now on there is a card again.")


async def test_an_unknown_grant_is_none_and_nothing_becomes_of_it(stores: Stores) -> None:
    before = await everything(stores.database)
    assert await stores.grants.get(TENANT, "g_none") is None
    assert await stores.grants.made_by(TENANT, "f" * 32) is None
    assert await stores.grants.revoke(TENANT, "g_none", principal="bob") is None
    assert await stores.grants.known(OTHER_TENANT) == []
    await stores.grants.suspend(TENANT, "g_none", reason="x")
    assert await everything(stores.database) == before
