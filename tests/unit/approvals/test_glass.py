"""X6: one entitled person lets a request run alone, for a reason; it gets past nothing else."""

import pytest

from adapters.storage.transactions import rows
from approvals import cards, entitlement
from approvals.granting import Granting
from approvals.models import Request, State, Voted, Yes
from approvals.receipts import check
from approvals.reports import report
from core.errors import Refused, Unavailable
from core.events import ProposeGrant
from core.rulings import BreakGlass
from tests.builders import CONVERSATION, TENANT
from tests.fakes.clock import FrozenClock
from tests.gates import APPEND, HIGH, HOUR, LOW, SECRET, World, allow, edited, who, without
from tests.receipts import Values, forged, issued
from tests.stores import SUCCEEDED, Stores, facts_of, log_of, said_in, stepped
from tests.unit.approvals.test_held import NOON


@pytest.fixture
def world(stores: Stores) -> World:
    world = World(stores)
    world.groups["bob"] = {"ops", "breakers"}
    world.rules += (allow("plan:break_glass", "breakers"),)
    return world


async def break_it(world: World, person: str, request: Request, why: str = "it burns") -> Voted:
    click = BreakGlass(identity=who(person), request=request.id, reason=why)
    return await world.gate.break_glass(click)


async def refusal(world: World, person: str, request: Request, why: str = "it burns") -> str:
    with pytest.raises(Refused) as told:
        await break_it(world, person, request, why)
    return told.value.shown


async def test_x6_one_person_alone_lets_it_run_without_its_quorum(world: World) -> None:
    request = await world.propose(HIGH)
    voted = await break_it(world, "bob", request)
    assert (voted.yes, voted.request.state) == (Yes.COUNTED, State.GRANTED)
    assert voted.job
    assert (voted.request.voters, voted.request.rule.quorum) == (("bob",), 2)
    spent = await world.spend(voted.request)
    assert cards.status(spent.request) == "Approved by bob. Glass broken by bob: it burns."
    run = await stepped(world.stores, spent.run, SUCCEEDED, SUCCEEDED)
    assert "Approved by bob; plan p_" in report(run)
    assert report(run).endswith("Glass broken by bob: it burns.")


async def test_x6_everybody_who_might_have_been_asked_is_told_and_the_log_has_no_words(
    world: World,
) -> None:
    request = await world.propose(HIGH)
    await break_it(world, "bob", request, f" it\nburns {SECRET}")
    [note] = await said_in(world.stores, CONVERSATION, "note")
    assert note.startswith("Glass broken: bob alone lets wipe run, with 1 of 2 votes: it burns")
    assert SECRET not in note
    called = await world.stores.database.transact(
        lambda _: rows("SELECT principal FROM called ORDER BY principal")
    )
    assert [row["principal"] for row in called] == ["alice", "bob", "carol"]
    entries = [e for e in await log_of(world.stores) if e.kind == "request.broken"]
    [facts] = [facts_of(entry) for entry in entries]
    assert (facts["principal"], facts["request"]) == ("bob", request.id)
    assert "burns" not in str(facts)


async def test_x6_in_a_freeze_it_is_proposed_by_who_may_break_it_and_runs(
    world: World, clock: FrozenClock
) -> None:
    world.windows = (NOON,)
    world.groups["alice"] = {"dev", "ops", "breakers"}
    clock.pass_by(HOUR / 2)
    request = await world.propose()
    with pytest.raises(Refused, match="the freeze noon lasts"):
        await world.approve("carol", request)
    voted = await break_it(world, "bob", request)
    assert "Held back" not in cards.status(voted.request)
    assert (await world.spend(voted.request)).request.state is State.SPENT


async def test_x6_what_was_granted_and_then_frozen_is_let_through(
    world: World, clock: FrozenClock
) -> None:
    request = await world.granted()
    clock.pass_by(HOUR / 2)
    world.windows = (NOON,)
    with pytest.raises(Unavailable):
        await world.spend(request)
    voted = await break_it(world, "bob", request)
    assert voted.request.voters == ("bob",)
    assert (await world.spend(voted.request)).request.state is State.SPENT


async def test_whose_yes_was_there_already_is_counted_once(world: World) -> None:
    request = await world.approve("bob", await world.propose(HIGH))
    voted = await break_it(world, "bob", request)
    assert voted.request.voters == ("bob",)
    assert (await world.spend(voted.request)).request.state is State.SPENT


async def test_of_two_the_first_breaks_it_and_who_comes_second_is_told(world: World) -> None:
    world.groups["carol"] = {"ops", "breakers"}
    request = await world.propose(HIGH)
    await break_it(world, "bob", request)
    voted = await break_it(world, "carol", request)
    assert (voted.yes, voted.job, voted.request.broken_by) == (Yes.LATE, None, "bob")


@pytest.mark.parametrize("person", ["carol", "alice"])
async def test_p09_who_may_not_is_told_who_may_and_nothing_happens(
    world: World, person: str
) -> None:
    request = await world.propose(HIGH)
    told = await refusal(world, person, request)
    assert told == "You may not break the glass for this (plan:break_glass); bob may."
    assert (await world.now(request)).state is State.OPEN
    assert len(await world.attempts()) == 1
    world.rules = without(world.rules, "plan:break_glass breakers")
    assert (await refusal(world, "bob", request)).endswith("nobody may right now.")


