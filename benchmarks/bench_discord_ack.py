"""First answers on Discord: 200 commands at once, and presses of 200 cards, while the model takes five seconds.

Sayso is a process of its own, as `sayso run` makes it: discord.py over a gateway, a database with
synchronous=FULL. Only the model is another one. Discord is the project's own, in this process; an
answer is timed from before it sends the interaction until it has read the first answer, so what it
needs itself counts too. The floor is the same 200 with a bare discord.py client that answers at once
and keeps nothing. Nothing may be lost, and nothing done twice: each command is one turn in the database,
answered in its thread; each press is one run that succeeded.
"""

import asyncio
import json
import sqlite3
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Literal, TypeAlias

import yaml

from adapters.discord import declared
from core.ports import Listener
from core.prompt import Prompt
from core.transcript import Entry, Move, Say
from tests.standins.discord import BOT, GUILD, FakeDiscord, Interaction, Json
from tests.standins.discord.plain import labels_of
from tests.standins.discord.posting import make

Kind: TypeAlias = Literal["commands", "presses"]
KINDS: tuple[Kind, ...] = ("commands", "presses")
AT_ONCE, PEOPLE, CHANNELS, ROUNDS = 200, 40, 20, 3
THINKS, PROMISE = 5.0, 0.5
"""Seconds."""
THINKING = 20
"""In so many conversations the model thinks while the cards are pressed."""
ANSWER = "That is what there is."
USERS = [f"5000000000000001{number:02}" for number in range(PEOPLE)]
WHERE = [f"6000000000000001{number:02}" for number in range(CHANNELS)]
NOTE = """name: note
summary: Note one word.
effect: write
risk: low
params:
  word: {type: string, pattern: "^[a-z0-9]{1,20}$"}
phrases: ["note {word}"]
steps:
  - run: ["true", "{word}"]
"""


@dataclass(frozen=True)
class Slow:
    """A model that takes its time, and then says a sentence."""

    generative: bool = True

    async def next_move(
        self,
        entries: Sequence[Entry],
        prompt: Prompt,
        *,
        conclude: bool = False,
        hear: Listener | None = None,
    ) -> Move:
        del entries, prompt, conclude, hear
        await asyncio.sleep(THINKS)
        return Say(text=ANSWER)


def sayso(file: Path) -> None:
    """Be `sayso run` with that model."""
    from bot import console, wiring  # noqa: PLC0415 - in the child alone

    wiring.opened = partial(wiring.opened, seams=wiring.Seams(model=Slow()))
    console.run(file)


def bare(api_url: str, gateway_url: str, token: str) -> None:
    """Answer everything at once."""
    import discord  # noqa: PLC0415 - in the child alone

    from adapters.discord.endpoints import point  # noqa: PLC0415
    from adapters.discord.setup import DiscordSetup  # noqa: PLC0415

    class Bare(discord.Client):
        async def on_interaction(self, interaction: "discord.Interaction[Any]") -> None:
            await interaction.response.send_message("Done.", ephemeral=True)

    point(DiscordSetup(token=token, api_url=api_url, gateway_url=gateway_url))
    cached = discord.MemberCacheFlags.none()
    intents = discord.Intents(guilds=True, guild_messages=True, message_content=True)
    client = Bare(intents=intents, member_cache_flags=cached, chunk_guilds_at_startup=False)
    client.run(token, log_handler=None)


