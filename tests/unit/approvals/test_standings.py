"""P-36: what a platform revoked ends here, at the click and at the spend, with who and why on the card."""

from collections.abc import Awaitable, Collection, Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from approvals.gate import UNKNOWN
from approvals.models import Request, State
from approvals.standings import Standings
from core.errors import Refused, SaysoError, Unavailable
from core.events import Approve
from core.principals import Identity
from core.roster import Freshness
from core.standing import Standing, Why
from tests.builders import TENANT
from tests.fakes.clock import FrozenClock
from tests.fakes.roster import FakeRoster
from tests.gates import BOB_ON_SLACK, EVE, HIGH, World, allow
from tests.stores import Stores

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
ALICE = Identity(platform="slack", workspace="T1", user="U1")
CAROL = Identity(platform="slack", workspace="T1", user="U3")
DOWN = "it could not be reached"
NO_BOB = f"Slack could not be asked about bob just now: {DOWN}"
NO_GROUP = f"Slack could not be asked just now who is in sre: {DOWN}"


class Silent:
    """Promises as a roster does, and says nothing."""

    async def standings(
        self, identities: Collection[Identity], freshness: Freshness
    ) -> Mapping[Identity, Standing]:
        assert identities
        assert freshness
        return {}


@pytest.fixture
def slack(clock: FrozenClock) -> FakeRoster:
    return FakeRoster(clock=clock, members={"sre": {"U2", "U3"}})


@pytest.fixture
def world(stores: Stores, slack: FakeRoster) -> World:
    """Return a world in which bob and carol may approve because of a group of Slack alone."""
    world = World(stores)
    world.on_slack = {"alice": ALICE, "bob": BOB_ON_SLACK, "carol": CAROL}
    world.groups["bob"] = world.groups["carol"] = set()
    world.groups["alice"] = {"dev"}
    world.rules = (*world.rules, allow("plan:approve", "sre"), allow("plan:deny", "sre"))
    world.rosters = {"slack": slack}
    return world


async def failed(what: Awaitable[object]) -> SaysoError:
    with pytest.raises(SaysoError) as raised:
        await what
    return raised.value


async def revoked(world: World, request: Request) -> str:
    """Have a request spent, and return what its card says then: it was revoked and nothing ran."""
    error = await failed(world.spend(request))
    assert isinstance(error, Refused)
    now = await world.now(request)
    assert now.state is State.REVOKED
    assert await world.runs() == []
    assert error.shown.startswith(f"Not run. Revoked: {now.reason}.")
    return now.reason


# A group of Slack as a group of Sayso.


async def test_p36_members_of_a_slack_group_are_named_and_may_approve_and_it_runs(
    world: World,
) -> None:
    request = await world.propose()
    assert ("May approve", "bob, carol") in [(f.label, f.text) for f in request.card.facts]
    granted = await world.approve(BOB_ON_SLACK, request)
    assert (await world.spend(granted)).request.state is State.SPENT


async def test_who_is_in_no_group_of_slack_may_not_and_is_told_who_may(
    world: World, slack: FakeRoster
) -> None:
    slack.members["sre"].remove("U2")
    request = await world.propose()
    error = await failed(world.approve("bob", request))
    assert (type(error), error.shown) == (Refused, UNKNOWN)
    world.groups["bob"] = {"stoppers"}
    error = await failed(world.approve("bob", request))
    assert error.shown == "You may not approve this; carol may."


# I3: between the vote and the run.


async def test_i3_who_was_removed_from_the_group_a_second_ago_did_not_approve(
    world: World, slack: FakeRoster, clock: FrozenClock
) -> None:
    granted = await world.granted()
    slack.members["sre"].remove("U2")
    clock.pass_by(SECOND)
    assert await revoked(world, granted) == "bob may no longer approve it"


