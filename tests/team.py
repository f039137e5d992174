"""A team in Slack: the project's own Slack, and `sayso run` as a process of its own beside it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.sayso import Running, Sayso, fresh
from tests.standins.slack import FakeSlack, Json

OPS = "C0OPS"
ALICE, BOB, CAROL, MALLORY = "U0ALICE", "U0BOB", "U0CAROL", "U0MALLORY"


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """What people see of Sayso in Slack."""

    slack: FakeSlack
    sayso: Sayso

    async def serve(self) -> Running:
        """Start a server and wait until it is connected."""
        sockets = len(self.slack.sockets.open)
        running = self.sayso.start("run", env=self.tokens)
        await asyncio.to_thread(running.ready)
        await self.slack.until(lambda: len(self.slack.sockets.open) >= sockets + 2)
        return running

    @property
    def tokens(self) -> dict[str, str]:
        """Return what a server needs to be let in."""
        return {"SLACK_BOT_TOKEN": self.slack.bot_token, "SLACK_APP_TOKEN": self.slack.app_token}

    async def asks(self, user: str, text: str, *, channel: str = OPS) -> str:
        """Have somebody ask with the slash command; return the thread that opens."""
        before = len(self.slack.messages(channel))
        await self.slack.people.slash(user, channel, "/ask", text)
        await self.slack.until(lambda: len(self.slack.messages(channel)) > before)
        return str(self.slack.messages(channel)[-1]["ts"])

    async def card(self, thread: str, *, channel: str = OPS) -> Json:
        """Return the newest card in a thread, once one is there."""
        await self.slack.until(lambda: self.cards(thread, channel))
        return self.cards(thread, channel)[-1]

    def cards(self, thread: str, channel: str = OPS) -> list[Json]:
        """Return the messages of a thread that can be approved."""
        return [
            m for m in self.slack.messages(channel, thread) if "Approve" in self.slack.buttons(m)
        ]

    async def reads(self, thread: str, text: str, *, channel: str = OPS) -> None:
        """Wait until a text is to be read in a thread."""
        await self.slack.until(
            lambda: any(text in one for one in self.slack.thread(channel, thread)), within=10
        )

    async def told(self, user: str, text: str) -> None:
        """Wait until somebody alone was told something."""
        await self.slack.until(lambda: any(text in one for one in self.slack.ephemerals(user)))


@asynccontextmanager
async def team(folder: Path) -> AsyncGenerator[Team]:
    """Give a team whose configuration is the contract's, with Slack."""
    async with FakeSlack() as slack:
        for user in (ALICE, BOB, CAROL, MALLORY):
            slack.work.person(user)
        slack.work.channel(OPS, ALICE, BOB, CAROL, MALLORY)
        with fresh(folder) as sayso:
            config = folder / "sayso.yml"
            section = (
                'slack: {bot_token: "env:SLACK_BOT_TOKEN", app_token: "env:SLACK_APP_TOKEN",'
                f' base_url: "{slack.base_url}"}}\n'
            )
            config.write_text(config.read_text("utf-8") + section, "utf-8")
            yield Team(slack=slack, sayso=sayso)
