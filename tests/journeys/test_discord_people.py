"""Who may decide on Discord: the wrong person, the wrong server, and several people at once."""

import asyncio
from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from tests.server import Server, server
from tests.standins.discord import ALICE, BOB, BOT, CAROL, MALLORY, OPS, Json
from tests.team import PATIENCE

pytestmark = pytest.mark.asyncio(loop_scope="module")
STRANGER = "Sayso does not know you"
OTHER, SECOND, THIRD = "600000000000000002", "700000000000000002", "700000000000000003"
LOBBY, STREET = "600000000000000003", "600000000000000004"
GUILDS = 'discord: ["700000000000000001"'


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def acme(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Server]:
    """Give a server, a second one of the same team, and one that is nobody's; bob is in all of them."""
    async with server(tmp_path_factory.mktemp("people") / "acme") as made:
        made.sayso.edit("sayso.yml", GUILDS, f'{GUILDS}, "{SECOND}"')
        world = made.discord.world
        world.channel(OTHER, "other")
        for guild, channel in ((SECOND, LOBBY), (THIRD, STREET)):
            world.guild(guild, "elsewhere")
            world.channel(channel, "lobby", guild=guild)
            world.person(BOB, "bob", guild=guild)
        await made.sync()
        await made.serve()
        yield made


@pytest_asyncio.fixture(loop_scope="module")
async def asked(acme: Server) -> tuple[str, Json]:
    """Have alice ask; give the thread and the card."""
    return await acme.proposed(ALICE, "restart web in staging")


async def still_open(acme: Server, thread: str, card: Json, ran: int) -> None:
    """Check that nothing came of it, and that the card is as good as before."""
    assert acme.sayso.state(acme.request(card)) == "open"
    assert len(acme.sayso.ledger()) == ran
    assert await acme.shows(card, "Open: 0 of 1 vote") == ["Approve", "Edit", "Deny"]
    await acme.presses(BOB, card, "Approve")
    await acme.reads(thread, "succeeded")
    assert len(acme.sayso.ledger()) == ran + 1


async def test_p09_whoever_is_not_listed_decides_nothing(
    acme: Server, asked: tuple[str, Json]
) -> None:
    thread, card = asked
    ran, turns, request = len(acme.sayso.ledger()), acme.turns(), acme.request(card)
    people = acme.discord.people
    bobs_name = acme.discord.world.person("500000000000000077", "bob")
    for who in (MALLORY, bobs_name):
        await acme.told(await acme.presses(who, card, "Approve"), STRANGER)
        form = (await acme.presses(who, card, "Deny")).modal
        await acme.told(await people.submits(who, form, reason="no"), STRANGER)
        for words in (f"approve {request}", f"deny {request} no", "requests"):
            act = await people.slash(who, OPS, "sayso", words=words)
            await acme.told(act, STRANGER)
        await acme.told(await people.slash(who, OPS, "ask", text="say hello"), STRANGER)
        await people.writes(who, thread, f"!approve {request}")
        await people.writes(who, thread, "stop")
        await people.dms(who, f"approve {request}")
        await acme.reads(acme.discord.world.dm(who), STRANGER)
    assert acme.turns() == turns
    await still_open(acme, thread, card, ran)


async def test_p26_the_id_of_a_person_counts_only_with_their_own_server(
    acme: Server, asked: tuple[str, Json]
) -> None:
    thread, card = asked
    ran, turns, request = len(acme.sayso.ledger()), acme.turns(), acme.request(card)
    people = acme.discord.people
    for channel, says in ((LOBBY, STRANGER), (STREET, "Nothing was done")):
        root = await people.writes(BOB, channel, "look")
        for verb in ("approve", "review", "again"):
            forged = await people.forges(BOB, root, f"sayso:{verb}:{request}")
            await acme.told(forged, says)
        await acme.told(await people.slash(BOB, channel, "ask", text="say hello"), says)
        await acme.told(await people.slash(BOB, channel, "sayso", words=f"approve {request}"), says)
        await acme.told(await people.slash(BOB, channel, "stop", what="all"), says)
        await people.mentions(BOB, channel, "say hello")
    await acme.reads(LOBBY, STRANGER)
    assert len(acme.discord.seen_in(STREET)) == 2
    assert acme.turns() == turns
    await still_open(acme, thread, card, ran)


async def test_p09_a_bot_decides_nothing(acme: Server, asked: tuple[str, Json]) -> None:
    thread, card = asked
    ran, request = len(acme.sayso.ledger()), acme.request(card)
    people, bot = acme.discord.people, "500000000000000090"
    await people.bot_writes(thread, f"!approve {request}", bot=bot)
    await people.bot_writes(OPS, f"<@{BOT}> approve {request}", bot=bot)
    await people.webhook_writes(thread, f"!approve {request}")
    pressed = await people.forges(bot, card, f"sayso:approve:{request}")
    await acme.told(pressed, "Nothing was done")
    await still_open(acme, thread, card, ran)


