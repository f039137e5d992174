"""C85 and C61 on Slack and Discord: how far a step says to be, and all that it printed as a file of its thread."""

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from tests.sayso import Sayso
from tests.server import Server, server
from tests.standins.discord import BOB
from tests.team import BOB as BOB_ON_SLACK
from tests.team import OPS as OPS_ON_SLACK
from tests.team import Team, team

pytestmark = pytest.mark.asyncio(loop_scope="module")
LISTS = """
summary: Print twenty thousand lines, half of them after some seconds.
risk: low
phrases: ["list all"]
steps:
  - run: [python3, -u, list.py]
"""
PRINTS = """
import time
print("\\n".join(f"<line> {n}" for n in range(10000)))
for done in range(20):
    print(f"sayso: {5 * done}% copying @everyone")
    time.sleep(0.2)
print("\\n".join(f"<line> {n}" for n in range(10000, 20000)))
"""
SHOWN = 200_000
ALL = [f"<line> {n}" for n in range(20000)]


def lists(sayso: Sayso) -> None:
    sayso.runbook("list-all", LISTS)
    (sayso.folder / "work" / "list.py").write_text(PRINTS, "utf-8")


def run_of(sayso: Sayso) -> str:
    [(run,)] = sayso.sql("SELECT id FROM run")
    return str(run)


def lines(file: bytes) -> list[str]:
    """Return what it says besides how far it is."""
    return [line for line in file.decode().splitlines() if not line.startswith("sayso: ")]


def is_whole(file: bytes) -> bool:
    """Tell it from the report, which is a file too."""
    return len(file) > SHOWN


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def slack(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Team]:
    async with team(tmp_path_factory.mktemp("slack") / "acme") as made:
        lists(made.sayso)
        await made.serve()
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def discord(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Server]:
    async with server(tmp_path_factory.mktemp("discord") / "acme") as made:
        made.declared()
        lists(made.sayso)
        await made.serve()
        yield made


async def test_c85_on_slack_all_of_it_comes_into_the_thread(slack: Team) -> None:
    thread, card = await slack.proposed(BOB_ON_SLACK, "list all")
    await slack.clicks(BOB_ON_SLACK, card, "Approve")
    await slack.reads(thread, "% copying @everyone")
    await slack.reads(thread, "Step 0 printed more than is shown: ")
    run = run_of(slack.sayso)
    await slack.says(BOB_ON_SLACK, thread, f"!output {run} 0")
    await slack.reads(thread, "list-all, printed: ")

    def files() -> list[bytes]:
        there = slack.slack.messages(OPS_ON_SLACK, thread)
        shared = [file["id"] for one in there for file in one.get("files", ())]
        return [slack.slack.work.files[file]["content"] for file in shared]

    await slack.until(lambda: any(map(is_whole, files())))
    [kept] = filter(is_whole, files())
    assert lines(kept) == ALL
    await slack.says(BOB_ON_SLACK, thread, "!output r_0123456789abcdef 0")
    await slack.told(BOB_ON_SLACK, "There is no such step that you may know of.")


async def test_c85_on_discord_all_of_it_comes_into_the_thread(discord: Server) -> None:
    thread, card = await discord.proposed(BOB, "list all")
    await discord.presses(BOB, card, "Approve")
    await discord.reads(thread, "% copying @everyone")
    await discord.reads(thread, "Step 0 printed more than is shown: ")
    run = run_of(discord.sayso)
    await discord.says(BOB, thread, f"!output {run} 0")
    await discord.reads(thread, "list-all, printed: ")

    def files() -> list[bytes]:
        there = discord.discord.messages(thread)
        return [file for one in there for file in discord.discord.files(one).values()]

    await discord.until(lambda: any(map(is_whole, files())))
    [kept] = filter(is_whole, files())
    assert lines(kept) == ALL
