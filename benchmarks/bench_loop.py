"""What the loop adds, in CPU: a read turn, an approval journey, and turn 1,000 beside turn 10.

The floor writes what Sayso writes, row for row, in as many durable transactions (synchronous=FULL),
with nothing but `sqlite3` and one thread: what was written in some journeys is recorded and written
once more to a copy of the database. It reads nothing, decides nothing and asks nobody.
"""

import asyncio
import gc
import sqlite3
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import mean, median
from typing import TypeAlias, TypeVar

from adapters.grammar import GrammarModel
from adapters.storage.transactions import Database, Statement, Transaction, Value, Work
from benchmarks.bench_journey import furnish
from benchmarks.measure import cpu_row, cpu_us
from bot import wiring
from bot.authority import CONSOLE, CONSOLE_PLACE
from bot.wiring import App, Seams
from core.conversations import Turn
from core.events import Approve, Ask
from core.plans import Step
from core.ports import Ended, Ending, Hear, Listener, Runner
from core.principals import Identity
from core.prompt import Prompt
from core.transcript import Entry, Heard, Move, Say, ToolCall, Use

T = TypeVar("T")
WARM, TIMES, TURNS, AROUND = 30, 150, 1_000, 10
WRITES = ("INSERT", "UPDATE", "DELETE")
ENDS = ("UPDATE turn SET ended_at", "UPDATE run SET state")
BOB = Identity(platform=CONSOLE[0], workspace=CONSOLE[1], user="bob")


@dataclass
class Scripted:
    """A model that writes: it makes the call that it was asked for, then says a sentence."""

    generative: bool = True
    made: "count[int]" = field(default_factory=count)

    async def next_move(
        self,
        entries: Sequence[Entry],
        prompt: Prompt,
        *,
        conclude: bool = False,
        hear: Listener | None = None,
    ) -> Move:
        del prompt, hear
        last = entries[-1]
        if conclude or not isinstance(last, Heard):
            return Say(text="That is what there is.")
        why = {"rationale": "It was asked for."} if last.text == "nothing" else {}
        return Use(calls=(ToolCall(id=f"toolu_{next(self.made)}", tool=last.text, arguments=why),))


@dataclass(frozen=True)
class Instant:
    """A runner that runs nothing."""

    backend: str = "none"

    def obstacle(self, step: Step) -> str | None:
        del step
        return None

    async def run(self, step: Step, *, step_id: str, hear: Hear | None = None) -> Ended:
        del step, step_id, hear
        return Ended(ending=Ending.EXITED, exit_code=0, output="three words")


@dataclass
class Recorded:
    """A database that keeps what was written, for each transaction that wrote anything."""

    database: Database | None = None
    on: bool = False
    over: asyncio.Event = field(default_factory=asyncio.Event)
    """Is set where a turn or a run has ended."""
    written: list[list[Statement]] = field(default_factory=list[list[Statement]])

    async def transact(self, work: Work[T]) -> T:
        assert self.database is not None
        made = list[Statement]()
        result = await self.database.transact(lambda now: noting(work(now), made))
        if self.on and made:
            self.written.append(made)
        if any(one.sql.startswith(ENDS) for one in made):
            self.over.set()
        return result

    async def changes(self) -> int:
        assert self.database is not None
        return await self.database.changes()

    async def ended(self) -> None:
        """Wait until the next turn or run has ended."""
        await self.over.wait()
        self.over.clear()


def noting(transaction: Transaction[T], made: list[Statement]) -> Transaction[T]:
    """Run a transaction and keep what it writes."""
    try:
        statement = next(transaction)
        while True:
            if statement.sql.startswith(WRITES):
                made.append(statement)
            found = yield statement
            statement = transaction.send(found)
    except StopIteration as end:
        result: T = end.value
        return result


@dataclass(frozen=True)
class Bench:
    """A Sayso that serves, in this process."""

    app: App
    recorded: Recorded

    async def turn(self, text: str, conversation: str | None = None) -> Turn:
        """Ask, and return the turn as it was received once it has ended."""
        message = Ask(identity=BOB, place=CONSOLE_PLACE, text=text, conversation=conversation)
        received = await self.app.inbox.ask(message)
        await self.recorded.ended()
        return received.turn

    async def journey(self) -> None:
        """Ask for a change, approve it, and wait for the report."""
        asked = await self.turn("nothing")
        turn = await self.app.asking.conversations.turn(asked.tenant, asked.id)
        assert turn is not None
        assert turn.request is not None
        await self.app.deciding.vote(Approve(identity=BOB, request=turn.request))
        await self.recorded.ended()


