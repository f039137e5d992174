"""Pause and denials in Slack: whoever may holds everything back with a word, and everybody reads why."""

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from tests.journeys.test_slack_votes import PAST, denied, now, shows
from tests.standins.slack.plain import text_of
from tests.team import ALICE, BOB, CAROL, OPS, Team, served

GLASS = '    - {effect: allow, action: "plan:break_glass", groups: [leads]}\n'
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def acme(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Team]:
    async with served(tmp_path_factory.mktemp("rules") / "acme") as made:
        yield made


async def test_x6_a_pause_is_told_where_something_waits_and_its_end_too(acme: Team) -> None:
    thread, card = await acme.proposed(ALICE, "restart web in prod")
    done = await acme.slack.people.slash(BOB, OPS, "/sayso", "pause an incident <!channel>")
    assert done.answer is not None
    assert "Paused: bob paused everything" in text_of(done.answer)
    await acme.reads(thread, "Held back: bob paused everything")
    buttons = await shows(acme, card, "Held back: bob paused everything")
    assert buttons == ["Approve", "Edit", "Deny"]
    await acme.clicks(CAROL, card, "Approve")
    await acme.slack.until(lambda: acme.alone(CAROL, thread))
    assert "Your yes was not counted: bob paused" in acme.alone(CAROL, thread)[-1]
    other = await acme.asks(ALICE, "append meanwhile")
    await acme.reads(other, "Not proposed: bob paused everything")
    assert acme.cards(other) == []
    looks = await acme.asks(ALICE, "say hello")
    await acme.reads(looks, "said hello")
    await acme.says(CAROL, thread, "!resume")
    await acme.reads(thread, "carol resumed: what was approved goes on")
    await acme.slack.until(lambda: "Held back" not in text_of(now(acme, card)))
    await acme.clicks(BOB, card, "Approve")
    await acme.reads(thread, "succeeded (exit code 0)")
    told = [one for one in acme.slack.messages(OPS, thread) if "an incident" in text_of(one)]
    assert told
    assert "'broadcast'" not in str(told)


async def test_x6_who_may_not_pause_holds_nothing_back(acme: Team) -> None:
    thread = await acme.asks(ALICE, "say before")
    await acme.says(ALICE, thread, "!pause")
    await acme.slack.until(lambda: acme.alone(ALICE, thread))
    told = acme.alone(ALICE, thread)[-1]
    assert "You may not pause or resume (tenant:pause); bob and carol may." in told
    _, card = await acme.proposed(ALICE, "append still")
    assert "Held back" not in text_of(card)


async def test_x6_a_word_that_other_bots_know_is_theirs_in_their_threads(acme: Team) -> None:
    await acme.slack.people.say(BOB, OPS, "music, please")
    root = str(acme.slack.messages(OPS)[-1]["ts"])
    await acme.says(BOB, root, "!pause")
    await acme.proposed(ALICE, "append music")


async def test_p04_three_denials_hold_a_thread_back_until_somebody_says_lift(acme: Team) -> None:
    thread, card = await acme.proposed(ALICE, "append first")
    await denied(acme, BOB, card, "no")
    await acme.slack.until(lambda: not acme.cards(thread), within=30)
    for word in ("second", "third"):
        await acme.says(ALICE, thread, f"append {word}")
        await denied(acme, BOB, await acme.card(thread), "no")
        await acme.slack.until(lambda: not acme.cards(thread), within=30)
    await acme.reads(thread, "3 requests of this conversation were denied.")
    await acme.says(ALICE, thread, "append fourth")
    await acme.reads(thread, "Not proposed: 3 requests of this conversation were denied.")
    await acme.says(ALICE, thread, "!lift")
    await acme.slack.until(lambda: acme.alone(ALICE, thread))
    assert "bob and carol may" in acme.alone(ALICE, thread)[-1]
    await acme.slack.people.mention(BOB, OPS, "lift", thread=thread)
    await acme.reads(thread, "bob allowed that things are proposed here again")
    await acme.says(ALICE, thread, "append fourth")
    await acme.clicks(BOB, await acme.card(thread), "Approve")
    await acme.reads(thread, "succeeded (exit code 0)")


async def test_x6_who_is_asked_to_decide_is_called_and_one_person_breaks_the_glass(
    acme: Team,
) -> None:
    acme.sayso.edit(
        "sayso.yml",
        '    - {effect: allow, action: "run:stop"',
        f'{GLASS}    - {{effect: allow, action: "run:stop"',
    )
    thread, card = await acme.proposed(ALICE, "deploy v7")
    request = acme.request(card)
    await acme.says(ALICE, thread, f"!handover {request} <@{CAROL}>")
    await acme.reads(thread, "alice asks carol to decide deploy")
    asked = [m for m in acme.slack.messages(OPS, thread) if "asks carol" in text_of(m)]
    assert CAROL in str(asked[0]["blocks"])
    await acme.says(ALICE, thread, f"!handover {request} mallory")
    await acme.slack.until(lambda: acme.alone(ALICE, thread))
    assert "Nobody was asked" in acme.alone(ALICE, thread)[-1]
    await acme.says(BOB, thread, f"!break-glass {request} it burns <!channel>")
    await acme.slack.until(lambda: "You may not break the glass" in str(acme.alone(BOB, thread)))
    await acme.says(CAROL, thread, f"!break-glass {request} it burns <!channel>")
    await acme.reads(
        thread, "Glass broken: carol alone lets deploy run, with 1 of 2 votes: it burns"
    )
    [told] = [m for m in acme.slack.messages(OPS, thread) if "Glass broken: " in text_of(m)]
    assert BOB in str(told["blocks"])
    assert "'broadcast'" not in str(told)
    await shows(acme, card, "Glass broken by carol: it burns")
    await acme.reads(thread, "plan p_")
    await acme.until(lambda: "release-v7" in acme.sayso.ledger())


async def test_x6_who_asked_is_called_where_nobody_decided_it(acme: Team) -> None:
    thread, card = await acme.proposed(ALICE, "deploy v8")
    request = acme.request(card)
    acme.sayso.sql("UPDATE request SET expires_at = ? WHERE id = ?", PAST, request)
    acme.sayso.sql("UPDATE job SET run_at = ? WHERE id = ?", PAST, f"expire:{request}")
    await acme.reads(thread, "Nobody decided it in 4h: expired with 0 of 2 votes, and not run.")
    [told] = [m for m in acme.slack.messages(OPS, thread) if "Nobody decided" in text_of(m)]
    assert ALICE in str(told["blocks"])
    assert await shows(acme, card, "Expired at 2020") == ["Ask again"]