@pytest.mark.parametrize(
    ("user", "why", "reason"),
    [
        ("U2", Why.DEACTIVATED, "the Slack account of bob was deactivated, so bob may no longer approve it"),
        ("U1", Why.DEACTIVATED, "the Slack account of alice was deactivated, so alice may no longer ask for it"),
        ("U2", Why.BOT, "the Slack account of bob is a bot's, so bob may no longer approve it"),
        ("U2", Why.NOT_THERE, "bob may no longer approve it"),
    ],
)  # fmt: skip
async def test_i3_whose_account_was_deactivated_after_the_vote_did_not_approve(
    world: World, slack: FakeRoster, user: str, why: Why, reason: str
) -> None:
    granted = await world.granted()
    slack.gone[user] = why
    assert await revoked(world, granted) == reason


async def test_i3_a_group_that_cannot_be_asked_at_the_spend_is_a_no_however_new_the_cache_is(
    world: World, slack: FakeRoster
) -> None:
    granted = await world.granted()
    slack.groups_down = DOWN
    assert await revoked(world, granted) == (
        f"whether bob may still approve it could not be checked: {NO_GROUP}"
    )


async def test_i3_people_who_cannot_be_asked_about_at_the_spend_are_a_no(
    world: World, slack: FakeRoster
) -> None:
    granted = await world.granted()
    slack.down = DOWN
    assert await revoked(world, granted) == (
        f"whether alice may still ask for it could not be checked: {NO_BOB.replace('bob', 'alice')}"
    )


async def test_i3_of_several_only_who_is_gone_for_certain_is_named(
    world: World, slack: FakeRoster
) -> None:
    granted = await world.granted(HIGH, "bob", "carol")
    slack.groups_down = DOWN
    slack.gone["U3"] = Why.DEACTIVATED
    assert await revoked(world, granted) == (
        "the Slack account of carol was deactivated, so carol may no longer approve it"
    )


async def test_i3_only_those_on_whom_it_rests_are_asked_about_at_the_spend(
    world: World, slack: FakeRoster
) -> None:
    granted = await world.granted()
    slack.asked.clear()
    await world.spend(granted)
    assert slack.asked == [(frozenset({"U1", "U2"}), Freshness.NOW)]


async def test_i3_a_group_of_the_file_needs_no_answer_about_groups(
    world: World, slack: FakeRoster
) -> None:
    world.groups["bob"] = {"ops"}
    granted = await world.granted()
    slack.groups_down = DOWN
    assert (await world.spend(granted)).request.state is State.SPENT


async def test_i3_what_may_be_denied_to_them_stays_denied_while_that_cannot_be_asked(
    world: World, slack: FakeRoster
) -> None:
    world.groups["bob"] = {"ops"}
    barred = replace(allow("plan:approve", "sre", "*"), effect="deny")
    world.rules = tuple(rule for rule in world.rules if rule.groups != frozenset({"sre"}))
    world.rules = (*world.rules, barred)
    slack.members["sre"] = {"U3"}
    granted = await world.granted()
    slack.groups_down = DOWN
    assert (await revoked(world, granted)).endswith(NO_GROUP)


# The click.


async def test_p36_a_group_that_was_asked_five_minutes_ago_counts_for_a_click_while_slack_is_down(
    world: World, slack: FakeRoster, clock: FrozenClock
) -> None:
    request = await world.propose()
    await failed(world.approve("alice", request))  # now everybody was asked about
    await world.gate.acting.who(BOB_ON_SLACK)
    slack.down = DOWN
    clock.pass_by(5 * MINUTE)
    granted = await world.approve("bob", request)
    assert granted.state is State.GRANTED
    assert "could not be checked" in await revoked(world, granted)


async def test_p36_who_cannot_be_asked_about_at_the_click_is_told_so_and_nothing_is_counted(
    world: World, slack: FakeRoster, clock: FrozenClock
) -> None:
    request = await world.propose()
    slack.down = DOWN
    clock.pass_by(11 * MINUTE)
    error = await failed(world.approve("bob", request))
    assert isinstance(error, Unavailable)
    assert error.shown == f"Nothing was done. {NO_BOB}. Try again in a minute."
    assert await world.now(request) == request
    slack.down = ""
    assert (await world.approve("bob", request)).state is State.GRANTED


