"""Editing before approval: who may, what they then are, and that nobody is fooled by it."""

import asyncio
from collections.abc import Awaitable
from dataclasses import replace

import pytest

from approvals import edits
from approvals.editing import Editing
from approvals.gate import UNKNOWN
from approvals.models import Request, State
from approvals.switches import Switches
from core.errors import Refused
from core.events import Edit
from core.guardrails import Guards
from core.rates import Rate, RateRules
from core.transcript import AgentText
from tests.builders import TENANT, a_proposal
from tests.fakes.clock import FrozenClock
from tests.gates import APPEND, EVE, HIGH, HOUR, LOW, PLENTY, SECRET, World, allow, edited, who
from tests.stores import Stores, everything, facts_of
from tests.unit.approvals.test_held import NOON

TWO_CALLS = (LOW.check({"word": "one"}, {}), HIGH.check({"word": "two"}, {}))


@pytest.fixture
def world(stores: Stores) -> World:
    there = World(stores)
    there.groups |= {"bob": {"ops", "dev", "editors"}, "frank": {"ops", "dev"}}
    return there


async def refused(what: Awaitable[object]) -> str:
    with pytest.raises(Refused) as refusal:
        await what
    return refusal.value.shown


def facts(request: Request) -> dict[str, str]:
    return {fact.label: fact.text for fact in request.card.facts}


async def test_whoever_has_the_right_makes_a_new_plan_with_a_new_hash_and_a_new_card(
    world: World,
) -> None:
    old = await world.propose()
    became = await world.edited("bob", old, word="beta")
    assert became.id != old.id
    assert became.plan_sha256 != old.plan_sha256
    assert became.plan.calls[0].arguments == {"word": "beta", "file": "words.txt"}
    assert (became.requester, became.editors, became.votes) == ("alice", ("bob",), ())
    assert (await world.now(old)).state is State.SUPERSEDED
    told = facts(became)
    assert (told["Asked by"], told["Edited by"]) == ("alice", f"bob, from {old.plan.id}")
    assert told["The edit changed"] == 'append-word word from "alpha" to "beta"'
    assert told["May approve"] == "carol, frank"


async def test_whoever_asked_edits_their_own_request_without_any_other_right(world: World) -> None:
    old = await world.propose()
    became = await world.edited("alice", old, word="beta")
    assert (became.requester, became.editors) == ("alice", ("alice",))
    assert facts(became)["May approve"] == "bob, carol, frank"


async def test_votes_are_void_and_the_rule_begins_anew(world: World) -> None:
    old = await world.propose(HIGH)
    await world.approve("carol", old)
    became = await world.edited("alice", old, word="beta")
    assert became.votes == ()
    await world.approve("carol", became)
    granted = await world.approve("bob", became)
    assert (granted.state, {*granted.voters}) == (State.GRANTED, {"carol", "bob"})
    assert (await world.spend(granted)).request.state is State.SPENT
    late = await refused(world.approve("bob", old))
    assert late == (
        f"Superseded: alice edited it, so no vote for it counts; what waits now is {became.id}."
    )


async def test_whoever_edited_counts_as_a_requester_of_it(world: World) -> None:
    became = await world.edited("bob", await world.propose(), word="beta")
    assert await refused(world.approve("bob", became)) == (
        "You edited this, so somebody else has to approve it: carol and frank may."
    )
    assert "You asked for this" in await refused(world.approve("alice", became))
    assert (await world.approve("carol", became)).state is State.GRANTED


async def test_everybody_who_ever_edited_it_counts_and_so_does_who_asked(world: World) -> None:
    world.groups["frank"] |= {"editors"}
    first = await world.edited("bob", await world.propose(), word="beta")
    second = await world.edited("frank", first, word="gamma")
    third = await world.edited("bob", second, word="delta")
    assert third.editors == ("bob", "frank")
    assert facts(third)["Edited by"] == f"bob, frank, from {second.plan.id}"
    assert facts(third)["May approve"] == "carol"
    for somebody in ("alice", "bob", "frank"):
        assert "somebody else has to approve it" in await refused(world.approve(somebody, third))


