"""Standing grants on Discord: proposed in words, approved with a button, used, listed and revoked."""

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from tests.server import Server, served
from tests.standins.discord import ALICE, BOB, CAROL, OPS

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def acme(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Server]:
    async with served(tmp_path_factory.mktemp("grants") / "acme") as made:
        yield made


async def says(acme: Server, who: str, words: str) -> str:
    """Have somebody use `/sayso`; return what they alone are told."""
    act = await acme.discord.people.slash(who, OPS, "sayso", words=words)
    done = await acme.discord.over(act, within=15)
    return "\n".join(done.alone).replace("\\_", "_")


def grant_of(acme: Server) -> str:
    """Return the newest grant."""
    [*_, (found,)] = acme.sayso.sql("SELECT id FROM standing_grant ORDER BY proposed_at")
    return str(found)


def shown(grant: str) -> str:
    """Return a grant's id as it stands in a message, where no line is one of emphasis."""
    return grant.replace("_", "\\_")


def state(acme: Server, grant: str) -> str:
    """Return where a grant is, as it lies in the database."""
    [(found,)] = acme.sayso.sql("SELECT state FROM standing_grant WHERE id = ?", grant)
    return str(found)


async def test_a_grant_is_approved_by_button_used_listed_and_revoked(acme: Server) -> None:
    thread, card = await acme.proposed(ALICE, "deploy v1")
    told = await says(acme, BOB, f"grant {acme.request(card)} 5 1h")
    grant = grant_of(acme)
    assert f"Standing grant {grant} is proposed" in told
    await acme.discord.until(lambda: len(acme.cards(thread)) == 2, within=15)
    asks = acme.cards(thread)[-1]
    assert "Approve a standing grant to run: deploy" in acme.now(asks)
    assert state(acme, grant) == "proposed"
    await acme.presses(CAROL, asks, "Approve")
    await acme.reads(thread, f"Standing grant {shown(grant)} is active until")

    used = await acme.asks(ALICE, "deploy v1")
    await acme.reads(used, f"Ran under standing grant {grant}, use 1 of 5, until")
    assert acme.cards(used) == []
    assert acme.sayso.ledger() == ["build-v1", "release-v1"]

    listed = await says(acme, CAROL, "grants")
    assert f"{grant} active: deploy" in listed
    assert "is revoked. It lets nothing run any more." in await says(acme, CAROL, f"revoke {grant}")
    await acme.reads(thread, f"carol revoked standing grant {shown(grant)}.")
    _, again = await acme.proposed(ALICE, "deploy v1")
    assert "Approve to run: deploy" in acme.now(again)
    assert acme.sayso.ledger() == ["build-v1", "release-v1"]


async def test_p24_a_grant_for_staging_is_none_for_prod_or_for_others(acme: Server) -> None:
    before = len(acme.sayso.ledger())
    thread, card = await acme.proposed(ALICE, "restart web in staging")
    await acme.says(BOB, thread, f"!grant {acme.request(card)} 3 30m")
    await acme.reads(thread, "is active until")
    for who, text in ((ALICE, "restart web in prod"), (BOB, "restart web in staging")):
        _, other = await acme.proposed(who, text)
        assert "Approve to run: restart-web" in acme.now(other)
    assert acme.sayso.ledger()[before:] == []
    used = await acme.asks(ALICE, "restart web in staging")
    await acme.reads(used, "use 1 of 3, until")
    assert acme.sayso.ledger()[before:] == ["web-staging"]


async def test_a_forged_button_revokes_nothing_and_a_real_one_does(acme: Server) -> None:
    thread, card = await acme.proposed(ALICE, "restart web in prod")
    await acme.says(BOB, thread, f"!grant {acme.request(card)} 3 30m")
    await acme.reads(thread, "is active until")
    grant = grant_of(acme)
    forged = await acme.discord.people.forges(ALICE, card, f"sayso:revoke:{grant}")
    await acme.told(forged, "You may not revoke this (grant:revoke).")
    assert state(acme, grant) == "active"
    pressed = await acme.discord.people.forges(BOB, card, f"sayso:revoke:{grant}")
    await acme.told(pressed, "is revoked. It lets nothing run any more.")
    assert state(acme, grant) == "revoked"


async def test_whoever_may_not_is_told_so_alone(acme: Server) -> None:
    _, card = await acme.proposed(ALICE, "restart web in prod")
    refused = await says(acme, ALICE, f"grant {acme.request(card)} 3 30m")
    assert "You may not propose a standing grant for this (grant:propose)." in refused
    strange = await says(acme, CAROL, f"grant {'f' * 32} 3 30m")
    assert "There is no such request." in strange
    assert "There is no such standing grant." in await says(acme, ALICE, f"revoke g_{'0' * 32}")
