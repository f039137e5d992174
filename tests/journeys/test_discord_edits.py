"""P-10: what people edit or take back changes no plan and starts nothing; the card tells of it."""

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from tests.server import Server, served
from tests.standins.discord import ALICE, BOB, BOT, OPS, Json

pytestmark = pytest.mark.asyncio(loop_scope="module")
EDITED = "Since then the message that asked for it was edited; the plan was not."
ASKED = f"<@{BOT}> restart web in staging"
OTHER = f"<@{BOT}> restart web in prod"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def acme(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Server]:
    async with served(tmp_path_factory.mktemp("edits") / "acme") as made:
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def asked(acme: Server) -> tuple[Json, Json]:
    """Have alice ask with a mention; give the message, whose id is the thread's, and the card."""
    message = await acme.discord.people.writes(ALICE, OPS, ASKED)
    return message, await acme.card(str(message["id"]))


async def heard(acme: Server, thread: str) -> None:
    """Wait until everything that happened so far was heard and done."""
    word = f"heard{acme.turns()}"
    await acme.says(BOB, thread, f"say {word}")
    await acme.reads(thread, f"said {word}")
    await acme.settled()


async def runs_as_shown(acme: Server, thread: str, card: Json) -> None:
    """Approve, and check that what was shown ran, and nothing else."""
    before = acme.sayso.ledger()
    await acme.presses(BOB, card, "Approve")
    await acme.reads(thread, "succeeded (exit code 0)")
    assert acme.sayso.ledger() == [*before, "web-staging"]


async def test_p10_an_edit_that_changes_no_word_is_nothing(
    acme: Server, asked: tuple[Json, Json]
) -> None:
    message, card = asked
    thread = str(message["id"])
    await acme.discord.people.unfurls(message)
    await acme.discord.people.edits(message, ASKED)
    await heard(acme, thread)
    assert EDITED not in acme.now(card)
    await runs_as_shown(acme, thread, card)
    await acme.shows(card, "succeeded")
    await acme.discord.people.edits(message, OTHER)  # after the run
    await heard(acme, thread)
    assert EDITED not in acme.now(card)
    assert acme.turns(thread) == 3


async def test_p10_other_words_are_noted_on_the_card_and_change_no_plan(
    acme: Server, asked: tuple[Json, Json]
) -> None:
    message, card = asked
    thread = str(message["id"])
    await acme.discord.people.edits(message, OTHER)
    assert await acme.shows(card, EDITED) == ["Approve", "Edit", "Deny"]
    await runs_as_shown(acme, thread, card)
    assert "web-prod" not in acme.sayso.ledger()
    assert acme.turns(thread) == 1


async def test_p10_a_request_that_was_taken_back_is_noted_too(
    acme: Server, asked: tuple[Json, Json]
) -> None:
    message, card = asked
    await acme.discord.people.deletes(message)
    assert await acme.shows(card, EDITED) == ["Approve", "Edit", "Deny"]
    assert acme.sayso.state(acme.request(card)) == "open"
    assert acme.turns(str(message["id"])) == 1


async def test_p10_an_edit_that_adds_the_mention_starts_nothing(acme: Server) -> None:
    # Once something was answered, a server that has just begun fetches nothing any more.
    await acme.reads(await acme.mentions(ALICE, "say first"), "said first")
    said = await acme.discord.people.writes(ALICE, OPS, "say hello")
    await acme.discord.people.edits(said, f"<@{BOT}> say hello")
    await acme.discord.people.edits(said, f"<@{BOT}> stop")
    thread = await acme.mentions(ALICE, "say last")
    await acme.reads(thread, "said last")
    assert acme.turns(str(said["id"])) == 0
    assert str(said["id"]) not in acme.discord.world.channels


async def test_p10_somebody_elses_edit_and_one_of_what_sayso_said_are_not_about_the_card(
    acme: Server, asked: tuple[Json, Json]
) -> None:
    message, card = asked
    thread = str(message["id"])
    said = await acme.says(BOB, thread, "say here")
    await acme.reads(thread, "said here")
    await acme.discord.people.edits(said, "say there")
    await acme.discord.people.edits(acme.discord.messages(thread)[-1], "say edited")
    await heard(acme, thread)
    assert acme.turns(thread) == 3
    assert EDITED not in acme.now(card)
    assert not any("said there" in one for one in acme.discord.seen_in(thread))
    await acme.says(ALICE, thread, "stop")
    await acme.shows(card, "alice stopped it")
