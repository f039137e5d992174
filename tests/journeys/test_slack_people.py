"""Who may decide in Slack: the wrong person, the wrong workspace, and several people at once."""

import asyncio
from collections.abc import AsyncGenerator
from functools import partial

import pytest
import pytest_asyncio

from tests.standins.slack import Json
from tests.team import ALICE, BOB, CAROL, MALLORY, OPS, Team, served

pytestmark = pytest.mark.asyncio(loop_scope="module")
STRANGER = "Sayso does not know you"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def acme(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Team]:
    async with served(tmp_path_factory.mktemp("people") / "acme") as made:
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def asked(acme: Team) -> tuple[str, Json]:
    """Have alice ask; give the thread and the card."""
    return await acme.proposed(ALICE, "restart web in staging")


async def still_open(acme: Team, thread: str, card: Json, ran: int) -> None:
    """Check that nothing came of it, and that the card is as good as before."""
    assert acme.sayso.state(acme.request(card)) == "open"
    assert len(acme.sayso.ledger()) == ran
    assert acme.slack.buttons(acme.cards(thread)[-1]) == ["Approve", "Edit", "Deny"]
    await acme.clicks(BOB, card, "Approve")
    await acme.reads(thread, "succeeded")
    assert len(acme.sayso.ledger()) == ran + 1


@pytest.mark.parametrize(
    "about",
    [
        {},
        {"is_restricted": True},
        {"is_ultra_restricted": True},
        {"team": "T0OTHER", "is_stranger": True},
        {"team": "T0OTHER", "profile": {"display_name": "U0Bob", "real_name": "U0Bob"}},
    ],
    ids=["unlisted", "guest", "single-channel guest", "another workspace", "the same name"],
)
async def test_p09_p17_whoever_is_not_listed_decides_nothing(
    acme: Team, asked: tuple[str, Json], about: Json
) -> None:
    thread, card = asked
    ran = len(acme.sayso.ledger())
    who = f"U0WRONG{len(acme.slack.work.people)}"
    acme.slack.work.person(who, **about)
    acme.slack.work.channels[OPS].members.add(who)
    assert (await acme.clicks(who, card, "Approve")).acked
    await acme.told(who, STRANGER)
    turns = acme.turns()
    assert (await acme.slack.people.mention(who, OPS, "say hello"))[0].acked
    await acme.slack.people.say(who, OPS, f"!approve {acme.request(card)}", thread=thread)
    done = await acme.slack.people.slash(who, OPS, "/sayso", f"approve {acme.request(card)}")
    assert done.acked
    assert acme.turns() == turns
    await still_open(acme, thread, card, ran)


async def test_p17_the_id_of_a_person_counts_only_with_their_own_workspace(
    acme: Team, asked: tuple[str, Json]
) -> None:
    thread, card = asked
    ran, turns = len(acme.sayso.ledger()), acme.turns()
    acme.slack.work.channels[OPS].is_shared = True
    acme.slack.work.person(BOB, team="T0OTHER")
    try:
        await acme.clicks(BOB, card, "Approve")
        await acme.slack.until(lambda: acme.alone(BOB, thread))
        assert STRANGER in acme.alone(BOB, thread)[0]
        await acme.slack.people.mention(BOB, OPS, "say hello")
        await acme.slack.people.slash(BOB, OPS, "/ask", "say hello")
        await acme.slack.people.say(BOB, OPS, "stop", thread=thread)
        assert acme.turns() == turns
    finally:
        acme.slack.work.person(BOB)
        acme.slack.work.channels[OPS].is_shared = False
    await still_open(acme, thread, card, ran)


async def test_p09_a_bot_decides_nothing(acme: Team, asked: tuple[str, Json]) -> None:
    thread, card = asked
    ran, request = len(acme.sayso.ledger()), acme.request(card)
    people = acme.slack.people
    await people.other_bot(OPS, f"!approve {request}", thread=thread)
    await people.other_bot(OPS, f"<@U0BOT> approve {request}", mentions=True, raw=True)
    await people.webhook(OPS, f"!approve {request}", thread=thread)
    clicked = await acme.slack.hands.click_forged(
        "U0OTHERBOT", OPS, card["ts"], "sayso:approve", request
    )
    assert clicked.acked
    await still_open(acme, thread, card, ran)


async def test_p09_an_id_from_elsewhere_gives_nobody_authority(
    acme: Team, asked: tuple[str, Json]
) -> None:
    thread, card = asked
    ran, request = len(acme.sayso.ledger()), acme.request(card)
    other = acme.channel("C0OTHER")
    root = await acme.slack.people.say(MALLORY, other, "look")
    forge = acme.slack.hands.click_forged
    told = len(acme.slack.ephemerals(MALLORY))
    for verb in ("approve", "deny", "review", "stop", "again", "verify", "happened"):
        assert (await forge(MALLORY, other, root.ts, f"sayso:{verb}", request)).acked
    await acme.slack.until(lambda: len(acme.slack.ephemerals(MALLORY)) >= told + 6)
    said = "\n".join(acme.slack.ephemerals(MALLORY)[told:])
    assert "restart" not in said
    for view in acme.slack.views(MALLORY):
        assert "restart" not in str(view)
        submitted = await acme.slack.hands.submit_view(MALLORY, view["id"], {"reason": "no"})
        assert "There is no such request" in str(submitted.answer)
    for odd in ("", "x", request[:-1], request.upper(), "../" + request, "0" * 32, "é" * 3000):
        assert (await forge(BOB, other, root.ts, "sayso:approve", odd)).acked
    await still_open(acme, thread, card, ran)


