"""Processes die, databases fail and people stop things at random: nothing is lost, nothing happens twice."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import TypeVar

import pytest

from adapters.storage.jobs import MOST_REQUEUES
from adapters.storage.transactions import Database, Row, Work, rows
from approvals.models import State
from core.conversations import Received
from core.errors import SaysoError, Unavailable
from core.ports import Listener
from core.prompt import Prompt
from core.transcript import Entry, Heard, Move, Say, ToolCall, Use
from tests.bots import Bots
from tests.builders import THREAD, a_tool
from tests.fakes.chat import FakeChat
from tests.fakes.clock import FrozenClock
from tests.fakes.model import ScriptedModel
from tests.gates import World, allow
from tests.jobs import PATIENCE
from tests.stores import Stores, at_rest

T = TypeVar("T")
TOOL = a_tool("append-word", steps=2, lock="words")
LEFT = (
    "SELECT id, state FROM job WHERE state IN ('queued', 'running')"
    " AND kind NOT IN ('expire', 'remind')"
)


@dataclass
class Life:
    """A process that serves."""

    is_over: bool = False


LIFE: ContextVar[Life | None] = ContextVar("LIFE", default=None)


@dataclass
class Chaos:
    """A database that is slow and often busy, and answers nobody who is dead."""

    database: Database
    random: Random
    busy: float
    is_calm: bool = False

    async def transact(self, work: Work[T]) -> T:
        """Run it, if the chooser of fates lets it."""
        await self._fate()
        if not self.is_calm and self.random.random() < self.busy:
            raise Unavailable("The database is busy.")
        found = await self.database.transact(work)
        await self._fate()
        return found

    async def changes(self) -> int:
        """Look."""
        return await self.database.changes()

    async def _fate(self) -> None:
        if not self.is_calm and self.random.random() < 0.3:
            await asyncio.sleep(self.random.random() * 0.03)
        life = LIFE.get()
        if life and life.is_over:
            raise asyncio.CancelledError


class Echo(ScriptedModel):
    """A model that proposes what begins with p, and answers the rest."""

    async def next_move(
        self,
        entries: Sequence[Entry],
        prompt: Prompt,
        *,
        conclude: bool = False,
        hear: Listener | None = None,
    ) -> Move:
        """See the port."""
        del prompt, conclude, hear
        await asyncio.sleep(0.01)
        last = entries[-1]
        if not isinstance(last, Heard) or not last.text.startswith("p"):
            return Say(text="Well.")
        call = ToolCall(id="1", tool=TOOL.name, arguments={"word": last.text})
        return Use(calls=(call,))


@dataclass
class Town:
    """Two processes that serve, and people."""

    bots: Bots
    chaos: Chaos
    clock: FrozenClock
    random: Random
    serving: dict[str, tuple[Life, "asyncio.Task[None]"]] = field(
        default_factory=dict[str, tuple[Life, "asyncio.Task[None]"]]
    )
    received: list[Received] = field(default_factory=list[Received])
    asides: list["asyncio.Task[object]"] = field(default_factory=list["asyncio.Task[object]"])
    born: int = 0

    def begin(self) -> None:
        """Have one more process serve."""
        self.born += 1
        name, life = f"server {self.born}", Life()
        token = LIFE.set(life)
        serving = asyncio.create_task(self.bots.engine(name).serve(asyncio.Event()))
        LIFE.reset(token)
        self.serving[name] = life, serving

    async def end(self, name: str, *, dies: bool) -> None:
        """End a process: as if it were killed, or as a server that is told to leave."""
        life, serving = self.serving.pop(name)
        life.is_over = dies
        serving.cancel()
        await asyncio.wait([serving])
        self.bots.dead.add(name)

    async def hears(self, number: int) -> None:
        """Have somebody say something in the thread."""
        text = f"{self.random.choice('pq')}{number}"
        if received := await attempt(self.bots.receive(text, place=THREAD)):
            self.received.append(received)

    async def happens(self) -> None:
        """Have one thing happen."""
        await asyncio.sleep(self.random.random() * 0.02)
        chance = self.random.random()
        if chance < 0.2:
            await self.end(self.random.choice(list(self.serving)), dies=chance < 0.15)
            self.begin()
        elif chance < 0.3 and self.received:
            self.aside(self.bots.stop("alice", self.received[0].turn.conversation))
        elif chance < 0.4:
            self.clock.pass_by(timedelta(seconds=20))
        else:
            await self.decide(denies=chance > 0.9)

    async def decide(self, *, denies: bool) -> None:
        """Have somebody vote on something that waits."""
        requests = await attempt(self.bots.world.requests()) or []
        live = [one for one in requests if one.state in {State.OPEN, State.GRANTED}]
        if live:
            request = self.random.choice(live)
            world = self.bots.world
            self.aside(world.deny("carol", request) if denies else self.bots.vote("bob", request))

    def aside(self, what: Awaitable[object]) -> None:
        """Have it happen beside everything else."""
        self.asides.append(asyncio.ensure_future(attempt(what)))

    async def settles(self) -> None:
        """Let everything that was begun come to its end, and everybody leave."""
        self.chaos.is_calm = True
        await asyncio.gather(*self.asides)
        async with asyncio.timeout(PATIENCE):
            while await self.find(LEFT):
                self.clock.pass_by(timedelta(seconds=1))
                await asyncio.sleep(0.01)
        for name in list(self.serving):
            await self.end(name, dies=False)

    async def find(self, sql: str) -> list[Row]:
        """Return rows."""
        return await self.chaos.database.transact(lambda _: rows(sql))


async def attempt(what: Awaitable[T]) -> T | None:
    """Do it; return None where somebody was told that it is not to be."""
    try:
        return await what
    except SaysoError:
        return None


@pytest.mark.parametrize("busy", [0.0, 0.1], ids=["deaths", "deaths and failures"])
@pytest.mark.parametrize("seed", range(6))
async def test_nothing_is_lost_and_nothing_happens_twice(
    stores: Stores, clock: FrozenClock, seed: int, busy: float
) -> None:
    random = Random(seed)  # noqa: S311 - no secret
    chaos = Chaos(stores.database, random, busy)
    world = World(Stores(chaos), tools=(TOOL,))
    world.rules += (allow("chat:ask", "dev", "*"),)
    runner = world.runner
    runner.meanwhile[TOOL.name,] = lambda: asyncio.sleep(random.random() * 0.03)
    chat = FakeChat()
    bots = Bots(world, model=Echo(), chats={"slack": chat})
    town = Town(bots, chaos, clock, random)
    for _ in range(2):
        town.begin()
    for number in range(4):
        await town.hears(number)
    for _ in range(25):
        await town.happens()
    await town.settles()

    await at_rest(stores)
    # Only what was begun by one dead process after another is given up.
    assert not await town.find(
        f"SELECT id FROM job WHERE state = 'failed' AND attempt <= {MOST_REQUEUES}"
    )
    assert await town.find("SELECT id FROM turn WHERE ended_at IS NULL") == []
    assert await town.find("SELECT id FROM run WHERE state = 'running'") == []
    steps = Counter(name for name in runner.step_ids if name.startswith("r_"))
    assert max(steps.values(), default=1) == 1
    # Whatever failed for a moment revoked nothing and stopped nothing.
    requests = await stores.records.requests()
    assert not [one.reason for one in requests if "could not be prepared" in one.reason]
    stopped = "SELECT run.id FROM run JOIN step ON step.run = run.id JOIN job ON job.id = run.job"
    assert not await town.find(f"{stopped} WHERE step.note LIKE 'stopped%' AND cancel_at IS NULL")
    # Every turn is answered or stopped, in the order in which they came in.
    asked = [one.text for one in await stores.records.said(town.received[0].turn.conversation)
             if one.kind == "asked"]  # fmt: skip
    assert sorted(asked) == sorted(one.turn.wish.shown for one in town.received)
