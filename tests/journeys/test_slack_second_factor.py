"""C41 in Slack: Approve opens a window that asks for a code, and to submit it is a yes."""

import asyncio
import json
from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from core.one_time_codes import Secret
from tests.authenticator import code, enrol, everywhere, forget_use, guard, wrong
from tests.standins.slack import Json
from tests.standins.slack.plain import text_of
from tests.team import ALICE, BOB, CAROL, OPS, Team, served

WORTHLESS = "a code that others can read is worth nothing"
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def acme(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Team]:
    async with served(tmp_path_factory.mktemp("codes") / "acme") as made:
        guard(made.sayso)
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def app(acme: Team) -> Secret:
    return await asyncio.to_thread(enrol, acme.sayso, "bob", acme.tokens)


def request(acme: Team, card: Json) -> str:
    found = acme.slack.work.message(OPS, card["ts"]).now
    blocks = json.dumps(found)
    return blocks.partition('"sayso:deny", "value": "')[2][:32]


async def window(acme: Team, who: str, card: Json) -> Json:
    """Have somebody press Approve; return the window that opens."""
    await acme.clicks(who, card, "Approve")
    await acme.slack.until(lambda: acme.slack.views(who))
    [view] = acme.slack.views(who)
    return view


async def gives(acme: Team, who: str, card: Json, given: str) -> list[str]:
    """Have somebody press Approve and submit a code; return what the window says then, and close it."""
    view = await window(acme, who, card)
    done = await acme.slack.hands.submit_view(who, view["id"], {"code": given})
    assert done.acked
    left = [json.dumps(one) for one in acme.slack.views(who)]
    for one in acme.slack.views(who):
        await acme.slack.hands.close_view(who, one["id"])
    return left


async def test_c41_a_code_in_the_window_approves_and_the_plan_runs(acme: Team, app: Secret) -> None:
    thread, card = await acme.proposed(ALICE, "append alpha")
    assert "each with a second factor" in text_of(card)
    view = await window(acme, BOB, card)
    kept = json.loads(view["private_metadata"])
    assert kept["request"] == request(acme, card)
    assert set(kept) <= {"request", "channel", "thread", "message"}
    given = code(app, ahead=1)
    done = await acme.slack.hands.submit_view(BOB, view["id"], {"code": given})
    assert done.acked
    assert acme.slack.views(BOB) == []
    await acme.reads(thread, "succeeded")
    assert "alpha" in acme.sayso.ledger()


async def test_c41_wrong_replayed_and_missing_codes_are_told_in_the_window(
    acme: Team, app: Secret
) -> None:
    thread, card = await acme.proposed(ALICE, "append beta")
    forget_use(acme.sayso)
    [told] = await gives(acme, BOB, card, wrong(app))
    assert "That code is wrong" in told
    given = code(app, ahead=1)
    assert await gives(acme, BOB, card, given) == []
    await acme.reads(thread, "succeeded")
    _, other = await acme.proposed(ALICE, "append gamma")
    [told] = await gives(acme, BOB, other, given)
    assert "used already" in told
    [told] = await gives(acme, CAROL, other, given)
    assert "you have none yet" in told
    forged = acme.slack.hands.click_forged
    await forged(BOB, OPS, other["ts"], "sayso:approve", request(acme, other))
    await acme.told(BOB, "This needs a code of your second factor.")
    assert "gamma" not in acme.sayso.ledger()


async def test_c41_a_window_that_is_closed_is_no_vote(acme: Team, app: Secret) -> None:
    thread, card = await acme.proposed(ALICE, "append delta")
    forget_use(acme.sayso)
    view = await window(acme, BOB, card)
    await acme.slack.hands.close_view(BOB, view["id"])
    assert acme.sayso.state(request(acme, card)) == "open"
    assert await gives(acme, BOB, card, code(app, ahead=1)) == []
    await acme.reads(thread, "succeeded")


async def test_c41_two_windows_with_one_code_are_one_vote_and_one_run(
    acme: Team, app: Secret
) -> None:
    thread, card = await acme.proposed(ALICE, "append twice")
    forget_use(acme.sayso)
    for _ in range(2):
        await acme.clicks(BOB, card, "Approve")
    await acme.slack.until(lambda: len(acme.slack.views(BOB)) == 2)
    given = code(app, ahead=1)
    submits = acme.slack.hands.submit_view
    views = acme.slack.views(BOB)
    await asyncio.gather(*(submits(BOB, one["id"], {"code": given}) for one in views))
    await acme.reads(thread, "succeeded")
    assert acme.sayso.ledger().count("twice") == 1
    for one in acme.slack.views(BOB):
        await acme.slack.hands.close_view(BOB, one["id"])


async def test_c41_a_code_in_the_thread_approves_nothing(acme: Team, app: Secret) -> None:
    thread, card = await acme.proposed(ALICE, "append public")
    forget_use(acme.sayso)
    given, asked = code(app, ahead=1), request(acme, card)
    for mark in ("", "!"):
        await acme.says(BOB, thread, f"{mark}approve {asked} {given}")

    def told() -> int:
        return len(acme.alone(BOB, thread)) + str(acme.slack.thread(OPS, thread)).count(WORTHLESS)

    await acme.slack.until(lambda: told() >= 2)
    await acme.says(BOB, thread, f"!approve {asked}")
    await acme.told(BOB, "This needs a code of your second factor.")
    assert acme.sayso.state(asked) == "open"
    assert given.encode() not in await asyncio.to_thread(everywhere, acme.sayso.folder)


async def test_to_enrol_people_are_sent_to_a_terminal(acme: Team) -> None:
    thread, _ = await acme.proposed(ALICE, "append enrolled")
    await acme.says(ALICE, thread, "!enrol")
    await acme.told(ALICE, "in a terminal on Sayso's machine, as yourself: sayso enrol")


async def test_c41_a_lock_holds_and_is_told(acme: Team, app: Secret) -> None:
    thread, card = await acme.proposed(ALICE, "append locked")
    forget_use(acme.sayso)
    told = [(await gives(acme, BOB, card, wrong(app)))[0] for _ in range(5)]
    assert "5 wrong codes locked your second factor" in told[-1]
    [told_then] = await gives(acme, BOB, card, code(app, ahead=1))
    assert "Try again in" in told_then
    acme.sayso.sql("UPDATE factor SET locked_until = NULL")
    assert await gives(acme, BOB, card, code(app, ahead=1)) == []
    await acme.reads(thread, "succeeded")


async def test_c41_a_server_that_restarts_meanwhile_takes_the_code(acme: Team, app: Secret) -> None:
    thread, card = await acme.proposed(ALICE, "append restarted")
    forget_use(acme.sayso)
    view = await window(acme, BOB, card)
    [running] = [one for one in acme.sayso.started if one.process.poll() is None]
    await acme.ends(running)
    await acme.serve()
    given = code(app, ahead=1)
    done = await acme.slack.hands.submit_view(BOB, view["id"], {"code": given})
    assert done.acked
    await acme.reads(thread, "succeeded")
    assert acme.sayso.ledger().count("restarted") == 1
    left = await asyncio.to_thread(everywhere, acme.sayso.folder)
    for canary in (app.base32, given):
        assert canary.encode() not in left
        assert canary not in str(acme.slack.web.calls)
