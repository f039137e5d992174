"""The real discord.py, pointed at our own Discord for as long as a test lasts."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import discord
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from tests.standins.discord import FakeDiscord, Json

INTENTS = discord.Intents(
    guilds=True, guild_messages=True, dm_messages=True, message_content=True
)  # fmt: skip


class Listening(discord.Client):
    """A client that keeps what it heard."""

    def __init__(
        self, intents: discord.Intents = INTENTS, *, shard: tuple[int, int] | None = None,
        heartbeat_timeout: float = 60.0,
    ) -> None:  # fmt: skip
        number, count = shard or (None, None)
        super().__init__(
            intents=intents, shard_id=number, shard_count=count, max_ratelimit_timeout=30.0,
            guild_ready_timeout=0.05, heartbeat_timeout=heartbeat_timeout,
        )  # fmt: skip
        self.heard: list[discord.Message] = []
        self.acts: list[discord.Interaction] = []

    async def on_message(self, message: discord.Message) -> None:
        """Keep a message."""
        self.heard.append(message)

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Keep what somebody did, to be answered by the test."""
        self.acts.append(interaction)

    @property
    def words(self) -> list[str]:
        """Return what was written, in the order in which it was heard."""
        return [each.content for each in self.heard]

    async def call(self, method: str, path: str, body: Json | list[Json] | None = None) -> Json:
        """Call the REST interface with a body of one's own."""
        answer: Json = await self._called(method, path, body)
        return answer

    async def listed(self, path: str) -> list[Json]:
        """Return a list that the REST interface has."""
        answer: list[Json] = await self._called("GET", path, None)
        return answer

    async def _called(self, method: str, path: str, body: object) -> Any:  # noqa: ANN401 - JSON
        given: Json = {} if body is None else {"json": body}
        return await self.http.request(Route(method, path), **given)


@contextmanager
def pointed_at(fake: FakeDiscord) -> Generator[None]:
    """Have discord.py call our own Discord, and the real one again afterwards."""
    base, gateway = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
    Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = fake.api_url, yarl.URL(fake.gateway_url)
    try:
        yield
    finally:
        Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = base, gateway


@asynccontextmanager
async def logged_in(fake: FakeDiscord) -> AsyncGenerator[Listening]:
    """Give a client that may call, but has no session."""
    with pointed_at(fake):
        client = Listening()
        async with client:
            await client.login(fake.token)
            yield client


@asynccontextmanager
async def connected(
    fake: FakeDiscord, intents: discord.Intents = INTENTS, *,
    shard: tuple[int, int] | None = None, heartbeat_timeout: float = 60.0,
) -> AsyncGenerator[Listening]:  # fmt: skip
    """Give a client that is told of everything."""
    with pointed_at(fake):
        client = Listening(intents, shard=shard, heartbeat_timeout=heartbeat_timeout)
        running = asyncio.create_task(client.start(fake.token))
        try:
            await asyncio.wait_for(client.wait_until_ready(), 15)
            yield client
        finally:
            await client.close()
            with suppress(asyncio.CancelledError):
                await asyncio.wait_for(running, 10)
