"""C41 on Discord: Approve opens a form that asks for a code, and to submit it is a yes."""

import asyncio
from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from core.one_time_codes import Secret
from tests.authenticator import code, enrol, everywhere, forget_use, guard, wrong
from tests.server import Server, served
from tests.standins.discord import ALICE, BOB, CAROL, Json
from tests.standins.discord.plain import buttons_of

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def acme(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Server]:
    async with served(tmp_path_factory.mktemp("codes") / "acme") as made:
        guard(made.sayso)
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def app(acme: Server) -> Secret:
    return await asyncio.to_thread(enrol, acme.sayso, "bob", acme.tokens)


def request(card: Json) -> str:
    ids = [str(one.get("custom_id", "")) for one in buttons_of(card)]
    return next(one.split(":")[2] for one in ids if one.startswith("sayso:approve_code:"))


async def gives(acme: Server, who: str, card: Json, given: str, told: str) -> None:
    """Have somebody press Approve and submit a code; see what they are told."""
    asked = await acme.presses(who, card, "Approve")
    act = await acme.discord.people.submits(who, asked.modal, code=given)
    await acme.told(act, told)


async def test_c41_a_code_in_the_form_approves_and_the_plan_runs(acme: Server, app: Secret) -> None:
    thread, card = await acme.proposed(ALICE, "append alpha")
    assert "each with a second factor" in acme.now(card)
    await gives(acme, BOB, card, code(app, ahead=1), "Your yes counts: 1 of 1 vote.")
    await acme.reads(thread, "succeeded")
    assert "alpha" in acme.sayso.ledger()


async def test_c41_wrong_replayed_and_missing_codes_are_told(acme: Server, app: Secret) -> None:
    thread, card = await acme.proposed(ALICE, "append beta")
    forget_use(acme.sayso)
    given = code(app, ahead=1)
    await gives(acme, BOB, card, wrong(app), "That code is wrong")
    await gives(acme, BOB, card, given, "Your yes counts")
    await acme.reads(thread, "succeeded")
    _, other = await acme.proposed(ALICE, "append gamma")
    await gives(acme, BOB, other, given, "used already")
    await gives(acme, CAROL, other, given, "you have none yet")
    forged = await acme.discord.people.forges(BOB, other, f"sayso:approve:{request(other)}")
    await acme.told(forged, "This needs a code of your second factor.")
    assert "gamma" not in acme.sayso.ledger()


async def test_c41_a_form_that_is_closed_is_no_vote(acme: Server, app: Secret) -> None:
    thread, card = await acme.proposed(ALICE, "append delta")
    forget_use(acme.sayso)
    await acme.presses(BOB, card, "Approve")  # Discord tells nobody that it was closed
    assert acme.sayso.state(request(card)) == "open"
    await gives(acme, BOB, card, code(app, ahead=1), "Your yes counts")
    await acme.reads(thread, "succeeded")


async def test_c41_two_forms_with_one_code_are_one_vote_and_one_run(
    acme: Server, app: Secret
) -> None:
    thread, card = await acme.proposed(ALICE, "append twice")
    forget_use(acme.sayso)
    given = code(app, ahead=1)
    asked = [await acme.presses(BOB, card, "Approve") for _ in range(2)]
    submits = acme.discord.people.submits
    await asyncio.gather(*(submits(BOB, one.modal, code=given) for one in asked))
    await acme.reads(thread, "succeeded")
    assert acme.sayso.ledger().count("twice") == 1


async def test_c41_a_code_in_the_thread_approves_nothing(acme: Server, app: Secret) -> None:
    thread, card = await acme.proposed(ALICE, "append public")
    forget_use(acme.sayso)
    given = code(app, ahead=1)
    for mark in ("", "!"):
        await acme.says(BOB, thread, f"{mark}approve {request(card)} {given}")

    def told() -> int:
        return str(acme.discord.seen_in(thread)).count("a code that others can read is worth")

    await acme.discord.until(lambda: told() == 2, within=30)
    assert acme.sayso.state(request(card)) == "open"
    assert given.encode() not in await asyncio.to_thread(everywhere, acme.sayso.folder)


async def test_c41_a_lock_holds_and_is_told(acme: Server, app: Secret) -> None:
    thread, card = await acme.proposed(ALICE, "append locked")
    forget_use(acme.sayso)
    for _ in range(4):
        await gives(acme, BOB, card, wrong(app), "That code is wrong")
    await gives(acme, BOB, card, wrong(app), "5 wrong codes locked your second factor")
    await gives(acme, BOB, card, code(app, ahead=1), "Try again in")
    acme.sayso.sql("UPDATE factor SET locked_until = NULL")
    await gives(acme, BOB, card, code(app, ahead=1), "Your yes counts")
    await acme.reads(thread, "succeeded")


async def test_c41_a_server_that_restarts_meanwhile_takes_the_code(
    acme: Server, app: Secret
) -> None:
    thread, card = await acme.proposed(ALICE, "append restarted")
    forget_use(acme.sayso)
    asked = await acme.presses(BOB, card, "Approve")
    [running] = [one for one in acme.sayso.started if one.process.poll() is None]
    await acme.ends(running)
    await acme.serve()
    given = code(app, ahead=1)
    await acme.discord.people.submits(BOB, asked.modal, code=given)
    await acme.reads(thread, "succeeded")
    assert acme.sayso.ledger().count("restarted") == 1
    left = await asyncio.to_thread(everywhere, acme.sayso.folder)
    for canary in (app.base32, given):
        assert canary.encode() not in left
