"""One team on both platforms: a Slack and a Discord of the project's own, and one process beside them."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.sayso import Sayso, fresh
from tests.server import Server, on_discord
from tests.standins.discord import FakeDiscord
from tests.standins.slack import FakeSlack
from tests.standins.slack.plain import text_of
from tests.team import OPS, Team, in_slack


@dataclass(frozen=True, slots=True, kw_only=True)
class Both:
    """What people see of Sayso, each where they are."""

    team: Team
    server: Server
    sayso: Sayso

    async def serve(self) -> None:
        """Start a process and wait until it is connected to both."""
        await self.server.sync()
        opened = self.team.slack.sockets.opened
        began = len(self.server.discord.gateway.identified)
        running = self.sayso.start("run", env={**self.team.tokens, **self.server.tokens})
        await asyncio.to_thread(running.ready)
        await self.team.slack.sockets.until_opened(opened + 2)
        await self.server.discord.gateway.until_identified(began + 1)

    async def in_slack(self, user: str, words: str) -> str:
        """Have somebody use `/sayso` in Slack; return what they alone are told."""
        before = len(self.team.slack.ephemerals(user))
        done = await self.team.slack.people.slash(user, OPS, "/sayso", words)
        assert done.acked
        if done.answer:
            return text_of(done.answer)
        await self.team.slack.until(lambda: len(self.team.slack.ephemerals(user)) > before)
        return self.team.slack.ephemerals(user)[-1]


@asynccontextmanager
async def both(folder: Path, *, discord_section: str = "") -> AsyncGenerator[Both]:
    """Give a team whose configuration is the contract's, with Slack and Discord."""
    async with FakeSlack() as slack, FakeDiscord() as discord:
        with fresh(folder) as sayso:
            yield Both(
                team=in_slack(slack, sayso),
                server=on_discord(discord, sayso, discord_section),
                sayso=sayso,
            )
