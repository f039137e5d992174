"""People of Discord: what a member is, roles as groups, and no answer that is older than it may be."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from adapters.discord.people import AT_ONCE, DiscordRoster
from adapters.discord.refusals import wrong_token
from core.errors import Refused, SaysoError, Unavailable
from core.principals import Identity
from core.roster import Freshness
from core.standing import Active, NotActive, Standing, Unknown, Why

GUILD = "700"
BOB = Identity(platform="discord", workspace=GUILD, user="2")
GROUPS = {"sre": frozenset({"71", "72"}), "dba": frozenset({"72"}), "all": frozenset({GUILD})}
MEMBER: Mapping[str, object] = {"user": {"id": "2", "username": "bob"}, "roles": ["71"]}
IN_SRE = Active(groups=frozenset({"sre"}))
AT = 1_800_000_000.0
SOON, BEFORE = "2027-01-15T08:00:01+00:00", "2027-01-15T07:59:59Z"


@dataclass
class ScriptedRest:
    """Implements `adapters.discord.people.Rest`: each answer waits until a test lets it come."""

    answer: Mapping[str, object] | SaysoError | None = None
    """The same about everybody; None stands for members that have no role."""
    calls: list[str] = field(default_factory=list[str])
    sent: "asyncio.Queue[None]" = field(default_factory=asyncio.Queue["None"])
    hangs: bool = False
    held: "list[asyncio.Future[None]]" = field(default_factory=list["asyncio.Future[None]"])
    most_at_once: int = 0
    _open: int = 0

    async def member(self, guild: str, user: str) -> Mapping[str, object]:
        self.calls.append(f"{guild}/{user}")
        self.sent.put_nowait(None)
        plain: Mapping[str, object] = {"user": {"id": user}, "roles": list[str]()}
        answer = plain if self.answer is None else self.answer
        self._open += 1
        self.most_at_once = max(self.most_at_once, self._open)
        await self._wait()
        self._open -= 1
        if isinstance(answer, SaysoError):
            raise answer
        return answer

    async def _wait(self) -> None:
        if not self.hangs:
            return await asyncio.sleep(0)
        self.held.append(asyncio.get_running_loop().create_future())
        return await self.held[-1]


@dataclass
class Time:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def roster(
    rest: ScriptedRest,
    time: Time | None = None,
    *,
    groups: Mapping[str, frozenset[str]] = GROUPS,
    patience: float = 3.0,
    wall: float = AT,
) -> DiscordRoster:
    return DiscordRoster(
        rest, groups=groups, now=time or Time(), wall=lambda: wall, patience=patience
    )


async def told(
    people: DiscordRoster, freshness: Freshness = Freshness.NOW, who: Identity = BOB
) -> Standing:
    return (await people.standings([who], freshness))[who]


@pytest.mark.parametrize(
    ("roles", "groups"),
    [
        ([], set[str]()),
        (["71"], {"sre"}),
        (["72"], {"sre", "dba"}),
        (["7", "172", "sre"], set[str]()),
    ],
)
async def test_a_group_is_made_of_whoever_has_one_of_its_roles(
    roles: list[str], groups: set[str]
) -> None:
    rest = ScriptedRest({**MEMBER, "roles": roles})
    assert await told(roster(rest)) == Active(groups=frozenset(groups))


async def test_the_role_of_everybody_gives_nobody_anything_even_where_it_is_configured() -> None:
    everybody = ScriptedRest({**MEMBER, "roles": ["71", GUILD]})
    people = roster(everybody)
    assert await told(people) == IN_SRE
    people.seen(BOB, [GUILD])
    assert await told(people, Freshness.RECENT) == Active()


@pytest.mark.parametrize(
    ("about", "standing"),
    [
        ({"user": {"id": "2", "bot": True}}, NotActive(why=Why.BOT)),
        ({"user": {"id": "2", "system": True}}, NotActive(why=Why.BOT)),
        ({"user": {"id": "2", "bot": False}}, IN_SRE),
        ({"pending": True}, NotActive(why=Why.PENDING)),
        ({"pending": False}, IN_SRE),
        ({"communication_disabled_until": SOON}, NotActive(why=Why.TIMED_OUT)),
        ({"communication_disabled_until": BEFORE}, IN_SRE),
        ({"communication_disabled_until": None}, IN_SRE),
        ({"pending": True, "communication_disabled_until": SOON}, NotActive(why=Why.PENDING)),
    ],
)
async def test_bots_never_count_nor_who_may_not_act_in_the_server(
    about: Mapping[str, object], standing: Standing
) -> None:
    assert await told(roster(ScriptedRest({**MEMBER, **about}))) == standing


async def test_a_timeout_ends_by_itself_also_in_an_answer_that_is_held() -> None:
    rest, wall = ScriptedRest({**MEMBER, "communication_disabled_until": SOON}), Time(AT)
    people = DiscordRoster(rest, groups=GROUPS, now=Time(), wall=wall)
    assert await told(people) == NotActive(why=Why.TIMED_OUT)
    wall.now = AT + 1
    assert await told(people, Freshness.RECENT) == IN_SRE
    assert len(rest.calls) == 1


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"user": None, "roles": []},
        {"user": {"id": "3"}, "roles": []},
        {"user": {"id": "2"}},
        {"user": {"id": "2"}, "roles": "71"},
        {"user": {"id": "2"}, "roles": ["71", 72]},
        {"user": {"id": "2", "bot": "no"}, "roles": []},
        {"user": {"id": "2"}, "roles": [], "pending": "no"},
        {"user": {"id": "2"}, "roles": [], "communication_disabled_until": "tomorrow"},
        {"user": {"id": "2"}, "roles": [], "communication_disabled_until": 7},
        {"user": {"id": "2"}, "roles": [], "communication_disabled_until": "2020-01-01T00:00:00"},
    ],
)
async def test_an_answer_that_makes_no_sense_is_never_a_yes(answer: Mapping[str, object]) -> None:
    assert await told(roster(ScriptedRest(answer))) == Unknown(why="its answer could not be read")


@pytest.mark.parametrize("code", [10007, 10013])
async def test_who_is_no_member_is_not_there(code: int) -> None:
    rest = ScriptedRest(Refused("x", error=code))
    assert await told(roster(rest)) == NotActive(why=Why.NOT_THERE)


@pytest.mark.parametrize("user", ["bob", "", "2/3", "../@me", "2\n", "٢"])
async def test_who_can_be_no_account_of_discord_is_not_asked_about(user: str) -> None:
    rest = ScriptedRest()
    who = Identity(platform="discord", workspace=GUILD, user=user)
    assert await told(roster(rest), who=who) == NotActive(why=Why.NOT_THERE)
    assert rest.calls == []


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (Refused("x", error=10004), "Sayso is not in that server"),
        (Refused("x", error=50001), "Sayso is not in that server"),
        (Refused("x", error=50035), "it answered 50035"),
        (Refused("x", error=0), "it refused to say"),
        (Refused("x", error="@everyone look here"), "it refused to say"),
        (wrong_token("log in"), "it does not accept Sayso's token"),
        (Unavailable("x", after=timedelta(seconds=30)), "it limits how often it is asked"),
        (Unavailable("@everyone said by Discord", error=50001), "it could not be reached"),
    ],
)
async def test_why_discord_cannot_be_asked_is_told_in_our_words(
    error: SaysoError, why: str
) -> None:
    people = roster(ScriptedRest(error))
    assert await told(people) == Unknown(why=why)
    unsure = {"sre": why, "dba": why, "all": why}
    assert await told(people, Freshness.HELD) == Active(unsure=unsure)


async def test_without_groups_nobody_who_is_only_named_is_asked_about() -> None:
    rest = ScriptedRest()
    people = roster(rest, groups={})
    assert await told(people, Freshness.HELD) == Active()
    assert rest.calls == []
    await told(people)
    assert await told(people, Freshness.HELD) == Active()
    assert len(rest.calls) == 1


async def test_everybody_who_is_named_is_asked_about_a_few_at_a_time_and_once() -> None:
    rest = ScriptedRest()
    people = roster(rest)
    everybody = [Identity(platform="discord", workspace=GUILD, user=str(n)) for n in range(100)]
    found = await people.standings(everybody, Freshness.HELD)
    assert found == dict.fromkeys(everybody, Active())
    assert rest.most_at_once == AT_ONCE
    await people.standings(everybody, Freshness.HELD)
    assert len(rest.calls) == 100


async def test_names_are_waited_for_no_longer_than_one_answer_and_the_rest_is_unsure() -> None:
    rest = ScriptedRest(hangs=True)
    people = roster(rest, patience=0.01)
    everybody = [Identity(platform="discord", workspace=GUILD, user=str(n)) for n in range(100)]
    async with asyncio.timeout(1):
        found = await people.standings(everybody, Freshness.HELD)
    late = dict.fromkeys(GROUPS, "it did not answer in time")
    assert found == dict.fromkeys(everybody, Active(unsure=late))
    assert len(rest.calls) <= 2 * AT_ONCE


@pytest.mark.parametrize("freshness", [Freshness.RECENT, Freshness.NOW])
async def test_a_discord_that_hangs_is_not_waited_for(freshness: Freshness) -> None:
    found = await told(roster(ScriptedRest(hangs=True), patience=0.01), freshness)
    assert found == Unknown(why="it did not answer in time")


async def test_many_who_ask_at_once_are_one_question() -> None:
    rest = ScriptedRest(MEMBER)
    people = roster(rest)
    await asyncio.gather(*(told(people, Freshness.RECENT) for _ in range(50)))
    assert rest.calls == ["700/2"]


async def test_what_an_interaction_says_spares_a_question_for_a_minute_and_never_at_the_spend() -> (
    None
):
    rest, time = ScriptedRest(MEMBER), Time()
    people = roster(rest, time)
    people.seen(BOB, ["72"])
    time.now = 60.0
    both = Active(groups=frozenset({"sre", "dba"}))
    assert await told(people, Freshness.RECENT) == both
    assert await told(people, Freshness.HELD) == both
    assert rest.calls == []
    assert await told(people) == IN_SRE
    assert await told(people, Freshness.RECENT) == IN_SRE


async def test_what_an_interaction_said_a_while_ago_undoes_no_newer_answer() -> None:
    rest, time = ScriptedRest(MEMBER), Time(100.0)
    people = roster(rest, time)
    await told(people)
    people.seen(BOB, ["72"], age=1.0)
    assert await told(people, Freshness.RECENT) == IN_SRE
    time.now = 101.0
    people.seen(BOB, ["72"], age=1.0)
    assert await told(people, Freshness.RECENT) == Active(groups=frozenset({"sre", "dba"}))


async def test_an_answer_that_was_asked_for_before_undoes_nothing_that_is_newer() -> None:
    rest, time = ScriptedRest(MEMBER, hangs=True), Time()
    people = roster(rest, time)
    before = asyncio.create_task(told(people))
    await rest.sent.get()
    await asyncio.sleep(0)
    time.now = 1.0
    people.seen(BOB, [])
    rest.held[0].set_result(None)
    assert await before == IN_SRE
    assert await told(people, Freshness.RECENT) == Active()
