"""`core.roster.Roster`, on Slack and on the fake: P-36, what a platform revoked is not held any more."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from adapters.slack.people import SlackRoster
from core.errors import Refused, Unavailable
from core.principals import Identity
from core.roster import Freshness, Roster
from core.standing import Active, NotActive, Standing, Unknown, Why
from tests.fakes.clock import FrozenClock
from tests.fakes.roster import FakeRoster

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
BOB = Identity(platform="slack", workspace="T1", user="U2")
CAROL = Identity(platform="slack", workspace="T1", user="U3")
IN_SRE = Active(groups=frozenset({"sre"}))
EVERY = pytest.mark.parametrize("freshness", list(Freshness))
ASKED = pytest.mark.parametrize("freshness", [Freshness.RECENT, Freshness.NOW])


@dataclass
class SlackWorld:
    """Implements `adapters.slack.people.Web` over the same people as the fake has."""

    people: FakeRoster

    async def call(self, method: str, **arguments: object) -> Mapping[str, object]:
        await asyncio.sleep(0)
        if self.people.down:
            raise Unavailable("Slack said 503.", error=self.people.down)
        if method == "usergroups.users.list":
            if self.people.groups_down:
                raise Refused("Slack said no.", error=self.people.groups_down)
            group = str(arguments["usergroup"]).removeprefix("S_")
            return {"ok": True, "users": sorted(self.people.members[group])}
        return {"ok": True, "user": self._user(str(arguments["user"]))}

    def _user(self, user: str) -> Mapping[str, object]:
        gone = self.people.gone.get(user)
        if gone is Why.NOT_THERE:
            raise Refused("Slack said no.", error="user_not_found")
        deleted, is_bot = gone is Why.DEACTIVATED, gone is Why.BOT
        return {"id": user, "team_id": "T1", "deleted": deleted, "is_bot": is_bot}


@dataclass
class Company:
    """A roster, and the people whom it is asked about."""

    roster: Roster
    people: FakeRoster
    clock: FrozenClock
    down: Callable[[str], str] = field(default=lambda code: code)
    """How the roster tells of an error with this code."""

    async def ask(self, identity: Identity, freshness: Freshness) -> Standing:
        found = await self.roster.standings([identity], freshness)
        assert found.keys() == {identity}
        return found[identity]


def fake(clock: FrozenClock) -> Company:
    people = FakeRoster(clock=clock, members={"sre": {"U2"}})
    return Company(roster=people, people=people, clock=clock)


def on_slack(clock: FrozenClock) -> Company:
    people = FakeRoster(members={"sre": {"U2"}})
    roster = SlackRoster(
        SlackWorld(people),
        team="T1",
        groups={"sre": frozenset({"S_sre"})},
        now=lambda: clock.now().timestamp(),
    )
    return Company(roster=roster, people=people, clock=clock, down=lambda c: f"it answered {c}")


@pytest.fixture(params=[fake, on_slack])
def company(request: pytest.FixtureRequest, clock: FrozenClock) -> Company:
    build: Callable[[FrozenClock], Company] = request.param
    return build(clock)


@EVERY
async def test_a_member_of_a_group_is_in_it_and_nobody_else_is(
    company: Company, freshness: Freshness
) -> None:
    assert await company.ask(BOB, freshness) == IN_SRE
    assert await company.ask(CAROL, freshness) == Active()


async def test_several_are_told_apart_and_none_of_none(company: Company) -> None:
    found = await company.roster.standings([CAROL, BOB], Freshness.NOW)
    assert found == {BOB: IN_SRE, CAROL: Active()}
    assert await company.roster.standings([], Freshness.NOW) == {}


@ASKED
@pytest.mark.parametrize("why", list(Why))
async def test_an_account_that_counts_for_nothing_is_told_with_the_reason(
    company: Company, why: Why, freshness: Freshness
) -> None:
    company.people.gone["U2"] = why
    assert await company.ask(BOB, freshness) == NotActive(why=why)


async def test_what_gives_nobody_anything_waits_for_no_answer_about_an_account(
    company: Company,
) -> None:
    company.people.gone["U2"] = Why.DEACTIVATED
    assert await company.ask(BOB, Freshness.HELD) == IN_SRE
    await company.ask(BOB, Freshness.RECENT)
    assert await company.ask(BOB, Freshness.HELD) == NotActive(why=Why.DEACTIVATED)


async def test_p36_who_was_removed_a_second_ago_is_out_at_the_spend(company: Company) -> None:
    assert await company.ask(BOB, Freshness.NOW) == IN_SRE
    company.people.members["sre"].remove("U2")
    company.clock.pass_by(SECOND)
    assert await company.ask(BOB, Freshness.RECENT) == IN_SRE
    assert await company.ask(BOB, Freshness.NOW) == Active()
    assert await company.ask(BOB, Freshness.RECENT) == Active()


async def test_p36_who_was_deactivated_a_second_ago_is_gone_at_the_spend(company: Company) -> None:
    assert await company.ask(BOB, Freshness.NOW) == IN_SRE
    company.people.gone["U2"] = Why.DEACTIVATED
    company.clock.pass_by(SECOND)
    assert await company.ask(BOB, Freshness.RECENT) == IN_SRE
    assert await company.ask(BOB, Freshness.NOW) == NotActive(why=Why.DEACTIVATED)
    assert await company.ask(BOB, Freshness.RECENT) == NotActive(why=Why.DEACTIVATED)


async def test_an_answer_is_good_for_a_minute(company: Company) -> None:
    await company.ask(BOB, Freshness.RECENT)
    company.people.members["sre"].clear()
    company.clock.pass_by(MINUTE)
    assert await company.ask(BOB, Freshness.RECENT) == IN_SRE
    company.clock.pass_by(SECOND)
    assert await company.ask(BOB, Freshness.HELD) == IN_SRE
    assert await company.ask(BOB, Freshness.RECENT) == Active()


async def test_p36_where_groups_cannot_be_asked_ten_minutes_count_for_a_click_and_none_at_the_spend(
    company: Company,
) -> None:
    await company.ask(BOB, Freshness.RECENT)
    company.people.groups_down = "fatal_error"
    unsure = Active(unsure={"sre": company.down("fatal_error")})
    company.clock.pass_by(5 * MINUTE)
    assert await company.ask(BOB, Freshness.RECENT) == IN_SRE
    assert await company.ask(BOB, Freshness.NOW) == unsure
    company.clock.pass_by(5 * MINUTE)
    assert await company.ask(BOB, Freshness.RECENT) == IN_SRE
    company.clock.pass_by(SECOND)
    assert await company.ask(BOB, Freshness.RECENT) == unsure
    assert await company.ask(BOB, Freshness.HELD) == unsure


async def test_p36_where_nothing_can_be_asked_ten_minutes_count_for_a_click_and_none_at_the_spend(
    company: Company,
) -> None:
    await company.ask(BOB, Freshness.RECENT)
    company.people.down = "fatal_error"
    unknown = Unknown(why=company.down("fatal_error"))
    company.clock.pass_by(10 * MINUTE)
    assert await company.ask(BOB, Freshness.RECENT) == IN_SRE
    assert await company.ask(BOB, Freshness.NOW) == unknown
    company.clock.pass_by(SECOND)
    assert await company.ask(BOB, Freshness.RECENT) == unknown


async def test_a_platform_that_is_back_is_believed_again(company: Company) -> None:
    company.people.down = "fatal_error"
    assert await company.ask(BOB, Freshness.NOW) == Unknown(why=company.down("fatal_error"))
    company.people.down = ""
    assert await company.ask(BOB, Freshness.RECENT) == IN_SRE


async def test_for_what_gives_nobody_anything_an_answer_of_more_than_ten_minutes_is_none(
    company: Company,
) -> None:
    company.people.gone["U2"] = Why.DEACTIVATED
    await company.ask(BOB, Freshness.NOW)
    company.clock.pass_by(10 * MINUTE)
    assert await company.ask(BOB, Freshness.HELD) == NotActive(why=Why.DEACTIVATED)
    company.clock.pass_by(SECOND)
    assert await company.ask(BOB, Freshness.HELD) == IN_SRE
