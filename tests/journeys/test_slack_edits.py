"""P-10: what people edit or take back changes no plan and starts nothing; the card tells of it."""

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from tests.standins.slack import Json
from tests.standins.slack.plain import text_of
from tests.team import ALICE, BOB, OPS, Team, served

pytestmark = pytest.mark.asyncio(loop_scope="module")
EDITED = "Since then the message that asked for it was edited; the plan was not."


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def acme(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Team]:
    async with served(tmp_path_factory.mktemp("edits") / "acme") as made:
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def asked(acme: Team) -> tuple[str, Json]:
    """Have alice ask with a mention; give the message, which is the thread, and the card."""
    told, _ = await acme.slack.people.mention(ALICE, OPS, "restart web in staging")
    return told.ts, await acme.card(told.ts)


def now(acme: Team, card: Json) -> str:
    """Return what a card says now."""
    return text_of(acme.slack.work.message(OPS, card["ts"]).now)


async def runs_as_shown(acme: Team, thread: str, card: Json) -> None:
    """Approve, and check that what was shown ran, and nothing else."""
    before = acme.sayso.ledger()
    await acme.clicks(BOB, card, "Approve")
    await acme.reads(thread, "succeeded (exit code 0)")
    assert acme.sayso.ledger() == [*before, "web-staging"]
    assert acme.turns(thread) == 1


async def test_p10_an_edit_that_changes_no_word_is_nothing(
    acme: Team, asked: tuple[str, Json]
) -> None:
    thread, card = asked
    told = [
        await acme.slack.people.edit(OPS, thread, "<@U0BOT> restart web in staging", raw=True),
        await acme.slack.people.unfurl(OPS, thread),
        await acme.slack.people.echo_edit(OPS, thread),
    ]
    assert all(one.acked for one in told)
    await runs_as_shown(acme, thread, card)
    assert EDITED not in now(acme, card)


async def test_p10_other_words_are_noted_on_the_card_and_change_no_plan(
    acme: Team, asked: tuple[str, Json]
) -> None:
    thread, card = asked
    edit = await acme.slack.people.edit(OPS, thread, "<@U0BOT> restart web in prod", raw=True)
    assert edit.acked
    await acme.slack.until(lambda: EDITED in now(acme, card), within=30)
    assert acme.slack.buttons(acme.cards(thread)[-1]) == ["Approve", "Edit", "Deny"]
    await runs_as_shown(acme, thread, card)
    assert "web-prod" not in acme.sayso.ledger()


async def test_p10_a_request_that_was_taken_back_is_noted_too(
    acme: Team, asked: tuple[str, Json]
) -> None:
    thread, card = asked
    await acme.slack.people.delete(OPS, thread)
    await acme.slack.until(lambda: EDITED in now(acme, card), within=30)
    assert acme.sayso.state(acme.request(card)) == "open"
    assert acme.turns(thread) == 1


async def test_p10_an_edit_after_the_run_changes_nothing(
    acme: Team, asked: tuple[str, Json]
) -> None:
    thread, card = asked
    await runs_as_shown(acme, thread, card)
    ran = acme.sayso.ledger()
    await acme.slack.until(lambda: "succeeded" in now(acme, card), within=30)
    before = len(acme.slack.thread(OPS, thread))
    edit = await acme.slack.people.edit(OPS, thread, "<@U0BOT> restart web in prod", raw=True)
    assert edit.acked
    assert acme.turns(thread) == 1
    assert acme.sayso.ledger() == ran
    assert EDITED not in now(acme, card)
    assert len(acme.slack.thread(OPS, thread)) == before


async def test_p10_an_edit_that_adds_the_mention_starts_nothing(acme: Team) -> None:
    said = await acme.slack.people.say(ALICE, OPS, "say hello")
    edit = await acme.slack.people.edit(OPS, said.ts, "<@U0BOT> say hello", raw=True)
    assert edit.acked
    # Slack tells of it as a mention once more.
    message = acme.slack.work.message(OPS, said.ts).now
    again: Json = {
        **message,
        "type": "app_mention",
        "channel": OPS,
        "event_ts": said.ts,
        "edited": {"user": ALICE, "ts": acme.slack.work.time.ts()},
    }
    assert (await acme.slack.people.event(again)).acked
    assert acme.turns(said.ts) == 0
    assert acme.slack.thread(OPS, said.ts) == ["<@U0BOT> say hello"]


async def test_p10_an_edit_of_what_sayso_said_is_nothing(
    acme: Team, asked: tuple[str, Json]
) -> None:
    thread, card = asked
    await runs_as_shown(acme, thread, card)
    assert (await acme.slack.people.echo_edit(OPS, card["ts"])).acked
    assert (await acme.slack.people.edit(OPS, card["ts"], "say edited")).acked
    assert acme.turns(thread) == 1


async def test_p10_somebody_elses_edit_of_their_own_message_is_not_about_the_card(
    acme: Team, asked: tuple[str, Json]
) -> None:
    thread, card = asked
    said = await acme.says(BOB, thread, "say here")
    await acme.reads(thread, "said here")
    edit = await acme.slack.people.edit(OPS, said.ts, "say there")
    assert edit.acked
    assert acme.turns(thread) == 2
    assert EDITED not in now(acme, card)
    assert not any("said there" in one for one in acme.slack.thread(OPS, thread))
