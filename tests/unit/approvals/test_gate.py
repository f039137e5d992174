"""The gate between a card and a run: who may decide, and that each click decides one thing once."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from approvals.gate import UNKNOWN
from approvals.models import Request, Run, Spent, State, Yes
from approvals.switches import Switches
from core.cards import Fact
from core.errors import Refused, Unavailable
from core.events import Approve
from core.jobs import LeaseLost
from core.principals import Identity
from tests.builders import CONVERSATION, TENANT, a_new_turn, a_proposal
from tests.fakes.clock import FrozenClock
from tests.fakes.runner import exited
from tests.gates import (
    APPEND,
    BOB_ON_SLACK,
    EVE,
    HIGH,
    HOUR,
    LOW,
    SECRET,
    World,
    allow,
    edited,
    who,
    without,
)
from tests.stores import (
    LOST,
    OTHER_CONVERSATION,
    OTHER_TENANT,
    Stores,
    answering,
    everything,
    facts_of,
    holding,
    lose,
    said_in,
)

NOT_THERE = "0123456789abcdef" * 2
MALFORMED = {
    "empty": "",
    "too short": "a" * 31,
    "too long": "a" * 33,
    "uppercase": "A" * 32,
    "no hex digit": "g" * 32,
    "digits of another script": "\u0661" * 32,
    "a line end after it": "a" * 32 + "\n",
    "blanks around it": f" {'a' * 32} ",
    "a path": "../" + "a" * 29,
    "sql": "' OR 1=1 --",
    "json": '{"request": "' + "a" * 32 + '", "role": "ops"}',
    "100 kB": "a" * 100_000,
    "NUL": "a" * 31 + "\0",
    "a lone surrogate": "a" * 31 + "\ud800",
}


@pytest.fixture
def world(stores: Stores) -> World:
    return World(stores)


def press_approve(
    world: World, person: str | Identity, request: Request | str
) -> Awaitable[Request]:
    return world.approve(person, request)


def press_deny(world: World, person: str | Identity, request: Request | str) -> Awaitable[Request]:
    return world.deny(person, request)


def press_again(world: World, person: str | Identity, request: Request | str) -> Awaitable[Request]:
    return world.again(person, request)


Press = Callable[[World, str | Identity, Request | str], Awaitable[Request]]
BUTTONS = pytest.mark.parametrize("press", [press_approve, press_deny, press_again])


async def refused(what: Awaitable[object]) -> str:
    with pytest.raises(Refused) as refusal:
        await what
    return refusal.value.shown


async def test_a_yes_of_somebody_who_may_grants_the_request_and_the_spend_starts_one_run(
    world: World,
) -> None:
    request = await world.propose()
    assert (request.state, request.votes) == (State.OPEN, ())
    granted = await world.approve("bob", request)
    assert (granted.state, granted.voters) == (State.GRANTED, ("bob",))
    spent = await world.spend(granted)
    assert spent.request.state is State.SPENT
    assert await world.runs() == [spent.run]
    assert world.effects() == []


async def test_the_card_names_who_may_vote_now_and_what_the_dry_run_printed(world: World) -> None:
    world.runner.endings["preview",] = exited(output="would append")
    card = (await world.propose()).card
    assert ("May approve", "bob, carol") in [(fact.label, fact.text) for fact in card.facts]
    assert card.preview == ("would append",)


# I1, I3: nothing runs without a granted request that is bound to this plan and place.


async def test_i1_an_open_request_cannot_be_spent(world: World) -> None:
    request = await world.propose()
    assert (await refused(world.spend(request))).startswith("Open: 0 of 1 vote")
    assert await world.runs() == []


Forge = Callable[[Request], Request]
OPEN_BUT_CLAIMING: list[Forge] = [
    lambda request: replace(request, state=State.GRANTED),
    lambda request: replace(request, state=State.GRANTED, rule=replace(request.rule, quorum=1)),
    lambda request: replace(request, votes=(*request.votes, *request.votes)),
]
GRANTED_BUT_ANOTHER: list[Forge] = [
    lambda request: replace(request, conversation=OTHER_CONVERSATION),
    lambda request: replace(request, votes=(*request.votes, *request.votes)),
    lambda request: replace(request, votes=()),
]


@pytest.mark.parametrize("forge", OPEN_BUT_CLAIMING)
async def test_i1_a_request_that_only_claims_to_be_granted_cannot_be_spent(
    world: World, forge: Forge
) -> None:
    request = await world.propose(HIGH)
    voted = await world.approve("bob", request)
    await refused(world.spend(forge(voted)))
    assert await world.runs() == []


@pytest.mark.parametrize("forge", GRANTED_BUT_ANOTHER)
async def test_i1_a_granted_request_is_bound_to_its_conversation_and_its_votes(
    world: World, forge: Forge
) -> None:
    granted = await world.granted()
    await refused(world.spend(forge(granted)))
    assert await world.runs() == []


async def test_i3_a_deny_after_the_last_vote_still_wins_until_the_spend(world: World) -> None:
    granted = await world.granted()
    await world.deny("carol", granted, "not today")
    assert await refused(world.spend(granted)) == ("Already decided. Denied by carol: not today.")
    assert await world.runs() == []


async def test_i3_time_runs_out_until_the_spend_and_now_at_the_end_is_too_late(
    world: World, clock: FrozenClock
) -> None:
    granted = await world.granted()
    clock.pass_by(HOUR)
    told = await refused(world.spend(granted))
    assert told == (
        "Expired at 2026-03-01 10:30:00 UTC with 1 of 1 vote. Ask again to get a new card."
    )
    assert await world.runs() == []


async def test_a_spend_a_moment_before_the_end_still_runs(world: World, clock: FrozenClock) -> None:
    granted = await world.granted()
    clock.pass_by(HOUR - clock.now().resolution)
    assert (await world.spend(granted)).request.state is State.SPENT


# I5, I14: what a button carries is believed by nobody.


@BUTTONS
@pytest.mark.parametrize("given", MALFORMED.values(), ids=MALFORMED)
async def test_i5_a_malformed_id_gets_the_answer_for_an_unknown_one(
    world: World, press: Press, given: str
) -> None:
    await world.propose()
    before = await world.all_but_the_log()
    assert await refused(press(world, "bob", given)) == UNKNOWN
    assert await world.all_but_the_log() == before
    assert len(await world.attempts()) == 1


@BUTTONS
async def test_i5_c36_an_unknown_id_gets_one_constant_answer_and_is_noted(
    world: World, press: Press
) -> None:
    assert await refused(press(world, "bob", NOT_THERE)) == UNKNOWN
    [attempt] = await world.attempts()
    assert '"principal":"bob"' in attempt.body
    assert NOT_THERE not in attempt.body


@BUTTONS
async def test_i14_another_tenants_id_gets_the_answer_for_an_unknown_one(
    world: World, press: Press
) -> None:
    request = await world.propose()
    assert await refused(press(world, EVE, request)) == UNKNOWN
    assert await world.now(request) == request
    [attempt] = await world.attempts()
    assert attempt.tenant == OTHER_TENANT


@BUTTONS
async def test_i5_who_may_not_see_a_request_gets_the_answer_for_an_unknown_one(
    world: World, press: Press
) -> None:
    request = await world.propose()
    assert await refused(press(world, "dave", request)) == UNKNOWN
    assert await world.now(request) == request


@BUTTONS
async def test_p09_a_stranger_is_told_how_to_become_known(world: World, press: Press) -> None:
    request = await world.propose()
    stranger = Identity(platform="slack", workspace="T1", user="U99")
    assert (await refused(press(world, stranger, request))).startswith("Sayso does not know you")
    assert await world.now(request) == request


async def test_i5_the_answer_stays_the_same_for_what_has_ended(world: World) -> None:
    request = await world.propose()
    await world.deny("bob", request)
    assert await refused(world.approve("dave", request)) == UNKNOWN
    assert (await refused(world.approve("carol", request))).startswith("Already decided.")


# P-09: the wrong person.


async def test_p09_who_may_only_stop_is_told_who_may_approve(world: World) -> None:
    world.groups["dave"] = {"stoppers"}
    request = await world.propose()
    told = await refused(world.approve("dave", request))
    assert told == "You may not approve this; bob and carol may."
    assert await refused(world.deny("dave", request)) == "You may not deny this."


async def test_p09_who_may_only_deny_may_deny_and_who_may_only_approve_may_not(
    world: World,
) -> None:
    world.rules = (*without(world.rules, "plan:deny ops"), allow("plan:deny", "guests"))
    request = await world.propose()
    assert await refused(world.deny("bob", request)) == "You may not deny this."
    assert (await world.deny("dave", request)).ended_by == "dave"


async def test_p09_the_requester_is_refused_where_the_rule_asks_for_somebody_else(
    world: World,
) -> None:
    request = await world.propose()
    assert await refused(world.approve("alice", request)) == (
        "You asked for this, so somebody else has to approve it: bob and carol may."
    )


async def test_the_requester_may_vote_where_the_rule_says_so(world: World) -> None:
    request = await world.propose(LOW)
    assert (await world.approve("alice", request)).state is State.GRANTED


async def test_p09_a_refusal_leaves_the_card_usable_and_every_attempt_is_noted(
    world: World,
) -> None:
    request = await world.propose()
    for person in ("alice", "dave", EVE):
        await refused(world.approve(person, request))
    assert len(await world.attempts()) == 3
    assert await world.now(request) == request
    assert (await world.approve("bob", request)).state is State.GRANTED


async def test_p09_somebody_who_was_removed_from_the_group_a_moment_ago_may_no_longer_vote(
    world: World,
) -> None:
    request = await world.propose()
    world.groups["bob"] = set()
    assert await refused(world.approve("bob", request)) == UNKNOWN
    assert (await world.now(request)).votes == ()


async def test_p09_an_empty_group_of_approvers_is_nobody(world: World) -> None:
    world.rules = without(world.rules, "plan:approve ops")
    request = await world.propose()
    assert request.card.warnings == ("Nobody may approve this now; 1 must.",)
    assert (await refused(world.approve("bob", request))).endswith("nobody may right now.")


async def test_p09_who_may_approve_only_one_of_two_calls_may_not_approve_the_plan(
    world: World,
) -> None:
    world.rules = (*world.rules, allow("plan:approve", "guests", "runbook:note"))
    both = a_proposal(APPEND.check({"word": "a"}, {}), LOW.check({"word": "a"}, {}))
    request = await world.ask(both)
    assert await refused(world.approve("dave", request)) == (
        "You may not approve this; bob and carol may."
    )


async def test_people_that_cannot_be_read_decide_nothing_and_end_nothing(world: World) -> None:
    request = await world.propose()
    world.unreadable = Unavailable("The people cannot be read.")
    with pytest.raises(Unavailable):
        await world.approve("bob", request)
    with pytest.raises(Unavailable):
        await world.deny("bob", request)
    world.unreadable = None
    assert await world.now(request) == request


# P-27: double clicks, both buttons, several people at once.


async def test_p27_the_same_click_twice_at_once_grants_once_and_runs_once(world: World) -> None:
    request = await world.propose()
    first, second = await asyncio.gather(
        world.approve("bob", request), world.approve("bob", request)
    )
    assert first.voters == second.voters == ("bob",)
    ends = await asyncio.gather(world.spend(first), world.spend(second), return_exceptions=True)
    [spent] = [end for end in ends if isinstance(end, Spent)]
    [loser] = [end for end in ends if isinstance(end, Refused)]
    assert loser.shown == "Already decided. Approved by bob."
    assert await world.runs() == [spent.run]


async def test_p27_c43_a_click_after_the_run_is_told_who_decided(world: World) -> None:
    granted = await world.granted()
    await world.spend(granted)
    for person in ("bob", "carol", "alice"):
        assert await refused(world.approve(person, granted)) == "Already decided. Approved by bob."
    assert await refused(world.deny("carol", granted)) == "Already decided. Approved by bob."
    assert len(await world.runs()) == 1


async def test_p27_a_yes_after_enough_others_is_told_to_be_none(world: World) -> None:
    granted = await world.granted(HIGH, "bob", "carol")
    world.groups["frank"] = {"ops"}

    async def yes_of(person: str) -> Yes:
        click = Approve(identity=who(person), request=granted.id)
        return (await world.gate.approve(click)).yes

    assert [await yes_of(person) for person in ("bob", "frank")] == [Yes.AGAIN, Yes.LATE]
    assert (await world.now(granted)).voters == ("bob", "carol")


async def test_p27_two_who_complete_it_at_once_are_told_whose_yes_counted(world: World) -> None:
    request = await world.propose()
    # While bob's click looks at the world once more, carol's comes first.
    seen = list[str]()

    async def carol() -> None:
        if not seen:
            seen.append("carol")
            await world.approve("carol", request)

    world.runner.meanwhile["preview",] = carol
    voted = await world.gate.approve(Approve(identity=who("bob"), request=request.id))
    assert (voted.yes, voted.request.voters, voted.job) == (Yes.LATE, ("carol",), None)


async def test_nobody_is_told_that_it_was_not_run_where_it_was(world: World) -> None:
    granted = await world.granted()
    # While carol's click finds that something changed, it is spent.
    world.edit("append-word", edited)
    world.runner.meanwhile["preview",] = lambda: spent_as_it_was(world, granted)
    told = await refused(world.approve("carol", granted))
    assert told == "Already decided. Approved by bob."
    assert len(await world.runs()) == 1


async def spent_as_it_was(world: World, granted: Request) -> None:
    """Spend what is granted, as a process does that looked a moment before."""
    async with holding(world.stores, granted) as job:
        assert await world.stores.requests.spend(granted, job=job, run="r_1")


async def test_p27_fifty_spends_at_once_have_one_winner(world: World) -> None:
    granted = await world.granted()
    ends = await asyncio.gather(*(world.spend(granted) for _ in range(50)), return_exceptions=True)
    assert sum(isinstance(end, Spent) for end in ends) == 1
    assert {end.shown for end in ends if isinstance(end, Refused)} == {
        "Already decided. Approved by bob."
    }
    assert len(await world.runs()) == 1


async def test_p27_approve_and_deny_at_once_end_in_one_state_and_the_run_agrees_with_it(
    world: World,
) -> None:
    request = await world.propose()

    async def approved() -> Run:
        return (await world.spend(await world.approve("bob", request))).run

    yes, no = await asyncio.gather(approved(), world.deny("carol", request), return_exceptions=True)
    ended = await world.now(request)
    assert ended.state in {State.SPENT, State.DENIED}
    assert isinstance(yes, Run) is (ended.state is State.SPENT)
    assert isinstance(no, Request) is (ended.state is State.DENIED)
    assert len(await world.runs()) == (ended.state is State.SPENT)


async def test_p27_two_who_deny_at_once_are_told_who_was_first(world: World) -> None:
    request = await world.propose()
    ends = await asyncio.gather(
        world.deny("bob", request, "no"), world.deny("carol", request, "no"), return_exceptions=True
    )
    [winner] = [end for end in ends if isinstance(end, Request)]
    [loser] = [end for end in ends if isinstance(end, Refused)]
    assert loser.shown == f"Already decided. Denied by {winner.ended_by}: no."


async def test_p27_a_vote_that_comes_after_the_end_is_told_what_became_of_it(world: World) -> None:
    request = await world.propose()
    # While bob's click looks at the world once more, carol's comes and goes.
    world.runner.meanwhile["preview",] = lambda: world.deny("carol", request, "no")
    assert await refused(world.approve("bob", request)) == "Already decided. Denied by carol: no."
    assert (await world.now(request)).votes == ()


async def test_p28_a_click_decides_the_request_that_it_names_and_no_other(world: World) -> None:
    first = await world.propose(word="first")
    second = await world.propose(word="second")
    assert first.id != second.id
    assert (await world.approve("bob", second)).id == second.id
    assert await world.now(first) == first
    await world.deny("bob", first)
    assert (await world.now(second)).state is State.GRANTED


# P-32: several people must agree.


async def test_p32_two_distinct_people_must_agree_and_one_person_counts_once(world: World) -> None:
    request = await world.propose(HIGH)
    for same in ("bob", "bob", BOB_ON_SLACK):
        voted = await world.approve(same, request)
        assert (voted.state, voted.voters) == (State.OPEN, ("bob",))
    await refused(world.spend(await world.now(request)))
    both = await world.approve("carol", request)
    assert (both.state, both.voters) == (State.GRANTED, ("bob", "carol"))
    assert (await world.spend(both)).run.voters == ("bob", "carol")


async def test_p32_one_no_among_several_ends_it(world: World) -> None:
    request = await world.propose(HIGH)
    await world.approve("bob", request)
    await world.deny("carol", request)
    assert await refused(world.approve("carol", request)) == (
        "Already decided. Denied by carol, no reason given."
    )


async def test_p32_one_of_two_votes_and_then_the_time_runs_out(
    world: World, clock: FrozenClock
) -> None:
    request = await world.propose(HIGH)
    await world.approve("bob", request)
    clock.pass_by(HOUR)
    told = await refused(world.approve("carol", request))
    assert "with 1 of 2 votes" in told
    assert (await world.now(request)).state is State.EXPIRED


async def test_p32_a_voter_who_lost_the_role_before_the_quorum_revokes_it(world: World) -> None:
    request = await world.propose(HIGH)
    await world.approve("bob", request)
    world.groups["bob"] = set()
    told = await refused(world.approve("carol", request))
    assert "bob may no longer approve it" in told
    assert (await world.now(request)).state is State.REVOKED


async def test_p32_the_votes_whose_authority_was_checked_must_be_those_that_are_spent(
    world: World,
) -> None:
    world.risks = tuple(replace(rule, quorum=1) for rule in world.risks)
    granted = await world.granted(HIGH)
    other = replace(granted, votes=(replace(granted.votes[0], principal="carol"),))
    await refused(world.spend(other))
    assert await world.runs() == []


# I13, P-04: a denial.


async def test_p04_c42_a_denied_effect_gets_no_new_card_however_it_is_worded(world: World) -> None:
    request = await world.propose(word="force push")
    await world.deny("bob", request, "wrong repository")
    for word in ("force push", " force  push ", "ｆｏｒｃｅ push"):
        told = await refused(world.propose(word=word, turn="t_2"))
        assert "bob denied append-word with these arguments here (wrong repository)" in told
    assert len(await world.requests()) == 1


async def test_p04_one_denied_call_keeps_a_whole_plan_from_being_asked(world: World) -> None:
    await world.deny("bob", await world.propose(LOW))
    both = a_proposal(APPEND.check({"word": "a"}, {}), LOW.check({"word": "alpha"}, {}))
    assert "bob denied note" in await refused(world.ask(both))


async def test_c77_why_somebody_denied_it_is_in_no_record_of_what_was_tried_after(
    world: World,
) -> None:
    denied = await world.deny("bob", await world.propose(), "wrong repository")
    assert "wrong repository" in await refused(world.propose(turn="t_2"))
    assert "wrong repository" in await refused(world.deny("bob", denied))
    assert "wrong repository" in await refused(world.approve("carol", denied))
    told = [facts_of(entry)["why"] for entry in await world.attempts()]
    assert told == [
        "Not proposed: bob denied append-word with these arguments here.",
        *["Too late: it is denied."] * 2,
    ]


async def test_c77_what_made_a_plan_another_one_is_in_no_record_either(world: World) -> None:
    request = await world.propose()
    proposal = a_proposal(APPEND.check({"word": "alpha"}, {}), expects=request.plan, turn="t_2")
    world.files.digests["words.txt"] = "1" * 64
    assert "words.txt changed" in await refused(world.ask(proposal))
    assert "words.txt changed" in await refused(world.approve("bob", request))
    assert "words.txt changed" in await refused(world.approve("bob", request))
    assert [facts_of(entry)["why"] for entry in await world.attempts()] == [
        "Not proposed: something changed since this plan was made.",
        "Too late: it is revoked.",
    ]


async def test_i12_a_secret_in_what_is_in_the_way_is_in_no_record(world: World) -> None:
    request = await world.propose()
    world.runner.obstacles["append-word",] = f"There is no {SECRET}."
    await refused(world.propose(word="beta"))
    await refused(world.approve("bob", request))
    assert "There is no [redacted]" in (await world.attempts())[0].body
    assert "There is no [redacted]" in (await world.now(request)).reason
    assert SECRET not in repr(await everything(world.stores.database))


async def test_i13_another_effect_or_another_conversation_is_not_refused(world: World) -> None:
    await world.deny("bob", await world.propose(word="force push"))
    assert (await world.propose(word="push")).state is State.OPEN
    elsewhere = a_proposal(
        APPEND.check({"word": "force push"}, {}), conversation=OTHER_CONVERSATION
    )
    assert (await world.ask(elsewhere)).state is State.OPEN


async def test_p04_time_that_ran_out_is_no_denial(world: World, clock: FrozenClock) -> None:
    request = await world.propose()
    clock.pass_by(HOUR)
    anew = await world.propose()
    assert anew.id != request.id
    assert (await world.now(request)).state is State.EXPIRED


async def test_i13_somebody_entitled_asks_again_and_the_denial_is_lifted(world: World) -> None:
    denied = await world.deny("bob", await world.propose())
    assert (await world.again("carol", denied)).id == denied.id
    anew = await world.ask(a_proposal(APPEND.check({"word": "alpha"}, {}), supersedes=denied.id))
    assert anew.state is State.OPEN
    assert anew.id != denied.id
    assert Fact(label="Denied before", text="by bob") in anew.card.facts


@pytest.mark.parametrize("id_", ["", "0" * 32])
async def test_a_card_that_follows_no_denial_tells_of_none(world: World, id_: str) -> None:
    gone = id_ or (await world.propose()).id
    anew = await world.ask(a_proposal(APPEND.check({"word": "alpha"}, {}), supersedes=gone))
    assert "Denied before" not in {fact.label for fact in anew.card.facts}


async def test_i13_who_asked_may_not_lift_a_denial_without_the_right_to_approve(
    world: World,
) -> None:
    world.groups["alice"] = {"dev"}
    denied = await world.deny("bob", await world.propose())
    told = "This was denied, so only who may approve it may ask for it again: bob and carol may."
    assert await refused(world.again("alice", denied)) == told
    world.groups = {name: set[str]() for name in world.groups}
    world.groups["alice"] = {"dev"}
    assert (await refused(world.again("alice", denied))).endswith(": nobody may right now.")


async def test_who_asked_may_ask_again_for_what_nobody_denied(
    world: World, clock: FrozenClock
) -> None:
    world.groups["alice"] = {"dev"}
    request = await world.propose()
    clock.pass_by(HOUR)
    assert (await world.again("alice", request)).state is State.EXPIRED


async def test_who_may_only_stop_may_not_ask_again_for_somebody_elses_request(
    world: World,
) -> None:
    world.groups["dave"] = {"stoppers"}
    request = await world.propose()
    told = await refused(world.again("dave", request))
    assert told.startswith("Somebody else asked for this, so only they and who may approve it")


async def test_i12_a_secret_in_the_reason_of_a_denial_is_masked_everywhere(world: World) -> None:
    request = await world.propose()
    denied = await world.deny("bob", request, f"the password is {SECRET}\nsecond line")
    assert denied.reason == "the password is [redacted] second line"
    assert SECRET not in repr(await everything(world.stores.database))


async def test_the_reason_of_a_denial_is_told_in_the_conversation(world: World) -> None:
    request = await world.propose()
    await world.deny("bob", request, "wrong repository")
    [note] = await said_in(world.stores, request.conversation, "note")
    assert note == "Denied by bob: wrong repository."


# Asking again for the same thing.


async def test_c32_the_same_plan_again_is_the_same_card_counted(world: World) -> None:
    first = await world.propose()
    second = await world.propose(turn="t_2")
    assert (second.id, second.times_asked) == (first.id, 2)


async def test_c40_after_it_was_spent_every_ask_is_a_new_request(world: World) -> None:
    granted = await world.granted()
    await world.spend(granted)
    anew = await world.propose()
    assert (anew.id == granted.id, anew.state, anew.votes) == (False, State.OPEN, ())


async def test_c44_after_the_switch_is_turned_off_the_click_revokes_and_nothing_runs(
    world: World,
) -> None:
    request = await world.propose()
    world.switches = Switches(runs_per_turn=0)
    told = await refused(world.approve("bob", request))
    assert "no turn may run anything here (execution.runs_per_turn is 0)" in told
    assert (await world.now(request)).state is State.REVOKED


async def test_a_revoked_request_tells_the_next_click_why_and_offers_to_ask_again(
    world: World,
) -> None:
    request = await world.propose()
    world.edit("append-word", edited)
    await refused(world.approve("bob", request))
    assert await refused(world.approve("carol", request)) == (
        "Revoked: the runbook append-word was edited. Ask again to see it as it is now."
    )


async def test_a_turn_that_is_lost_while_it_proposes_is_no_refusal(world: World) -> None:
    answers = await answering(world.stores, a_new_turn("t_new", conversation=CONVERSATION))
    await world.stores.conversations.stop(answers.turn, principal="bob")
    with pytest.raises(LeaseLost):
        await world.ask(a_proposal(APPEND.check({"word": "alpha"}, {}), closing=answers))
    assert await world.attempts() == []
    assert await world.requests() == []


@pytest.mark.parametrize("how", LOST)
async def test_c77_who_lost_the_turn_puts_no_refusal_on_record(world: World, how: str) -> None:
    answers = await answering(world.stores, a_new_turn("t_new", conversation=CONVERSATION))
    asked = a_proposal(APPEND.check({"word": "alpha"}, {}), turn="t_new", closing=answers)
    world.runner.obstacles["preview",] = "Not today."
    await lose(world.stores, answers.job, how)
    before = await everything(world.stores.database)
    with pytest.raises(LeaseLost):
        await world.ask(asked)
    assert await everything(world.stores.database) == before


async def test_a_turn_that_is_held_puts_it_there(world: World) -> None:
    answers = await answering(world.stores, a_new_turn("t_new", conversation=CONVERSATION))
    world.runner.obstacles["preview",] = "Not today."
    asked = a_proposal(APPEND.check({"word": "alpha"}, {}), turn="t_new", closing=answers)
    assert "Not today." in await refused(world.ask(asked))
    assert len(await world.attempts()) == 1


async def test_a_turn_ends_with_the_request_that_it_proposes_through_the_gate(
    world: World,
) -> None:
    answers = await answering(world.stores, a_new_turn("t_new", conversation=CONVERSATION))
    asked = a_proposal(APPEND.check({"word": "alpha"}, {}), turn="t_new", closing=answers)
    request = await world.ask(asked)
    turn = await world.stores.conversations.turn(request.tenant, "t_new")
    assert turn is not None
    assert turn.request == request.id
    assert all(name.startswith("t_new.") for name in world.runner.step_ids)


async def test_dry_runs_before_the_spend_are_named_after_the_request(world: World) -> None:
    request = await world.granted()
    since = len(world.runner.step_ids)
    await world.spend(request)
    names = world.runner.step_ids[since:]
    assert names
    assert all(name.startswith(f"{request.id}.") for name in names)


async def test_somebody_is_found_as_they_are_in_the_directory_now(world: World) -> None:
    _, alice = await world.gate.acting.person(TENANT, "alice")
    assert alice.groups == {"dev", "ops"}
    world.groups["alice"] = {"ops"}
    authority, alice = await world.gate.acting.person(TENANT, "alice")
    assert alice.groups == {"ops"}
    assert authority == world.gate.acting.authority()


async def test_who_was_removed_meanwhile_is_not_answered(world: World) -> None:
    del world.groups["alice"]
    with pytest.raises(Refused) as refusal:
        await world.gate.acting.person(TENANT, "alice")
    assert refusal.value.shown == "Sayso does not know you any more, so this was not looked at."