async def test_p36_a_group_that_cannot_be_asked_at_the_click_is_no_membership_and_it_is_said(
    world: World, slack: FakeRoster, clock: FrozenClock
) -> None:
    request = await world.propose()
    slack.groups_down = DOWN
    clock.pass_by(11 * MINUTE)
    world.groups["bob"] = {"stoppers"}
    error = await failed(world.approve("bob", request))
    assert error.shown == f"You may not approve this; nobody may right now. {NO_GROUP}."
    world.rules = (*world.rules, allow("plan:deny", "ops"))
    error = await failed(world.deny("bob", request))
    assert error.shown == f"You may not deny this. {NO_GROUP}."


async def test_p36_whoever_asked_cannot_be_asked_about_so_the_yes_waits_and_the_request_lives(
    world: World, slack: FakeRoster, clock: FrozenClock
) -> None:
    world.groups["dave"] = {"ops"}
    request = await world.propose()
    slack.down = DOWN
    clock.pass_by(11 * MINUTE)
    error = await failed(world.approve("dave", request))
    assert isinstance(error, Unavailable)
    assert error.shown == (
        "Your yes was not counted: whether alice may still ask for it could not be checked: "
        f"{NO_BOB.replace('bob', 'alice')}. Try again in a minute."
    )
    assert (await world.now(request)).state is State.OPEN


async def test_p36_the_click_of_a_deactivated_account_is_refused_on_record(
    world: World, slack: FakeRoster
) -> None:
    request = await world.propose()
    slack.gone["U2"] = Why.DEACTIVATED
    error = await failed(world.approve("bob", request))
    assert type(error) is Refused
    assert error.shown.startswith("Nothing was done: the Slack account of bob was deactivated")
    assert (await world.now(request)).votes == ()
    assert len(await world.attempts()) == 1


async def test_p36_an_approver_who_is_gone_is_not_named_and_nothing_breaks(
    world: World, slack: FakeRoster
) -> None:
    slack.gone["U2"] = Why.DEACTIVATED
    await failed(world.gate.acting.who(BOB_ON_SLACK))
    request = await world.propose()
    assert ("May approve", "carol") in [(f.label, f.text) for f in request.card.facts]
    assert (await world.approve("carol", request)).state is State.GRANTED


async def test_p36_who_is_gone_is_not_answered_and_asks_for_nothing(
    world: World, slack: FakeRoster
) -> None:
    slack.gone["U1"] = Why.DEACTIVATED
    assert type(await failed(world.gate.acting.person(TENANT, "alice"))) is Refused
    told = (await failed(world.propose())).shown
    assert told.startswith("Nothing was done: the Slack account of alice was deactivated")
    assert len(await world.attempts()) == 1


async def test_p36_who_cannot_be_asked_about_asks_for_nothing_and_is_told_why(
    world: World, slack: FakeRoster
) -> None:
    slack.down = DOWN
    who = NO_BOB.replace("bob", "alice")
    assert isinstance(await failed(world.gate.acting.person(TENANT, "alice")), Unavailable)
    told = await failed(world.propose())
    assert isinstance(told, Unavailable)
    assert told.shown == f"Nothing was done. {who}. Try again in a minute."


async def test_p36_a_group_that_cannot_be_asked_when_something_is_proposed_allows_nothing(
    world: World, slack: FakeRoster
) -> None:
    world.rules = (*world.rules, allow("run:propose", "sre"))
    slack.members["sre"].add("U1")
    slack.groups_down = DOWN
    world.groups["alice"] = set()
    error = await failed(world.propose())
    assert error.shown == f"Not proposed: you may not ask for this. {NO_GROUP}."
    assert await world.requests() == []
    world.groups["alice"] = {"dev"}
    card = (await world.propose()).card
    assert ("May approve", "nobody") in [(fact.label, fact.text) for fact in card.facts]


async def test_x9_a_no_waits_for_no_platform(world: World, slack: FakeRoster) -> None:
    world.groups["bob"] = {"ops"}
    request = await world.propose()
    slack.down = DOWN
    assert (await world.deny("bob", request, "no")).state is State.DENIED


