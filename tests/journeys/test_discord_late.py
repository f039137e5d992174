"""P-33: Discord waits three seconds for an answer, and its tokens are good for fifteen minutes."""

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from tests.server import Server, server
from tests.standins.discord import ALICE, BOB, CAROL, OPS
from tests.standins.discord.plain import text_of

pytestmark = pytest.mark.asyncio(loop_scope="module")
CALLBACK = "POST /interactions/{interaction}/{token}/callback"
HOOKS = ("POST /webhooks/{app}/{token}", "PATCH /webhooks/{app}/{token}/messages/{message}")
THINKS = 5


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def acme(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Server]:
    async with server(tmp_path_factory.mktemp("late") / "acme") as made:
        made.declared()
        await made.serve()
        yield made


async def test_p33_where_it_takes_longer_than_three_seconds_nobody_reads_that_it_failed(
    acme: Server,
) -> None:
    people = acme.discord.people
    thread, card = await acme.proposed(ALICE, "append late")
    _, other = await acme.proposed(ALICE, "append denied")
    known = set(acme.discord.threads(OPS))
    with acme.sayso.locked():
        # What needs nothing of the database is there at once: a form cannot come later.
        asked = await acme.presses(BOB, other, "Deny")
        assert asked.modal is not None
        acts = (
            await people.presses(BOB, card, "Approve"),
            await people.submits(BOB, asked.modal, reason="not today"),
            await people.slash(ALICE, OPS, "ask", text="say patience"),
        )
        await acme.discord.until(lambda: all(act.is_late for act in acts))
        assert [act.answer and act.answer["type"] for act in acts] == [THINKS] * 3
        assert all(act.is_loading for act in acts)
    for act in acts:
        await acme.discord.over(act)
        assert act.said != []
        assert not act.failed
    await acme.reads(thread, "succeeded")
    await acme.discord.until(lambda: acme.sayso.state(acme.request(other)) == "denied")
    [opened] = set(acme.discord.threads(OPS)) - known
    await acme.reads(opened, "said patience")
    assert acme.sayso.ledger().count("late") == 1
    assert not any(acme.discord.calls(HOOKS[0]))
    assert len(acme.discord.calls(HOOKS[1])) == len(acts)


async def test_p33_a_run_of_sixteen_minutes_is_told_of_without_the_token(acme: Server) -> None:
    thread, card = await acme.proposed(BOB, "slow append sixteen 2")
    pressed = await acme.presses(BOB, card, "Approve")
    await acme.begun("sixteen")
    acme.discord.passes(16 * 60)
    assert pressed.is_dead
    before = len(acme.discord.web.calls)
    await acme.reads(thread, "succeeded (exit code 0)")
    await acme.discord.until(lambda: "succeeded" in text_of(acme.discord.message(card["id"])))
    since = acme.discord.web.calls[before:]
    assert [call for call in since if call.route in (CALLBACK, *HOOKS)] == []
    assert acme.cards(thread) == []


async def test_p33_an_answer_that_discord_does_not_take_any_more_undoes_nothing(
    acme: Server,
) -> None:
    people, faults = acme.discord.people, acme.discord.faults
    thread, card = await acme.proposed(ALICE, "append unheard")
    known = set(acme.discord.threads(OPS))
    faults.says(CALLBACK, 404, 10062, "Unknown interaction", times=2)
    await people.presses(BOB, card, "Approve")
    await acme.reads(thread, "succeeded")
    await people.slash(ALICE, OPS, "ask", text="say unheard")
    await acme.discord.until(lambda: set(acme.discord.threads(OPS)) - known)
    [opened] = set(acme.discord.threads(OPS)) - known
    await acme.reads(opened, "said unheard")
    assert not faults.waiting[CALLBACK]
    # Whoever saw that it failed presses once more.
    again = await people.presses(BOB, card, "Approve", stale=True)
    await acme.told(again, "Already decided.")
    assert acme.sayso.ledger().count("unheard") == 1
    _, other = await acme.proposed(ALICE, "append formless")
    faults.says(CALLBACK, 404, 10062, "Unknown interaction")
    await people.presses(BOB, other, "Deny")
    await acme.discord.until(lambda: not faults.waiting[CALLBACK])
    await acme.denies(BOB, other, "no")
    await acme.discord.until(lambda: acme.sayso.state(acme.request(other)) == "denied")


async def test_p33_a_click_on_an_old_component_is_answered_whatever_it_is(acme: Server) -> None:
    thread, card = await acme.proposed(ALICE, "append old")
    await acme.presses(BOB, card, "Approve")
    await acme.reads(thread, "succeeded")
    people = acme.discord.people
    request, nobodys = acme.request(card), "0" * 32
    for custom_id, said in (
        (f"sayso:approve:{request}", "Already decided."),
        (f"sayso:approve:{nobodys}", "There is no such request."),
        ("sayso:unheard_of:1", "Nothing was done"),
        ("tk1:a:0123456789abcdefghijkl", "Nothing was done"),
    ):
        act = await acme.discord.over(await people.forges(CAROL, card, custom_id))
        assert any(said in one for one in act.alone), (custom_id, act.said)
    form = await acme.discord.over(await people.forges(CAROL, card, f"sayso:deny:{request}"))
    denied = await acme.discord.over(await people.submits(CAROL, form.modal, reason="late"))
    assert "Already decided." in denied.alone[0]
    assert acme.sayso.ledger().count("old") == 1