async def test_the_requester_breaks_it_only_where_the_rule_lets_them_vote(world: World) -> None:
    world.groups["alice"] = {"dev", "ops", "breakers"}
    assert "bob may" in await refusal(world, "alice", await world.propose(HIGH))
    low = await world.propose(LOW)
    assert (await break_it(world, "alice", low)).request.broken_by == "alice"


@pytest.mark.parametrize("why", ["", "  \n "])
async def test_it_takes_a_reason(world: World, why: str) -> None:
    request = await world.propose(HIGH)
    assert "say why" in await refusal(world, "bob", request, why)
    assert (await world.now(request)).state is State.OPEN


async def test_x6_it_gets_past_no_pause(world: World) -> None:
    request = await world.propose(HIGH)
    await world.stores.brakes.pause(TENANT, principal="carol", reason="")
    assert "carol paused everything" in await refusal(world, "bob", request)
    await world.stores.brakes.resume(TENANT, principal="carol")
    voted = await break_it(world, "bob", request)
    await world.stores.brakes.pause(TENANT, principal="carol", reason="")
    with pytest.raises(Unavailable, match="carol paused"):
        await world.spend(voted.request)


async def test_x6_it_gets_past_no_denial_no_end_and_no_change(
    world: World, clock: FrozenClock
) -> None:
    denied = await world.deny("carol", await world.propose(HIGH))
    assert "Denied by carol" in await refusal(world, "bob", denied)
    changed = await world.propose(HIGH, "beta")
    world.edit("wipe", edited)
    assert "Not run. Revoked" in await refusal(world, "bob", changed)
    old = await world.propose(HIGH, "gamma")
    clock.pass_by(HOUR)
    assert "Expired" in await refusal(world, "bob", old)
    assert world.effects() == []


async def test_x6_a_denial_after_it_still_wins(world: World) -> None:
    voted = await break_it(world, "bob", await world.propose(HIGH))
    await world.deny("carol", voted.request)
    with pytest.raises(Refused, match="Denied by carol"):
        await world.spend(voted.request)


@pytest.mark.parametrize("lost", ["breaker", "other voter"])
async def test_i03_whose_right_is_gone_at_the_spend_lets_nothing_run(
    world: World, lost: str
) -> None:
    request = await world.propose(HIGH)
    await world.approve("carol", request)
    voted = await break_it(world, "bob", request)
    world.groups["bob" if lost == "breaker" else "carol"] = {"ops"} if lost == "breaker" else set()
    with pytest.raises(Refused, match=r"Not run\. Revoked"):
        await world.spend(voted.request)
    assert world.effects() == []


async def test_who_only_breaks_glass_may_and_may_see_it(world: World) -> None:
    world.groups["dave"] = {"breakers"}
    request = await world.propose(HIGH)
    voted = await break_it(world, "dave", request)
    assert (await world.spend(voted.request)).request.broken_by == "dave"
    assert entitlement.breakers(world.authority(), request) == ("bob", "dave")


async def test_a_receipt_proves_that_it_was_broken_and_by_whom(world: World) -> None:
    request = await world.propose(HIGH)
    stores = world.stores.requests
    assert await stores.hand_over(TENANT, request.id, principal="alice", to="carol")
    await stores.escalate(TENANT, request.id, text="still waiting", calls=["carol"])
    voted = await break_it(world, "bob", request)
    spent = await world.spend(voted.request)
    await stepped(world.stores, spent.run, SUCCEEDED, SUCCEEDED)
    made = await issued(world.stores, spent.run.id)
    kinds = {entry.kind for entry in made.receipt.audit}
    assert {"request.escalated", "request.handed_over"} <= kinds
    assert [e.kind for e in made.receipt.audit].count("request.broken") == 1

    def unbroken(values: Values) -> None:
        values["audit"] = [one for one in values["audit"] if one["kind"] != "request.broken"]

    with pytest.raises(Refused, match="Fewer people agreed"):
        check(forged(made.text, unbroken))

    def by_another(values: Values) -> None:
        for one in values["audit"]:
            if one["kind"] == "request.broken":
                one["body"] = one["body"].replace('"bob"', '"carol"')

    with pytest.raises(Refused, match="Fewer people agreed"):
        check(forged(made.text, by_another))


async def test_nobody_alone_lets_a_standing_grant_begin(world: World) -> None:
    world.rules += (allow("grant:propose", "dev"),)
    request = await world.propose(HIGH)
    granting = Granting(gate=world.gate, conversations=world.stores.conversations)
    event = ProposeGrant(identity=who("alice"), request=request.id, uses=2, lasts=HOUR)
    grant, _ = await granting.propose(event)
    asked = await world.stores.requests.get(TENANT, grant.request)
    assert asked
    told = await refusal(world, "bob", asked)
    assert told == "What runs again and again without a card takes all the votes of its rule."
    assert (await world.now(asked)).state is State.OPEN


async def test_who_breaks_it_with_the_last_vote_that_it_took_is_not_called_alone(
    world: World,
) -> None:
    request = await world.propose(HIGH)
    await world.approve("carol", request)
    await break_it(world, "bob", request)
    [note] = await said_in(world.stores, CONVERSATION, "note")
    assert note.startswith("Glass broken: bob lets wipe run, with 2 of 2 votes: it burns")


async def test_what_is_denied_while_it_is_looked_at_is_refused_on_record(world: World) -> None:
    request = await world.propose(APPEND)

    async def denied() -> None:
        await world.deny("carol", request)

    world.runner.meanwhile[("preview",)] = denied
    assert "Denied by carol" in await refusal(world, "bob", request)
    assert (await world.now(request)).broken_by is None
    assert len(await world.attempts()) == 1