async def test_i14_what_another_tenants_platform_says_is_not_asked_for(
    world: World, slack: FakeRoster
) -> None:
    world.rosters = {"console": slack}
    await world.gate.acting.who(EVE)
    assert {user for users, _ in slack.asked for user in users} == {"bob"}


async def test_who_asks_for_something_is_asked_about_alone_however_many_are_listed(
    world: World, slack: FakeRoster
) -> None:
    await world.gate.acting.asks(ALICE)
    await world.gate.acting.person(TENANT, "alice")
    assert slack.asked == [(frozenset({"U1"}), Freshness.RECENT)] * 2


async def test_p36_who_may_not_ask_again_is_told_names_of_nobody_who_is_gone(
    world: World, slack: FakeRoster
) -> None:
    request = await world.propose()
    await world.deny("bob", request, "no")
    slack.gone["U3"] = Why.DEACTIVATED
    await failed(world.gate.acting.who(CAROL))
    authority, principal = await world.gate.acting.person(TENANT, "alice")
    told = await failed(world.gate.may_again(authority, principal, request.id))
    assert told.shown.endswith("only who may approve it may ask for it again: bob may.")


async def test_who_is_nobody_in_no_tenant_is_asked_about_nowhere(
    world: World, slack: FakeRoster
) -> None:
    nobody = Identity(platform="slack", workspace="T9", user="U1")
    world.on_slack["alice"] = nobody  # listed, in a workspace that nobody owns
    await failed(world.gate.approve(Approve(identity=nobody, request="a" * 32)))
    await failed(world.gate.acting.asks(nobody))
    assert slack.asked == []


async def test_a_platform_that_does_not_say_is_a_no(world: World) -> None:
    world.rosters = {"slack": Silent()}
    error = await failed(world.gate.acting.who(BOB_ON_SLACK))
    assert error.shown == (
        "Nothing was done. Slack could not be asked about bob just now: it did not say. "
        "Try again in a minute."
    )


async def test_without_a_roster_nobody_is_asked_and_nothing_is_made_anew(world: World) -> None:
    authority, standings = world.authority(), Standings()
    for asked in (
        standings.around(authority, BOB_ON_SLACK, Freshness.RECENT),
        standings.acting(authority, TENANT, "bob"),
        standings.named(authority, TENANT),
        standings.of(authority, TENANT, ["bob"], Freshness.NOW),
    ):
        with pytest.raises(StopIteration) as ended:
            asked.send(None)  # it waits for nothing at all
        assert ended.value.value is authority


async def test_i3_who_is_gone_for_certain_ends_it_at_the_click_too(
    world: World, slack: FakeRoster, clock: FrozenClock
) -> None:
    world.risks = (*world.risks[:2], replace(world.risks[2], quorum=3))
    world.groups["dave"] = {"ops"}
    request = await world.propose(HIGH)
    await world.approve("bob", request)
    await world.approve("carol", request)
    slack.gone["U3"] = Why.DEACTIVATED
    slack.groups_down = DOWN
    clock.pass_by(11 * MINUTE)
    await failed(world.approve("dave", request))
    now = await world.now(request)
    assert (now.state, now.reason) == (
        State.REVOKED,
        "the Slack account of carol was deactivated, so carol may no longer approve it",
    )


async def test_i14_an_account_in_another_tenant_gives_and_takes_nothing(
    world: World, slack: FakeRoster
) -> None:
    theirs = Identity(platform="slack", workspace="T2", user="U9")
    listed = world.authority()
    bob = listed.directory.people["bob"]
    bob = replace(bob, identities=bob.identities | {theirs})
    workspaces = {**listed.directory.workspaces, ("slack", "T2"): "globex"}
    directory = replace(listed.directory, workspaces=workspaces, people={"bob": bob})
    authority = replace(listed, directory=directory)
    slack.gone["U9"] = Why.DEACTIVATED
    found = await Standings(rosters={"slack": slack}).acting(authority, TENANT, "bob")
    person = found.directory.find(TENANT, "bob")
    assert person is not None
    assert person.groups == {"sre"}
    assert {user for users, _ in slack.asked for user in users} == {"U2"}
