"""Ack time: 200 slash commands at once, and 200 mentions, while the model takes five seconds.

Sayso is a process of its own, as `sayso run` makes it: the real Bolt over two sockets, a database
with synchronous=FULL. Only the model is another one. Slack is the project's own, in this process; an
ack is timed from before it sends the envelope until it has read the answer, so what it needs itself
counts too. The floor is the same 200 with a bare Bolt app that acknowledges at once and keeps
nothing. Nothing may be lost: each of the 200 is one turn in the database, answered in its thread.
"""

import asyncio
import json
import sqlite3
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

import yaml

from core.ports import Listener
from core.prompt import Prompt
from core.transcript import Entry, Move, Say
from tests.standins.slack import FakeSlack, Json
from tests.standins.slack.delivery import Delivery

AT_ONCE, PEOPLE, CHANNELS, ROUNDS = 200, 40, 20, 3
THINKS, PROMISE = 5.0, 0.5
"""Seconds."""
ANSWER = "That is what there is."
USERS = [f"U0P{number:03}" for number in range(PEOPLE)]


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


async def bare(base_url: str, bot_token: str, app_token: str) -> None:
    """Acknowledge everything at once, over two sockets."""
    from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler  # noqa: PLC0415
    from slack_bolt.app.async_app import AsyncApp  # noqa: PLC0415
    from slack_sdk.web.async_client import AsyncWebClient  # noqa: PLC0415

    app: Any = AsyncApp(client=AsyncWebClient(bot_token, base_url=base_url))

    async def command(ack: Callable[[], Awaitable[None]]) -> None:
        await ack()

    async def event() -> None:
        """Do nothing: Bolt acknowledges an event by itself."""

    app.command("/ask")(command)
    app.event("app_mention")(event)
    app.event("message")(event)
    for _ in range(2):
        handler: Any = AsyncSocketModeHandler(app, app_token)
        await handler.connect_async()
    await asyncio.Event().wait()


def furnish(home: Path, slack: FakeSlack) -> Path:
    """Write a configuration in which all those people may ask."""
    for name, token in (("bot_token", slack.bot_token), ("app_token", slack.app_token)):
        (home / name).write_text(token, "utf-8")
        (home / name).chmod(0o600)
    for folder in ("runbooks", "work"):
        (home / folder).mkdir()
    settings = {
        "tenants": {"acme": {"slack": ["T0TEAM"]}},
        "people": {user.lower(): {"slack": [f"T0TEAM:{user}"], "groups": []} for user in USERS},
        "policy": {"rules": [{"effect": "allow", "action": "chat:ask", "groups": ["everyone"]}]},
        "sandbox": {"backend": "none"},
        "slack": {
            "bot_token": "file:bot_token",
            "app_token": "file:app_token",
            "base_url": slack.base_url,
        },
    }
    file = home / "sayso.yml"
    written: str = yaml.safe_dump(settings)  # pyright: ignore[reportUnknownMemberType]
    file.write_text(written, "utf-8")
    return file


@asynccontextmanager
async def serving(slack: FakeSlack, *arguments: str) -> AsyncGenerator[None]:
    """Have a process of this script beside Slack, once both its sockets are open."""
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.bench_slack_ack", *arguments
    )
    try:
        await slack.sockets.until_open(2, within=30)
        yield
    finally:
        child.terminate()
        await child.wait()


