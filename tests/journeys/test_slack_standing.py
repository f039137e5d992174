"""P-36: what Slack says about people counts, asked at the click and afresh before anything runs."""

from collections.abc import AsyncGenerator, Callable

import pytest
import pytest_asyncio

from tests.standins.slack import Json
from tests.standins.slack.plain import text_of
from tests.team import ALICE, BOB, CAROL, OPS, Team, team

pytestmark = pytest.mark.asyncio(loop_scope="module")
SRE = "S0SRE"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def serving(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Team]:
    """Give a team in which carol is in the group `sre` because she is in a user group of Slack's."""
    folder = tmp_path_factory.mktemp("standing") / "acme"
    async with team(folder, slack_section=f"groups: {{sre: [{SRE}]}}") as made:
        made.sayso.edit("sayso.yml", "groups: [sre, leads]", "groups: [leads]")
        made.slack.work.groups[SRE] = [CAROL]
        await made.serve()
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def acme(serving: Team) -> AsyncGenerator[Team]:
    """Give that team, and leave it as it was."""
    yield serving
    work = serving.slack.work
    work.groups[SRE], work.has_paid_plan = [CAROL], True
    serving.slack.faults.waiting.clear()
    for user in (ALICE, BOB, CAROL):
        work.person(user)
        await _changed(serving, user)
    await _left(serving)


async def _changed(acme: Team, user: str) -> None:
    """Have Slack tell that something about somebody changed."""
    told = {"id": user, "team_id": acme.slack.work.team, **acme.slack.work.people[user]}
    await acme.slack.people.event({"type": "user_change", "user": told, "event_ts": "1.1"})


async def _left(acme: Team) -> None:
    """Have Slack tell that a user group changed."""
    await acme.slack.people.event({"type": "subteam_members_changed", "subteam_id": SRE})


async def test_a_member_of_a_user_group_may_approve(acme: Team) -> None:
    thread, card = await acme.proposed(ALICE, "append member")
    assert "May approve: bob, carol" in text_of(card)
    await acme.clicks(CAROL, card, "Approve")
    await acme.reads(thread, "succeeded")
    assert "member" in acme.sayso.ledger()


@pytest.mark.parametrize("tells", [True, False], ids=["and Slack tells", "silently"])
async def test_p36_whoever_was_removed_from_the_user_group_approves_nothing(
    acme: Team, *, tells: bool
) -> None:
    word = f"removed{tells:d}"
    thread, card = await acme.proposed(ALICE, f"append {word}")
    acme.slack.work.groups[SRE] = [BOB]
    if tells:
        await _left(acme)
    await acme.clicks(CAROL, card, "Approve")
    await acme.slack.until(lambda: acme.alone(CAROL, thread))
    if tells:
        assert "There is no such request." in acme.alone(CAROL, thread)[0]
        assert acme.sayso.state(acme.request(card)) == "open"
    else:
        await acme.slack.until(lambda: not acme.cards(thread), within=30)
        assert acme.sayso.state(acme.request(card)) == "revoked"
        await acme.reads(thread, "carol may no longer approve it")
    assert word not in acme.sayso.ledger()


@pytest.mark.parametrize("tells", [True, False], ids=["and Slack tells", "silently"])
async def test_p36_whoever_is_deactivated_approves_nothing(acme: Team, *, tells: bool) -> None:
    word = f"gone{tells:d}"
    known, first = await acme.proposed(ALICE, f"append known{tells:d}")
    await acme.clicks(BOB, first, "Approve")  # so Sayso has asked about bob just now
    await acme.reads(known, "succeeded")
    thread, card = await acme.proposed(ALICE, f"append {word}")
    acme.slack.work.person(BOB, deleted=True)
    if tells:
        await _changed(acme, BOB)
    await acme.clicks(BOB, card, "Approve")
    await acme.slack.until(lambda: acme.alone(BOB, thread))
    if tells:
        assert acme.sayso.state(acme.request(card)) == "open"
    else:
        await acme.slack.until(lambda: not acme.cards(thread), within=30)
        assert acme.sayso.state(acme.request(card)) == "revoked"
    assert word not in acme.sayso.ledger()


async def test_p36_a_requester_who_is_deactivated_has_nothing_run(acme: Team) -> None:
    thread, card = await acme.proposed(ALICE, "append orphan")
    acme.slack.work.person(ALICE, deleted=True)
    await acme.clicks(BOB, card, "Approve")
    await acme.slack.until(lambda: not acme.cards(thread), within=30)
    await acme.reads(
        thread,
        "Revoked: the Slack account of alice was deactivated, so alice may no longer ask for it.",
    )
    assert acme.sayso.state(acme.request(card)) == "revoked"
    assert "orphan" not in acme.sayso.ledger()


async def test_p32_a_vote_of_somebody_who_has_left_counts_no_more(acme: Team) -> None:
    thread, card = await acme.proposed(ALICE, "deploy v9")
    await acme.clicks(BOB, card, "Approve")
    await acme.slack.until(lambda: acme.alone(BOB, thread))
    acme.slack.work.person(BOB, deleted=True)
    await acme.clicks(CAROL, card, "Approve")
    await acme.slack.until(lambda: not acme.cards(thread), within=30)
    assert acme.sayso.state(acme.request(card)) == "revoked"
    assert "build-v9" not in acme.sayso.ledger()


def _unreachable(acme: Team) -> None:
    acme.slack.faults.fails("users.info", times=20)


def _slow_down(acme: Team) -> None:
    acme.slack.faults.rate_limited("users.info", after=600, times=20)


def _no_plan(acme: Team) -> None:
    acme.slack.work.has_paid_plan = False


async def test_p03_whoever_slack_cannot_be_asked_about_still_stops(acme: Team) -> None:
    thread, card = await acme.proposed(ALICE, f"append stopped{acme.turns()}")
    await _changed(acme, ALICE)
    await _left(acme)
    _unreachable(acme)
    await acme.slack.people.say(ALICE, OPS, "stop", thread=thread)
    await acme.slack.until(lambda: acme.alone(ALICE, thread), within=30)
    assert acme.alone(ALICE, thread) == ["1 request withdrawn"]
    assert acme.sayso.state(acme.request(card)) == "revoked"


@pytest.mark.parametrize(
    ("who", "fault", "why"),
    [
        (BOB, _unreachable, "Slack could not be asked about bob just now"),
        (CAROL, _no_plan, "its plan has no user groups"),
        (BOB, _slow_down, "Slack could not be asked about bob just now"),
    ],
    ids=["no answer", "no user groups", "too often"],
)
async def test_p36_what_cannot_be_known_is_a_no_with_the_reason(
    acme: Team, who: str, fault: Callable[[Team], None], why: str
) -> None:
    word = f"doubt{acme.turns()}"
    thread, card = await acme.proposed(ALICE, f"append {word}")
    await _changed(acme, who)
    await _left(acme)
    fault(acme)
    await acme.clicks(who, card, "Approve")
    await acme.slack.until(lambda: acme.alone(who, thread), within=30)
    assert why in acme.alone(who, thread)[0]
    assert acme.sayso.state(acme.request(card)) == "open"
    assert word not in acme.sayso.ledger()
    assert now(acme, card) == ["Approve", "Edit", "Deny"]


def now(acme: Team, card: Json) -> list[str]:
    """Return the buttons of a card as it stands there."""
    return acme.slack.buttons(acme.slack.work.message(OPS, card["ts"]).now)