async def test_asking_again_takes_nobody_off_who_edited_it(
    world: World, clock: FrozenClock
) -> None:
    became = await world.edited("bob", await world.propose(), word="beta")
    clock.pass_by(HOUR)
    call = APPEND.check({"word": "beta"}, {})
    again = await world.ask(a_proposal(call, turn="t_2", supersedes=became.id))
    assert (again.requester, again.editors) == ("alice", ("bob",))
    assert facts(again)["Edited by"] == "bob"
    assert "The edit changed" not in facts(again)
    assert "You edited this" in await refused(world.approve("bob", again))


async def test_where_the_rule_lets_the_requester_vote_an_editor_may_too(world: World) -> None:
    became = await world.edited("bob", await world.propose(LOW), word="beta")
    assert (await world.approve("bob", became)).state is State.GRANTED


async def test_nobody_else_edits_and_those_who_may_are_named(world: World) -> None:
    old = await world.propose()
    assert await refused(world.edited("carol", old, word="beta")) == (
        "You may not edit this; alice and bob may."
    )
    assert await refused(world.edited("dave", old, word="beta")) == UNKNOWN
    assert (await world.now(old)).state is State.OPEN
    assert [facts_of(e)["principal"] for e in await world.attempts()] == ["carol", "dave"]


async def test_the_right_to_edit_alone_shows_the_request_and_edits_nothing(world: World) -> None:
    world.groups["gina"] = {"editors"}
    old = await world.propose()
    assert await refused(world.edited("gina", old, word="beta")) == (
        "Not proposed: you may not ask for this."
    )
    assert (await world.now(old)).state is State.OPEN


async def test_the_right_has_to_hold_for_every_call(world: World) -> None:
    world.rules = (*world.rules, allow("plan:edit", "noters", "runbook:note"))
    world.groups["carol"] |= {"noters", "dev"}
    both = await world.ask(a_proposal(*TWO_CALLS))
    assert "You may not edit this" in await refused(world.edited("carol", both, call=1, word="x"))
    one = await world.propose(LOW)
    assert (await world.edited("carol", one, word="x")).editors == ("carol",)


async def test_who_asked_must_still_be_allowed_to_ask(world: World) -> None:
    old = await world.propose()
    world.groups["alice"] = {"ops"}
    assert await refused(world.edited("bob", old, word="beta")) == (
        "Not proposed: alice may no longer ask for this."
    )
    assert "you may not ask" in await refused(world.edited("alice", old, word="beta"))


async def test_i3_an_editor_who_may_no_longer_ask_revokes_it_at_the_spend(world: World) -> None:
    became = await world.edited("bob", await world.propose(), word="beta")
    granted = await world.approve("carol", became)
    world.groups["bob"] = {"ops"}
    assert "bob may no longer ask for it" in await refused(world.spend(granted))
    assert world.effects() == []


async def test_i3_an_editors_vote_never_counts_at_the_spend(world: World) -> None:
    became = await world.edited("bob", await world.propose(), word="beta")
    voted = await world.stores.requests.vote(TENANT, became.id, principal="bob")
    assert voted.request.state is State.GRANTED
    assert "bob may no longer approve it" in await refused(world.spend(voted.request))


@pytest.mark.parametrize("given", ["", "0" * 32, "A" * 32, "p_1", "' OR 1=1 --"])
async def test_i5_an_id_of_nothing_gets_the_one_answer(world: World, given: str) -> None:
    await world.propose()
    assert await refused(world.edited("bob", given, word="beta")) == UNKNOWN