@dataclass(kw_only=True)
class Burst:
    """What all those people do at once, and how long each acknowledgement took."""

    slack: FakeSlack
    seconds: list[float] = field(default_factory=list[float])

    def __post_init__(self) -> None:
        for user in USERS:
            self.slack.work.person(user)
        for number in range(CHANNELS):
            self.slack.work.channel(f"C0{number:02}", *USERS)
        send, together, there = self.slack.sockets.send, asyncio.Event(), count(1)

        async def timed(kind: str, payload: Json, **more: Any) -> Delivery:  # noqa: ANN401 - as it is there
            if next(there) == AT_ONCE:
                together.set()
            await together.wait()  # what Slack itself does before it sends is not timed
            began = time.perf_counter()
            delivery = await send(kind, payload, **more)
            assert delivery.acked, "one was not acknowledged within three seconds"
            self.seconds.append(time.perf_counter() - began)
            return delivery

        self.slack.sockets.send = timed  # type: ignore[method-assign]

    async def commands(self) -> None:
        slash = self.slack.people.slash
        await asyncio.gather(
            *(slash(user, where, "/ask", text) for user, where, text in self.said())
        )

    async def mentions(self) -> None:
        mention = self.slack.people.mention
        await asyncio.gather(*(mention(*said) for said in self.said()))

    def said(self) -> list[tuple[str, str, str]]:
        """Return who says what, and where."""
        return [
            (USERS[number % PEOPLE], f"C0{number % CHANNELS:02}", f"look at {number}")
            for number in range(AT_ONCE)
        ]

    def answered(self) -> int:
        """Return in how many threads the answer is to be read."""
        return len(
            {
                (channel, message.thread)
                for (channel, _), message in self.slack.work.messages.items()
                if ANSWER in str(message.now)
            }
        )


@dataclass(frozen=True, kw_only=True)
class Figures:
    acks: list[float] = field(default_factory=list[float])
    answered: list[float] = field(default_factory=list[float])
    """Seconds until all of a burst were answered."""


async def ours(what: str, figures: Figures) -> None:
    """Have one burst at Sayso, and see all of it answered."""
    with tempfile.TemporaryDirectory() as folder:
        async with FakeSlack() as slack:
            burst, file = Burst(slack=slack), furnish(Path(folder), slack)
            async with serving(slack, "sayso", str(file)):
                began = time.perf_counter()
                await getattr(burst, what)()
                kept = asked(Path(folder))
                assert kept == sorted(text for *_, text in burst.said()), f"{len(kept)} were kept"
                await slack.until(lambda: burst.answered() == AT_ONCE, within=120)
                figures.answered.append(time.perf_counter() - began)
                assert asked(Path(folder)) == kept, "one was taken twice"
    figures.acks.extend(burst.seconds)


async def floor(what: str, figures: Figures) -> None:
    """Have the same burst at the bare app."""
    async with FakeSlack() as slack:
        burst = Burst(slack=slack)
        async with serving(slack, "bare", slack.base_url, slack.bot_token, slack.app_token):
            await getattr(burst, what)()
    figures.acks.extend(burst.seconds)


def asked(home: Path) -> list[str]:
    """Return what was asked in each turn that is in the database."""
    with closing(sqlite3.connect(home / "data" / "sayso.db")) as database:
        return sorted(
            json.loads(wish)["text"] for (wish,) in database.execute("SELECT wish FROM turn")
        )


def percentile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


async def measured(what: str) -> None:
    """Print the figures of one kind of burst."""
    mine, least = Figures(), Figures()
    for _ in range(ROUNDS):
        await floor(what, least)
        await ours(what, mine)
    shares: tuple[tuple[str, Callable[[Sequence[float]], float], str], ...] = (
        ("median", median, ""),
        ("p99", lambda values: percentile(values, 0.99), f"promise: below {PROMISE:.1f} s"),
        ("max", max, ""),
    )
    for name, of, promise in shares:
        ack, bare_ack = of(mine.acks), of(least.acks)
        print(
            f"{f'{AT_ONCE} {what} at once, ack, {name}':<44} {ack * 1000:8.0f} ms"
            f"   {ack / bare_ack:6.2f} x {bare_ack * 1000:.0f} ms   {promise}"
        )
    print(
        f"{'  none lost; all answered':<44} {median(mine.answered):8.1f} s"
        f"    after {THINKS:.0f} s of the model"
    )


async def main() -> None:
    for what in ("commands", "mentions"):
        await measured(what)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["sayso", file]:
            sayso(Path(file))
        case ["bare", *tokens]:
            asyncio.run(bare(*tokens))
        case _:
            asyncio.run(main())