@asynccontextmanager
async def serving(home: Path, *, writes: bool = True) -> AsyncGenerator[Bench]:
    """Serve with tools and a model that take no time; the model is one that writes, or the grammar."""
    furnish(home)
    recorded = Recorded()

    def database(given: Database) -> Database:
        recorded.database = given
        return recorded

    def runner(_: Runner) -> Runner:
        return Instant()

    model = Scripted() if writes else GrammarModel()
    seams = Seams(database=database, runner=runner, model=model)
    async with wiring.opened(home / "sayso.yml", seams) as app:
        stop = asyncio.Event()
        served = asyncio.create_task(app.engine.serve(stop))
        yield Bench(app, recorded)
        stop.set()
        await served


Does: TypeAlias = Callable[[Bench], Awaitable[object]]


async def floor_us(home: Path, recorded: Recorded) -> float:
    """Write once more what was written, to the copy, and return the CPU microseconds of all of it."""
    transactions = [
        [(one.sql, dict(one.values)) for one in statements] for statements in recorded.written
    ]
    connection = sqlite3.connect(home / "floor.db", isolation_level=None, check_same_thread=False)

    def write(statements: list[tuple[str, dict[str, Value]]]) -> None:
        connection.execute("BEGIN IMMEDIATE")
        for sql, values in statements:
            connection.execute(sql, values).fetchall()
        connection.execute("COMMIT")

    async def all_of_it() -> None:
        with ThreadPoolExecutor(max_workers=1) as thread:
            for statements in transactions:
                await asyncio.get_running_loop().run_in_executor(thread, write, statements)

    with closing(connection):
        connection.execute("PRAGMA synchronous = FULL")
        [spent] = await cpu_us(all_of_it, 1)
    return spent


async def beside_floor(name: str, does: Does) -> None:
    """Measure something, then record it some more times and write that again by hand."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        async with serving(home) as bench:
            await cpu_us(lambda: does(bench), WARM)
            gc.collect()
            ours = mean(await cpu_us(lambda: does(bench), TIMES))
            copy(home)
            bench.recorded.on = True
            await cpu_us(lambda: does(bench), TIMES)
        written = bench.recorded.written
        least = await floor_us(home, bench.recorded) / TIMES
    each, rows = len(written) / TIMES, sum(map(len, written)) / TIMES
    cpu_row(f"{name} ({rows:.0f} writes in {each:.0f})", ours, least, "at most 3 x")


def copy(home: Path) -> None:
    """Copy the database as it is now."""
    with (
        closing(sqlite3.connect(home / "data" / "sayso.db")) as source,
        closing(sqlite3.connect(home / "floor.db")) as target,
    ):
        source.backup(target)
        target.execute("PRAGMA journal_mode = WAL")


async def growth(name: str, *, writes: bool) -> None:
    """Have one conversation go on for 1,000 turns in one process."""
    with tempfile.TemporaryDirectory() as folder:
        async with serving(Path(folder), writes=writes) as bench:
            # Others first, so that the tenth turn is not slow for what any process does once.
            firsts = [await bench.turn("look") for _ in range(WARM)]
            here = firsts[-1].conversation
            spent = await cpu_us(lambda: bench.turn("look", here), TURNS + AROUND)
    early = median(spent[10 - AROUND : 10 + AROUND])
    late = median(spent[TURNS - AROUND : TURNS + AROUND])
    cpu_row(f"turn 1,000 beside turn 10, {name}", late, early, "at most 1.2 x")


def main() -> None:
    asyncio.run(beside_floor("a read turn", lambda bench: bench.turn("look")))
    asyncio.run(beside_floor("ask, card, click, run, report", lambda bench: bench.journey()))
    asyncio.run(growth("a model", writes=True))
    asyncio.run(growth("the grammar", writes=False))


if __name__ == "__main__":
    main()