async def test_i14_another_tenants_request_is_answered_as_an_unknown_one(world: World) -> None:
    world.groups["eve"] |= {"editors", "dev"}
    old = await world.propose()
    assert await refused(world.edited(EVE, old, word="beta")) == UNKNOWN
    assert (await world.now(old)).state is State.OPEN


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"nope": "x"}, "append-word: there is no such argument. Its arguments: word, file, loud"),
        ({"loud": "maybe"}, "append-word: `loud`: it must be true or false."),
        ({"word": "a\ud800b\0"}, None),
        ({}, "Say what to change, as in: edit ID NAME=VALUE"),
        ({"word": "x" * 16_001}, "16,000 characters"),
        ({"loud": None}, edits.NOTHING),
        ({"word": "alpha"}, edits.NOTHING),
        ({"word": f"token={SECRET}"}, "append-word: `word` looks like a secret."),
    ],
)
async def test_values_are_read_as_strictly_as_those_of_a_model(
    world: World, values: dict[str, str | None], reason: str | None
) -> None:
    old = await world.propose()
    event = Edit(identity=who("bob"), request=old.id, values=(*values.items(),))
    if reason is None:
        became = await Editing(gate=world.gate).edit(event)
        assert became.plan.calls[0].arguments["word"] == "a\ufffdb\ufffd"
        return
    told = await refused(Editing(gate=world.gate).edit(event))
    assert reason in told
    assert SECRET not in told
    assert (await world.now(old)).state is State.OPEN
    assert world.effects() == []
    [entry] = await world.attempts()
    assert facts_of(entry)["principal"] == "bob"
    assert SECRET not in entry.body


async def test_a_name_that_stands_there_twice_is_refused(world: World) -> None:
    old = await world.propose()
    event = Edit(identity=who("bob"), request=old.id, values=(("word", "a"), ("word", "b")))
    assert await refused(Editing(gate=world.gate).edit(event)) == (
        "append-word: `word` stands there twice. Write it once."
    )


async def test_what_has_a_default_goes_back_to_it(world: World) -> None:
    old = await world.ask(a_proposal(APPEND.check({"word": "alpha", "file": "other.txt"}, {})))
    became = await world.edited("bob", old, file=None)
    assert became.plan.calls[0].arguments["file"] == "words.txt"
    assert facts(became)["The edit changed"] == 'append-word file from "other.txt" to "words.txt"'


async def test_an_argument_that_was_not_there_is_told_as_nothing(world: World) -> None:
    became = await world.edited("bob", await world.propose(), loud="true")
    assert facts(became)["The edit changed"] == "append-word loud from nothing to true"


async def test_of_several_calls_one_is_named_by_its_number(world: World) -> None:
    old = await world.ask(a_proposal(*TWO_CALLS))
    for wrong in (None, 0, 3):
        assert "This plan has: 1 note, 2 wipe" in await refused(
            world.edited("bob", old, call=wrong, word="x")
        )
    became = await world.edited("bob", old, call=2, word="three")
    assert [call.arguments["word"] for call in became.plan.calls] == ["one", "three"]
    assert facts(became)["The edit changed"] == 'wipe word from "two" to "three"'


async def test_a_runbook_that_changed_meanwhile_is_told_with_the_edit(world: World) -> None:
    old = await world.propose()
    world.edit("append-word", edited)
    became = await world.edited("bob", old, word="beta")
    assert facts(became)["The edit changed"] == (
        'the runbook append-word; append-word word from "alpha" to "beta"'
    )


async def test_what_the_agent_says_is_marked_as_older_than_the_edit(world: World) -> None:
    about = AgentText(rationale="alpha is missing")
    old = await world.ask(a_proposal(APPEND.check({"word": "alpha"}, {}), about=about))
    became = await world.edited("bob", old, word="beta")
    assert became.card.unchecked == ("why: alpha is missing",)
    assert "What the agent says was written before it was edited." in became.card.warnings
    assert not (await world.edited("bob", await world.propose(LOW), word="b")).card.warnings


LATE = {
    "granted": "Already decided. Approved by carol; waiting to run.",
    "denied": "Already decided. Denied by carol, no reason given.",
    "expired": "Expired at ",
    "edited": "Superseded: alice edited it, so no vote for it counts; what waits now is ",
}


@pytest.mark.parametrize("end", LATE)
async def test_what_is_no_longer_open_is_told_and_left(
    world: World, clock: FrozenClock, end: str
) -> None:
    old = await world.propose()
    if end == "granted":
        await world.approve("carol", old)
    elif end == "denied":
        await world.deny("carol", old)
    elif end == "edited":
        await world.edited("alice", old, word="beta")
    else:
        clock.pass_by(HOUR)
    told = await refused(world.edited("bob", old, word="gamma"))
    assert told.startswith(LATE[end])
    assert [r.id for r in await world.requests() if r.editors == ("bob",)] == []


