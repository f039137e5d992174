"""P-36: what Discord says about people counts, as they press and afresh before anything runs."""

from collections.abc import AsyncGenerator, Awaitable, Callable

import pytest
import pytest_asyncio

from tests.server import Server, server
from tests.standins.discord import ALICE, BOB, CAROL, GUILD

pytestmark = pytest.mark.asyncio(loop_scope="module")
SRE = "800000000000000001"
MEMBER = "GET /guilds/{guild}/members/{user}"
FUTURE = "2999-01-01T00:00:00+00:00"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def serving(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Server]:
    """Give a server in which carol is in the group `sre` because she has a role on Discord."""
    folder = tmp_path_factory.mktemp("standing") / "acme"
    async with server(folder, discord_section=f'groups: {{sre: ["{SRE}"]}}') as made:
        made.sayso.edit("sayso.yml", "groups: [sre, leads]", "groups: [leads]")
        made.sayso.edit(
            "sayso.yml", 'alice: {console: [alice], slack: ["T0TEAM:U0ALICE"],', "alice: {"
        )
        made.discord.world.role(SRE, "on call")
        await made.discord.people.changes_roles(CAROL, SRE)
        await made.sync()
        await made.serve()
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def acme(serving: Server) -> AsyncGenerator[Server]:
    """Give that server, and leave it as it was."""
    yield serving
    discord = serving.discord
    for user, name, *roles in ((ALICE, "alice"), (BOB, "bob"), (CAROL, "carol", SRE)):
        discord.world.person(user, name, *roles)
    discord.faults.waiting.clear()


async def _loses_the_role(acme: Server, who: str) -> None:
    await acme.discord.people.changes_roles(who)


async def _leaves(acme: Server, who: str) -> None:
    await acme.discord.people.leaves(who)


async def _is_timed_out(acme: Server, who: str) -> None:
    member = acme.discord.world.guilds[GUILD].members[who]
    member["communication_disabled_until"] = FUTURE


HAPPENS = pytest.mark.parametrize(
    ("happens", "why"),
    [
        (_loses_the_role, "carol may no longer approve it"),
        (_leaves, "carol may no longer approve it"),
        (_is_timed_out, "is timed out in that server"),
    ],
    ids=["role removed", "left the server", "timed out"],
)


async def test_a_member_with_the_role_may_approve(acme: Server) -> None:
    thread, card = await acme.proposed(ALICE, "append member")
    assert "**May approve:** bob, carol" in acme.now(card)
    await acme.presses(CAROL, card, "Approve")
    await acme.reads(thread, "succeeded")
    assert "member" in acme.sayso.ledger()


async def test_p36_whoever_lost_the_role_before_they_pressed_approves_nothing(
    acme: Server,
) -> None:
    _, card = await acme.proposed(ALICE, "append before")
    await _loses_the_role(acme, CAROL)
    refused = await acme.presses(CAROL, card, "Approve")
    await acme.told(refused, "There is no such request.")
    assert acme.sayso.state(acme.request(card)) == "open"
    assert "before" not in acme.sayso.ledger()


@HAPPENS
async def test_x7_what_happened_one_second_after_the_press_counts_before_anything_runs(
    acme: Server, happens: Callable[[Server, str], Awaitable[None]], why: str
) -> None:
    word = f"second{acme.turns()}"
    _, card = await acme.proposed(ALICE, f"append {word}")
    asks = acme.discord.faults.holds(MEMBER)
    waited = acme.discord.faults.held.get(MEMBER, 0)
    pressed = await acme.discord.people.presses(CAROL, card, "Approve")
    await acme.discord.until(lambda: acme.discord.faults.held.get(MEMBER, 0) > waited)
    await happens(acme, CAROL)
    asks.set()
    del acme.discord.faults.gates[MEMBER]
    await acme.shows(card, why)
    await acme.told(pressed, "Your yes counts: 1 of 1 vote.")
    assert acme.sayso.state(acme.request(card)) == "revoked"
    assert word not in acme.sayso.ledger()


@HAPPENS
async def test_p32_a_vote_counts_no_more_once_that_happened(
    acme: Server, happens: Callable[[Server, str], Awaitable[None]], why: str
) -> None:
    release = f"v{acme.turns()}"
    _, card = await acme.proposed(ALICE, f"deploy {release}")
    await acme.presses(CAROL, card, "Approve")
    await acme.shows(card, "1 of 2 votes")
    await happens(acme, CAROL)
    await acme.presses(BOB, card, "Approve")
    await acme.shows(card, why)
    assert acme.sayso.state(acme.request(card)) == "revoked"
    assert f"build-{release}" not in acme.sayso.ledger()


async def test_p36_a_requester_who_left_has_nothing_run(acme: Server) -> None:
    _, card = await acme.proposed(ALICE, "append orphan")
    await _leaves(acme, ALICE)
    await acme.presses(BOB, card, "Approve")
    await acme.shows(card, "alice may no longer ask for it")
    assert acme.sayso.state(acme.request(card)) == "revoked"
    assert "orphan" not in acme.sayso.ledger()


async def test_p36_what_discord_cannot_be_asked_about_does_not_run(acme: Server) -> None:
    _, card = await acme.proposed(ALICE, "append doubt")
    acme.discord.faults.fails(MEMBER, times=40)
    pressed = await acme.presses(BOB, card, "Approve")
    await acme.told(pressed, "Your yes counts: 1 of 1 vote.")
    why = "Discord could not be asked about alice just now: it did not answer in time."
    assert await acme.shows(card, why) == ["Ask again"]
    assert acme.sayso.state(acme.request(card)) == "revoked"
    assert "doubt" not in acme.sayso.ledger()


async def test_p03_whoever_discord_cannot_be_asked_about_still_stops(acme: Server) -> None:
    thread, card = await acme.proposed(ALICE, "append stopped")
    await acme.ends(acme.sayso.started[-1])
    await acme.serve()  # which has asked about nobody yet
    acme.discord.faults.fails(MEMBER, times=40)
    await acme.says(ALICE, thread, "stop")
    await acme.shows(card, "alice stopped it")
    assert acme.sayso.state(acme.request(card)) == "revoked"
