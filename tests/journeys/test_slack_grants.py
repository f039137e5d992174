"""Standing grants in Slack: proposed in words, approved with a button, used, listed and revoked."""

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from tests.standins.slack.plain import text_of
from tests.team import ALICE, BOB, CAROL, MALLORY, OPS, Team, served

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def acme(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Team]:
    async with served(tmp_path_factory.mktemp("grants") / "acme") as made:
        yield made


async def says(acme: Team, who: str, words: str) -> str:
    """Have somebody use `/sayso`; return what they alone are told."""
    before = len(acme.slack.ephemerals(who))
    done = await acme.slack.people.slash(who, OPS, "/sayso", words)
    assert done.acked
    if done.answer:
        return text_of(done.answer)
    await acme.slack.until(lambda: len(acme.slack.ephemerals(who)) > before)
    return acme.slack.ephemerals(who)[-1]


def grant_of(acme: Team) -> str:
    """Return the newest grant."""
    [*_, (found,)] = acme.sayso.sql("SELECT id FROM standing_grant ORDER BY proposed_at")
    return str(found)


def state(acme: Team, grant: str) -> str:
    """Return where a grant is, as it lies in the database."""
    [(found,)] = acme.sayso.sql("SELECT state FROM standing_grant WHERE id = ?", grant)
    return str(found)


async def test_a_grant_is_approved_by_button_used_and_revoked_by_button(acme: Team) -> None:
    thread, card = await acme.proposed(ALICE, "deploy v1")
    told = await says(acme, BOB, f"grant {acme.request(card)} 5 1h")
    grant = grant_of(acme)
    assert told == f"Standing grant {grant} is proposed; its card says who may approve it."
    await acme.slack.until(lambda: len(acme.cards(thread)) == 2)
    asks = acme.cards(thread)[-1]
    shown = text_of(asks)
    assert "Approve a standing grant to run: deploy" in shown
    assert "up to 5 times within 1h of its approval, whenever alice asks for exactly this" in shown
    assert state(acme, grant) == "proposed"  # bob's vote is there, and one more is needed
    await acme.clicks(CAROL, asks, "Approve")
    await acme.reads(thread, f"Standing grant {grant} is active until")

    used = await acme.asks(ALICE, "deploy v1")
    await acme.reads(used, f"Standing grant {grant} covers this, so it runs now.")
    await acme.reads(used, f"Ran under standing grant {grant}, use 1 of 5, until")
    assert acme.cards(used) == []
    assert acme.sayso.ledger() == ["build-v1", "release-v1"]

    listed = await says(acme, CAROL, "grants")
    assert f"{grant} active: deploy" in listed
    assert "used 1 of 5, until" in listed
    await acme.says(CAROL, thread, "!grants")
    await acme.told(CAROL, f"{grant} active: deploy")
    [alone] = [one for one in acme.slack.work.ephemeral if f"{grant} active" in text_of(one)]
    [button] = acme.slack.buttons(alone)
    assert button.startswith("Revoke deploy")
    await acme.slack.hands.click(CAROL, OPS, alone["ts"], button)
    await acme.reads(thread, f"carol revoked standing grant {grant}.")
    assert state(acme, grant) == "revoked"
    _, again = await acme.proposed(ALICE, "deploy v1")
    assert "Approve to run: deploy" in text_of(again)
    assert acme.sayso.ledger() == ["build-v1", "release-v1"]


async def test_p24_a_grant_for_staging_is_none_for_prod_for_others_or_elsewhere(acme: Team) -> None:
    before = len(acme.sayso.ledger())
    elsewhere = acme.channel("C0ELSE")
    thread, card = await acme.proposed(ALICE, "restart web in staging")
    await acme.says(BOB, thread, f"!grant {acme.request(card)} 3 30m")
    await acme.reads(thread, "is active until")
    for who, text, channel in (
        (ALICE, "restart web in prod", OPS),
        (BOB, "restart web in staging", OPS),
        (ALICE, "restart web in staging", elsewhere),
    ):
        _, other = await acme.proposed(who, text, channel=channel)
        assert "Approve to run: restart-web" in text_of(other)
    assert acme.sayso.ledger()[before:] == []
    used = await acme.asks(ALICE, "restart web in staging")
    await acme.reads(used, "use 1 of 3, until")
    assert acme.sayso.ledger()[before:] == ["web-staging"]


async def test_a_denial_here_beats_a_grant_and_an_edited_runbook_ends_it(acme: Team) -> None:
    before = len(acme.sayso.ledger())
    thread, card = await acme.proposed(ALICE, "append owl")
    await acme.says(BOB, thread, f"!grant {acme.request(card)} 3 30m")
    await acme.reads(thread, "is active until")
    await acme.says(BOB, thread, f"!deny {acme.request(card)} not in this thread")
    await acme.reads(thread, "Denied by bob: not in this thread")
    await acme.says(ALICE, thread, "append owl")
    await acme.reads(thread, "It stays refused in this conversation")
    assert acme.sayso.ledger()[before:] == []
    acme.sayso.edit("runbooks/append-word.yml", "Append one word", "Append a word")
    _, again = await acme.proposed(ALICE, "append owl")
    assert "Approve to run: append-word" in text_of(again)
    await acme.reads(thread, "is suspended: the runbook append-word was edited.")
    assert state(acme, grant_of(acme)) == "suspended"
    assert acme.sayso.ledger()[before:] == []


async def test_whoever_may_not_is_told_so_alone(acme: Team) -> None:
    _, card = await acme.proposed(ALICE, "restart web in prod")
    refused = await says(acme, ALICE, f"grant {acme.request(card)} 3 30m")
    assert "You may not propose a standing grant for this (grant:propose)." in refused
    strange = await says(acme, MALLORY, f"grant {acme.request(card)} 3 30m")
    assert "There is no such request." in strange
    assert "There is no such standing grant." in await says(acme, MALLORY, f"revoke g_{'0' * 32}")
    assert "Write `grant ID USES TIME`" in await says(acme, BOB, f"grant {acme.request(card)} 3")
    assert "Write `revoke ID`" in await says(acme, BOB, "revoke g_123")
    assert "no standing grants that you may know of" in await says(acme, MALLORY, "grants")


async def test_a_forged_button_revokes_nothing(acme: Team) -> None:
    thread, card = await acme.proposed(ALICE, "restart web in prod")
    told = await says(acme, BOB, f"grant {acme.request(card)} 3 30m")
    grant = grant_of(acme)
    assert told.startswith(
        f"Standing grant {grant} is proposed, and your yes is enough. Approved by"
    )
    assert "waiting to run" not in told
    await acme.reads(thread, f"{grant} is active until")
    before = len(acme.slack.ephemerals(MALLORY))
    await acme.slack.hands.click_forged(MALLORY, OPS, card["ts"], "sayso:revoke", grant)
    await acme.slack.until(lambda: len(acme.slack.ephemerals(MALLORY)) > before)
    assert "There is no such standing grant." in acme.slack.ephemerals(MALLORY)[-1]
    assert state(acme, grant) == "active"
