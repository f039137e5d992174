"""C65, X7: an account comes to be somebody's by both sides' word alone, counts at once, and ends at once."""

from collections.abc import AsyncGenerator, Awaitable
from dataclasses import replace

import pytest

from approvals.acting import UNLINKED
from approvals.gate import UNKNOWN, Gate
from approvals.linking import CODES, GONE, HAS_ONE, KNOWN, LISTED, OFF, LinkingAccounts
from approvals.models import Yes
from core.errors import Refused
from core.events import Approve
from core.links import LASTS, Link, Linking, LinkState
from core.principals import STRANGER, Identity
from core.rates import Rate, RateRules
from core.standing import Why
from tests.bots import Bots
from tests.builders import TENANT
from tests.fakes.clock import FrozenClock
from tests.fakes.roster import FakeRoster
from tests.gates import BOB_ON_SLACK, HIGH, HOUR, World, who
from tests.stores import Stores, log_of, principal_of

X = Identity(platform="discord", workspace="G1", user="500")
Y = Identity(platform="discord", workspace="G1", user="501")
FOREIGN = Identity(platform="slack", workspace="T9", user="U2")
THEIRS = Identity(platform="console", workspace="theirs", user="mallory")
WRONG = "AAAAA-AAAAA"


@pytest.fixture
async def world(stores: Stores) -> AsyncGenerator[World]:
    world = World(stores)
    world.linking = True
    yield world
    await Bots(world).at_rest()


def accounts(world: World) -> LinkingAccounts:
    return LinkingAccounts(links=world.stores.links, acting=world.gate.acting)


async def asked(world: World, account: Identity = X, on: Identity = BOB_ON_SLACK) -> Linking:
    """Come as far as to the question to the first side."""
    code = (await accounts(world).offer(on)).code
    claimed = await accounts(world).claim(account, code)
    return await accounts(world).confirm(account, claimed.id)


async def linked(world: World, account: Identity = X, on: Identity = BOB_ON_SLACK) -> Linking:
    one = await asked(world, account, on)
    return await accounts(world).confirm(on, one.id)


async def refusal(doing: Awaitable[object]) -> str:
    with pytest.raises(Refused) as told:
        await doing
    return told.value.shown


async def test_x7_a_link_is_one_vote_and_counts_from_the_last_yes_on(world: World) -> None:
    request = await world.propose(HIGH)
    one = await asked(world)
    assert (one.state, one.principal, one.account) == (LinkState.ASKED, "bob", X)
    assert UNLINKED in await refusal(world.approve(X, request))
    made = await accounts(world).confirm(BOB_ON_SLACK, one.id)
    assert made.state is LinkState.MADE
    first = await world.gate.approve(Approve(identity=X, request=request.id))
    assert (first.yes, first.request.voters) == (Yes.COUNTED, ("bob",))
    second = await world.gate.approve(Approve(identity=who("bob"), request=request.id))
    assert (second.yes, second.request.voters) == (Yes.AGAIN, ("bob",))
    await world.approve("carol", request)
    assert (await world.spend(await world.now(request))).run


async def test_after_unlink_from_either_side_a_vote_is_refused(world: World) -> None:
    for side, kept in ((X, 0), (who("bob"), 0), (BOB_ON_SLACK, 0)):
        await linked(world)
        request = await world.propose(HIGH, f"w{side.user}")
        assert (await world.approve(X, request)).voters == ("bob",)
        [ended] = await accounts(world).unlink(side)
        assert ended == Link(account=X, principal="bob", rests_on=BOB_ON_SLACK)
        assert UNLINKED in await refusal(world.approve(X, request))
        await world.deny("carol", request)
        await world.stores.brakes.lift(TENANT, request.conversation, principal="carol")
        assert len(await world.stores.links.made(TENANT)) == kept
        assert await accounts(world).unlink(BOB_ON_SLACK) == []


async def test_unlinking_one_platform_leaves_the_others(world: World) -> None:
    await linked(world)
    assert await accounts(world).unlink(who("bob"), "slack") == []
    assert len(await accounts(world).unlink(who("bob"), "discord")) == 1


