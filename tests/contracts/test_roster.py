"""`core.roster.Roster`, on Slack, on Discord and on the fake: P-36, what a platform revoked is not held any more."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from adapters.discord.people import DiscordRoster
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
class DiscordWorld:
    """Implements `adapters.discord.people.Rest` over the same people as the fake has."""

    people: FakeRoster
    clock: FrozenClock

    async def member(self, guild: str, user: str) -> Mapping[str, object]:
        await asyncio.sleep(0)
        assert guild == "700"
        if self.people.down:
            raise Unavailable("Discord said 503.")
        gone = self.people.gone.get(f"U{user}")
        if gone is Why.NOT_THERE:
            raise Refused("Discord said no.", error=10007)
        until = self.clock.now() + timedelta(hours=1) if gone is Why.TIMED_OUT else None
        return {
            "user": {"id": user, "bot": gone is Why.BOT},
            "roles": [name for name, some in self.people.members.items() if f"U{user}" in some],
            "pending": gone is Why.PENDING,
            "communication_disabled_until": until.isoformat() if until else None,
        }


@dataclass
class Company:
    """A roster, and the people whom it is asked about."""

    roster: Roster
    people: FakeRoster
    clock: FrozenClock
    bob: Identity = BOB
    carol: Identity = CAROL
    tells: frozenset[Why] = frozenset(Why)
    """The reasons that it knows."""
    ended: Why = Why.DEACTIVATED
    """What it says of somebody who has left."""
    asks_apart: bool = True
    """Whether it asks about accounts and about groups in questions of their own."""
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
    return Company(
        roster=roster,
        people=people,
        clock=clock,
        tells=frozenset({Why.DEACTIVATED, Why.BOT, Why.NOT_THERE}),
        down=lambda code: f"it answered {code}",
    )


def on_discord(clock: FrozenClock) -> Company:
    people = FakeRoster(members={"sre": {"U2"}})
    roster = DiscordRoster(
        DiscordWorld(people, clock),
        groups={"sre": frozenset({"sre"})},
        now=lambda: clock.now().timestamp(),
        wall=lambda: clock.now().timestamp(),
    )
    return Company(
        roster=roster,
        people=people,
        clock=clock,
        bob=Identity(platform="discord", workspace="700", user="2"),
        carol=Identity(platform="discord", workspace="700", user="3"),
        tells=frozenset(Why) - {Why.DEACTIVATED},
        ended=Why.NOT_THERE,
        asks_apart=False,
        down=lambda _: "it could not be reached",
    )


@pytest.fixture(params=[fake, on_slack, on_discord])
def company(request: pytest.FixtureRequest, clock: FrozenClock) -> Company:
    build: Callable[[FrozenClock], Company] = request.param
    return build(clock)


@EVERY
async def test_a_member_of_a_group_is_in_it_and_nobody_else_is(
    company: Company, freshness: Freshness
) -> None:
    assert await company.ask(company.bob, freshness) == IN_SRE
    assert await company.ask(company.carol, freshness) == Active()


async def test_several_are_told_apart_and_none_of_none(company: Company) -> None:
    bob, carol = company.bob, company.carol
    found = await company.roster.standings([carol, bob], Freshness.NOW)
    assert found == {bob: IN_SRE, carol: Active()}
    assert await company.roster.standings([], Freshness.NOW) == {}


@ASKED
@pytest.mark.parametrize("why", list(Why))
async def test_an_account_that_counts_for_nothing_is_told_with_the_reason(
    company: Company, why: Why, freshness: Freshness
) -> None:
    if why not in company.tells:
        pytest.skip("that platform has no such thing")
    company.people.gone["U2"] = why
    assert await company.ask(company.bob, freshness) == NotActive(why=why)


async def test_what_gives_nobody_anything_waits_for_no_answer_about_an_account(
    company: Company,
) -> None:
    if not company.asks_apart:
        pytest.skip("it asks about both at once")
    company.people.gone["U2"] = Why.DEACTIVATED
    assert await company.ask(company.bob, Freshness.HELD) == IN_SRE
    await company.ask(company.bob, Freshness.RECENT)
    assert await company.ask(company.bob, Freshness.HELD) == NotActive(why=Why.DEACTIVATED)


async def test_p36_who_was_removed_a_second_ago_is_out_at_the_spend(company: Company) -> None:
    assert await company.ask(company.bob, Freshness.NOW) == IN_SRE
    company.people.members["sre"].remove("U2")
    company.clock.pass_by(SECOND)
    assert await company.ask(company.bob, Freshness.RECENT) == IN_SRE
    assert await company.ask(company.bob, Freshness.NOW) == Active()
    assert await company.ask(company.bob, Freshness.RECENT) == Active()


async def test_p36_whose_account_ended_a_second_ago_is_gone_at_the_spend(company: Company) -> None:
    assert await company.ask(company.bob, Freshness.NOW) == IN_SRE
    company.people.gone["U2"] = company.ended
    company.clock.pass_by(SECOND)
    assert await company.ask(company.bob, Freshness.RECENT) == IN_SRE
    assert await company.ask(company.bob, Freshness.NOW) == NotActive(why=company.ended)
    assert await company.ask(company.bob, Freshness.RECENT) == NotActive(why=company.ended)


async def test_an_answer_is_good_for_a_minute(company: Company) -> None:
    await company.ask(company.bob, Freshness.RECENT)
    company.people.members["sre"].clear()
    company.clock.pass_by(MINUTE)
    assert await company.ask(company.bob, Freshness.RECENT) == IN_SRE
    company.clock.pass_by(SECOND)
    assert await company.ask(company.bob, Freshness.HELD) == IN_SRE
    assert await company.ask(company.bob, Freshness.RECENT) == Active()


async def test_p36_where_groups_cannot_be_asked_ten_minutes_count_for_a_click_and_none_at_the_spend(
    company: Company,
) -> None:
    if not company.asks_apart:
        pytest.skip("it asks about both at once")
    await company.ask(company.bob, Freshness.RECENT)
    company.people.groups_down = "fatal_error"
    unsure = Active(unsure={"sre": company.down("fatal_error")})
    company.clock.pass_by(5 * MINUTE)
    assert await company.ask(company.bob, Freshness.RECENT) == IN_SRE
    assert await company.ask(company.bob, Freshness.NOW) == unsure
    company.clock.pass_by(5 * MINUTE)
    assert await company.ask(company.bob, Freshness.RECENT) == IN_SRE
    company.clock.pass_by(SECOND)
    assert await company.ask(company.bob, Freshness.RECENT) == unsure
    assert await company.ask(company.bob, Freshness.HELD) == unsure


async def test_p36_where_nothing_can_be_asked_ten_minutes_count_for_a_click_and_none_at_the_spend(
    company: Company,
) -> None:
    await company.ask(company.bob, Freshness.RECENT)
    company.people.down = "fatal_error"
    unknown = Unknown(why=company.down("fatal_error"))
    company.clock.pass_by(10 * MINUTE)
    assert await company.ask(company.bob, Freshness.RECENT) == IN_SRE
    assert await company.ask(company.bob, Freshness.NOW) == unknown
    company.clock.pass_by(SECOND)
    assert await company.ask(company.bob, Freshness.RECENT) == unknown


async def test_a_platform_that_is_back_is_believed_again(company: Company) -> None:
    company.people.down = "fatal_error"
    assert await company.ask(company.bob, Freshness.NOW) == Unknown(why=company.down("fatal_error"))
    company.people.down = ""
    assert await company.ask(company.bob, Freshness.RECENT) == IN_SRE


async def test_for_what_gives_nobody_anything_an_answer_of_more_than_ten_minutes_is_none(
    company: Company,
) -> None:
    company.people.gone["U2"] = company.ended
    await company.ask(company.bob, Freshness.NOW)
    company.clock.pass_by(10 * MINUTE)
    assert await company.ask(company.bob, Freshness.HELD) == NotActive(why=company.ended)
    company.clock.pass_by(SECOND)
    company.people.gone.clear()
    assert await company.ask(company.bob, Freshness.HELD) == IN_SRE