def furnish(home: Path, discord: FakeDiscord) -> Path:
    """Write a configuration in which all those people may ask and approve."""
    (home / "token").write_text(discord.token, "utf-8")
    (home / "token").chmod(0o600)
    for folder in ("runbooks", "work"):
        (home / folder).mkdir()
    (home / "runbooks" / "note.yml").write_text(NOTE, "utf-8")
    may = ("chat:ask", "run:propose", "plan:approve")
    settings = {
        "tenants": {"acme": {"discord": [GUILD]}},
        "people": {f"p{user}": {"discord": [f"{GUILD}:{user}"], "groups": []} for user in USERS},
        "policy": {
            "rules": [{"effect": "allow", "action": one, "groups": ["everyone"]} for one in may]
        },
        "sandbox": {"backend": "none"},
        "discord": {
            "token": "file:token",
            "api_url": discord.api_url,
            "gateway_url": discord.gateway_url,
        },
    }
    file = home / "sayso.yml"
    written: str = yaml.safe_dump(settings)  # pyright: ignore[reportUnknownMemberType]
    file.write_text(written, "utf-8")
    return file


@asynccontextmanager
async def serving(discord: FakeDiscord, *arguments: str) -> AsyncGenerator[None]:
    """Have a process of this script beside Discord, once it is connected."""
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.bench_discord_ack", *arguments
    )
    try:
        await discord.gateway.until_identified(within=30)
        yield
    finally:
        child.terminate()
        await child.wait()


@asynccontextmanager
async def furnished() -> AsyncGenerator[FakeDiscord]:
    """Give a Discord with all those people and channels."""
    async with FakeDiscord() as discord:
        discord.declares([dict(one) for one in declared.payload()])
        for user in USERS:
            discord.world.person(user, f"p{user[-2:]}")
        for channel in WHERE:
            discord.world.channel(channel, f"c{channel[-2:]}")
        yield discord


@contextmanager
def held(discord: FakeDiscord) -> Generator[list[Interaction]]:
    """Keep what people do meanwhile from being sent."""
    ready, send = list[Interaction](), discord.people.send
    discord.people.send = ready.append
    yield ready
    discord.people.send = send


async def sent(discord: FakeDiscord, acts: Sequence[Interaction]) -> list[float]:
    """Send all of it at once; return how many seconds each first answer took."""
    for act in acts:
        act.born = discord.world.time.now()
        discord.people.send(act)
    await discord.until(lambda: all(act.answered or act.failed for act in acts))
    lost = sum(act.failed for act in acts)
    assert not lost, f"{lost} were not answered within three seconds"
    assert {act.sessions for act in acts} == {1}
    return [act.answered_after or 0.0 for act in acts]


async def asks(discord: FakeDiscord, texts: Sequence[str]) -> list[Interaction]:
    """Have each text asked by somebody, somewhere."""
    with held(discord) as acts:
        for number, text in enumerate(texts):
            user, channel = USERS[number % PEOPLE], WHERE[number % CHANNELS]
            await discord.people.slash(user, channel, "ask", text=text)
    return acts


async def presses(discord: FakeDiscord, cards: Sequence[Json]) -> list[Interaction]:
    """Have each card approved by somebody."""
    with held(discord) as acts:
        for number, card in enumerate(cards):
            await discord.people.presses(USERS[number % PEOPLE], card, "Approve")
    return acts


def shown(discord: FakeDiscord, text: str) -> int:
    """Return in how many threads a text is to be read."""
    there = discord.world.messages.values()
    return len({one.channel for one in there if text in str(one.now) and not one.only_for})


def cards_of(discord: FakeDiscord) -> list[Json]:
    """Return the cards that can be approved."""
    there = [one.now for one in discord.world.messages.values() if not one.only_for]
    return [one for one in there if "Approve" in labels_of(one)]


def looked(count: int = AT_ONCE) -> list[str]:
    return [f"look at {number}" for number in range(count)]


def rows(home: Path, query: str) -> list[Any]:
    """Return the first column of what stands in the database."""
    with closing(sqlite3.connect(home / "data" / "sayso.db")) as database:
        return sorted(one for (one, *_) in database.execute(query))


@dataclass(frozen=True, kw_only=True)
class Figures:
    first: list[float] = field(default_factory=list[float])
    done: list[float] = field(default_factory=list[float])
    """Seconds until all of a burst came to its end."""