async def test_unlinking_needs_no_platform_and_no_switch(world: World) -> None:
    await linked(world)
    world.linking = False
    world.rosters = {"discord": FakeRoster(down="it hangs"), "slack": FakeRoster(down="it hangs")}
    assert len(await accounts(world).unlink(X)) == 1
    assert await refusal(accounts(world).unlink(Y)) == GONE
    assert await refusal(accounts(world).unlink(FOREIGN)) == GONE


async def test_c65_the_file_wins_and_what_it_does_not_carry_ends_for_good(world: World) -> None:
    await linked(world)
    bob = world.groups.pop("bob")
    request = await world.propose(HIGH)
    assert "does not know you" in await refusal(world.approve(X, request))
    world.groups["bob"] = bob
    assert "does not know you" in await refusal(world.approve(X, request))
    [entry] = [e for e in await log_of(world.stores) if e.kind == "link.lost"]
    assert principal_of(entry) == "sayso"
    await linked(world)
    world.on_slack = {"bob": BOB_ON_SLACK, "carol": X}
    assert (await world.approve(X, request)).voters == ("carol",)
    world.on_slack = {"bob": BOB_ON_SLACK}
    assert "does not know you" in await refusal(world.approve(X, request))


async def test_where_linking_is_off_no_link_counts_and_none_is_lost(world: World) -> None:
    one = await asked(world)
    code = (await accounts(world).offer(who("carol"))).code
    world.linking = False
    for doing in (
        accounts(world).offer(BOB_ON_SLACK),
        accounts(world).claim(Y, code),
        accounts(world).confirm(BOB_ON_SLACK, one.id),
        accounts(world).refuse(X, one.id),
    ):
        assert await refusal(doing) == OFF
    request = await world.propose(HIGH)
    told = await refusal(world.approve(X, request))
    assert told.endswith("your name is 500.")
    world.linking = True
    await accounts(world).confirm(BOB_ON_SLACK, one.id)
    world.linking = False
    assert "does not know you" in await refusal(world.approve(X, request))
    world.linking = True
    await world.approve(X, request)


async def test_what_is_wrong_over_foreign_or_used_up_has_one_answer(
    world: World, clock: FrozenClock
) -> None:
    code = (await accounts(world).offer(BOB_ON_SLACK)).code
    assert await refusal(accounts(world).claim(X, WRONG)) == GONE
    assert await refusal(accounts(world).claim(X, "nonsense")) == GONE
    assert await refusal(accounts(world).claim(FOREIGN, code)) == GONE
    claimed = await accounts(world).claim(X, code)
    assert await refusal(accounts(world).claim(Y, code)) == GONE
    for person in (Y, who("carol"), who("dave"), THEIRS, FOREIGN):
        assert await refusal(accounts(world).confirm(person, claimed.id)) == GONE
        assert await refusal(accounts(world).refuse(person, claimed.id)) == GONE
    # The first side is asked once the other has confirmed.
    assert await refusal(accounts(world).confirm(BOB_ON_SLACK, claimed.id)) == GONE
    for given in ("", "l_" + "0" * 32, "0" * 32):
        assert await refusal(accounts(world).confirm(X, given)) == GONE
    clock.pass_by(LASTS)
    assert await refusal(accounts(world).confirm(X, claimed.id)) == GONE
    assert all(
        principal_of(e) in {STRANGER, "bob", "carol", "dave", "eve"} for e in await world.attempts()
    )
    assert await world.stores.links.made(TENANT) == []


async def test_the_last_yes_comes_from_the_first_platform_by_a_listed_account(
    world: World,
) -> None:
    one = await asked(world)
    assert await refusal(accounts(world).confirm(who("bob"), one.id)) == GONE
    assert await refusal(accounts(world).confirm(X, one.id)) == GONE
    await accounts(world).confirm(BOB_ON_SLACK, one.id)
    assert await refusal(accounts(world).offer(X)) == LISTED
    assert await refusal(accounts(world).claim(X, WRONG)) == KNOWN


