"""A turn: what each wish leads to, and that it ends once, for one reason, whatever happens to it."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TypeVar

import pytest

from adapters.storage.conversations import Conversations
from adapters.storage.jobs import MOST_REQUEUES
from adapters.storage.transactions import Database, Work
from approvals.gate import Gate
from approvals.models import State
from approvals.switches import Switches
from bot.ask import Answered
from core.canonical import JsonObject
from core.conversations import Closing, Received, Turn
from core.errors import Refused, Unavailable
from core.events import Ask
from core.guardrails import Guards, Input, Proposed
from core.jobs import LeaseLost
from core.outcomes import Reason
from core.tools import Caller, Effect
from core.transcript import Entry, Heard, Move, Say, ToolCall, Use
from core.turn_ends import GIVEN_UP
from tests.bots import Bots
from tests.builders import CONVERSATION, PLACE, a_tool
from tests.fakes.clock import FrozenClock
from tests.fakes.guards import FakeGuards
from tests.fakes.hold import FakeHold
from tests.fakes.model import ScriptedModel
from tests.fakes.runner import exited, for_ever
from tests.gates import SECRET, World, allow, edited, who
from tests.jobs import PATIENCE, QUICK, soon
from tests.stores import LOST, Stores, closing, happened_in, jobs_of, log_of, lose, said_in

T = TypeVar("T")
LOOK = a_tool("look", effect=Effect.READ)


@dataclass
class Busy:
    """A database that cannot write a few times, when a test says so."""

    database: Database
    times: int = 0

    async def transact(self, work: Work[T]) -> T:
        if self.times:
            self.times -= 1
            raise Unavailable("The database is busy.")
        return await self.database.transact(work)

    async def changes(self) -> int:
        return await self.database.changes()


@pytest.fixture
async def bots(stores: Stores) -> AsyncGenerator[Bots]:
    world = World(stores)
    world.tools += (LOOK,)
    world.rules += (allow("chat:ask", "dev", "*"), allow("tool:read", "dev"))
    bots = Bots(world)
    yield bots
    await bots.at_rest()


def use(tool: str, word: str = "alpha") -> Use:
    return Use(calls=(ToolCall(id="1", tool=tool, arguments={"word": word}),))


async def answered(bots: Bots, text: str, *script: Move | Exception) -> Answered:
    """Have alice ask in the first conversation."""
    bots.model = ScriptedModel(*script)
    return await bots.answer(await bots.receive(text, CONVERSATION))


async def held(bots: Bots, received: Received) -> FakeHold:
    """Claim the job of a message, for a handler that hears of nothing by itself."""
    return FakeHold((await closing(bots.world.stores, received.turn)).job)


async def states(bots: Bots) -> list[str]:
    """Return the states of the jobs of the turns since the fixture, in order."""
    return [row["state"] for row in await jobs_of(bots.world.stores, "turn")][3:]


async def said(bots: Bots, conversation: str = CONVERSATION) -> list[tuple[str, str]]:
    """Return kind and text of what was said since the fixture."""
    found = await bots.world.stores.records.said(conversation)
    return [(one.kind, one.text) for one in found][1:]


# Each wish


async def test_words_are_answered_and_both_stand_in_the_conversation(bots: Bots) -> None:
    told = await answered(bots, "what is new?", Say(text="Nothing.", suggestions=("look",)))
    assert (told.reason, told.text, told.suggestions) == (Reason.ANSWERED, "Nothing.", ("look",))
    assert told.request is None
    assert await said(bots) == [("asked", "what is new?"), ("answered", "Nothing.")]
    assert [entry.kind for entry in await log_of(bots.world.stores)][-2:] == [
        "turn.received",
        "turn.ended",
    ]


async def test_words_may_look_first_and_then_propose(bots: Bots) -> None:
    bots.world.runner.endings["look",] = exited(output="three words\n")
    told = await answered(bots, "add alpha", use("look"), use("append-word"))
    assert told.reason is Reason.PROPOSED
    [request] = await bots.world.requests()
    assert told.request == request
    assert (request.state, request.requester) == (State.OPEN, "alice")
    assert [kind for kind, _ in await said(bots)] == ["asked", "card"]
    assert bots.world.runner.step_ids[0] == f"{told.turn}.1.call_{told.turn}_1"


async def test_what_the_reads_of_the_last_step_found_is_told_with_the_card(bots: Bots) -> None:
    bots.world.runner.endings["look",] = exited(output="three words\n")
    calls = (
        ToolCall(id="1", tool="look", arguments={"word": "a"}),
        ToolCall(id="2", tool="append-word", arguments={"word": "b"}),
    )
    told = await answered(bots, "look and add", Use(calls=calls))
    assert (told.reason, told.text) == (Reason.PROPOSED, "three words")
    assert [kind for kind, _ in await said(bots)] == ["asked", "answered", "card"]


async def test_a_typed_command_needs_no_model(bots: Bots) -> None:
    told = await answered(bots, "!append-word word=alpha")
    assert told.reason is Reason.PROPOSED
    misused = await answered(bots, "!append-word nonsense=1")
    assert (misused.reason, bots.model.seen) == (Reason.ANSWERED, [])


async def test_i12_a_message_with_a_secret_is_answered_and_no_model_sees_it(bots: Bots) -> None:
    told = await answered(bots, f"append {SECRET}")
    assert told.reason is Reason.ANSWERED
    assert told.text.startswith("Your message holds what looks like a secret")
    assert bots.model.seen == []
    [(kind, text), _] = await said(bots)
    assert (kind, SECRET in text) == ("asked", False)


async def test_an_exported_plan_is_proposed_to_the_same_hash(bots: Bots) -> None:
    plan = (await bots.world.propose()).plan
    ask = Ask(identity=who("alice"), place=PLACE, text="")
    told = await bots.answer(await bots.inbox.ask_plan(ask, plan))
    assert told.request is not None
    assert told.request.plan_sha256 == plan.sha256
    assert told.conversation != CONVERSATION


async def test_an_exported_plan_that_comes_down_to_something_else_is_not_proposed(
    bots: Bots,
) -> None:
    plan = (await bots.world.propose()).plan
    ask = Ask(identity=who("alice"), place=PLACE, text="")
    received = await bots.inbox.ask_plan(ask, plan)
    bots.world.edit("append-word", edited)
    told = await bots.answer(received)
    assert (told.reason, told.request) == (Reason.ANSWERED, None)
    assert told.text.startswith("Not proposed: since this plan was made, ")
    assert len(await bots.world.requests()) == 1


async def test_what_was_denied_is_proposed_anew_for_who_may_approve_it(bots: Bots) -> None:
    bots.world.groups["bob"] |= {"dev"}
    denied = await bots.world.propose()
    await bots.world.deny("bob", denied)
    ask = Ask(identity=who("bob"), place=PLACE, text="")
    told = await bots.answer(await bots.inbox.ask_again(ask, denied.id))
    assert told.request is not None
    assert (told.request.plan_sha256, told.request.requester) == (denied.plan_sha256, "bob")
    assert told.request.id != denied.id
    assert await said(bots)  # in the conversation of the request that was denied


async def test_a_request_that_is_asked_for_twice_is_one_and_the_turn_says_so(bots: Bots) -> None:
    first = await answered(bots, "add alpha", use("append-word"))
    second = await answered(bots, "add alpha", use("append-word"))
    assert first.request is not None
    assert second.request is not None
    assert (second.reason, second.request.id) == (Reason.PROPOSED, first.request.id)
    assert second.text.startswith("That waits already.")


async def test_where_nothing_runs_the_plan_is_kept_and_nobody_is_asked(bots: Bots) -> None:
    bots.world.switches = Switches(plan_only=True)
    told = await answered(bots, "add alpha", use("append-word"), Say(text="Kept."))
    assert (told.reason, told.request) == (Reason.ANSWERED, None)
    [result] = bots.model.told
    assert "sayso plan export p_" in result.text
    assert await bots.world.requests() == []


async def test_i13_what_was_denied_here_is_answered_and_not_proposed(bots: Bots) -> None:
    await bots.world.deny("bob", await bots.world.propose())
    told = await answered(bots, "add alpha", use("append-word"), Say(text="No."))
    assert (told.reason, told.request) == (Reason.ANSWERED, None)
    assert "bob denied append-word" in bots.model.told[0].text


# Guardrails


async def test_c78_a_plan_that_no_model_made_passes_the_guards_of_tools_as_well(bots: Bots) -> None:
    fake = FakeGuards({"tool": ["not on a Friday"]})
    bots.guards = fake.guards
    bots.world.groups["bob"] |= {"dev"}
    denied = await bots.world.propose()
    await bots.world.deny("bob", denied)
    ask = Ask(identity=who("bob"), place=PLACE, text="")
    told = await bots.answer(await bots.inbox.ask_again(ask, denied.id))
    assert (told.reason, told.request) == (Reason.GUARDRAIL_TOOL, None)
    assert told.text.startswith("Not proposed: not on a Friday. Nobody was asked")
    [plan] = fake.seen
    assert isinstance(plan, Proposed)
    assert [call.tool.name for call in plan.calls] == ["append-word"]
    assert len(await bots.world.requests()) == 1
    again = await bots.answer(await bots.inbox.ask_again(ask, denied.id))
    assert again.reason is Reason.PROPOSED


async def test_c78_what_is_stopped_is_told_in_the_conversation_and_not_what_it_said(
    bots: Bots,
) -> None:
    bots.guards = FakeGuards({"output": ["no numbers"]}).guards
    told = await answered(bots, "what is new?", Say(text="4711", suggestions=("append 4711",)))
    assert (told.reason, told.suggestions) == (Reason.GUARDRAIL_OUTPUT, ())
    assert await said(bots) == [("asked", "what is new?"), ("answered", told.text)]
    assert "4711" not in told.text
    assert (await answered(bots, "and now?", Say(text="Nothing."))).text == "Nothing."
    assert "4711" not in repr(bots.model.seen)


async def test_c78_a_stop_while_a_message_is_checked_leaves_none_of_it_to_a_model(
    bots: Bots,
) -> None:
    begun = asyncio.Event()

    async def hangs(_: Input) -> None:
        begun.set()
        await for_ever()

    bots.guards = Guards(input=(hangs,))
    received = await bots.receive("add 4711", CONVERSATION)
    answering = asyncio.create_task(bots.answer(received))
    await asyncio.wait_for(begun.wait(), PATIENCE)
    await bots.stop("alice", CONVERSATION)
    assert (await answering).reason is Reason.STOPPED
    bots.guards = Guards()
    assert (await answered(bots, "what is new?", Say(text="Nothing."))).text == "Nothing."
    assert "4711" not in repr(bots.model.seen)


# Authority that was lost while the message waited


async def test_p36_who_lost_every_right_meanwhile_is_answered_and_nothing_is_looked_at(
    bots: Bots,
) -> None:
    bots.model = ScriptedModel(use("look"), use("append-word"), Say(text="There is no such tool."))
    received = await bots.receive("add alpha", CONVERSATION)
    bots.world.groups["alice"] = set()
    told = await bots.answer(received)
    assert told.reason is Reason.ANSWERED
    assert bots.world.runner.ran == []
    assert await bots.world.requests() == []


async def test_p36_who_is_gone_meanwhile_is_told_so_and_no_model_is_asked(bots: Bots) -> None:
    received = await bots.receive("add alpha", CONVERSATION)
    del bots.world.groups["alice"]
    told = await bots.answer(received)
    assert (told.reason, bots.model.seen) == (Reason.ANSWERED, [])
    assert told.text == "Sayso does not know you any more, so this was not looked at."


async def test_p36_who_lost_the_right_to_ask_again_meanwhile_asks_in_vain(bots: Bots) -> None:
    bots.world.groups["bob"] |= {"dev"}
    denied = await bots.world.propose()
    await bots.world.deny("bob", denied)
    ask = Ask(identity=who("bob"), place=PLACE, text="")
    received = await bots.inbox.ask_again(ask, denied.id)
    bots.world.groups["bob"] = {"dev"}
    told = await bots.answer(received)
    assert (told.reason, told.request) == (Reason.ANSWERED, None)
    assert len(await bots.world.requests()) == 1


# Stops


async def test_p03a_a_stop_during_a_model_call_ends_the_turn(bots: Bots) -> None:
    called = asyncio.Event()

    async def thinks(_: Sequence[Entry]) -> Move:
        called.set()
        await for_ever()
        return use("append-word")

    bots.model = ScriptedModel(thinks)
    received = await bots.receive("add alpha", CONVERSATION)
    answering = asyncio.create_task(bots.answer(received))
    await asyncio.wait_for(called.wait(), PATIENCE)
    stopped = await bots.stop("alice", CONVERSATION)
    assert (await answering).reason is Reason.STOPPED
    turn = await bots.turn(received)
    assert (stopped.turns, turn.killed, turn.request) == ((turn,), 0, None)
    assert await bots.world.requests() == []
    assert await bots.job(received) == "cancelled"
    assert await said(bots) == [("asked", "add alpha"), ("answered", turn.text)]


async def test_p03b_a_stop_during_a_read_kills_it_and_counts_it(bots: Bots) -> None:
    bots.world.runner.meanwhile["look",] = for_ever
    bots.model = ScriptedModel(use("look"), use("append-word"))
    received = await bots.receive("look", CONVERSATION)
    answering = asyncio.create_task(bots.answer(received))

    async def begun() -> bool:
        return bool(bots.world.runner.ran)

    await soon(begun)
    stopped = await bots.stop("alice", CONVERSATION)
    told = await answering
    assert (told.reason, told.request) == (Reason.STOPPED, None)
    assert bots.world.runner.cut == [f"{told.turn}.1.call_{told.turn}_1"]
    assert (stopped.killed, stopped.steps_cut) == (1, 0)
    assert (await bots.turn(received)).killed == 1
    assert await bots.world.requests() == []


async def test_p03b_a_stop_during_a_preview_kills_it_and_asks_nobody(bots: Bots) -> None:
    bots.world.runner.meanwhile["preview",] = for_ever
    bots.model = ScriptedModel(use("append-word"))
    received = await bots.receive("add alpha", CONVERSATION)
    answering = asyncio.create_task(bots.answer(received))

    async def begun() -> bool:
        return bool(bots.world.runner.ran)

    await soon(begun)
    stopped = await bots.stop("alice", CONVERSATION)
    assert (await answering).reason is Reason.STOPPED
    assert (stopped.killed, len(bots.world.runner.cut)) == (1, 1)
    assert await bots.world.requests() == []


async def test_p05_the_conversation_goes_on_after_a_stop(bots: Bots) -> None:
    stop = asyncio.Event()

    async def stop_here() -> None:
        stop.set()
        await for_ever()

    bots.world.runner.meanwhile["look",] = stop_here
    bots.model = ScriptedModel(use("look"))
    first = await bots.answer(await bots.receive("look", CONVERSATION), stop=stop)
    assert first.reason is Reason.STOPPED
    second = await answered(bots, "and now?", Say(text="Here I am."))
    assert (second.reason, second.text) == (Reason.ANSWERED, "Here I am.")


@pytest.mark.parametrize("tool", ["append-word", None])
async def test_p03_a_stop_that_lands_after_the_last_move_still_wins(
    bots: Bots, tool: str | None
) -> None:
    received = await bots.receive("add alpha", CONVERSATION)

    async def too_late(_: Sequence[Entry]) -> Move:
        # Whoever answers hears nothing of it before the transaction that ends the turn.
        await bots.world.stores.conversations.stop(received.turn, principal="alice")
        return use(tool) if tool else Say(text="Well.")

    bots.model = ScriptedModel(too_late)
    hold = await held(bots, received)
    await bots.answering(hold)
    turn = await bots.turn(received)
    assert (turn.reason, turn.text, turn.request) == (
        Reason.STOPPED,
        "Stopped. Nothing was changed.",
        None,
    )
    assert await bots.world.requests() == []
    assert await bots.job(received) == "cancelled"
    assert await bots.world.attempts() == []


async def in_time(bots: Bots, clock: FrozenClock, received: Received) -> Answered:
    """Wait for the answer, and let the time pass for which a turn that was cut is left alone."""
    answering, cuts = asyncio.create_task(bots.answer(received)), 0
    while not answering.done():
        row = (await jobs_of(bots.world.stores, "turn"))[-1]
        if row["state"] == "queued" and row["tries"] > cuts:
            cuts = row["tries"]
            clock.pass_by(timedelta(minutes=1))
        await asyncio.sleep(0.005)
    return answering.result()


async def test_p15_a_turn_whose_lease_was_over_for_a_moment_is_answered(
    bots: Bots, clock: FrozenClock
) -> None:
    async def suspended(_: Sequence[Entry]) -> Move:
        clock.pass_by(2 * QUICK.lease)  # the machine slept
        return Say(text="Never heard of.")

    bots.model = ScriptedModel(suspended, Say(text="Here I am."), generative=True)
    told = await in_time(bots, clock, await bots.receive("think", CONVERSATION))
    assert told.reason is Reason.ANSWERED
    # A beat may prolong the lease before anything is refused: then the first answer stands.
    assert told.text in {"Here I am.", "Never heard of."}


@pytest.mark.parametrize(
    ("cuts", "reason", "text"),
    [
        (1, Reason.ANSWERED, "Here I am."),
        (5, Reason.ANSWERED, "Here I am."),
        (6, Reason.ERROR, GIVEN_UP.text),
    ],
)
async def test_p15_a_turn_that_was_cut_though_nobody_stopped_it_is_answered_again_a_few_times(
    bots: Bots, clock: FrozenClock, cuts: int, reason: Reason, text: str
) -> None:
    async def looks(_: JsonObject, __: Caller) -> str:
        raise LeaseLost("Says who?")  # and it is ours again by the time at which the turn ends

    bots.world.tools += (replace(a_tool("look-up", effect=Effect.READ), look=looks),)
    bots.world.rules += (allow("tool:read", "dev", "tool:*"),)
    script: list[Move] = [*[use("look-up")] * cuts, Say(text="Here I am.")]
    bots.model = ScriptedModel(*script, generative=True)
    received = await bots.receive("think", CONVERSATION)
    told = await in_time(bots, clock, received)
    assert (told.reason, told.text) == (reason, text)
    assert (await said(bots)).count(("answered", text)) == 1


async def test_p15_a_turn_that_is_cut_again_and_again_is_given_up(bots: Bots) -> None:
    received = await bots.receive("think", CONVERSATION)
    hold = await held(bots, received)

    async def looks(_: JsonObject, __: Caller) -> str:
        raise LeaseLost("Says who?")

    bots.world.tools += (replace(a_tool("look-up", effect=Effect.READ), look=looks),)
    bots.world.rules += (allow("tool:read", "dev", "tool:*"),)
    for tries, error in ((0, Unavailable), (4, Unavailable), (5, Refused)):
        bots.model = ScriptedModel(use("look-up"), generative=True)
        with pytest.raises(error, match="nobody stopped it"):
            await bots.answering(FakeHold(replace(hold.job, tries=tries)))
    assert (await bots.turn(received)).reason is None


async def test_c16_ctrl_c_is_a_stop_also_where_the_database_is_busy_just_then(
    stores: Stores,
) -> None:
    busy = Busy(stores.database)
    world = World(Stores(busy))
    world.rules += (allow("chat:ask", "dev", "*"),)
    bots, begun, stop = Bots(world), asyncio.Event(), asyncio.Event()

    async def thinks(_: Sequence[Entry]) -> Move:
        begun.set()
        await for_ever()
        raise AssertionError

    bots.model = ScriptedModel(thinks, generative=True)
    received = await bots.receive("think", CONVERSATION)
    answering = asyncio.ensure_future(bots.answer(received, stop=stop))
    await begun.wait()
    busy.times = 1
    stop.set()
    told = await answering
    assert (told.reason, told.text) == (Reason.STOPPED, "Stopped. Nothing was changed.")
    kept = await bots.world.stores.records.export(CONVERSATION)
    assert kept is not None
    assert Heard(speaker="alice", text="think") in kept.transcript  # it ended with what it was told


# Claims that were lost


@pytest.mark.parametrize("how", LOST)
@pytest.mark.parametrize("tool", ["append-word", None])
async def test_p35_who_lost_the_turn_writes_nothing(bots: Bots, how: str, tool: str | None) -> None:
    received = await bots.receive("add alpha", CONVERSATION)
    hold = await held(bots, received)

    async def pauses(_: Sequence[Entry]) -> Move:
        await lose(bots.world.stores, hold.job, how)
        bots.is_broken = how == "ended"
        return use(tool) if tool else Say(text="Well.")

    bots.model = ScriptedModel(pauses)
    with pytest.raises(LeaseLost):
        await bots.answering(hold)
    assert (await bots.turn(received)).reason is None
    assert await said(bots) == []
    assert await bots.world.requests() == []
    assert await bots.world.attempts() == []


@pytest.mark.parametrize("how", LOST)
async def test_i7_who_lost_the_turn_asks_the_model_nothing_more_and_leaves_no_record(
    bots: Bots, how: str
) -> None:
    received = await bots.receive("look", CONVERSATION)
    hold = await held(bots, received)

    async def pauses() -> None:
        await lose(bots.world.stores, hold.job, how)
        bots.is_broken = how == "ended"

    bots.world.runner.meanwhile["look",] = pauses
    bots.model = ScriptedModel(use("look"), Say(text="Well."), generative=True)
    with pytest.raises(LeaseLost):
        await bots.answering(hold)
    assert len(bots.model.seen) == 1
    happened = await happened_in(bots.world.stores, received.turn.id)
    kinds = [type(one).__name__ for one in happened]
    assert kinds == ["Moved", *["Staged"] * 6]  # of before


async def test_p35_who_notices_that_the_turn_is_lost_writes_nothing(bots: Bots) -> None:
    received = await bots.receive("add alpha", CONVERSATION)
    hold = await held(bots, received)
    hold.is_lost = True
    for move in (use("append-word"), Say(text="Well.")):
        bots.model = ScriptedModel(move)
        with pytest.raises(LeaseLost):
            await bots.answering(hold)
    assert (await bots.turn(received)).reason is None
    assert await bots.world.requests() == []


async def test_p15_a_turn_whose_process_died_is_answered_by_another_and_proposes_once(
    bots: Bots,
) -> None:
    received = await bots.receive("add alpha", CONVERSATION)
    dead = Stores(bots.world.stores.database, owner="dies")
    hold = FakeHold((await closing(dead, received.turn)).job)
    bots.dead.add("dies")
    bots.model = ScriptedModel(use("append-word"))
    told = await bots.answer(received, owner="b")
    assert told.reason is Reason.PROPOSED
    # It was only paused: whatever it does now does nothing.
    await bots.answering(hold)
    assert len(await bots.world.requests()) == 1
    assert [kind for kind, _ in await said(bots)] == ["asked", "card"]


async def test_what_two_claims_of_a_turn_look_at_is_never_taken_for_one_another(
    bots: Bots,
) -> None:
    """The first was only paused: what it cuts then must not be what the second one reads."""
    received = await bots.receive("look", CONVERSATION)
    dead = Stores(bots.world.stores.database, owner="dies")
    first = FakeHold((await closing(dead, received.turn)).job)
    bots.world.runner.meanwhile["look",] = for_ever
    bots.model = ScriptedModel(use("look"), use("look"), Say(text="Three words."))
    paused = asyncio.create_task(bots.answering(first))

    async def begun() -> bool:
        return bool(bots.world.runner.ran)

    await soon(begun)
    bots.world.runner.meanwhile.clear()
    bots.dead.add("dies")
    told = await bots.answer(received, owner="b")
    assert told.text == "Three words."
    paused.cancel()
    await asyncio.wait([paused])
    old, new = bots.world.runner.step_ids
    assert old == f"{told.turn}.{first.job.fence}.call_{told.turn}_1"
    assert new.startswith(f"{told.turn}.")
    assert new != old
    assert bots.world.runner.cut == [old]


async def test_a_turn_that_cannot_be_read_just_now_is_put_back_and_answered(
    bots: Bots, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn, failures = Conversations.turn, list[str]()

    async def moody(self: Conversations, tenant: str, name: str) -> Turn | None:
        if not failures:
            failures.append(name)
            raise Unavailable("The database is busy.")
        return await turn(self, tenant, name)

    received = await bots.receive("what is new?", CONVERSATION)
    behind = await bots.receive("and now?", CONVERSATION)
    monkeypatch.setattr(Conversations, "turn", moody)
    bots.model = ScriptedModel(Say(text="Nothing."), Say(text="Still nothing."))
    async with bots.serving():

        async def is_put_back() -> bool:
            return bool(failures) and await bots.job(received) == "queued"

        await soon(is_put_back)
        assert bots.model.seen == []  # what came later waits as well
        clock.pass_by(timedelta(seconds=1))
        await bots.ended(received)
        await bots.ended(behind)
    assert [(await bots.turn(one)).text for one in (received, behind)] == [
        "Nothing.",
        "Still nothing.",
    ]
    assert await states(bots) == ["done", "done"]


async def test_a_turn_that_is_cut_because_its_server_stops_is_answered_by_the_next(
    bots: Bots,
) -> None:
    received = await bots.receive("what is new?", CONVERSATION)
    async with bots.thinking(received):
        pass  # its process is told to leave
    assert await bots.job(received) == "queued"
    bots.model = ScriptedModel(Say(text="Nothing."))
    assert (await bots.answer(received, owner="b")).text == "Nothing."
    [row] = [
        row for row in await jobs_of(bots.world.stores, "turn") if received.turn.id in row["id"]
    ]
    assert (row["attempt"], row["tries"]) == (1, 0)


async def test_whoever_leaves_uses_up_no_try_of_the_turn_that_stands_before_theirs(
    bots: Bots,
) -> None:
    head = await bots.receive("head", CONVERSATION)
    for number in range(MOST_REQUEUES + 2):
        stop = asyncio.Event()

        async def leaves(_: Sequence[Entry], stop: asyncio.Event = stop) -> Move:
            stop.set()
            await for_ever()
            raise AssertionError

        bots.model = ScriptedModel(leaves)
        mine = await bots.receive(f"mine {number}", CONVERSATION)
        told = await bots.answer(mine, owner=f"p{number}", stop=stop)
        assert told.reason is Reason.STOPPED
        assert (await bots.turn(head)).reason is None
        assert await bots.job(head) == "queued"
    bots.model = ScriptedModel(Say(text="Here."))
    assert (await bots.answer(head, owner="last")).text == "Here."


async def test_a_turn_that_has_ended_is_not_answered_again(bots: Bots) -> None:
    received = await bots.receive("add alpha", CONVERSATION)
    hold = await held(bots, received)
    bots.model = ScriptedModel(Say(text="Once."))
    await bots.answering(hold)
    await bots.answering(hold)
    await bots.answering(FakeHold(replace(hold.job, payload={"turn": "t_none"})))
    await bots.answering(FakeHold(replace(hold.job, tenant="globex")))
    assert len(bots.model.seen) == 1
    assert await said_in(bots.world.stores, CONVERSATION, "answered") == ["Once."]


# Failures


async def test_what_nobody_foresaw_ends_the_turn_and_the_conversation_goes_on(
    bots: Bots, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: object) -> None:
        raise ValueError("nobody foresaw this")

    monkeypatch.setattr(Gate, "propose", fails)
    told = await answered(bots, "add alpha", use("append-word"))
    assert (told.reason, told.request) == (Reason.ERROR, None)
    assert "nobody foresaw this" not in told.text
    assert "ValueError" in caplog.text
    assert "nobody foresaw this" not in caplog.text
    assert await states(bots) == ["done"]
    assert [kind for kind, _ in await said(bots)] == ["asked", "answered"]
    second = await answered(bots, "and now?", Say(text="Here I am."))
    assert second.reason is Reason.ANSWERED


async def test_a_turn_that_cannot_be_written_is_written_as_soon_as_it_can(
    bots: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    end, failures = Conversations.end, list[str]()

    async def moody(self: Conversations, closing: Closing) -> None:
        if len(failures) < 2:
            failures.append(closing.turn.id)
            raise Unavailable("The database is busy.")
        await end(self, closing)

    monkeypatch.setattr(Conversations, "end", moody)
    told = await answered(bots, "what is new?", Say(text="Nothing."))
    assert (told.reason, told.text, len(failures)) == (Reason.ANSWERED, "Nothing.", 2)
    assert len(bots.model.seen) == 1
    assert await said(bots) == [("asked", "what is new?"), ("answered", "Nothing.")]


async def test_a_turn_that_is_lost_while_it_cannot_be_written_is_left_alone(
    bots: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    received = await bots.receive("add alpha", CONVERSATION)
    hold = await held(bots, received)
    bots.model = ScriptedModel(Say(text="Well."))

    async def fails(*_: object) -> None:
        hold.is_lost = True
        raise Unavailable("The database is busy.")

    monkeypatch.setattr(Conversations, "end", fails)
    with pytest.raises(LeaseLost):
        await bots.answering(hold)
    assert hold.checks == 2


async def test_who_waits_is_never_told_of_an_end_that_was_not_written(bots: Bots) -> None:
    received = await bots.receive("add alpha", CONVERSATION)
    hold = await held(bots, received)
    await lose(bots.world.stores, hold.job, "ended")
    bots.is_broken = True
    with pytest.raises(Unavailable, match="could not be written down"):
        await bots.answer(received)


async def test_a_model_that_is_out_of_reach_is_told_as_that(bots: Bots) -> None:
    told = await answered(bots, "add alpha", Unavailable("no route to 10.0.0.7"))
    assert told.reason is Reason.MODEL_UNAVAILABLE
    assert "10.0.0.7" not in told.text


async def test_c10_whatever_a_model_fails_with_is_explained_and_only_its_type_is_logged(
    bots: Bots, caplog: pytest.LogCaptureFixture
) -> None:
    told = await answered(bots, "add alpha", ValueError("a key: 4711"))
    assert told.reason is Reason.MODEL_UNAVAILABLE
    assert told.text == "The model did not answer. Nothing was changed; try again in a while."
    assert "4711" not in caplog.text
    assert "ValueError" in caplog.text
    assert await states(bots) == ["done"]


async def test_people_and_rules_that_cannot_be_read_are_an_answer_too(bots: Bots) -> None:
    received = await bots.receive("add alpha", CONVERSATION)
    bots.world.unreadable = Unavailable("sayso.yml cannot be read just now.")
    told = await bots.answer(received)
    assert (told.reason, told.text) == (Reason.ERROR, "sayso.yml cannot be read just now.")


# In order


async def test_i8_the_turns_of_a_conversation_run_one_at_a_time_in_order_of_arrival(
    bots: Bots,
) -> None:
    going, inside = asyncio.Event(), list[int]()

    async def slow(_: Sequence[Entry]) -> Move:
        inside.append(len(inside))
        await going.wait()
        inside.pop()
        return Say(text=f"{len(inside)} besides.")

    bots.model = ScriptedModel(slow, slow, slow)
    received = [await bots.receive(f"number {n}", CONVERSATION) for n in range(3)]
    answers = [
        asyncio.create_task(bots.answer(one, owner=f"p{n}")) for n, one in enumerate(received)
    ]

    async def begun() -> bool:
        return bool(inside)

    await soon(begun)
    going.set()
    assert [(await one).text for one in answers] == ["0 besides."] * 3
    asked = await said_in(bots.world.stores, CONVERSATION, "asked")
    assert asked[1:] == ["number 0", "number 1", "number 2"]


async def test_conversations_are_answered_side_by_side(bots: Bots) -> None:
    met = asyncio.Barrier(2)

    async def meets(_: Sequence[Entry]) -> Move:
        await met.wait()
        return Say(text="Met.")

    bots.model = ScriptedModel(meets, meets)
    both = [await bots.receive("one"), await bots.receive("two")]
    async with bots.serving():
        for received in both:
            await bots.ended(received)
    assert [(await bots.turn(received)).text for received in both] == ["Met.", "Met."]


async def test_who_waits_for_an_answer_waits_where_a_server_gives_it(bots: Bots) -> None:
    going = asyncio.Event()

    async def slow(_: Sequence[Entry]) -> Move:
        await going.wait()
        return Say(text="From the server.")

    bots.model = ScriptedModel(slow)
    received = await bots.receive("what is new?", CONVERSATION)
    async with bots.serving():

        async def runs() -> bool:
            return await bots.job(received) == "running"

        await soon(runs)
        answering = asyncio.create_task(bots.answer(received, owner="asks"))
        going.set()
        told = await answering
    assert (told.text, len(bots.model.seen)) == ("From the server.", 1)


async def test_c78_a_command_that_is_misused_passes_the_guardrail_of_what_comes_in(
    bots: Bots,
) -> None:
    guards = FakeGuards(says={"input": ["It names a customer."]})
    bots.guards = guards.guards
    answered_ = await answered(bots, "!note")
    assert answered_.reason is Reason.GUARDRAIL_INPUT
    assert "It names a customer." in answered_.text
    bots.guards = FakeGuards().guards
    bots.model = ScriptedModel(Say(text="ok"), generative=True)
    assert (await bots.answer(await bots.receive("hi", CONVERSATION))).text == "ok"
    assert "append alpha" in str(bots.model.seen)
    assert "!note" not in str(bots.model.seen)
