"""C65, X7: somebody who is listed on one platform has an account of another one be them, both sides agreeing."""

import re
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest
import pytest_asyncio

from tests import team as in_slack
from tests.both import Both, both
from tests.sayso import Sayso, fresh
from tests.standins import discord as on_discord
from tests.standins.discord import Interaction
from tests.standins.slack import Json
from tests.standins.slack.plain import text_of

BOBS = f'discord: ["700000000000000001:{on_discord.BOB}"], '
CODE = re.compile(r"sayso link (\w{5}-\w{5})")
STRANGER = "If Sayso knows you elsewhere, write"
GONE = "That is not there, or not any more."


def unlist_bob(sayso: Sayso) -> None:
    """Have bob be listed in Slack and on the console alone, and links count."""
    sayso.edit("sayso.yml", BOBS, "")
    sayso.edit("sayso.yml", "  rules:\n", "  linking: true\n  rules:\n")


@pytest_asyncio.fixture
async def acme(tmp_path: Path) -> AsyncGenerator[Both]:
    async with both(tmp_path / "acme") as made:
        unlist_bob(made.sayso)
        await made.serve()
        yield made


async def code(acme: Both) -> str:
    told = await acme.in_slack(in_slack.BOB, "link")
    found = CODE.search(told)
    assert found, told
    return found[1]


async def says(acme: Both, user: str, words: str) -> Interaction:
    """Have somebody use `/sayso` on Discord, and wait until they are told something."""
    people = acme.server.discord.people
    act = await people.slash(user, on_discord.OPS, "sayso", words=words)
    await acme.server.discord.until(lambda: act.alone)
    return act


async def presses(acme: Both, act: Interaction, what: str) -> Interaction:
    """Have somebody press a button of what they alone were told."""
    return await acme.server.presses(act.user, act.shown[-1].now, what)


async def asked(acme: Both) -> Json:
    """Come as far as to the question to bob in Slack; return that message."""
    slack = acme.team.slack

    def questions() -> list[Json]:
        return [m for m in slack.messages(in_slack.BOB) if "wants to act as you" in text_of(m)]

    before = len(questions())
    act = await says(acme, on_discord.BOB, f"link {await code(acme)}")
    await acme.server.told(act, "You would act as bob.")
    confirmed = await presses(acme, act, "Confirm")
    await acme.server.told(confirmed, "bob is asked now")
    await slack.until(lambda: len(questions()) > before)
    return questions()[-1]


async def linked(acme: Both) -> None:
    question = await asked(acme)
    await acme.team.slack.hands.click(in_slack.BOB, in_slack.BOB, question["ts"], "Confirm")
    await acme.team.until(lambda: acme.sayso.sql("SELECT 1 FROM link"))


async def test_c65_x7_an_account_is_linked_by_both_sides_and_is_one_vote(acme: Both) -> None:
    server, team = acme.server, acme.team
    thread, card = await server.proposed(on_discord.ALICE, "deploy v1")
    await server.told(await server.presses(on_discord.BOB, card, "Approve"), STRANGER)
    question = await asked(acme)
    assert f"The Discord account {on_discord.BOB} in 700000000000000001" in text_of(question)
    # Nothing counts before the last word.
    await server.told(await server.presses(on_discord.BOB, card, "Approve"), STRANGER)
    await team.slack.hands.click(in_slack.BOB, in_slack.BOB, question["ts"], "Confirm")
    await team.told(in_slack.BOB, "is yours now")
    direct = server.discord.world.dm(on_discord.BOB)
    await server.reads(direct, "here you act as bob now")
    first = await server.presses(on_discord.BOB, card, "Approve")
    await server.told(first, "Your yes counts: 1 of 2 votes.")
    words = f"approve {server.request(card)}"
    assert "Your yes was there already: 1 of 2 votes." in await acme.in_slack(in_slack.BOB, words)
    assert "Your yes counts: 2 of 2 votes." in await acme.in_slack(in_slack.CAROL, words)
    await server.reads(thread, "succeeded")
    assert acme.sayso.ledger() == ["build-v1", "release-v1"]


