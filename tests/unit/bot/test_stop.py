"""P-03: what a stop stops, who may, and that it tells what it did."""

import asyncio

import pytest

from adapters.storage.requests import Requests
from approvals import cards
from approvals.models import Request, RunState, State, StepState
from bot import contract, plain
from bot.stop import Stopped
from core.errors import Refused
from core.principals import Identity
from tests.bots import Bots
from tests.builders import CONVERSATION, a_new_request, a_proposal
from tests.fakes.runner import for_ever
from tests.gates import APPEND, EVE, HIGH, LOW, World, allow
from tests.jobs import soon
from tests.stores import (
    OTHER_CONVERSATION,
    OTHER_TENANT,
    THEIR_CONVERSATION,
    Contents,
    Stores,
    claimed,
    everything,
    log_of,
    notice,
    now,
    opened,
    said_in,
)

NOT_YOURS = "You may not stop that. Whoever asked for it may, and whoever has run:stop."


@pytest.fixture
def bots(stores: Stores) -> Bots:
    world = World(stores)
    world.groups |= {"frank": {"stoppers"}}
    return Bots(world)


def counts(stopped: Stopped) -> tuple[int, int]:
    told = contract.stopped(stopped)["stopped"]
    assert (told["turns"], told["messages_kept"]) == (0, 0)
    assert told["processes"] == told["steps_unknown"]
    return told["steps_unknown"], told["requests_revoked"]


# Who may


async def unlogged(bots: Bots) -> Contents:
    """Return all tables but the audit log, which keeps refused attempts."""
    tables = await everything(bots.world.stores.database)
    return {name: held for name, held in tables.items() if name != "audit"}


@pytest.mark.parametrize("person", ["alice", "frank"])
@pytest.mark.parametrize("where", [None, CONVERSATION, "all"])
async def test_p03c_who_asked_and_who_may_stop_cut_what_runs(
    bots: Bots, person: str, where: str | None
) -> None:
    request = await bots.world.propose()
    async with bots.hanging(request) as [approving]:
        conversation = None if where == "all" else where
        stopped = await bots.stop(person, conversation, everything=where == "all")
        decided = await approving
    [run] = stopped.runs
    assert run == decided.run == await bots.run_of(request)
    assert (run.state, [step.state for step in run.steps]) == (
        RunState.UNKNOWN,
        [StepState.UNKNOWN],
    )
    assert bots.world.runner.cut == [f"{run.id}.0"]
    assert counts(stopped) == (1, 0)
    assert f"Run {run.id} unknown" in plain.stopped(stopped)
    asked = [e for e in await log_of(bots.world.stores) if e.kind == "run.stop_asked"]
    assert [person in entry.body for entry in asked] == [True]


@pytest.mark.parametrize("person", ["bob", "dave", EVE])
async def test_p03h_nobody_else_stops_anything(bots: Bots, person: str | Identity) -> None:
    request, waits = await bots.world.propose(), await bots.elsewhere()
    async with bots.hanging(request):
        before = await unlogged(bots)
        assert await bots.stop(person) == Stopped()
        assert await bots.stop(person, everything=True) == Stopped()
        for conversation in (CONVERSATION, OTHER_CONVERSATION):
            if person == "bob":  # who may approve it, and so may see it
                with pytest.raises(Refused) as told:
                    await bots.stop(person, conversation)
                assert told.value.shown == NOT_YOURS
            else:
                assert await bots.stop(person, conversation) == Stopped()
        assert await unlogged(bots) == before
        assert (await bots.world.now(waits)).state is State.OPEN


async def test_somebody_who_is_not_known_is_refused(bots: Bots) -> None:
    with pytest.raises(Refused, match="know"):
        await bots.stop("nobody")


async def test_run_stop_for_a_part_of_the_plan_is_not_enough(bots: Bots) -> None:
    bots.world.rules = (*bots.world.rules, allow("run:stop", "halfstoppers", "runbook:note"))
    bots.world.groups["gina"] = {"halfstoppers"}
    note, word = LOW.check({"word": "a"}, {}), APPEND.check({"word": "b"}, {})
    both = await bots.world.ask(a_proposal(note, word))
    own = await bots.world.ask(a_proposal(note, conversation=OTHER_CONVERSATION, turn="t_2"))
    stopped = await bots.stop("gina", everything=True)
    assert [request.id for request in stopped.requests] == [own.id]
    assert (await bots.world.now(both)).state is State.OPEN