async def commands(home: Path, discord: FakeDiscord, figures: Figures) -> None:
    """Have one burst of commands, and see all of it answered."""
    began = time.perf_counter()
    figures.first.extend(await sent(discord, await asks(discord, looked())))
    kept = [json.loads(one)["text"] for one in rows(home, "SELECT wish FROM turn")]
    assert sorted(kept) == sorted(looked()), f"{len(kept)} were kept"
    await discord.until(lambda: shown(discord, ANSWER) == AT_ONCE, within=180)
    figures.done.append(time.perf_counter() - began)
    assert len(rows(home, "SELECT wish FROM turn")) == AT_ONCE, "one was taken twice"


async def approvals(home: Path, discord: FakeDiscord, figures: Figures) -> None:
    """Have one burst of presses, while a model thinks, and see all of it run."""
    await sent(discord, await asks(discord, [f"!note w{number}" for number in range(AT_ONCE)]))
    await discord.until(lambda: len(cards_of(discord)) == AT_ONCE, within=180)
    await sent(discord, await asks(discord, looked(THINKING)))
    began = time.perf_counter()
    figures.first.extend(await sent(discord, await presses(discord, cards_of(discord))))
    await discord.until(lambda: shown(discord, "### Report") == AT_ONCE, within=300)
    figures.done.append(time.perf_counter() - began)
    await discord.until(lambda: shown(discord, ANSWER) == THINKING, within=60)
    states = rows(home, "SELECT state FROM run")
    assert states == ["succeeded"] * AT_ONCE, f"{len(states)} ran"


async def ours(kind: Kind, figures: Figures) -> None:
    """Have one burst at Sayso."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        async with furnished() as discord, serving(discord, "sayso", str(furnish(home, discord))):
            await (commands if kind == "commands" else approvals)(home, discord, figures)


async def floor(kind: Kind, figures: Figures) -> None:
    """Have the same burst at the bare client."""
    async with furnished() as discord, bared(discord):
        if kind == "commands":
            acts = await asks(discord, looked())
        else:
            acts = await presses(discord, [card(discord, number) for number in range(AT_ONCE)])
        figures.first.extend(await sent(discord, acts))


def bared(discord: FakeDiscord) -> AbstractAsyncContextManager[None]:
    return serving(discord, "bare", discord.api_url, discord.gateway_url, discord.token)


def card(discord: FakeDiscord, number: int) -> Json:
    """Post a card in the bot's name."""
    button = {"type": 2, "style": 3, "label": "Approve", "custom_id": f"sayso:approve:{number}"}
    body: Json = {"content": "card", "components": [{"type": 1, "components": [button]}]}
    world = discord.world
    return make(world, WHERE[number % CHANNELS], world.users[BOT], body).now


def percentile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


async def measured(kind: Kind) -> None:
    """Print the figures of one kind of burst."""
    mine, least = Figures(), Figures()
    for _ in range(ROUNDS):
        await floor(kind, least)
        await ours(kind, mine)
    shares: tuple[tuple[str, Callable[[Sequence[float]], float], str], ...] = (
        ("median", median, ""),
        ("p99", lambda values: percentile(values, 0.99), f"promise: below {PROMISE:.1f} s"),
        ("max", max, ""),
    )
    for name, of, promise in shares:
        first, bare_first = of(mine.first), of(least.first)
        print(
            f"{f'{AT_ONCE} {kind} at once, first answer, {name}':<48} {first * 1000:8.0f} ms"
            f"   {first / bare_first:6.2f} x {bare_first * 1000:.0f} ms   {promise}"
        )
    print(f"{'  none lost, none twice; all done':<48} {median(mine.done):8.1f} s")


async def main() -> None:
    for kind in KINDS:
        await measured(kind)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["sayso", file]:
            sayso(Path(file))
        case ["bare", *where]:
            bare(*where)
        case _:
            asyncio.run(main())