async def test_after_unlink_a_vote_is_refused_and_a_restart_changes_nothing(acme: Both) -> None:
    server, team = acme.server, acme.team
    question = await asked(acme)
    # In the middle of it another process takes over: the button is as good as before.
    await server.ends(acme.sayso.started[-1])
    await acme.serve()
    await team.slack.hands.click(in_slack.BOB, in_slack.BOB, question["ts"], "Confirm")
    await team.told(in_slack.BOB, "is yours now")
    _, card = await server.proposed(on_discord.ALICE, "restart web in prod")
    assert "is linked to you, bob" in str((await says(acme, on_discord.BOB, "links")).alone)
    assert "is not bob any more" in await acme.in_slack(in_slack.BOB, "unlink")
    await server.told(await server.presses(on_discord.BOB, card, "Approve"), STRANGER)
    await linked(acme)
    act = await says(acme, on_discord.BOB, "unlink")
    await server.told(act, "is not bob any more")
    await server.told(await server.presses(on_discord.BOB, card, "Approve"), STRANGER)
    assert acme.sayso.ledger() == []
    kinds = acme.sayso.sql("SELECT kind FROM audit WHERE kind LIKE 'link.%' ORDER BY seq")
    once = ["link.offered", "link.claimed", "link.asked", "link.made", "link.ended"]
    assert [kind for (kind,) in kinds] == once * 2


async def test_a_no_of_the_first_side_links_nothing(acme: Both) -> None:
    team, server = acme.team, acme.server
    question = await asked(acme)
    click = team.slack.hands.click
    await click(in_slack.BOB, in_slack.BOB, question["ts"], "Refuse")
    await team.told(in_slack.BOB, "Nothing was linked.")
    await click(in_slack.BOB, in_slack.BOB, question["ts"], "Confirm")
    await team.told(in_slack.BOB, GONE)
    _, card = await server.proposed(on_discord.ALICE, "append alpha")
    await server.told(await server.presses(on_discord.BOB, card, "Approve"), STRANGER)


async def test_nobody_else_uses_a_code_up_twice_or_answers_for_another(acme: Both) -> None:
    server = acme.server
    known = await says(acme, on_discord.ALICE, f"link {await code(acme)}")
    await server.told(known, "Sayso knows you here already")
    given = await code(acme)
    act = await says(acme, on_discord.MALLORY, f"link {given}")
    await server.told(act, "You would act as bob.")
    await server.told(await says(acme, on_discord.BOB, f"link {given}"), GONE)
    await server.told(await says(acme, on_discord.BOB, "link AAAAA-AAAAA"), GONE)
    forged = str(acme.sayso.sql("SELECT id FROM linking WHERE state = 'claimed'")[0][0])
    await server.told(await says(acme, on_discord.BOB, f"link confirm {forged}"), GONE)
    assert GONE in await acme.in_slack(in_slack.BOB, f"link confirm {forged}")
    # A message can be read by everybody, so it gets no code and takes none.
    thread = await server.mentions(on_discord.ALICE, "say hello")
    await server.says(on_discord.ALICE, thread, "!link")
    await server.reads(thread, "Write that as a slash command")


@pytest.fixture
def sayso(tmp_path: Path) -> Generator[Sayso]:
    with fresh(tmp_path / "acme") as made:
        unlist_bob(made)
        yield made


def test_on_the_console_each_side_is_a_command(sayso: Sayso) -> None:
    sayso.edit("sayso.yml", "  bob:   {console: [bob],", "  bob:   {console: [robert],")
    assert STRANGER in sayso.run("links", as_="bob").refusal
    # Both sides on one platform are in one workspace, where a person has one account.
    offered = sayso.run("link", as_="robert").json["link"]
    assert (offered["state"], offered["principal"]) == ("offered", "bob")
    assert (
        "Sayso knows bob here by another account"
        in sayso.run("link", offered["code"], as_="bob").refusal
    )


def test_slack_is_linked_from_a_shell_and_shown_there(sayso: Sayso) -> None:
    offered = sayso.run("link", as_="carol").json["link"]
    assert CODE.search(sayso.run("link", as_="carol", plain=True).out)
    *gone, shown, ended, wrong = sayso.each(
        ("dave", "link", offered["code"]),  # a newer one was given
        ("carol", "link", "--confirm", "l_" + "0" * 32),
        ("carol", "link", "--refuse", "nonsense"),
        ("carol", "links"),
        ("carol", "unlink"),
        ("carol", "link", "A", "--confirm", "B"),
    )
    assert all(GONE in one.refusal for one in gone)
    assert shown.json == {"links": [], "waiting": []}
    assert ended.json == {"unlinked": []}
    assert wrong.code == 2


def test_where_it_is_not_allowed_it_says_so(sayso: Sayso) -> None:
    sayso.edit("sayso.yml", "  linking: true\n", "")
    assert "Accounts are not linked here." in sayso.run("link", as_="carol").refusal
