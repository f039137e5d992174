"""People of Slack: one question for many who ask, none that is older than it may be, and odd answers."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from adapters.platforms.answers import Answers
from adapters.slack.people import SlackRoster
from core.errors import Refused, SaysoError, Unavailable
from core.principals import Identity
from core.roster import Freshness
from core.standing import Active, NotActive, Standing, Unknown, Why

BOB = Identity(platform="slack", workspace="T1", user="U2")
GROUPS = {"sre": frozenset({"S1", "S2"}), "dba": frozenset({"S2"})}
USER = {"id": "U2", "team_id": "T1", "deleted": False, "is_bot": False}
Answer = Mapping[str, object] | SaysoError


@dataclass
class ScriptedWeb:
    """Implements `adapters.slack.people.Web`: each answer waits until a test lets it come."""

    answers: dict[str, Answer] = field(default_factory=dict[str, Answer])
    """By method, or by the user group that is asked about."""
    calls: list[str] = field(default_factory=list[str])
    sent: "asyncio.Queue[None]" = field(default_factory=asyncio.Queue["None"])
    """One for each call."""
    hangs: bool = False
    held: "list[asyncio.Future[None]]" = field(default_factory=list["asyncio.Future[None]"])

    async def call(self, method: str, **arguments: object) -> Mapping[str, object]:
        key = str(arguments.get("usergroup", method))
        self.calls.append(key)
        self.sent.put_nowait(None)
        answer = self.answers[key] if key in self.answers else self._usual(method)
        if self.hangs:
            self.held.append(asyncio.get_running_loop().create_future())
            await self.held[-1]
        if isinstance(answer, SaysoError):
            raise answer
        return answer

    def _usual(self, method: str) -> Mapping[str, object]:
        return {"user": USER} if method == "users.info" else {"users": ["U2"]}


@dataclass
class Time:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def roster(
    web: ScriptedWeb,
    time: Time | None = None,
    *,
    groups: Mapping[str, frozenset[str]] = GROUPS,
    patience: float = 3.0,
) -> SlackRoster:
    return SlackRoster(web, team="T1", groups=groups, now=time or Time(), patience=patience)


async def told(
    people: SlackRoster, freshness: Freshness = Freshness.NOW, who: Identity = BOB
) -> Standing:
    return (await people.standings([who], freshness))[who]


async def test_a_group_is_made_of_the_members_of_each_of_its_user_groups() -> None:
    web = ScriptedWeb(answers={"S2": {"users": []}})
    assert await told(roster(web)) == Active(groups=frozenset({"sre"}))


async def test_one_user_group_that_cannot_be_asked_takes_only_what_it_alone_gives() -> None:
    web = ScriptedWeb(answers={"S2": Refused("No.", error="no_such_subteam")})
    assert await told(roster(web)) == Active(
        groups=frozenset({"sre"}), unsure={"dba": "the user group was deleted"}
    )


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (Refused("x", error="plan_upgrade_required"), "its plan has no user groups"),
        (Refused("x", error="missing_scope"), "Sayso lacks the right to ask"),
        (Unavailable("x", error="ratelimited"), "it limits how often it is asked"),
        (Unavailable("x", after=timedelta(seconds=30)), "it limits how often it is asked"),
        (Unavailable("<!channel> said by Slack"), "it could not be reached"),
        (Unavailable("x", error="<!channel> look here"), "it could not be reached"),
        (Unavailable("x", error=7), "it could not be reached"),
    ],
)
async def test_why_slack_cannot_be_asked_is_told_in_our_words(error: SaysoError, why: str) -> None:
    both = ScriptedWeb(answers={"users.info": error})
    assert await told(roster(both)) == Unknown(why=why)
    groups = ScriptedWeb(answers={"S1": error})
    found = await told(roster(groups, groups={"sre": frozenset({"S1"})}))
    assert found == Active(unsure={"sre": why})


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"user": None},
        {"user": {**USER, "id": "U3"}},
        {"user": {**USER, "team_id": None}},
        {"user": {**USER, "deleted": "no"}},
        {"user": {name: USER[name] for name in ("id", "team_id")}},
    ],
)
async def test_an_answer_that_makes_no_sense_is_never_a_yes(answer: Mapping[str, object]) -> None:
    web = ScriptedWeb(answers={"users.info": answer})
    assert await told(roster(web)) == Unknown(why="its answer could not be read")


@pytest.mark.parametrize("users", [None, "U2", {"U2": 1}, [2], ["U2", None]])
async def test_members_that_make_no_sense_are_no_members(users: object) -> None:
    web = ScriptedWeb(answers={"S1": {"users": users}})
    found = await told(roster(web, groups={"sre": frozenset({"S1"})}))
    assert found == Active(unsure={"sre": "its answer could not be read"})


@pytest.mark.parametrize(
    ("about", "standing"),
    [
        ({"is_restricted": True}, Active()),
        ({"is_ultra_restricted": True, "is_stranger": True}, Active()),
        ({"deleted": True}, NotActive(why=Why.DEACTIVATED)),
        ({"is_bot": True}, NotActive(why=Why.BOT)),
        ({"is_workflow_bot": True}, NotActive(why=Why.BOT)),
        ({"team_id": "T9"}, NotActive(why=Why.NOT_THERE)),
        ({"team_id": "T9", "enterprise_user": {"id": "W2", "teams": ["T1", 7]}}, Active()),
        ({"team_id": "T9", "enterprise_user": {"teams": "T1"}}, NotActive(why=Why.NOT_THERE)),
        ({"id": "U7", "enterprise_user": {"id": "U2"}}, Active()),
    ],
)
async def test_p17_guests_count_once_listed_bots_never_and_an_id_alone_says_nothing(
    about: Mapping[str, object], standing: Standing
) -> None:
    web = ScriptedWeb(answers={"users.info": {"user": {**USER, **about}}})
    assert await told(roster(web, groups={})) == standing


async def test_p17_somebody_of_another_organisation_is_asked_for_by_their_own_team() -> None:
    theirs = Identity(platform="slack", workspace="T9", user="U2")
    web = ScriptedWeb(answers={"users.info": {"user": {**USER, "team_id": "T9"}}})
    people = roster(web)
    assert await told(people, Freshness.HELD, theirs) == Active()
    assert await told(people, Freshness.NOW, BOB) == NotActive(why=Why.NOT_THERE)
    assert isinstance(await told(people, Freshness.NOW, theirs), Active)


async def test_many_who_ask_at_once_are_one_question() -> None:
    web = ScriptedWeb()
    people = roster(web)
    await asyncio.gather(*(told(people, Freshness.RECENT) for _ in range(50)))
    assert sorted(web.calls) == ["S1", "S2", "users.info"]


async def test_who_asks_now_shares_no_question_that_was_asked_before() -> None:
    web = ScriptedWeb(hangs=True)
    people = roster(web, groups={})
    before = asyncio.create_task(told(people, Freshness.RECENT))
    await web.sent.get()
    web.answers["users.info"] = {"user": {**USER, "deleted": True}}
    after = [asyncio.create_task(told(people)) for _ in range(5)]
    await asyncio.sleep(0)
    web.held[0].set_result(None)
    await web.sent.get()
    web.held[1].set_result(None)
    assert await before == Active()
    assert set(await asyncio.gather(*after)) == {NotActive(why=Why.DEACTIVATED)}
    assert len(web.calls) == 2
    assert await told(people, Freshness.RECENT) == NotActive(why=Why.DEACTIVATED)


async def test_who_gives_up_takes_the_answer_from_nobody_else() -> None:
    web = ScriptedWeb(hangs=True)
    people = roster(web, groups={})
    first, second = (asyncio.create_task(told(people, Freshness.RECENT)) for _ in range(2))
    await web.sent.get()
    first.cancel()
    await asyncio.wait({first})
    web.held[0].set_result(None)
    assert await second == Active()
    assert len(web.calls) == 1


@pytest.mark.parametrize("freshness", list(Freshness))
async def test_a_slack_that_hangs_is_not_waited_for(freshness: Freshness) -> None:
    web = ScriptedWeb(hangs=True)
    found = await told(roster(web, patience=0.01), freshness)
    late = "it did not answer in time"
    usual: Standing = Unknown(why=late)
    held = Active(unsure={"sre": late, "dba": late})
    assert found == (held if freshness is Freshness.HELD else usual)


async def test_slack_is_left_alone_for_as_long_as_it_wants() -> None:
    web, time = (
        ScriptedWeb(answers={"users.info": Unavailable("x", after=timedelta(seconds=30))}),
        Time(),
    )
    people = roster(web, time, groups={})
    await told(people)
    del web.answers["users.info"]
    time.now = 29.9
    assert await told(people) == Unknown(why="it limits how often it is asked")
    assert web.calls == ["users.info"]
    time.now = 30.0
    assert await told(people) == Active()


@pytest.mark.parametrize(
    ("event", "asks"),
    [
        ({"type": "user_change", "user": {"id": "U2"}}, ["users.info"]),
        ({"type": "subteam_members_changed", "subteam_id": "S1"}, ["S1"]),
        ({"type": "subteam_updated", "subteam": {"id": "S2"}}, ["S2"]),
        ({"type": "user_change", "user": {"id": "U9"}}, []),
        ({"type": "user_change", "user": "U2"}, []),
        ({"type": "message"}, []),
        ({}, []),
    ],
)
async def test_what_an_event_says_has_changed_is_asked_again_and_nothing_else(
    event: Mapping[str, object], asks: list[str]
) -> None:
    web = ScriptedWeb()
    people = roster(web)
    await told(people)
    web.calls.clear()
    people.changed(event)
    await told(people, Freshness.RECENT)
    assert web.calls == asks


async def test_an_answer_from_before_a_change_is_not_kept() -> None:
    web = ScriptedWeb(hangs=True)
    people = roster(web, groups={})
    before = asyncio.create_task(told(people, Freshness.RECENT))
    await web.sent.get()
    people.changed({"type": "user_change", "user": {"id": "U2"}})
    web.hangs = False
    web.answers["users.info"] = {"user": {**USER, "deleted": True}}
    web.held[0].set_result(None)
    await before
    assert await told(people, Freshness.RECENT) == NotActive(why=Why.DEACTIVATED)


async def test_no_more_is_remembered_than_there_is_room_for() -> None:
    asked = list[str]()

    async def ask(key: str) -> str:
        asked.append(key)
        return key

    answers = Answers(ask, Time(), patience=1, most=2)
    for key in ("a", "b", "b", "c", "b", "a"):
        assert await answers.get(key, Freshness.RECENT) == key
    assert asked == ["a", "b", "c", "a"]
    assert answers.held("b") is None
