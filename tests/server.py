"""A server on Discord: the project's own Discord, and `sayso run` as a process of its own beside it."""

import asyncio
import signal
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from adapters.discord import declared
from tests.discord_outgoing import unsafe
from tests.sayso import Done, Running, Sayso, fresh, until
from tests.standins.discord import OPS, FakeDiscord, Interaction, Json
from tests.standins.discord.plain import buttons_of, text_of
from tests.team import ECHO, LOOK, PATIENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """What people see of Sayso on Discord."""

    discord: FakeDiscord
    sayso: Sayso

    async def serve(self) -> Running:
        """Start a server and wait until it is connected."""
        before = len(self.discord.gateway.identified)
        running = self.sayso.start("run", env=self.tokens)
        await asyncio.to_thread(running.ready)
        await self.discord.gateway.until_identified(before + 1)
        return running

    async def stands_by(self) -> Running:
        """Start a server beside another one, and wait until it is ready to take over."""
        running = self.sayso.start("run", env=self.tokens)
        await asyncio.to_thread(running.ready)
        return running

    def declared(self) -> None:
        """Let Discord have been told of the commands."""
        self.discord.declares(map(dict, declared.payload()))

    async def ends(self, running: Running, number: signal.Signals = signal.SIGTERM) -> Done:
        """End a server, and wait until its session is no longer connected."""
        connected = len(self.discord.gateway.connected)
        done = await asyncio.to_thread(running.signal, number)
        await self.discord.gateway.until_connected(connected - 1)
        return done

    async def sync(self) -> Done:
        """Have Discord told of the commands."""
        return await asyncio.to_thread(self._synced)

    def _synced(self) -> Done:
        done = self.sayso.run("sync", "discord", env=self.tokens)
        assert done.code == 0, done
        return done

    @property
    def tokens(self) -> dict[str, str]:
        """Return what a server needs to be let in."""
        return {"DISCORD_TOKEN": self.discord.token}

    async def asks(self, user: str, text: str, *, channel: str = OPS) -> str:
        """Have somebody ask with the slash command; return the thread that opens."""
        before = set(self.discord.threads(channel))
        await self.discord.people.slash(user, channel, "ask", text=text)
        return await self._opened(before, channel)

    async def mentions(self, user: str, text: str, *, channel: str = OPS) -> str:
        """Have somebody ask with a mention; return the thread that opens."""
        before = set(self.discord.threads(channel))
        await self.discord.people.mentions(user, channel, text)
        return await self._opened(before, channel)

    async def _opened(self, before: set[str], channel: str) -> str:
        def opened() -> set[str]:
            return set(self.discord.threads(channel)) - before

        await self.discord.until(opened, within=PATIENCE)
        [thread] = opened()
        return thread

    async def says(self, user: str, thread: str, text: str) -> Json:
        """Have somebody write in a thread, without a mention."""
        return await self.discord.people.writes(user, thread, text)

    async def card(self, thread: str) -> Json:
        """Return the newest card in a thread, once one is there."""
        await self.discord.until(lambda: self.cards(thread), within=PATIENCE)
        return self.cards(thread)[-1]

    async def proposed(self, user: str, text: str, *, channel: str = OPS) -> tuple[str, Json]:
        """Have somebody ask for a change; return the thread and the card in it."""
        thread = await self.asks(user, text, channel=channel)
        return thread, await self.card(thread)

    def cards(self, thread: str) -> list[Json]:
        """Return the messages of a thread that can be approved."""
        there = self.discord.messages(thread)
        return [each for each in there if "Approve" in self.discord.buttons(each)]

    def request(self, card: Json) -> str:
        """Return the id that the buttons of a card carry."""
        ids = [str(each.get("custom_id", "")) for each in buttons_of(card)]
        return next(each.split(":")[2] for each in ids if each.startswith("sayso:approve:"))

    async def presses(self, user: str, card: Json, what: str) -> Interaction:
        """Have somebody press a button, and wait until they wait no longer."""
        act = await self.discord.people.presses(user, card, what)
        return await self.discord.over(act, within=PATIENCE)

    async def denies(self, user: str, card: Json, reason: str) -> Interaction:
        """Have somebody press Deny and say why."""
        asked = await self.presses(user, card, "Deny")
        act = await self.discord.people.submits(user, asked.modal, reason=reason)
        return await self.discord.over(act, within=PATIENCE)

    def now(self, card: Json) -> str:
        """Return what a message says now."""
        return text_of(self.discord.message(str(card["id"])))

    async def shows(self, card: Json, text: str) -> list[str]:
        """Wait until a card says something; return the buttons that it then has."""
        await self._seen(lambda: [self.now(card)], text)
        return self.discord.buttons(self.discord.message(str(card["id"])))

    async def settled(self) -> None:
        """Wait until nothing is left to be answered or delivered."""
        left = "SELECT 1 FROM job WHERE kind IN ('turn', 'post', 'open') AND state IN (?, ?)"
        await self.until(lambda: not self.sayso.sql(left, "queued", "running"))

    async def reads(self, channel: str, text: str) -> None:
        """Wait until a text is to be read in a thread, or a channel."""
        await self._seen(lambda: self.discord.seen_in(channel), text)

    async def told(self, act: Interaction, text: str) -> None:
        """Wait until somebody alone is told something for what they did."""
        await self._seen(lambda: act.alone, text)

    async def _seen(self, there: Callable[[], list[str]], text: str) -> None:
        try:
            await self.discord.until(lambda: any(text in one for one in there()), within=PATIENCE)
        except TimeoutError:
            raise AssertionError(f"{text!r} is nowhere in {there()}") from None

    async def until(self, happened: Callable[[], object]) -> None:
        """Wait for something that Discord does not hear of, such as a line in the ledger."""
        await asyncio.to_thread(until, happened)

    async def begun(self, word: str) -> None:
        """Wait until a slow step has begun."""
        await self.until(lambda: f"begin {word}" in self.sayso.ledger())

    def turns(self, thread: str | None = None) -> int:
        """Return how many messages were taken in, in a thread or at all."""
        counted = "SELECT count(*) FROM turn JOIN conversation c ON c.id = turn.conversation"
        if thread is None:
            [(count,)] = self.sayso.sql(counted)
        else:
            [(count,)] = self.sayso.sql(f"{counted} WHERE c.thread = ?", thread)
        return int(count)

    def conversation(self, thread: str) -> str:
        """Return the conversation of a thread; fail where there is none."""
        [(found,)] = self.sayso.sql("SELECT id FROM conversation WHERE thread = ?", thread)
        return str(found)


@asynccontextmanager
async def server(folder: Path, *, discord_section: str = "") -> AsyncGenerator[Server]:
    """Give a server whose configuration is the contract's, with Discord and two runbooks that look.

    `discord_section` is what else stands in the section about Discord.
    """
    async with FakeDiscord() as discord:
        with fresh(folder) as sayso:
            sayso.runbook("echo", ECHO)
            sayso.runbook("look", LOOK)
            yield on_discord(discord, sayso, discord_section)
        assert unsafe(discord) == []


def on_discord(discord: FakeDiscord, sayso: Sayso, more: str = "") -> Server:
    """Put a Discord, in which the contract's people are, into the configuration."""
    sayso.configure(
        f'discord: {{token: "env:DISCORD_TOKEN", api_url: "{discord.api_url}",'
        f' gateway_url: "{discord.gateway_url}"{more and ", "}{more}}}'
    )
    return Server(discord=discord, sayso=sayso)


@asynccontextmanager
async def served(folder: Path, *, discord_section: str = "") -> AsyncGenerator[Server]:
    """Give a server with its commands declared and a process that runs."""
    async with server(folder, discord_section=discord_section) as made:
        await made.sync()
        await made.serve()
        yield made
