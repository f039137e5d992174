"""Standing grants at the gate: who may propose and revoke them, and that each use is judged afresh."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from adapters.storage.transactions import rows
from approvals import cards
from approvals.cards import drawn
from approvals.granting import UNKNOWN, Granting, why_none
from approvals.grants import Grant, GrantState, Use, where
from approvals.models import Request, State
from approvals.switches import Switches
from core.errors import Invalid, Refused, Unavailable
from core.events import ProposeGrant, RevokeGrant
from core.principals import Identity
from core.standing import Why
from core.tools import Tool
from tests.builders import TENANT, a_proposal
from tests.fakes.clock import START
from tests.fakes.roster import FakeRoster
from tests.gates import APPEND, EVE, HIGH, LOW, World, allow, edited, who, without
from tests.grants import now
from tests.stores import OTHER_CONVERSATION, SUCCEEDED, Stores, said_in
from tests.stores import UNKNOWN as UNKNOWN_END

FOR = timedelta(minutes=30)


@pytest.fixture
def world(stores: Stores) -> World:
    world = World(stores)
    world.rules = (*world.rules, allow("grant:propose", "ops"))
    return world


def granting(world: World) -> Granting:
    return Granting(gate=world.gate, conversations=world.stores.conversations)


async def refused(what: Awaitable[object]) -> str:
    with pytest.raises(Refused) as refusal:
        await what
    return refusal.value.shown


async def propose(
    world: World, request: Request | str, person: str | Identity = "bob", *, uses: int = 3,
    lasts: timedelta = FOR,
) -> tuple[Grant, bool]:  # fmt: skip
    """Have somebody propose a grant of what a request showed."""
    identity = who(person) if isinstance(person, str) else person
    name = request if isinstance(request, str) else request.id
    event = ProposeGrant(identity=identity, request=name, uses=uses, lasts=lasts)
    return await granting(world).propose(event)


async def revoke(world: World, grant: str, person: str | Identity = "bob") -> Grant:
    """Have somebody revoke a grant."""
    identity = who(person) if isinstance(person, str) else person
    return await granting(world).revoke(RevokeGrant(identity=identity, grant=grant))


async def active(world: World, tool: Tool = APPEND, *voters: str, **given: int) -> Grant:
    """Return an active grant of what alice asks for."""
    grant, _ = await propose(world, await world.propose(tool), **given)  # type: ignore[arg-type]
    request = await world.now(await world.approve((voters or ("bob",))[0], grant.request))
    for voter in voters[1:]:
        request = await world.approve(voter, grant.request)
    assert request.state is State.GRANTED
    assert "Not run" not in await refused(world.spend(request))
    grant = await now(world.stores, grant)
    assert grant.state is GrantState.ACTIVE
    return grant


async def covered(world: World, tool: Tool = APPEND, word: str = "alpha") -> Request:
    """Have alice ask elsewhere in the same place."""
    call = tool.check({"word": word}, {})
    return await world.ask(a_proposal(call, turn="t_2", conversation=OTHER_CONVERSATION))


async def test_a_grant_is_of_exactly_what_a_card_showed_and_of_who_asked(world: World) -> None:
    request = await world.propose()
    grant, may_vote = await propose(world, request)
    made = await world.stores.requests.get(TENANT, grant.request)
    assert made is not None
    assert may_vote
    assert (grant.requester, grant.state, grant.most) == ("alice", GrantState.PROPOSED, 3)
    assert made.requester == "alice"
    assert made.plan.calls == request.plan.calls
    assert (made.rule, made.plan.rules) == (request.rule, request.plan.rules)
    assert grant.plan_sha256 == request.plan_sha256 != made.plan_sha256
    facts = {fact.label: fact.text for fact in made.card.facts}
    assert facts["Would run without a card"] == (
        "up to 3 times within 30m of its approval, whenever alice asks for exactly this "
        "on the console"
    )
    assert facts["Proposed by"] == "bob"
    assert made.card.title == "Approve a standing grant to run: append-word"
    once, _ = await propose(world, await world.propose(LOW), uses=1)
    drawn = await world.stores.requests.get(TENANT, once.request)
    assert drawn is not None
    assert (
        "up to 1 time within"
        in {fact.label: fact.text for fact in drawn.card.facts}["Would run without a card"]
    )


async def test_the_rule_is_that_of_the_run_and_the_requester_stays_one(world: World) -> None:
    world.rules = (*world.rules, allow("grant:propose", "dev"))
    request = await world.propose(HIGH)
    grant, may_vote = await propose(world, request, "alice")
    assert not may_vote
    assert "somebody else has to approve it" in await refused(world.approve("alice", grant.request))
    await world.approve("bob", grant.request)
    assert (await now(world.stores, grant)).state is GrantState.PROPOSED
    await refused(world.spend(await world.approve("carol", grant.request)))
    assert (await now(world.stores, grant)).state is GrantState.ACTIVE


async def test_who_may_not_propose_is_refused_on_record(world: World) -> None:
    request = await world.propose()
    world.rules = without(world.rules, "grant:propose ops")
    told = await refused(propose(world, request))
    assert told == "You may not propose a standing grant for this (grant:propose)."
    unknown = await refused(propose(world, "f" * 32))
    assert await refused(propose(world, request, "dave")) == unknown
    assert await refused(propose(world, request, EVE)) == unknown
    assert len(await world.attempts()) == 4
    assert await world.stores.grants.known(TENANT) == []


@pytest.mark.parametrize(
    ("uses", "lasts"),
    [(0, FOR), (1001, FOR), (1, timedelta(milliseconds=999)), (1, timedelta(days=30, seconds=1))],
)
async def test_a_grant_is_bounded(world: World, uses: int, lasts: timedelta) -> None:
    told = await refused(propose(world, await world.propose(), uses=uses, lasts=lasts))
    assert told.startswith("A standing grant ")


async def test_what_is_not_as_it_was_shown_or_may_not_run_has_no_grant(world: World) -> None:
    request = await world.propose()
    world.switches = Switches(plan_only=True)
    assert "execution is switched off here" in await refused(propose(world, request))
    world.switches = Switches()
    world.edit("append-word", edited)
    told = await refused(propose(world, request))
    assert told == (
        "Not proposed: since that was shown, the runbook append-word was edited. Ask for it again first."
    )
    world.edit("append-word", lambda _: APPEND)
    denied = await world.deny("carol", request, "no")
    assert "carol denied append-word" in await refused(propose(world, denied))


async def test_what_the_requester_may_no_longer_ask_for_has_no_grant(world: World) -> None:
    request = await world.propose()
    world.groups["alice"] = {"ops"}
    assert await refused(propose(world, request)) == "Not proposed: you may not ask for this."


async def test_a_grant_of_a_grant_is_refused(world: World) -> None:
    grant, _ = await propose(world, await world.propose())
    assert "asks for a standing grant already" in await refused(propose(world, grant.request))
    await world.deny("bob", grant.request)
    told = await refused(world.again("alice", grant.request))
    assert told.startswith("That asked for a standing grant.")


async def test_where_nobody_can_tell_the_place_there_is_no_grant(world: World) -> None:
    request = await world.propose()
    await world.stores.database.transact(
        lambda _: rows("UPDATE request SET turn = 't_gone' WHERE id = :id", id=request.id)
    )
    assert "nobody can tell where" in await refused(propose(world, request))


async def test_a_grant_that_is_gone_is_told_of_as_something_to_look_at(world: World) -> None:
    request = await world.propose()
    grant, _ = await propose(world, request)
    await world.stores.database.transact(
        lambda _: rows("DELETE FROM standing_grant WHERE id = :id", id=grant.id)
    )
    with pytest.raises(Unavailable):
        await propose(world, request)


async def test_a_rule_may_say_why_there_is_none(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert why_none(world.risks[0]) is None

    def says_why(_: object) -> str:
        return "each vote takes a code"

    monkeypatch.setattr("approvals.granting.why_none", says_why)
    told = await refused(propose(world, await world.propose()))
    assert told == "Not proposed: each vote takes a code."


async def test_a_covered_proposal_needs_nobody_and_is_spent_as_any_other(world: World) -> None:
    grant = await active(world)
    request = await covered(world)
    assert request.state is State.GRANTED
    spent = await world.spend(request)
    assert spent.run.under
    assert (spent.run.under.grant, spent.run.under.number) == (grant.id, 1)


async def test_i3_a_use_is_looked_at_again_before_it_is_spent(world: World) -> None:
    grant = await active(world)
    request = await covered(world)
    world.files.digests["words.txt"] = "1" * 64
    told = await refused(world.spend(request))
    assert told == (
        "Not run. Revoked: the file words.txt changed. Ask again to see it as it is now."
    )
    assert (await now(world.stores, grant)).state is GrantState.ACTIVE
    assert (await now(world.stores, grant)).used == 0


async def test_i3_what_is_switched_off_holds_a_use_back_and_suspends_nothing(world: World) -> None:
    grant = await active(world)
    request = await covered(world)
    world.switches = Switches(plan_only=True)
    assert "execution is switched off here" in await refused(world.spend(request))
    assert (await now(world.stores, grant)).state is GrantState.ACTIVE
    assert "execution is switched off here" in await refused(covered(world, word="beta"))


def _edit(world: World) -> None:
    world.edit("append-word", edited)


def _remove(world: World) -> None:
    world.tools = (LOW, HIGH)


def _change_rule(world: World) -> None:
    world.risks = tuple(replace(rule, quorum=rule.quorum + 1) for rule in world.risks)


def _forget_rule(world: World) -> None:
    world.risks = tuple(rule for rule in world.risks if rule.name != "medium")


def _change_policy(world: World) -> None:
    world.rules = (*world.rules, allow("plan:approve", "leads"))


def _demote(world: World) -> None:
    world.groups["bob"] = set()


def _dismiss(world: World) -> None:
    world.groups["alice"] = {"ops"}


Change = Callable[[World], None]
CHANGES: Mapping[Change, str] = {
    _edit: "the runbook append-word was edited",
    _remove: "the runbook append-word was edited",
    _change_rule: "the rules that decide it changed",
    _forget_rule: "the rules that decide it changed",
    _change_policy: "the rules that decide it changed",
    _demote: "bob may no longer approve it",
    _dismiss: "alice may no longer ask for it",
}


@pytest.mark.parametrize("change", CHANGES)
async def test_i3_what_people_agreed_to_changed_before_the_spend(
    world: World, change: Change
) -> None:
    grant = await active(world)
    request = await covered(world)
    change(world)
    await refused(world.spend(request))
    found = await now(world.stores, grant)
    assert (found.state, found.reason, found.used) == (GrantState.SUSPENDED, CHANGES[change], 0)
    assert await world.runs() == []


@pytest.mark.parametrize("change", [_edit, _change_rule, _change_policy, _demote])
async def test_what_people_agreed_to_changed_before_the_next_ask(
    world: World, change: Change
) -> None:
    grant = await active(world)
    change(world)
    assert (await covered(world)).state is State.OPEN
    assert (await now(world.stores, grant)).state is GrantState.SUSPENDED


async def test_an_altered_grant_covers_nothing(world: World) -> None:
    grant = await active(world)
    await world.stores.database.transact(
        lambda _: rows("UPDATE request SET card = '{}' WHERE id = :id", id=grant.request)
    )
    assert (await covered(world)).state is State.OPEN
    found = await now(world.stores, grant)
    assert (found.state, found.reason) == (
        GrantState.SUSPENDED, "what it allows is not what was shown",
    )  # fmt: skip
    [(_, plan)] = await granting(world).every(TENANT)
    assert plan is None


async def test_a_file_that_cannot_be_read_suspends_nothing(world: World) -> None:
    grant = await active(world)
    covering = world.gate.covering
    world.unreadable = Invalid("sayso.yml cannot be read")
    assert not await covering.holds(grant)
    world.unreadable = None
    assert await covering.holds(grant)


@pytest.mark.parametrize(
    ("roster", "state"),
    [
        (FakeRoster(down="it timed out"), GrantState.ACTIVE),
        (FakeRoster(gone={"U2": Why.DEACTIVATED}), GrantState.SUSPENDED),
    ],
)
async def test_who_granted_it_is_asked_about_again_and_no_answer_is_no_yes(
    world: World, roster: FakeRoster, state: GrantState
) -> None:
    grant = await active(world)
    world.rosters = {"slack": roster}
    assert (await covered(world)).state is State.OPEN
    assert (await now(world.stores, grant)).state is state


async def test_what_is_asked_again_is_shown_again(world: World) -> None:
    grant = await active(world)
    call = APPEND.check({"word": "beta"}, {})
    old = await world.ask(a_proposal(call, turn="t_2", conversation=OTHER_CONVERSATION))
    proposal = a_proposal(
        APPEND.check({"word": "alpha"}, {}), turn="t_2", conversation=OTHER_CONVERSATION,
        supersedes=old.id,
    )  # fmt: skip
    assert (await world.ask(proposal)).state is State.OPEN
    assert (await now(world.stores, grant)).used == 0


async def test_people_know_of_a_grant_who_know_of_its_request_or_may_revoke_it(
    world: World,
) -> None:
    grant = await active(world)
    for person, sees in (("alice", True), ("carol", True), ("dave", False)):
        found = await granting(world).known(who(person))
        assert [one.id for one, _ in found] == ([grant.id] if sees else [])
    world.rules = (*world.rules, allow("grant:revoke", "guests"))
    [(found_grant, plan)] = await granting(world).known(who("dave"))
    assert found_grant.id == grant.id
    assert plan is not None
    assert await granting(world).known(EVE) == []


async def test_a_list_shows_that_a_grant_is_suspended_by_now(world: World) -> None:
    grant = await active(world)
    _edit(world)
    [(found, _)] = await granting(world).every(TENANT)
    assert (found.id, found.state) == (grant.id, GrantState.SUSPENDED)
    [(found, _)] = await granting(world).every(TENANT)
    assert found.state is GrantState.SUSPENDED


async def test_who_proposed_it_and_who_may_approve_or_revoke_ends_it(world: World) -> None:
    world.rules = (*world.rules, allow("grant:propose", "dev"), allow("grant:revoke", "guests"))
    for person in ("bob", "carol", "dave"):
        grant, _ = await propose(world, await world.propose())
        assert (await revoke(world, grant.id, person)).state is GrantState.REVOKED
    world.rules = without(world.rules, "plan:approve ops")
    world.rules = (*world.rules, allow("plan:approve", "leads"))
    world.groups["carol"] = {"leads"}
    own, _ = await propose(world, await world.propose(HIGH), "alice")
    assert (await revoke(world, own.id, "alice")).ended_by == "alice"


async def test_nobody_else_ends_it_and_an_unknown_one_has_one_answer(world: World) -> None:
    grant = await active(world)
    world.groups["frank"] = {"stoppers"}
    assert (
        await refused(revoke(world, grant.id, "frank")) == "You may not revoke this (grant:revoke)."
    )
    for given, person in (
        (grant.id, "dave"), (grant.id, EVE), ("g_" + "0" * 32, "bob"), (grant.id.upper(), "bob"),
        ("", "bob"), (grant.request, "bob"), ("g_' OR 1=1 --", "bob"),
    ):  # fmt: skip
        assert await refused(revoke(world, given, person)) == UNKNOWN
    assert (await now(world.stores, grant)).state is GrantState.ACTIVE


async def test_who_comes_second_is_told_what_became_of_it(world: World) -> None:
    grant = await active(world)
    await revoke(world, grant.id, "bob")
    for person in ("bob", "carol"):
        told = await refused(revoke(world, grant.id, person))
        assert (
            told == f"Standing grant {grant.id} is revoked already, so there is nothing to revoke."
        )
    used_up = await active(world, LOW, uses=1)
    await world.spend(await covered(world, LOW))
    assert "is used up already" in await refused(revoke(world, used_up.id))


async def test_a_use_is_told_with_its_number_and_no_card(world: World) -> None:
    grant = await active(world, LOW)
    spent = await world.spend(await covered(world, LOW))
    await world.stores.runs.begin_step(spent.run, 0)
    assert spent.request.under
    assert not await said_in(world.stores, OTHER_CONVERSATION, "card")
    ended = await world.stores.runs.end_step(spent.run, 0, SUCCEEDED)
    assert ended.under == Use(grant=grant.id, number=1, most=3, until=START + FOR)
    [told] = await said_in(world.stores, OTHER_CONVERSATION, "report")
    assert told.endswith(
        f"Ran under standing grant {grant.id}, use 1 of 3, until 2026-03-01 10:00:00 UTC, approved "
        f"by bob; plan {ended.plan}."
    )


async def test_the_card_of_an_ended_proposal_offers_nothing(world: World) -> None:
    grant, _ = await propose(world, await world.propose())
    denied = await world.deny("bob", grant.request)
    card, _ = cards.drawn(denied, None)
    assert card.buttons == ()


async def test_i4_what_may_have_happened_already_has_a_card_again(world: World) -> None:
    grant = await active(world)
    used = await covered(world)
    spent = await world.spend(used)
    assert await world.stores.runs.begin_step(spent.run, 0)
    await world.stores.runs.end_step(spent.run, 0, UNKNOWN_END)
    again = await covered(world)
    assert (again.state, again.under) == (State.OPEN, None)
    assert (await now(world.stores, grant)).used == 1


async def test_who_edited_what_was_shown_is_a_requester_of_its_grant_too(world: World) -> None:
    world.groups["bob"] = {"dev", "ops"}
    world.rules += (allow("plan:edit", "ops"),)
    edited = await world.edited("bob", await world.propose(), word="beta")
    grant, may_vote = await propose(world, edited)
    assert not may_vote
    asked = await world.stores.requests.get(TENANT, grant.request)
    assert asked
    assert asked.editors == ("bob",)


async def test_a_standing_grant_is_not_edited(world: World) -> None:
    grant, _ = await propose(world, await world.propose())
    with pytest.raises(Refused, match="is not edited: deny it, and propose another"):
        await world.edited("alice", grant.request, word="beta")
    asked = await world.stores.requests.get(TENANT, grant.request)
    assert asked
    assert "edit" not in [button.verb for button in drawn(asked, None)[0].buttons]


async def test_nothing_is_proposed_to_run_again_while_everything_is_paused(world: World) -> None:
    request = await world.propose()
    await world.stores.brakes.pause(TENANT, principal="carol", reason="")
    with pytest.raises(Refused, match="carol paused everything"):
        await propose(world, request)


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("channel:console/local/console", "on the console"),
        ("channel:slack/T0TEAM/C0OPS", "in channel C0OPS of slack"),
        ("channel:discord/7001/7002", "in channel 7002 of discord"),
    ],
)
def test_where_a_grant_holds_is_said_in_words(place: str, expected: str) -> None:
    assert where(place) == expected