async def test_somebody_who_is_known_here_links_nothing_more_here(world: World) -> None:
    await linked(world)
    code = (await accounts(world).offer(BOB_ON_SLACK)).code
    assert await refusal(accounts(world).claim(Y, code)) == HAS_ONE.format("bob")
    assert await refusal(accounts(world).claim(who("carol"), code)) == KNOWN


async def test_what_the_file_says_meanwhile_is_heard_at_the_last_yes(world: World) -> None:
    one = await asked(world)
    world.on_slack = {"bob": BOB_ON_SLACK, "carol": X}
    assert await refusal(accounts(world).confirm(BOB_ON_SLACK, one.id)) == GONE
    assert await world.stores.links.made(TENANT) == []


@pytest.mark.parametrize("side", [X, BOB_ON_SLACK])
async def test_a_no_of_either_side_is_the_end(world: World, side: Identity) -> None:
    one = await asked(world)
    assert (await accounts(world).refuse(side, one.id)).state is LinkState.REFUSED
    assert await refusal(accounts(world).confirm(BOB_ON_SLACK, one.id)) == GONE
    assert await refusal(accounts(world).refuse(side, one.id)) == GONE


async def test_c67_wrong_codes_are_counted_and_the_right_one_then_waits(
    world: World, clock: FrozenClock
) -> None:
    code = (await accounts(world).offer(BOB_ON_SLACK)).code
    for _ in range(CODES.most):
        assert await refusal(accounts(world).claim(X, WRONG)) == GONE
    assert (await refusal(accounts(world).claim(X, code))).startswith("Too fast")
    clock.pass_by(CODES.per / CODES.most)
    assert await accounts(world).claim(X, code)


async def test_codes_are_given_at_a_rate_and_to_nobody_who_is_not_listed(world: World) -> None:
    world.rates = RateRules(messages=Rate(name="messages", most=2, per=HOUR))
    for _ in range(2):
        await accounts(world).offer(BOB_ON_SLACK)
    assert (await refusal(accounts(world).offer(BOB_ON_SLACK))).startswith("Too fast")
    assert UNLINKED in await refusal(accounts(world).offer(X))


async def test_a_group_of_the_linked_account_gives_no_authority(world: World) -> None:
    world.rosters = {"discord": FakeRoster(members={"ops": {"500"}})}
    world.groups["bob"] = set()
    await linked(world)
    request = await world.propose(HIGH)
    assert await refusal(world.approve(X, request)) == UNKNOWN
    # Were the account listed as theirs, it would.
    world.on_slack = {"bob": X}
    assert (await world.approve(X, request)).voters == ("bob",)


async def test_p36_a_deactivated_account_votes_no_more_and_who_is_gone_confirms_nothing(
    world: World,
) -> None:
    roster = FakeRoster()
    world.rosters = {"slack": roster}
    one = await asked(world)
    roster.gone["U2"] = Why.DEACTIVATED
    world.rosters = {"slack": FakeRoster(gone={"U2": Why.DEACTIVATED})}
    assert "was deactivated" in await refusal(accounts(world).confirm(BOB_ON_SLACK, one.id))
    assert await world.stores.links.made(TENANT) == []


async def test_people_see_what_is_theirs_alone(world: World) -> None:
    one = await asked(world)
    mine = await accounts(world).mine(who("bob"))
    assert ([w.id for w in mine.waiting], mine.links) == ([one.id], ())
    await accounts(world).confirm(BOB_ON_SLACK, one.id)
    mine = await accounts(world).mine(X)
    assert (mine.waiting, [link.account for link in mine.links]) == ((), [X])
    assert (await accounts(world).mine(who("carol"))).links == ()


async def test_without_a_place_for_links_nothing_is_asked(world: World) -> None:
    await linked(world)
    gate: Gate = world.gate
    standings = replace(gate.acting.standings, links=None)
    authority = await standings.linked(world.authority(), TENANT)
    assert authority.directory.behind(X) == ()
