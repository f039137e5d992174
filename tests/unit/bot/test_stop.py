"""P-03: what a stop stops, who may, and that it tells what it did."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace

import pytest

from adapters.storage.conversations import Conversations
from adapters.storage.requests import Requests
from adapters.storage.transactions import rows
from approvals import cards
from approvals.models import Request, Run, RunState, State, StepState
from bot import contract, plain, spoken
from bot.stop import Stopped
from bot.wiring import draw
from core.conversations import Turn
from core.errors import Refused
from core.outcomes import Reason
from core.principals import Identity
from core.roster import Freshness
from core.transcript import Say, ToolCall, Use
from tests.bots import Bots
from tests.builders import CONVERSATION, PLACE, a_new_request, a_proposal
from tests.fakes.hold import FakeHold
from tests.fakes.model import ScriptedModel
from tests.fakes.roster import FakeRoster
from tests.fakes.runner import for_ever
from tests.gates import APPEND, EVE, HIGH, LOW, World, allow, who
from tests.jobs import soon
from tests.stores import (
    OTHER_CONVERSATION,
    OTHER_TENANT,
    OWNER,
    THEIR_CONVERSATION,
    Contents,
    Stores,
    claimed,
    closing,
    everything,
    log_of,
    notice,
    now,
    opened,
    said_in,
)

NOT_YOURS = "You may not stop that. Whoever asked for it may, and whoever has run:stop."


@pytest.fixture
async def bots(stores: Stores) -> AsyncGenerator[Bots]:
    world = World(stores)
    world.groups |= {"frank": {"stoppers"}}
    bots = Bots(world)
    yield bots
    await bots.at_rest()


@pytest.fixture
def talking(bots: Bots) -> Bots:
    """Let people chat; gina may stop what goes on in the channel, whoever asked for it."""
    bots.world.groups |= {"gina": {"channelstoppers"}}
    bots.world.rules += (
        allow("chat:ask", "dev", "*"),
        allow("chat:ask", "ops", "*"),
        allow("run:stop", "channelstoppers", PLACE.resource),
    )
    return bots


def told(stopped: Stopped) -> dict[str, int]:
    """Return what a stop counted, without what is zero."""
    return {name: n for name, n in contract.stopped(stopped, draw)["stopped"].items() if n}


def counts(stopped: Stopped) -> tuple[int, int]:
    did = contract.stopped(stopped, draw)["stopped"]
    assert (did["turns"], did["messages_kept"]) == (0, 0)
    assert did["processes"] == did["steps_unknown"]
    return did["steps_unknown"], did["requests_revoked"]


# Who may


async def unlogged(bots: Bots) -> Contents:
    """Return all tables but those of what was tried and refused."""
    tables = await everything(bots.world.stores.database)
    return {name: held for name, held in tables.items() if name not in {"audit", "rate"}}


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


async def test_x9_a_run_that_was_faster_than_the_stop_is_not_told_as_stopped(bots: Bots) -> None:
    request = await bots.world.propose()
    async with bots.hanging(request):
        stopped = await bots.stop("alice", CONVERSATION)
    [run] = stopped.runs
    done = replace(
        run,
        state=RunState.SUCCEEDED,
        steps=tuple(replace(step, state=StepState.SUCCEEDED) for step in run.steps),
    )
    told = spoken.stopped(replace(stopped, runs=(done, run)))
    assert told == (
        "1 run stopped, 1 run over before the stop: all of it ran, 1 command killed, 1 step unknown"
    )


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


@pytest.mark.parametrize("person", ["alice", "frank"])
@pytest.mark.parametrize("how", ["conversation", "all", "button"])
async def test_what_somebody_altered_keeps_nobody_from_stopping(
    bots: Bots, person: str, how: str
) -> None:
    request = await bots.world.propose()
    waits = await bots.world.propose(LOW)
    async with bots.hanging(request):
        await bots.world.stores.database.transact(lambda _: rows("UPDATE plan SET body = '{}'"))
        if how == "button":
            stopped = await bots.stop_run(person, request.id)
        else:
            where = CONVERSATION if how == "conversation" else None
            stopped = await bots.stop(person, where, everything=how == "all")
            assert [one.id for one in stopped.requests] == [waits.id]
        [run] = stopped.runs
        assert run.state is RunState.UNKNOWN


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
        assert {run.request for run in stopped.choices if isinstance(run, Run)} == {
            first.id,
            second.id,
        }
        assert (stopped.runs, stopped.requests, counts(stopped)) == ((), (), (0, 0))
        listed = plain.stopped(stopped)
        assert listed.startswith("Several things run or wait. Stop one of them, or `all`:\n")
        for conversation in (CONVERSATION, OTHER_CONVERSATION):
            assert f"  sayso stop {conversation}   append-word {{" in listed
        assert '{"word": "beta", "file": "words.txt"} (runs since 2' in listed
        [run] = (await bots.stop("frank", OTHER_CONVERSATION)).runs
        assert run.request == second.id
        assert (await tasks[1]).run == run
        other = await bots.run_of(first)
        assert other is not None
        assert other.state is RunState.RUNNING


async def test_what_could_be_stopped_elsewhere_is_told_and_none_of_it_is_stopped(
    bots: Bots,
) -> None:
    runs, waits = await bots.world.propose(), await bots.elsewhere()
    async with bots.hanging(runs):
        before = await unlogged(bots)
        told = await bots.stopping.elsewhere(who("frank"))
        assert await unlogged(bots) == before
        assert [one.id for one in told.choices if isinstance(one, Request)] == [waits.id]
        assert (await bots.stopping.elsewhere(who("bob"))).choices == ()
        await bots.stop("frank", CONVERSATION)
    assert set(told.asked) == {runs.id}


async def test_two_things_of_one_conversation_are_one_line_to_stop_it(bots: Bots) -> None:
    await bots.world.propose()
    await bots.world.propose(LOW)
    listed = plain.stopped(await bots.stop("frank"))
    assert listed.count(f"sayso stop {CONVERSATION}") == 1
    assert listed.count("(asked by alice, waits)") == 2


async def test_a_conversation_is_stopped_whole_and_no_other(bots: Bots) -> None:
    runs, elsewhere = await bots.world.propose(), await bots.elsewhere()
    waits = await bots.world.propose(LOW)
    async with bots.hanging(runs):
        stopped = await bots.stop("alice", CONVERSATION)
    assert counts(stopped) == (1, 1)
    assert [request.id for request in stopped.requests] == [waits.id]
    assert (await bots.world.now(elsewhere)).state is State.OPEN


async def test_x9_everything_that_somebody_may_stop_is_stopped_and_counted(bots: Bots) -> None:
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
    assert stopped == Stopped(pending=(spent.run,))
    assert counts(stopped) == (0, 0)
    [pending] = contract.stopped(stopped, draw)["pending"]
    assert (pending["id"], pending["state"]) == (spent.run.id, "running")
    assert plain.stopped(stopped).startswith("append-word {")
    assert bots.processes.killed == []
    # Whoever notices that its process is gone ends it: nobody takes it up any more.
    await notice(bots.world.stores, OWNER)
    run = await bots.run_of(request)
    assert run is not None
    assert run.state is RunState.CANCELLED


async def test_what_its_process_does_not_end_soon_is_killed_from_here(
    bots: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.stop._PATIENCE", 0.2)
    monkeypatch.setattr("bot.stop._SOON", 0.05)
    request = await bots.world.granted()
    spent = await bots.world.gate.spend(request, await claimed(bots.world.stores, request))
    assert spent is not None
    assert await bots.world.stores.runs.begin_step(spent.run, 0)
    assert [one.id for one in (await bots.stop("alice")).pending] == [spent.run.id]
    assert set(bots.processes.killed) == {spent.run.id}


@pytest.mark.parametrize("what", ["turns", "runs"])
async def test_one_patience_is_enough_for_all_that_does_not_hear(
    talking: Bots, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setattr("bot.stop._PATIENCE", 0.5)
    names = list[str]()
    for number in range(3):
        if what == "turns":
            received = await talking.receive(f"number {number}")
            names.append((await closing(talking.world.stores, received.turn)).turn.id)
        else:
            call = LOW.check({"word": f"w{number}"}, {})
            asked = await talking.world.ask(a_proposal(call))
            spent = await talking.world.spend(await talking.world.approve("bob", asked))
            names.append(spent.run.id)
    time = asyncio.get_running_loop().time
    begin = time()
    stopped = await talking.stop("alice", everything=True)
    assert 0.5 <= time() - begin < 1.0
    assert told(stopped) == {}
    assert (stopped.turns, stopped.runs) == ((), ())
    assert {one.id for one in stopped.pending} == set(names)
    assert len(plain.stopped(stopped).splitlines()) == len(names)


async def test_several_that_only_wait_are_listed_and_none_is_withdrawn(bots: Bots) -> None:
    first, second = await bots.world.propose(), await bots.elsewhere()
    before = await unlogged(bots)
    stopped = await bots.stop("alice")
    assert await unlogged(bots) == before
    assert {one.id for one in stopped.choices} == {first.id, second.id}
    assert stopped == Stopped(choices=stopped.choices)
    for conversation in (CONVERSATION, OTHER_CONVERSATION):
        assert f"  sayso stop {conversation}   " in plain.stopped(stopped)
    listed = contract.stopped(stopped, draw)["choices"]
    assert {one["state"] for one in listed} == {"open"}


# Turns


@pytest.mark.parametrize("person", ["alice", "gina"])
@pytest.mark.parametrize("where", [None, CONVERSATION, "all"])
async def test_p03a_who_asked_and_who_may_stop_there_end_an_answer(
    talking: Bots, person: str, where: str | None
) -> None:
    received = await talking.receive("think", CONVERSATION)
    async with talking.thinking(received) as [answering]:
        conversation = None if where == "all" else where
        stopped = await talking.stop(person, conversation, everything=where == "all")
        answered = await answering
    assert (answered.reason, answered.request) == (Reason.STOPPED, None)
    assert stopped == Stopped(turns=(await talking.turn(received),))
    assert told(stopped) == {"turns": 1}
    assert plain.stopped(stopped) == "Stopped: think"
    [turn] = contract.stopped(stopped, draw)["turns"]
    assert turn == {
        "turn": received.turn.id,
        "conversation": CONVERSATION,
        "asked_by": "alice",
        "asked": "think",
        "reason": "stopped",
        "absorbed_by": None,
    }
    asked = [e for e in await log_of(talking.world.stores) if e.kind == "turn.stop_asked"]
    assert [person in entry.body for entry in asked] == [True]
    assert await talking.job(received) == "cancelled"


async def test_who_lost_every_group_meanwhile_still_stops_their_own_answer(
    talking: Bots,
) -> None:
    received = await talking.receive("think", CONVERSATION)
    async with talking.thinking(received):
        talking.world.groups["alice"] = set()
        assert told(await talking.stop("alice", CONVERSATION)) == {"turns": 1}


@pytest.mark.parametrize("person", ["bob", "frank", "dave", EVE])
async def test_p03h_nobody_else_ends_an_answer(talking: Bots, person: str | Identity) -> None:
    received = await talking.receive("think", CONVERSATION)
    queued = await talking.receive("and then?", CONVERSATION)
    async with talking.thinking(received):
        before = await unlogged(talking)
        assert await talking.stop(person) == Stopped()
        assert await talking.stop(person, everything=True) == Stopped()
        if person == "bob":  # who may chat here, and so knows what goes on here
            with pytest.raises(Refused) as refusal:
                await talking.stop(person, CONVERSATION)
            assert refusal.value.shown == NOT_YOURS
            assert [entry.kind for entry in await log_of(talking.world.stores)][-1] == (
                "attempt.refused"
            )
        else:  # frank may stop every runbook, but has no part in this channel
            assert await talking.stop(person, CONVERSATION) == Stopped()
        assert await unlogged(talking) == before
    assert (await talking.turn(queued)).reason is None


async def test_p03d_a_message_that_waits_behind_is_kept_and_answered(talking: Bots) -> None:
    received = await talking.receive("think", CONVERSATION)
    queued = await talking.receive("and then?", CONVERSATION)
    elsewhere = await talking.receive("wait", OTHER_CONVERSATION)
    async with talking.thinking(received):
        stopped = await talking.stop("alice", CONVERSATION)
    assert told(stopped) == {"turns": 1, "messages_kept": 1}
    assert [turn.id for turn in stopped.kept] == [queued.turn.id]
    assert plain.stopped(stopped) == "Stopped: think\nKept, and answered next: and then?"
    assert (await talking.turn(elsewhere)).reason is None
    talking.model = ScriptedModel(Say(text="Now."))
    assert (await talking.answer(queued)).text == "Now."


async def test_p03d_stopping_everything_takes_what_waits_too(talking: Bots) -> None:
    received = await talking.receive("think", CONVERSATION)
    queued = await talking.receive("and then?", CONVERSATION)
    elsewhere = await talking.receive("wait", OTHER_CONVERSATION)
    async with talking.thinking(received):
        stopped = await talking.stop("alice", everything=True)
    ids = [one.turn.id for one in (received, queued, elsewhere)]
    assert (told(stopped), [turn.id for turn in stopped.turns]) == ({"turns": 3}, ids)
    async with talking.serving():
        for one in (received, queued, elsewhere):
            await talking.ended(one)
    assert talking.model.seen[1:] == []
    asked = await said_in(talking.world.stores, CONVERSATION, "asked")
    assert sorted(asked[1:]) == ["and then?", "think"]


async def test_of_what_waits_only_ones_own_is_taken(talking: Bots) -> None:
    talking.world.groups["bob"] |= {"dev"}
    own = await talking.receive("mine", CONVERSATION)
    theirs = await talking.receive("yours", CONVERSATION, person="bob")
    stopped = await talking.stop("alice", everything=True)
    assert [turn.id for turn in stopped.turns] == [own.turn.id]
    assert (await talking.turn(theirs)).reason is None


async def test_p03g_an_answer_and_a_run_are_listed_and_none_is_stopped(talking: Bots) -> None:
    request = await talking.elsewhere()
    received = await talking.receive("think hard", CONVERSATION)
    async with talking.hanging(request), talking.thinking(received):
        before = await unlogged(talking)
        stopped = await talking.stop("alice")
        assert await unlogged(talking) == before
        run = await talking.run_of(request)
        assert stopped == Stopped(choices=(received.turn, run) if run else ())
        listed = plain.stopped(stopped)
        assert f"  sayso stop {CONVERSATION}   think hard" in listed
        assert f"  sayso stop {OTHER_CONVERSATION}   append-word" in listed
        asked = [one.get("asked") for one in contract.stopped(stopped, draw)["choices"]]
        assert asked == ["think hard", None]
        assert told(await talking.stop("alice", CONVERSATION)) == {"turns": 1}
        assert told(await talking.stop("alice")) == {"processes": 1, "steps_unknown": 1}


async def test_p03g_two_answers_are_listed_and_all_takes_both(talking: Bots) -> None:
    both = [
        await talking.receive("one", CONVERSATION),
        await talking.receive("two", OTHER_CONVERSATION),
    ]
    async with talking.thinking(*both) as tasks:
        stopped = await talking.stop("alice")
        assert stopped == Stopped(choices=tuple(one.turn for one in both))
        assert [(await talking.turn(one)).reason for one in both] == [None, None]
        assert told(await talking.stop("alice", everything=True)) == {"turns": 2}
        assert [(await task).reason for task in tasks] == [Reason.STOPPED] * 2


async def test_an_answer_runs_so_what_waits_for_a_vote_stays(talking: Bots) -> None:
    waits = await talking.world.propose()
    received = await talking.receive("think", OTHER_CONVERSATION)
    async with talking.thinking(received):
        assert told(await talking.stop("alice")) == {"turns": 1}
    assert (await talking.world.now(waits)).state is State.OPEN


async def test_p03e_an_answer_that_became_a_card_in_the_same_moment_has_it_withdrawn(
    talking: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    received = await talking.receive("add alpha", CONVERSATION)
    hold = FakeHold((await closing(talking.world.stores, received.turn)).job)
    call = ToolCall(id="1", tool="append-word", arguments={"word": "alpha"})
    talking.model = ScriptedModel(Use(calls=(call,)))
    stop = Conversations.stop

    async def late(self: Conversations, turn: Turn, *, principal: str) -> None:
        await talking.answering(hold)
        await stop(self, turn, principal=principal)

    monkeypatch.setattr(Conversations, "stop", late)
    stopped = await talking.stop("alice", CONVERSATION)
    assert told(stopped) == {"requests_revoked": 1}
    [request] = await talking.world.requests()
    assert (request.state, request.ended_by) == (State.REVOKED, "alice")
    assert stopped.requests == (request,)
    assert (await talking.turn(received)).reason is Reason.PROPOSED


async def test_p15_an_answer_whose_process_died_is_stopped_like_one_that_runs(
    talking: Bots,
) -> None:
    received = await talking.receive("think", CONVERSATION)
    behind = await talking.receive("and then?", CONVERSATION)
    await closing(Stores(talking.world.stores.database, owner="dies"), received.turn)
    await notice(talking.world.stores, "dies")
    assert await talking.job(received) == "queued"
    stopped = await talking.stop("alice", CONVERSATION)
    assert told(stopped) == {"turns": 1, "messages_kept": 1}
    assert [turn.id for turn in stopped.turns] == [received.turn.id]
    assert [turn.id for turn in stopped.kept] == [behind.turn.id]


async def test_p03h_a_twin_that_an_answer_ran_into_is_withdrawn_only_by_who_may_stop_it(
    talking: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = await talking.world.propose()
    received = await talking.receive("add alpha", CONVERSATION)
    hold = FakeHold((await closing(talking.world.stores, received.turn)).job)
    call = ToolCall(id="1", tool="append-word", arguments={"word": "alpha"})
    talking.model = ScriptedModel(Use(calls=(call,)))
    stop = Conversations.stop

    async def late(self: Conversations, turn: Turn, *, principal: str) -> None:
        await talking.answering(hold)
        await stop(self, turn, principal=principal)

    monkeypatch.setattr(Conversations, "stop", late)
    stopped = await talking.stop("gina", CONVERSATION)  # who may stop answers here, but no request
    assert (await talking.turn(received)).request == older.id
    assert stopped == Stopped()
    assert (await talking.world.now(older)).state is State.OPEN


async def test_p03_an_answer_that_came_in_the_same_moment_is_not_counted(
    talking: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    received = await talking.receive("what is new?", CONVERSATION)
    hold = FakeHold((await closing(talking.world.stores, received.turn)).job)
    talking.model = ScriptedModel(Say(text="Nothing."))
    stop = Conversations.stop

    async def late(self: Conversations, turn: Turn, *, principal: str) -> None:
        await talking.answering(hold)
        await stop(self, turn, principal=principal)

    monkeypatch.setattr(Conversations, "stop", late)
    assert told(await talking.stop("alice", CONVERSATION)) == {}
    assert (await talking.turn(received)).text == "Nothing."
    kinds = [entry.kind for entry in await log_of(talking.world.stores)]
    assert "turn.stop_asked" not in kinds


async def test_p03i_a_second_stop_of_an_answer_is_harmless(talking: Bots) -> None:
    received = await talking.receive("think", CONVERSATION)
    async with talking.thinking(received):
        both = await asyncio.gather(
            talking.stop("alice", CONVERSATION), talking.stop("gina", CONVERSATION)
        )
    assert {"turns": 1} in [told(stopped) for stopped in both]
    before = await unlogged(talking)
    assert await talking.stop("alice", CONVERSATION) == Stopped()
    assert await talking.stop("alice") == Stopped()
    assert await unlogged(talking) == before
    kinds = [entry.kind for entry in await log_of(talking.world.stores)]
    assert (kinds.count("turn.stop_asked"), kinds.count("turn.ended")) == (1, 3 + 1)


async def test_an_answer_that_nothing_hears_stop_is_not_counted_as_stopped(
    talking: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.stop._PATIENCE", 0.05)
    received = await talking.receive("think", CONVERSATION)
    await closing(talking.world.stores, received.turn)
    stopped = await talking.stop("alice", CONVERSATION)
    assert stopped == Stopped(pending=(received.turn,))
    assert told(stopped) == {}
    [pending] = contract.stopped(stopped, draw)["pending"]
    assert (pending["turn"], pending["reason"]) == (received.turn.id, None)
    assert plain.stopped(stopped).startswith("think: ")
    # Whoever notices that its process is dead ends it: nobody answers it any more.
    await notice(talking.world.stores, OWNER)
    assert (await talking.turn(received)).reason is Reason.STOPPED


# The button below a run


@pytest.mark.parametrize("person", ["alice", "frank"])
async def test_the_button_below_a_run_stops_exactly_that_run(bots: Bots, person: str) -> None:
    first, second, waits = (
        await bots.world.propose(),
        await bots.elsewhere(),
        await bots.world.propose(LOW),
    )
    async with bots.hanging(first, second) as [approving, _]:
        stopped = await bots.stop_run(person, first.id)
        decided = await approving
        other = await bots.run_of(second)
        assert other is not None
        assert other.state is RunState.RUNNING
    assert stopped == Stopped(runs=(decided.run,) if decided.run else ())
    assert counts(stopped) == (1, 0)
    assert (await bots.world.now(waits)).state is State.OPEN


async def test_p03i_the_button_pressed_again_is_harmless(bots: Bots) -> None:
    request = await bots.world.propose()
    async with bots.hanging(request):
        both = await asyncio.gather(*[bots.stop_run("alice", request.id) for _ in range(2)])
    assert {counts(stopped) for stopped in both} <= {(1, 0), (0, 0)}
    assert (1, 0) in {counts(stopped) for stopped in both}
    before = await unlogged(bots)
    assert await bots.stop_run("alice", request.id) == Stopped()
    assert await unlogged(bots) == before


@pytest.mark.parametrize("voters", [(), ("bob",)], ids=["open", "granted"])
async def test_what_has_not_begun_is_not_stopped_by_that_button(
    bots: Bots, voters: tuple[str, ...]
) -> None:
    request = await bots.world.propose()
    for voter in voters:
        await bots.vote(voter, request)
    before = await unlogged(bots)
    assert await bots.stop_run("alice", request.id) == Stopped()
    assert await unlogged(bots) == before


async def test_i5_whoever_may_see_a_run_and_not_stop_it_is_refused(bots: Bots) -> None:
    request = await bots.world.propose()
    async with bots.hanging(request):
        before = await unlogged(bots)
        with pytest.raises(Refused) as told:
            await bots.stop_run("bob", request.id)
        assert told.value.shown == NOT_YOURS
        assert await unlogged(bots) == before
    assert [e.kind for e in await bots.world.attempts()] == ["attempt.refused"]


async def test_i5_i14_an_unknown_a_foreign_and_a_tampered_id_get_one_answer(bots: Bots) -> None:
    theirs = await opened(
        bots.world.stores,
        a_new_request(tenant=OTHER_TENANT, conversation=THEIR_CONVERSATION, turn="t_theirs"),
    )
    request = await bots.world.propose()
    answers = set[str]()
    async with bots.hanging(request):
        run = await bots.run_of(request)
        assert run is not None
        before = await unlogged(bots)
        tampered = (
            "0" * 32,
            theirs.id,
            request.id.upper(),
            f"{request.id} ",
            run.id,
            "",
            "' OR 1 --",
        )
        for person, given in [*(("alice", one) for one in tampered), ("dave", request.id)]:
            with pytest.raises(Refused) as told:
                await bots.stop_run(person, given)
            answers.add(told.value.shown)
        assert await unlogged(bots) == before
    assert len(answers) == 1


async def by_conversation(bots: Bots, _: Request) -> Stopped:
    return await bots.stop("frank", CONVERSATION)


async def by_button(bots: Bots, request: Request) -> Stopped:
    return await bots.stop_run("frank", request.id)


@pytest.mark.parametrize("stop", [by_conversation, by_button])
async def test_x9_a_stop_waits_for_no_platform_that_cannot_be_asked(
    bots: Bots, stop: Callable[[Bots, Request], Awaitable[Stopped]]
) -> None:
    slack = FakeRoster(down="it could not be reached")
    bots.world.on_slack["frank"] = Identity(platform="slack", workspace="T1", user="U6")
    request = await bots.world.propose()
    async with bots.hanging(request) as [approving]:
        bots.world.rosters["slack"] = slack
        stopped = await stop(bots, request)
        await approving
    assert [run.state for run in stopped.runs] == [RunState.UNKNOWN]
    assert {freshness for _, freshness in slack.asked} == {Freshness.HELD}
