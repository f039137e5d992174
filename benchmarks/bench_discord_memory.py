"""Memory of Discord's side of Sayso: 10,000 cards posted, pressed, and redrawn as decided.

The adapter is a process of its own, with the real discord.py client over a gateway; Discord is the
project's own, in this process, so that what it keeps does not count. Whatever discord.py or the adapter
kept of a card, a view or a press would show as bytes a card. What is measured begins after
the first 2,000, since discord.py itself holds the last 1,000 messages.
"""

import asyncio
import gc
import resource
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import discord

from adapters.discord import declared
from adapters.discord.platform import DiscordPlatform
from adapters.discord.setup import DiscordSetup
from core.cards import Button, Card, Verb
from core.deliveries import Asking
from core.events import Approve, Place
from core.platforms import Event, Home, Told
from core.principals import Identity
from tests.fakes.leases import FakeLeases
from tests.standins.discord import ALICE, BOB, GUILD, OPS, FakeDiscord, Json
from tests.standins.discord.plain import labels_of

CARDS, WARM, AT_ONCE, THREADS = 10_000, 2_000, 20, 50
_PAGE = resource.getpagesize()
_VERBS: tuple[tuple[str, Verb], ...] = (
    ("Approve", "approve"),
    ("Deny", "deny"),
    ("Review full plan", "review"),
)


def card(number: int, status: str) -> Asking:
    """Return a card with its buttons while it is open, and without once it is decided."""
    request = f"{number:032x}"
    buttons = tuple(Button(label=label, verb=verb, request=request) for label, verb in _VERBS)
    drawn = Card(
        title=f"Approve to run: restart-web {number}",
        plan=(f'restart-web {{"word": "host-{number}"}}', "  0. run restart, at most 10s"),
        facts=(),
        warnings=(),
        estimate="about 20 s",
        preview=(),
        unchecked=(),
        buttons=buttons if status == "Open." else (),
    )
    return Asking(card=drawn, status=status)


@dataclass(kw_only=True)
class Desk:
    """Redraws each card that is approved; keeps nothing else."""

    platform: DiscordPlatform
    open: dict[str, tuple[Place, str]] = field(default_factory=dict[str, tuple[Place, str]])
    free: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))
    decided: int = 0

    async def take(self, event: Event) -> Told:
        assert isinstance(event, Approve)
        place, posted = self.open.pop(event.request)
        number = int(event.request, 16)
        await self.platform.chat.edit(place, posted, card(number, "Approved by bob."))
        self.decided += 1
        self.free.release()
        return Told(text="Your yes counts: 1 of 1 vote.")

    async def home(self, identity: Identity) -> Home:
        raise NotImplementedError(identity)


def resident() -> int:
    """Return how many bytes of memory this process has, once everything that is garbage is gone."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * _PAGE


def held() -> str:
    """Return how many views, views by message and modals discord.py holds in each client."""
    found = list[str]()
    for one in gc.get_objects():
        if isinstance(one, discord.Client) and type(one) is not discord.Client:
            state: object = vars(one)["_connection"]
            store: Any = vars(state)["_view_store"]
            kept: list[dict[object, object]] = [
                vars(store)[name] for name in ("_views", "_synced_message_views", "_modals")
            ]
            found.append(" + ".join(str(len(each)) for each in kept))
    return ", ".join(found)


async def adapter(api_url: str, gateway_url: str, token: str, *threads: str) -> None:
    """Be the adapter: post every card, take every press, and print the figures."""
    setup = DiscordSetup(
        token=token,
        api_url=api_url,
        gateway_url=gateway_url,
        guilds=frozenset({GUILD}),
        guilds_of=lambda _: (GUILD,),
    )
    platform = DiscordPlatform(setup=setup, leases=FakeLeases(), owner="1:1")
    desk = Desk(platform=platform)
    places = [Place(platform="discord", workspace=GUILD, channel=OPS, thread=t) for t in threads]

    async def post(number: int) -> None:
        place, request = places[number % THREADS], f"{number:032x}"
        posted = await platform.chat.post(place, card(number, "Open."), key=f"card:{number}")
        desk.open[request] = (place, posted)
        print(f"posted {posted}", flush=True)

    async with platform.connected(desk):
        marks = dict[int, int]()
        for number in range(1, CARDS + 1):
            await desk.free.acquire()
            await post(number)
            if number in (1, WARM, CARDS):
                while desk.decided < number:
                    await asyncio.sleep(0.01)
                marks[number] = resident()
        await platform.tasks.drain(5.0)
        first, warm, last = marks[1], marks[WARM], resident()
        megabytes = [f"{value / 2**20:.1f} MB" for value in (first, warm, last)]
        print(f"  resident after 1, {WARM} and {CARDS} cards: {', '.join(megabytes)}")
        print(f"  a card, of the last {CARDS - WARM}: {(last - warm) / (CARDS - WARM):.0f} bytes")
        print(f"  discord.py holds views, views by message, modals: {held()}")


@asynccontextmanager
async def furnished() -> AsyncGenerator[tuple[FakeDiscord, list[str]]]:
    """Give a Discord with threads."""
    async with FakeDiscord() as fake:
        fake.declares([dict(one) for one in declared.payload()])
        threads = [
            await fake.people.opens_thread(ALICE, OPS, f"t{number}") for number in range(THREADS)
        ]
        yield fake, threads


async def main() -> None:
    began = time.perf_counter()
    async with furnished() as (fake, threads):
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "benchmarks.bench_discord_memory",
            fake.api_url, fake.gateway_url, fake.token, *threads,
            stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert child.stdout is not None
        count = 0
        async for line in child.stdout:
            word, _, rest = line.decode().rstrip("\n").partition(" ")
            if word == "posted":
                message: Json = fake.message(rest)
                assert labels_of(message)[0] == "Approve"
                await fake.people.presses(BOB, message, "Approve")
                count += 1
                if count % 500 == 0:
                    forget(fake)
            else:
                print(line.decode().rstrip("\n"), flush=True)
        assert await child.wait() == 0
    print(
        f"  {count} cards were posted, pressed and redrawn in {time.perf_counter() - began:.0f} s"
    )


def forget(fake: FakeDiscord) -> None:
    """Have Discord keep little of what is over: it is not what is measured."""
    fake.acts[:-200] = []
    fake.web.calls[:-200] = []
    for session in fake.gateway.sessions:
        over = session.frames[:-500]
        session.frames[: len(over)] = [{}] * len(over)


if __name__ == "__main__":
    match sys.argv[1:]:
        case [api_url, gateway_url, token, *threads]:
            asyncio.run(adapter(api_url, gateway_url, token, *threads))
        case _:
            asyncio.run(main())