async def test_the_requester_may_stop_also_after_losing_every_group(bots: Bots) -> None:
    request = await bots.world.propose()
    bots.world.groups["alice"] = set()
    stopped = await bots.stop("alice")
    assert [one.id for one in stopped.requests] == [request.id]


# What is stopped


@pytest.mark.parametrize("voters", [(), ("bob",)], ids=["open", "granted"])
async def test_p03e_what_waits_is_withdrawn_and_never_runs(
    bots: Bots, voters: tuple[str, ...]
) -> None:
    request = await bots.world.propose()
    for voter in voters:
        await bots.vote(voter, request)
    stopped = await bots.stop("alice", CONVERSATION)
    [withdrawn] = stopped.requests
    assert withdrawn == await bots.world.now(request)
    assert (withdrawn.state, withdrawn.ended_by) == (State.REVOKED, "alice")
    assert withdrawn.reason == "alice stopped it"
    assert counts(stopped) == (0, 1)
    assert plain.stopped(stopped) == f"Withdrawn: {request.card.title} ({request.id})"
    notes = await said_in(bots.world.stores, CONVERSATION, "note")
    assert notes == [cards.status(withdrawn)]
    with pytest.raises(Refused, match=r"^Revoked: alice stopped it"):
        await bots.approve("bob", request)
    if voters:
        async with bots.serving():
            await bots.ended(request)
    assert bots.world.effects() == []


async def test_p03f_the_step_that_runs_is_cut_and_the_next_one_does_not_run(bots: Bots) -> None:
    request = await bots.world.propose(HIGH)
    await bots.vote("carol", request)
    async with bots.hanging(request, at=("wipe", "1")):
        stopped = await bots.stop("alice")
    [run] = stopped.runs
    assert [step.state for step in run.steps] == [StepState.SUCCEEDED, StepState.UNKNOWN]
    assert counts(stopped) == (1, 0)


async def test_one_thing_runs_so_what_waits_stays(bots: Bots) -> None:
    runs, waits = await bots.world.propose(), await bots.elsewhere()
    async with bots.hanging(runs):
        stopped = await bots.stop("frank")
    assert counts(stopped) == (1, 0)
    assert (await bots.world.now(waits)).state is State.OPEN


async def test_p03g_several_things_run_so_they_are_listed_and_none_is_stopped(
    bots: Bots,
) -> None:
    first, second = await bots.world.propose(), await bots.elsewhere()
    async with bots.hanging(first, second) as tasks:
        before = await unlogged(bots)
        stopped = await bots.stop("frank")
        assert await unlogged(bots) == before
        assert {run.request for run in stopped.choices} == {first.id, second.id}
        assert (stopped.runs, stopped.requests, counts(stopped)) == ((), (), (0, 0))
        listed = plain.stopped(stopped)
        assert listed.startswith("Several things run. Stop one of them, or `all`:\n")
        for conversation in (CONVERSATION, OTHER_CONVERSATION):
            assert f"  sayso stop {conversation}   append-word" in listed
        [run] = (await bots.stop("frank", OTHER_CONVERSATION)).runs
        assert run.request == second.id
        assert (await tasks[1]).run == run
        other = await bots.run_of(first)
        assert other is not None
        assert other.state is RunState.RUNNING


async def test_a_conversation_is_stopped_whole_and_no_other(bots: Bots) -> None:
    runs, elsewhere = await bots.world.propose(), await bots.elsewhere()
    waits = await bots.world.propose(LOW)
    async with bots.hanging(runs):
        stopped = await bots.stop("alice", CONVERSATION)
    assert counts(stopped) == (1, 1)
    assert [request.id for request in stopped.requests] == [waits.id]
    assert (await bots.world.now(elsewhere)).state is State.OPEN


async def test_everything_that_somebody_may_stop_is_stopped(bots: Bots) -> None:
    first, second = await bots.world.propose(), await bots.elsewhere()
    third = await bots.world.propose(LOW)
    theirs = await opened(
        bots.world.stores,
        a_new_request(tenant=OTHER_TENANT, conversation=THEIR_CONVERSATION, turn="t_theirs"),
    )
    async with bots.hanging(first, second):
        stopped = await bots.stop("frank", everything=True)
    assert counts(stopped) == (2, 1)
    assert [request.id for request in stopped.requests] == [third.id]
    assert len(bots.world.runner.cut) == 2
    assert (await now(bots.world.stores, theirs)).state is State.OPEN