async def test_p09_an_id_from_elsewhere_gives_nobody_authority(
    acme: Server, asked: tuple[str, Json]
) -> None:
    thread, card = asked
    ran, request = len(acme.sayso.ledger()), acme.request(card)
    people = acme.discord.people
    root = await people.writes(MALLORY, OTHER, "look")
    for verb in ("approve", "review", "stop", "again", "verify", "happened", "did_not"):
        forged = await people.forges(MALLORY, root, f"sayso:{verb}:{request}")
        await acme.told(forged, STRANGER)
        assert "restart" not in str(forged.alone)
    for odd in ("x", request[:-1], request.upper(), "../" + request, "0" * 32, "é" * 60):
        forged = await people.forges(BOB, root, f"sayso:approve:{odd}")
        await acme.discord.over(forged)
        assert any(said in str(forged.alone) for said in ("no such request", "Nothing was done"))
    for tag in (f"other:approve:{request}", "sayso:", f"sayso:spend:{request}", request):
        await acme.told(await people.forges(BOB, root, tag), "Nothing was done")
    await acme.told(
        await people.slash(BOB, acme.discord.world.dm(BOB), "sayso", words=f"approve {request}"),
        "a direct message shows nobody's roles",
    )
    await still_open(acme, thread, card, ran)


async def test_p39_words_approve_only_with_the_id(acme: Server, asked: tuple[str, Json]) -> None:
    thread, card = asked
    ran, request = len(acme.sayso.ledger()), acme.request(card)
    said = ("yes", "approve", "lgtm 👍", "!approve", "approve it", f"`!approve {request}`")
    for text in said:
        await acme.says(BOB, thread, text)
    await acme.discord.people.replies(BOB, card, "approve")
    await acme.says(BOB, thread, "say end")
    await acme.reads(thread, "said end")
    assert acme.sayso.state(request) == "open"
    assert len(acme.sayso.ledger()) == ran
    await acme.says(BOB, thread, f"!approve {request}")
    await acme.reads(thread, "succeeded")
    await acme.reads(thread, "Your yes counts: 1 of 1 vote.")
    assert len(acme.sayso.ledger()) == ran + 1


async def test_p28_a_button_is_about_its_own_card_alone(acme: Server) -> None:
    thread, first = await acme.proposed(ALICE, "append early")
    await acme.says(ALICE, thread, "append late")
    await acme.discord.until(lambda: len(acme.cards(thread)) == 2)
    await acme.presses(BOB, first, "Approve")
    await acme.reads(thread, "succeeded")
    assert "early" in acme.sayso.ledger()
    await acme.discord.until(lambda: len(acme.cards(thread)) == 1)
    old = await acme.discord.people.presses(BOB, first, "Approve", stale=True)
    await acme.told(old, "Already decided. Approved by bob.")
    assert "late" not in acme.sayso.ledger()
    await acme.says(ALICE, thread, "stop")
    await acme.discord.until(lambda: not acme.cards(thread))


# P-27: at once


async def test_p27_two_people_and_two_clicks_at_once_run_it_once(
    acme: Server, asked: tuple[str, Json]
) -> None:
    thread, card = asked
    ran = len(acme.sayso.ledger())
    clicks = (acme.presses(who, card, "Approve") for who in (BOB, CAROL, BOB, CAROL))
    acts = await asyncio.gather(*clicks)
    await acme.reads(thread, "succeeded")
    said = [one for act in acts for one in act.alone]
    assert len(said) == 4
    counted = [act.user for act in acts if "Your yes counts: 1 of 1 vote." in str(act.alone)]
    assert 1 <= len(counted) <= 2  # one press twice, before anything came of it, is one
    assert len({*counted}) == 1
    lost = ("was there already", "was not needed any more: approved by", "Already decided.")
    assert sum(any(words in one for words in lost) for one in said) == 4 - len(counted)
    assert len(acme.sayso.ledger()) == ran + 1


@pytest.mark.parametrize("first", ["no", "yes"])
async def test_p27_a_yes_and_a_no_at_once_are_one_decision(acme: Server, first: str) -> None:
    ran = len(acme.sayso.ledger())
    thread, card = await acme.proposed(ALICE, f"append either{first}")
    form = (await acme.presses(BOB, card, "Deny")).modal
    no = acme.discord.people.submits(BOB, form, reason="not now")
    yes = acme.discord.people.presses(CAROL, card, "Approve")
    both = (no, yes) if first == "no" else (yes, no)
    for act in await asyncio.gather(*both):
        await acme.discord.over(act)
        assert not act.failed
    await acme.discord.until(lambda: not acme.cards(thread))
    if acme.sayso.state(acme.request(card)) == "denied":
        await acme.reads(thread, "Denied by bob: not now")
        assert len(acme.sayso.ledger()) == ran
    else:
        await acme.reads(thread, "succeeded")
        assert len(acme.sayso.ledger()) == ran + 1


async def test_p34_a_click_while_the_database_is_busy_is_answered_and_counts(
    acme: Server, asked: tuple[str, Json]
) -> None:
    thread, card = asked
    ran = len(acme.sayso.ledger())
    with acme.sayso.locked():
        acts = [await acme.discord.people.presses(who, card, "Approve") for who in (BOB, CAROL)]
        await acme.discord.until(lambda: all(act.answered for act in acts))
        assert not any(act.failed for act in acts)
        assert len(acme.sayso.ledger()) == ran
    await acme.reads(thread, "succeeded")
    for act in acts:
        await acme.discord.over(act, within=PATIENCE)
        assert any(words in str(act.alone) for words in ("Your yes ", "Already decided."))
    assert len(acme.sayso.ledger()) == ran + 1
