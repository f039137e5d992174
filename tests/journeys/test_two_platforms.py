"""X7, C38: one human is one vote, whichever platform they are on, and counts as what both say."""

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from tests import team as in_slack
from tests.both import Both, both
from tests.standins import discord as on_discord
from tests.standins.slack.plain import text_of

pytestmark = pytest.mark.asyncio(loop_scope="module")
SRE = "800000000000000001"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def acme(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Both]:
    """Give a team in which bob is in the group `sre` because he has a role on Discord."""
    folder = tmp_path_factory.mktemp("both") / "acme"
    async with both(folder, discord_section=f'groups: {{sre: ["{SRE}"]}}') as made:
        made.sayso.edit(
            "sayso.yml",
            f'{on_discord.BOB}"], groups: [eng, sre]',
            f'{on_discord.BOB}"], groups: [eng]',
        )
        made.server.discord.world.role(SRE, "on call")
        await made.server.discord.people.changes_roles(on_discord.BOB, SRE)
        await made.serve()
        yield made


async def test_x7_a_second_yes_of_the_same_person_counts_nothing_on_the_other_platform(
    acme: Both,
) -> None:
    server = acme.server
    thread, card = await server.proposed(on_discord.ALICE, "deploy v1")
    approve = f"approve {server.request(card)}"
    first = await server.presses(on_discord.BOB, card, "Approve")
    await server.told(first, "Your yes counts: 1 of 2 votes.")
    assert "Your yes was there already: 1 of 2 votes." in await acme.in_slack(in_slack.BOB, approve)
    await server.shows(card, "Open: 1 of 2 votes, not the requester (bob).")
    assert acme.sayso.ledger() == []
    assert "Your yes counts: 2 of 2 votes." in await acme.in_slack(in_slack.CAROL, approve)
    await server.reads(thread, "succeeded")
    assert await server.shows(card, "Approved by bob and carol. Run") == []
    assert "Already decided. Approved by bob and carol." in await acme.in_slack(
        in_slack.BOB, approve
    )
    assert acme.sayso.ledger() == ["build-v1", "release-v1"]


async def test_x7_what_is_asked_in_slack_is_decided_on_both(acme: Both) -> None:
    team, server = acme.team, acme.server
    thread, card = await team.proposed(in_slack.ALICE, "deploy v2")
    words = f"approve {team.request(card)}"

    async def on_the_other(user: str, says: str) -> None:
        act = await server.discord.people.slash(user, on_discord.OPS, "sayso", words=words)
        await server.told(act, says)

    await team.clicks(in_slack.BOB, card, "Approve")
    await team.told(in_slack.BOB, "Your yes counts: 1 of 2 votes.")
    await on_the_other(on_discord.BOB, "Your yes was there already: 1 of 2 votes.")
    await on_the_other(on_discord.CAROL, "Your yes counts: 2 of 2 votes.")
    await team.reads(thread, "succeeded")
    shown = team.slack.work.message(in_slack.OPS, card["ts"])
    await team.slack.until(lambda: "Approved by bob and carol. Run" in text_of(shown.now))
    assert acme.sayso.ledger()[-2:] == ["build-v2", "release-v2"]


async def test_c38_whoever_asked_on_one_platform_may_not_approve_on_the_other(acme: Both) -> None:
    team, server = acme.team, acme.server
    barred = "You asked for this, so somebody else has to approve it: carol may."
    _, card = await team.proposed(in_slack.BOB, "restart web in prod")
    words = f"approve {team.request(card)}"
    act = await server.discord.people.slash(on_discord.BOB, on_discord.OPS, "sayso", words=words)
    await server.told(act, barred)
    _, other = await server.proposed(on_discord.BOB, "restart web in prod")
    told = await acme.in_slack(in_slack.BOB, f"approve {server.request(other)}")
    assert barred in told
    assert "web-prod" not in acme.sayso.ledger()


async def test_x7_a_role_that_is_gone_on_one_platform_refuses_a_vote_from_the_other(
    acme: Both,
) -> None:
    team, server = acme.team, acme.server
    _, card = await team.proposed(in_slack.ALICE, "deploy v3")
    await team.clicks(in_slack.BOB, card, "Approve")
    await team.told(in_slack.BOB, "Your yes counts: 1 of 2 votes.")
    await server.discord.people.changes_roles(on_discord.BOB)
    await team.clicks(in_slack.CAROL, card, "Approve")
    shown = team.slack.work.message(in_slack.OPS, card["ts"])
    await team.slack.until(lambda: "bob may no longer approve it" in text_of(shown.now))
    assert acme.sayso.state(team.request(card)) == "revoked"
    assert "build-v3" not in acme.sayso.ledger()