async def test_of_two_edits_at_once_one_stands_and_the_other_is_told(world: World) -> None:
    old = await world.propose()
    found = await asyncio.gather(
        world.edited("bob", old, word="beta"),
        world.edited("alice", old, word="gamma"),
        return_exceptions=True,
    )
    [stands] = [one for one in found if isinstance(one, Request)]
    [late] = [one for one in found if isinstance(one, Refused)]
    assert late.shown.startswith(f"Superseded: {stands.editors[0]} edited it")
    assert len([r for r in await world.requests() if r.state is State.OPEN]) == 1


async def test_the_last_yes_that_comes_while_it_is_frozen_stands(world: World) -> None:
    old = await world.propose()

    async def vote(_: object) -> None:
        await world.stores.requests.vote(TENANT, old.id, principal="carol")

    told = await refused(world.edited("bob", old, guards=Guards(tool=(vote,)), word="beta"))
    assert told == "Already decided. Approved by carol; waiting to run."


async def test_i13_a_denied_effect_cannot_be_edited_into(world: World) -> None:
    other = await world.propose(word="beta")
    old = await world.propose()
    await world.deny("carol", other, "wrong word")
    told = await refused(world.edited("bob", old, word="beta"))
    assert told.startswith("Not proposed: carol denied append-word with these arguments here")
    assert (await world.now(old)).state is State.OPEN


async def test_what_waits_already_is_refused(world: World) -> None:
    await world.propose(word="beta")
    old = await world.propose()
    assert "exactly this waits already" in await refused(world.edited("bob", old, word="beta"))


async def test_a_guardrail_stops_an_edit_as_it_stops_a_model(world: World) -> None:
    guards = Guards(tool=(lambda what: "no beta" if "beta" in str(what.calls) else None,))
    old = await world.propose()
    told = await refused(world.edited("bob", old, guards=guards, word="beta"))
    assert told.startswith("Not edited: ")
    assert "no beta" in told
    assert (await world.edited("bob", old, guards=guards, word="gamma")).state is State.OPEN


async def test_nothing_is_edited_where_nothing_may_run(world: World) -> None:
    old = await world.propose()
    world.switches = Switches(plan_only=True)
    before = await everything(world.stores.database)
    assert (await refused(world.edited("bob", old, word="beta"))).startswith("Not edited: ")
    assert (await everything(world.stores.database))["request"] == before["request"]


async def test_c67_who_edits_too_often_is_held_back(world: World) -> None:
    old = await world.propose()
    world.rates = RateRules(messages=Rate(name="messages", most=1, per=HOUR))
    await refused(world.edited("bob", old, word="alpha"))
    assert "Too fast" in await refused(world.edited("bob", old, word="beta"))


async def test_the_rate_of_a_tool_counts_its_edits_too(world: World) -> None:
    old = await world.propose()
    one = Rate(name="append-*", most=1, per=HOUR)
    world.rates = replace(PLENTY, tools=(one,))
    first = await world.edited("bob", old, word="beta")
    assert (await refused(world.edited("bob", first, word="gamma"))).startswith(
        "Not edited: you may do this once in 1h"
    )


async def test_x6_in_a_freeze_only_who_may_break_the_glass_edits(
    world: World, clock: FrozenClock
) -> None:
    request, spared = await world.propose(), await world.propose(LOW)
    world.windows = (NOON,)
    clock.pass_by(HOUR / 2)
    for person in ("alice", "bob"):
        told = await refused(world.edited(person, request, word="beta"))
        assert told.startswith("Not proposed: the freeze noon lasts until")
    assert (await world.now(request)).state is State.OPEN
    await world.edited("alice", spared, word="beta")
    world.groups["bob"] |= {"breakers"}
    world.rules += (allow("plan:break_glass", "breakers"),)
    await refused(world.edited("alice", request, word="beta"))
    assert (await world.edited("bob", request, word="beta")).state is State.OPEN
