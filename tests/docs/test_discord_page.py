"""What docs/discord.md says of Discord is what the code says and asks for, and its steps lead to a bot."""

import asyncio
import re
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from adapters.discord import declared
from adapters.discord.permissions import IN_POSTS, NEEDED, invitation
from core import chat_commands, events, principals
from tests.docs import thread_words
from tests.sayso import Done, fresh
from tests.sentences import explained, unsaid
from tests.server import Server
from tests.standins.discord import ALICE, BOB, BOT, FakeDiscord

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "discord.md").read_text("utf-8")
BLOCKS: list[tuple[str, str]] = re.findall(
    r"^ *```(\w+)\n(.*?)^ *```$", PAGE, re.MULTILINE | re.DOTALL
)
FILE, GROUPS, MENTIONS = (text for kind, text in BLOCKS if kind == "yaml")
COMMANDS = [text.strip() for kind, text in BLOCKS if kind == "console"]
HEARD = chat_commands.Heard(
    identity=principals.Identity(platform="discord", workspace="1", user="2"),
    place=events.Place(platform="discord", workspace="1", channel="3", thread="4"),
    in_thread=True,
)


@pytest.fixture
async def acme(tmp_path: Path) -> AsyncGenerator[Server]:
    """Give a folder with the page's files, and a Discord to which it leads instead of the real one."""
    async with FakeDiscord() as discord:
        with fresh(tmp_path / "acme") as sayso:
            token = sayso.folder / "token"
            token.write_text(discord.token, "utf-8")
            token.chmod(0o600)
            made = Server(discord=discord, sayso=sayso)
            write(made, FILE)
            yield made


def write(acme: Server, text: str) -> None:
    """Have the page's `sayso.yml` there, with the addresses of this Discord at its end."""
    at = f'  api_url: "{acme.discord.api_url}"\n  gateway_url: "{acme.discord.gateway_url}"\n'
    assert text.rindex("\ndiscord:") > text.rindex("\npeople:"), "the section has to be the last"
    (acme.sayso.folder / "sayso.yml").write_text(text + at, "utf-8")


def beside(text: str) -> str:
    """Return the page's `sayso.yml` with another section about Discord."""
    return FILE[: FILE.rindex("discord:\n")] + text[text.rindex("discord:\n") :]


async def does(acme: Server, command: str, *, plain: bool = False) -> Done:
    """Do a command of the page, to its end."""
    program, *arguments = command.split()
    assert program == "sayso"
    return await asyncio.to_thread(acme.sayso.run, *arguments, plain=plain)


async def test_the_steps_lead_to_a_bot_that_is_asked_and_approved(acme: Server) -> None:
    _, sync, check, run = COMMANDS
    told = await does(acme, check)
    [missing] = told.json["problems"]
    assert "/ask, /stop and /sayso are not registered" in missing
    synced = await does(acme, sync, plain=True)
    assert invitation(BOT) in synced.out
    assert (await does(acme, check)).json["problems"] == []
    running = acme.sayso.start(*run.split()[1:])
    await asyncio.to_thread(running.ready)
    thread, card = await acme.proposed(ALICE, "restart web in staging")
    await acme.presses(BOB, card, "Approve")
    await acme.reads(thread, "succeeded")
    assert acme.sayso.ledger() == ["web-staging"]


async def test_what_is_said_of_the_intent_and_of_roles_is_what_the_check_says(
    acme: Server,
) -> None:
    _, sync, check, run = COMMANDS
    await does(acme, sync)
    acme.discord.world.privileged = 0
    [off] = (await does(acme, check)).json["problems"]
    assert "The Message Content Intent is off" in off
    ended = await does(acme, run)
    assert ended.code == 2
    assert "Message Content Intent" in ended.error[1]
    write(acme, beside(MENTIONS))
    assert (await does(acme, check)).json["problems"] == []
    write(acme, beside(GROUPS))
    [role] = set((await does(acme, check)).json["problems"]) - {off}
    assert "discord.groups.sre names the role 800000000000000001" in role
    acme.discord.world.role("800000000000000001", "sre")
    assert (await does(acme, check)).json["problems"] == [off]


def test_every_permission_is_told_with_what_it_is_for() -> None:
    [table] = re.findall(r"<!-- permissions -->\n(.*?)<!-- end -->", PAGE, re.DOTALL)
    rows = re.findall(r"^\| `([\w ]+)` \| (.*) \|$", table, re.MULTILINE)
    assert dict(rows) == {one.name: one.why for one in NEEDED}


def test_what_a_forum_needs_is_told() -> None:
    [told] = re.findall(r"all of these but `([\w ]+)` and `([\w ]+?)`", PAGE.replace("\n", " "))
    assert {*told} == {one.name for one in NEEDED} - {one.name for one in IN_POSTS}


def test_it_is_ten_steps() -> None:
    steps = re.findall(r"^(\d+)\. \*\*", PAGE, re.MULTILINE)
    assert [int(number) for number in steps] == [*range(1, 11)]


def test_every_slash_command_is_told_and_no_other() -> None:
    assert {*re.findall(r"`/(\w+)", PAGE)} == {one.name for one in declared.COMMANDS}


def test_every_word_that_is_told_means_something_in_a_thread() -> None:
    thread_words.all_mean_something(PAGE, HEARD)


def test_every_sentence_that_is_explained_is_one_of_the_codes() -> None:
    sentences = explained(PAGE)
    assert len(sentences) > 20
    assert unsaid(sentences, "adapters/discord") == []
