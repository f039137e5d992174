"""C21, C67, C68, C87, C88: profiles and rates in whole turns, and what is on record of them."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from approvals.models import State
from bot.ask import Answered
from core.canonical import JsonObject
from core.errors import Invalid, Refused
from core.events import Ask
from core.limits import Limits
from core.outcomes import Reason
from core.profiles import DEFAULT, Profile, Profiles
from core.rates import Rate, RateRules
from core.tools import ABSORB, TASK, Caller, Effect
from core.trail import Moved
from core.transcript import Entry, Move, Say, ToolCall, Use
from tests.bots import Bots
from tests.builders import CONVERSATION, PLACE, TENANT, a_proposal, a_tool
from tests.fakes.clock import FrozenClock
from tests.fakes.guards import FakeGuards
from tests.fakes.model import ScriptedModel
from tests.fakes.runner import for_ever
from tests.gates import APPEND, LOW, PLENTY, SECRET, World, allow, who
from tests.jobs import soon
from tests.stores import Stores, happened_in, log_of

LOOK = a_tool("look", effect=Effect.READ)
HOUR = timedelta(hours=1)
NARROW = Profile(name="narrow", tools=frozenset({"look"}), choosers=frozenset({"dev"}))
NONE = Profile(name="none", tools=frozenset())
SHORT = Profile(name="short", limits=Limits(turns=1))


def profiles(*known: Profile, here: str = DEFAULT) -> Profiles:
    every = (Profile(name=DEFAULT), *known)
    return Profiles(known={one.name: one for one in every}, of_tenant={TENANT: here})


@pytest.fixture
async def bots(stores: Stores) -> AsyncGenerator[Bots]:
    world = World(stores)
    world.tools += (LOOK,)
    world.rules += (allow("chat:ask", "dev", "*"), allow("tool:read", "dev"))
    bots = Bots(world)
    yield bots
    await bots.at_rest()


def use(tool: str, word: str = "alpha", **more: str) -> Use:
    return Use(calls=(ToolCall(id="1", tool=tool, arguments={"word": word, **more}),))


WRITES = use("note", rationale="because")
OK = Say(text="ok")


def generative(*script: Move) -> ScriptedModel:
    return ScriptedModel(*script, generative=True)


async def refused(bots: Bots, ask: Ask) -> str:
    with pytest.raises(Refused) as told:
        await bots.inbox.ask(ask)
    return told.value.shown


def an_ask(profile: str | None = None, conversation: str | None = None) -> Ask:
    return Ask(
        identity=who("alice"), place=PLACE, text="hi", profile=profile, conversation=conversation
    )


async def test_c21_an_empty_list_offers_and_runs_nothing(bots: Bots) -> None:
    bots.world.profiles = profiles(NONE, here="none")
    bots.model = generative(use("look"), WRITES, OK)
    answered = await bots.answer(await bots.receive("hi"))
    assert (answered.reason, bots.world.effects()) == (Reason.ANSWERED, [])
    assert [prompt.tools.names for prompt in bots.model.prompts] == [{ABSORB, TASK}] * 3


async def test_c87_a_conversation_keeps_the_profile_that_it_began_with(bots: Bots) -> None:
    bots.world.profiles = profiles(NARROW)
    received = await bots.inbox.ask(an_ask("narrow"))
    assert received.turn.profile == "narrow"
    bots.model = generative(WRITES, OK)
    here = received.turn.conversation
    assert (await bots.answer(received)).request is None
    later = await bots.inbox.ask(an_ask(conversation=here))
    assert later.turn.profile == "narrow"
    assert (await bots.inbox.ask(an_ask("narrow", here))).turn.profile == "narrow"
    assert await refused(bots, an_ask("narrow", CONVERSATION)) == (
        "This conversation has the profile default. Start a new one to use another."
    )
    bots.model = generative(OK, OK)
    await bots.answer(later)


async def test_c87_who_may_not_choose_is_refused_on_record_and_nothing_is_kept(bots: Bots) -> None:
    bots.world.profiles = profiles(NARROW, NONE)
    said = await refused(bots, an_ask("none"))
    assert said == "There is no profile of that name that you may choose. You may choose narrow."
    assert len(await bots.world.attempts()) == 1


async def test_c87_limits_are_those_of_the_profile(bots: Bots) -> None:
    bots.world.profiles = profiles(SHORT, here="short")
    bots.model = generative(use("look"), Say(text="That is all."))
    assert (await bots.answer(await bots.receive("hi"))).reason is Reason.MAX_TURNS


async def test_c87_a_profile_that_is_gone_answers_with_what_to_do(bots: Bots) -> None:
    bots.world.profiles = profiles(NARROW)
    received = await bots.inbox.ask(an_ask("narrow"))
    bots.world.profiles = profiles()
    answered = await bots.answer(received)
    assert answered.text == (
        "The profile of this conversation, narrow, is no longer there. Start a new conversation."
    )


async def test_c68_a_profile_that_was_narrowed_while_it_waited_revokes_at_the_spend(
    bots: Bots,
) -> None:
    wide = replace(NARROW, tools=frozenset({"wipe"}))
    bots.world.profiles = profiles(wide)
    received = await bots.inbox.ask(an_ask("narrow"))
    bots.model = generative(use("wipe", rationale="because"))
    request = (await bots.answer(received)).request
    assert request is not None
    assert request.profile == "narrow"
    request = (await bots.vote("bob", request)).request
    bots.world.profiles = profiles(NARROW)
    with pytest.raises(Refused, match="alice may no longer ask for it"):
        await bots.vote("carol", request)
    assert (await bots.world.now(request)).state is State.REVOKED
    assert bots.world.effects() == []


async def test_c68_and_between_the_last_vote_and_the_spend(bots: Bots) -> None:
    bots.world.profiles = profiles(replace(NARROW, tools=frozenset({"note"})))
    received = await bots.inbox.ask(an_ask("narrow"))
    bots.model = generative(WRITES)
    request = (await bots.answer(received)).request
    assert request is not None
    await bots.vote("bob", request)
    bots.world.profiles = profiles(NARROW)
    async with bots.serving():
        await bots.ended(request)
    assert (await bots.world.now(request)).state is State.REVOKED
    assert bots.world.effects() == []


async def test_c66_a_right_that_went_in_the_middle_of_a_turn_stops_the_next_read(
    bots: Bots,
) -> None:
    async def loses(_: Sequence[Entry]) -> Move:
        bots.world.groups["alice"] = set()
        return use("look", "beta")

    bots.model = ScriptedModel(use("look"), loses, OK, generative=True)
    await bots.answer(await bots.receive("hi"))
    assert [argv[-2] for argv in bots.world.effects()] == ["alpha"]


async def test_c22_the_rate_of_a_tool_holds_over_turns_and_people(
    bots: Bots, clock: FrozenClock
) -> None:
    twice = Rate(name="look", most=2, per=HOUR)
    bots.world.rates = RateRules(messages=PLENTY.messages, tools=(twice,))
    bots.world.groups["bob"] |= {"dev"}
    texts = list[str]()
    for person in ("alice", "alice", "alice", "bob"):
        bots.model = generative(use("look"), OK)
        texts.append((await bots.answer(await bots.receive("hi", person=person))).text)
    no = "ok\n(not run: look: Not run: you may do this 2 times in 1h. Try again in 30m.)"
    assert texts == ["ok", "ok", no, "ok"]
    clock.pass_by(HOUR)
    bots.model = generative(use("look"), OK)
    assert (await bots.answer(await bots.receive("hi"))).text == "ok"


async def test_c22_a_tool_that_is_called_like_what_people_do_is_counted_by_itself(
    bots: Bots,
) -> None:
    once = Rate(name="messages", most=1, per=HOUR)
    bots.world.rates = RateRules(messages=once, tools=(once,))
    bots.world.tools += (replace(LOOK, name="messages"),)
    bots.model = generative(use("messages"), OK)
    assert (await bots.answer(await bots.receive("hi"))).text == "ok"


async def test_c67_who_is_too_fast_is_told_so_before_anything_else_is_looked_at(
    bots: Bots,
) -> None:
    bots.world.rates = RateRules(messages=Rate(name="messages", most=2, per=HOUR))
    request = await bots.world.propose()
    bots.world.rules = ()  # admission and policy would refuse too
    order = [await refused(bots, an_ask()), await refused(bots, an_ask())]
    assert order == ["You may not ask Sayso here (chat:ask)."] * 2
    too_fast = "Too fast: you may do this 2 times in 1h. Try again in 30m."
    assert await refused(bots, an_ask("narrow")) == too_fast
    for said in ("You may not approve this", "You may not approve this", "Too fast"):
        with pytest.raises(Refused, match=said):
            await bots.world.approve("alice", request)
    logged = [entry for entry in await log_of(bots.world.stores) if entry.kind == "attempt.refused"]
    assert [too_fast in entry.body for entry in logged] == [
        False, False, True, False, False, True,
    ]  # fmt: skip


async def test_c67_admission_comes_before_what_the_policy_says_of_a_profile(bots: Bots) -> None:
    bots.world.rules = ()
    assert await refused(bots, an_ask("nothing")) == "You may not ask Sayso here (chat:ask)."


async def test_c67_nobody_is_too_fast_to_stop(bots: Bots) -> None:
    bots.world.rates = RateRules(messages=Rate(name="messages", most=1, per=HOUR))
    received = await bots.receive("hi")
    for _ in range(3):
        await bots.stop("alice", received.turn.conversation)


async def test_c88_what_the_model_took_is_readable_while_the_turn_still_runs(bots: Bots) -> None:
    async def hangs(_: Sequence[Entry]) -> Move:
        await for_ever()
        raise AssertionError

    bots.model = ScriptedModel(use("look"), use("look", "beta"), hangs, generative=True)
    received = await bots.receive("hi", CONVERSATION)
    answering = asyncio.create_task(bots.answer(received))

    async def twice() -> bool:
        found = await happened_in(bots.world.stores, received.turn.id)
        return sum(isinstance(one, Moved) for one in found) == 2

    await soon(twice)
    await bots.stop("alice", CONVERSATION)
    await answering


async def test_c22_a_plan_that_is_asked_for_again_is_counted_as_any_other(bots: Bots) -> None:
    once = Rate(name="note", most=1, per=HOUR)
    bots.world.rates = RateRules(messages=PLENTY.messages, tools=(once,))
    bots.model = generative(WRITES)
    request = (await bots.answer(await bots.receive("hi"))).request
    assert request is not None
    again = await bots.inbox.ask_again(an_ask(), request.id)
    answered = await bots.answer(again)
    assert answered.text == "Not run: you may do this once in 1h. Try again in 1h."
    exported = await bots.inbox.ask_plan(an_ask(), request.plan)
    assert (await bots.answer(exported)).text == answered.text
    assert [one.id for one in await bots.world.requests()] == [request.id]


async def test_c22_a_plan_is_counted_all_or_none(bots: Bots) -> None:
    once, twice = Rate(name="note", most=1, per=HOUR), Rate(name="append-word", most=2, per=HOUR)
    bots.world.rates = RateRules(messages=PLENTY.messages, tools=(once, twice))
    append, note = APPEND.check({"word": "a"}, {}), LOW.check({"word": "a"}, {})
    frozen = await bots.world.gate.freeze(a_proposal(append, note))
    proposed = await bots.answer(await bots.inbox.ask_plan(an_ask(), frozen))
    assert proposed.request is not None
    refused_one = await bots.answer(await bots.inbox.ask_plan(an_ask(), frozen))
    assert refused_one.text == "Not run: you may do this once in 1h. Try again in 1h."
    bots.model = generative(use("append-word", rationale="because"))
    assert (await bots.answer(await bots.receive("hi"))).request is not None


async def test_c22_nothing_of_a_plan_is_counted_where_one_call_is_not_authorised(
    bots: Bots,
) -> None:
    async def no(_: JsonObject, caller: Caller) -> str:
        del caller
        return "It is not your order."

    bots.world.tools = (LOW, replace(APPEND, authorize=no))
    once = Rate(name="note", most=1, per=HOUR)
    bots.world.rates = RateRules(messages=PLENTY.messages, tools=(once,))
    both = [tool.check({"word": "a"}, {}) for tool in (LOW, APPEND)]
    plan = await bots.world.gate.freeze(a_proposal(*both))
    answered = await bots.answer(await bots.inbox.ask_plan(an_ask(), plan))
    assert (answered.request, answered.text) == (None, "It is not your order.")
    bots.model = generative(WRITES)
    assert (await bots.answer(await bots.receive("hi"))).request is not None


async def asked_with(bots: Bots, why: str) -> Answered:
    """Have a plan proposed that a tool refuses in these words."""

    async def no(_: JsonObject, caller: Caller) -> str:
        del caller
        return why

    plan = await bots.world.gate.freeze(a_proposal(APPEND.check({"word": "a"}, {})))
    bots.world.tools = (replace(APPEND, authorize=no),)
    return await bots.answer(await bots.inbox.ask_plan(an_ask(), plan))


async def test_i12_a_secret_in_why_a_plan_may_not_be_proposed_is_shown_to_nobody(
    bots: Bots,
) -> None:
    answered = await asked_with(bots, f"Only {SECRET} opens this.")
    assert answered.text == "Only [redacted] opens this."


async def test_c78_why_a_plan_may_not_be_proposed_is_guarded_before_it_is_posted(
    bots: Bots,
) -> None:
    bots.guards = FakeGuards({"output": ["no orders"]}).guards
    answered = await asked_with(bots, "It is not your order.")
    assert answered.reason is Reason.GUARDRAIL_OUTPUT
    assert "your order" not in answered.text


async def test_i12_nor_is_one_in_what_is_wrong_with_a_file(bots: Bots) -> None:
    received = await bots.receive("hi")
    bots.world.unreadable = Invalid(f"sayso.yml:1: what is {SECRET}? Correct it.")
    answered = await bots.answer(received)
    assert answered.text == "sayso.yml:1: what is [redacted]? Correct it."
    bots.world.unreadable = None


@pytest.mark.parametrize("where", ["tenant", "channel"])
async def test_c87_what_a_schedule_asks_has_the_profile_of_its_tenant_or_channel(
    bots: Bots, where: str
) -> None:
    of = {"tenant": {TENANT: "narrow"}, "channel": {PLACE.resource: "narrow"}}
    known = profiles(NARROW).known
    bots.world.profiles = (
        Profiles(known=known, of_tenant=of[where])
        if where == "tenant"
        else Profiles(known=known, of_channel=of[where])
    )
    wanted = await bots.inbox.wanted(
        (TENANT, "alice"), PLACE, "hi", schedule="nightly", delivery="tick:1"
    )
    received = await bots.inbox.keep(wanted)
    assert received.turn.profile == "narrow"
    bots.model = generative(WRITES, OK)
    assert (await bots.answer(received)).request is None


async def test_c67_who_asks_too_fast_may_still_vote_and_nothing_holds_back_a_no(
    bots: Bots,
) -> None:
    first, second = await bots.world.propose(), await bots.world.propose(LOW)
    bots.world.rates = RateRules(messages=Rate(name="messages", most=1, per=HOUR))
    await bots.inbox.ask(an_ask())
    assert (await refused(bots, an_ask())).startswith("Too fast:")
    assert (await bots.world.approve("alice", second)).state is State.GRANTED
    with pytest.raises(Refused, match="Too fast"):
        await bots.world.approve("alice", first)
    assert (await bots.world.deny("alice", first)).state is State.DENIED


async def test_c67_asking_again_is_one_message(bots: Bots) -> None:
    request = await bots.world.propose()
    bots.world.rates = RateRules(messages=Rate(name="messages", most=1, per=HOUR))
    await bots.inbox.ask_again(an_ask(), request.id)
    with pytest.raises(Refused, match="Too fast"):
        await bots.inbox.ask_again(an_ask(), request.id)