async def test_nothing_to_stop_says_so_and_changes_nothing(bots: Bots) -> None:
    before = await unlogged(bots)
    for everything_ in (False, True):
        stopped = await bots.stop("alice", everything=everything_)
        assert (stopped, plain.stopped(stopped)) == (Stopped(), "Nothing to stop.")
    assert await unlogged(bots) == before


@pytest.mark.parametrize("conversation", [CONVERSATION, THEIR_CONVERSATION, "c_none", "' OR 1 --"])
async def test_a_conversation_of_which_one_may_not_know_is_one_in_which_nothing_runs(
    bots: Bots, conversation: str
) -> None:
    await opened(
        bots.world.stores,
        a_new_request(tenant=OTHER_TENANT, conversation=THEIR_CONVERSATION, turn="t_theirs"),
    )
    assert await bots.stop("frank", conversation) == Stopped()


# Twice, and in between


async def test_p03i_a_second_stop_is_harmless(bots: Bots) -> None:
    request = await bots.world.propose()
    async with bots.hanging(request):
        await bots.stop("alice", CONVERSATION)
    before = await unlogged(bots)
    assert await bots.stop("alice") == Stopped()
    assert await bots.stop("alice", CONVERSATION) == Stopped()
    assert await unlogged(bots) == before


async def test_p03i_two_stops_at_once_cut_once_and_withdraw_once(bots: Bots) -> None:
    runs, waits = await bots.world.propose(), await bots.world.propose(LOW)
    async with bots.hanging(runs):
        both = await asyncio.gather(
            bots.stop("alice", CONVERSATION), bots.stop("frank", CONVERSATION)
        )
    assert len(bots.world.runner.cut) == 1
    assert sum(len(stopped.requests) for stopped in both) == 1
    assert (await bots.world.now(waits)).state is State.REVOKED
    kinds = [entry.kind for entry in await log_of(bots.world.stores)]
    assert (kinds.count("run.stop_asked"), kinds.count("request.revoked")) == (1, 1)


async def test_what_begins_to_run_before_it_can_be_withdrawn_is_stopped_like_any_run(
    bots: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = await bots.world.granted()
    revoke = Requests.revoke
    running: list[asyncio.Task[None]] = []

    async def late(
        self: Requests, tenant: str, name: str, *, principal: str, reason: str
    ) -> Request:
        if not running:
            bots.world.runner.meanwhile["append-word",] = for_ever
            running.append(asyncio.create_task(serve()))
            await soon(begun)
        return await revoke(self, tenant, name, principal=principal, reason=reason)

    async def serve() -> None:
        async with bots.serving():
            await bots.ended(request)

    async def begun() -> bool:
        return bool(bots.world.effects())

    monkeypatch.setattr(Requests, "revoke", late)
    stopped = await bots.stop("alice")
    await running[0]
    assert (stopped.requests, counts(stopped)) == ((), (1, 0))
    [run] = stopped.runs
    assert run.request == request.id
    assert run.state is RunState.UNKNOWN


async def test_what_somebody_else_ends_first_is_not_counted(
    bots: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = await bots.world.propose()
    revoke = Requests.revoke

    async def late(
        self: Requests, tenant: str, name: str, *, principal: str, reason: str
    ) -> Request:
        await bots.world.deny("carol", request)
        return await revoke(self, tenant, name, principal=principal, reason=reason)

    monkeypatch.setattr(Requests, "revoke", late)
    assert await bots.stop("alice") == Stopped()
    assert (await bots.world.now(request)).state is State.DENIED


async def test_p15_a_run_that_waits_for_a_new_process_is_stopped_at_once(bots: Bots) -> None:
    request = await bots.world.granted()
    job = await claimed(Stores(bots.world.stores.database, owner="dies"), request)
    spent = await bots.world.gate.spend(request, job)
    assert spent is not None
    await notice(bots.world.stores, "dies")
    stopped = await bots.stop("alice")
    [run] = stopped.runs
    assert (run.state, run.steps[0].state) == (RunState.CANCELLED, StepState.NOT_RUN)
    assert counts(stopped) == (0, 0)
    async with bots.serving():
        await bots.ended(request)
    assert bots.world.effects() == []
    assert await bots.run_of(request) == run


async def test_a_stop_that_nothing_hears_comes_back_and_tells_that_it_still_runs(
    bots: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.stop._PATIENCE", 0.05)
    request = await bots.world.granted()
    job = await claimed(bots.world.stores, request)
    spent = await bots.world.gate.spend(request, job)
    assert spent is not None
    stopped = await bots.stop("alice")
    assert [run.state for run in stopped.runs] == [RunState.RUNNING]
    assert counts(stopped) == (0, 0)