async def test_p39_words_approve_only_with_the_id(acme: Team, asked: tuple[str, Json]) -> None:
    thread, card = asked
    ran = len(acme.sayso.ledger())
    for text in ("yes", "approve", "lgtm 👍", "!approve", "approve it"):
        await acme.says(BOB, thread, text)
    assert acme.sayso.state(acme.request(card)) == "open"
    assert len(acme.sayso.ledger()) == ran
    await acme.says(BOB, thread, f"!approve {acme.request(card)}")
    await acme.reads(thread, "succeeded")
    await acme.told(BOB, "Your yes counts: 1 of 1 vote.")
    assert len(acme.sayso.ledger()) == ran + 1


async def test_p28_a_button_is_about_its_own_card_alone(acme: Team) -> None:
    thread, first = await acme.proposed(ALICE, "append early")
    await acme.says(ALICE, thread, "append late")
    await acme.slack.until(lambda: len(acme.cards(thread)) == 2)
    await acme.clicks(BOB, first, "Approve")
    await acme.reads(thread, "succeeded")
    assert "early" in acme.sayso.ledger()
    assert "late" not in acme.sayso.ledger()
    assert len(acme.cards(thread)) == 1
    await acme.says(ALICE, thread, "stop")
    await acme.slack.until(lambda: not acme.cards(thread))


# P-27: at once


async def test_p27_two_people_and_two_clicks_at_once_run_it_once(
    acme: Team, asked: tuple[str, Json]
) -> None:
    thread, card = asked
    ran = len(acme.sayso.ledger())
    clicks = (acme.clicks(who, card, "Approve") for who in (BOB, CAROL, BOB, CAROL))
    assert all(one.acked for one in await asyncio.gather(*clicks))
    await acme.reads(thread, "succeeded")
    await acme.slack.until(lambda: len(acme.alone(BOB, thread)) == 2)
    await acme.slack.until(lambda: len(acme.alone(CAROL, thread)) == 2)
    said = [*acme.alone(BOB, thread), *acme.alone(CAROL, thread)]
    assert sum("Your yes counts: 1 of 1 vote." in one for one in said) == 1
    lost = ("was there already", "was not needed any more: approved by", "Already decided.")
    assert sum(any(words in one for words in lost) for one in said) == 3
    assert len(acme.sayso.ledger()) == ran + 1


async def test_p27_a_yes_and_a_no_at_once_are_one_decision(acme: Team) -> None:
    for number in range(3):
        ran = len(acme.sayso.ledger())
        thread, card = await acme.proposed(ALICE, f"append either{number}")
        await acme.clicks(BOB, card, "Deny")
        await acme.slack.until(lambda: acme.slack.views(BOB))
        [view] = acme.slack.views(BOB)
        no = acme.slack.hands.submit_view(BOB, view["id"], {"reason": "not now"})
        yes = acme.clicks(CAROL, card, "Approve")
        both = (no, yes) if number % 2 else (yes, no)
        assert all(one.acked for one in await asyncio.gather(*both))
        await acme.slack.until(partial(_decided, acme, thread))
        if acme.sayso.state(acme.request(card)) == "denied":
            await acme.reads(thread, "Denied by bob: not now")
            assert len(acme.sayso.ledger()) == ran
        else:
            await acme.reads(thread, "succeeded")
            assert len(acme.sayso.ledger()) == ran + 1
        for left in acme.slack.views(BOB):
            await acme.slack.hands.close_view(BOB, left["id"])


async def test_c43_one_click_that_is_delivered_three_times_is_answered_each_time(
    acme: Team, asked: tuple[str, Json]
) -> None:
    thread, card = asked
    ran = len(acme.sayso.ledger())
    clicked = await acme.clicks(BOB, card, "Approve")
    again = await asyncio.gather(*(acme.slack.redeliver(clicked) for _ in range(2)))
    assert all(one.acked for one in again)
    await acme.reads(thread, "succeeded")
    await acme.slack.until(lambda: len(acme.alone(BOB, thread)) == 3)
    assert {*acme.alone(BOB, thread)} == {"Your yes counts: 1 of 1 vote."}
    assert len(acme.sayso.ledger()) == ran + 1


async def test_p34_a_click_while_the_database_is_busy_is_acknowledged_and_counts(
    acme: Team, asked: tuple[str, Json]
) -> None:
    thread, card = asked
    ran = len(acme.sayso.ledger())
    with acme.sayso.locked():
        both = (acme.clicks(who, card, "Approve") for who in (BOB, CAROL))
        assert all(one.acked for one in await asyncio.gather(*both))
        assert len(acme.sayso.ledger()) == ran
    await acme.reads(thread, "succeeded")
    assert len(acme.sayso.ledger()) == ran + 1


def _decided(acme: Team, thread: str) -> bool:
    return not acme.cards(thread)
