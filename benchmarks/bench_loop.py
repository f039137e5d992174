"""What the loop adds, in CPU: a read turn, an approval journey, and turn 1,000 beside turn 10.

The floor writes what Sayso writes, row for row, in as many durable transactions (synchronous=FULL),
with nothing but `sqlite3` and one thread: what was written in some journeys is recorded and written
once more to a copy of the database. It reads nothing, decides nothing and asks nobody.
"""

import asyncio
import gc
import sqlite3
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from pathlib import Path
from statistics import median
from typing import TypeVar

from adapters.storage.transactions import Database, Statement, Transaction, Work
from benchmarks.bench_journey import furnish
from benchmarks.measure import cpu_row, cpu_us
from bot import wiring
from bot.demo.people import People
from bot.wiring import Seams
from core.plans import RunStep
from core.ports import Ended, Ending, Model, Runner
from core.prompt import Prompt
from core.transcript import Entry, Heard, Move, Say, ToolCall, Use

T = TypeVar("T")
WARM, TIMES, TURNS, AROUND = 30, 150, 1_000, 10
WRITES = ("INSERT", "UPDATE", "DELETE")


@dataclass
class Scripted:
    """A model that writes: it makes the call that it was asked for, then says a sentence."""

    generative: bool = True
    made: "count[int]" = field(default_factory=count)

    async def next_move(
        self, entries: Sequence[Entry], prompt: Prompt, *, conclude: bool = False
    ) -> Move:
        del prompt
        last = entries[-1]
        if conclude or not isinstance(last, Heard):
            return Say(text="That is what there is.")
        why = {"rationale": "It was asked for."} if last.text == "nothing" else {}
        return Use(calls=(ToolCall(id=f"toolu_{next(self.made)}", tool=last.text, arguments=why),))


@dataclass(frozen=True)
class Instant:
    """A runner that runs nothing."""

    backend: str = "none"

    def obstacle(self, step: RunStep) -> str | None:
        del step
        return None

    async def run(self, step: RunStep, *, step_id: str) -> Ended:
        del step, step_id
        return Ended(ending=Ending.EXITED, exit_code=0, output="three words")


@dataclass
class Recorded:
    """A database that keeps what was written, for each transaction that wrote anything."""

    database: Database | None = None
    on: bool = False
    written: list[list[Statement]] = field(default_factory=list[list[Statement]])

    async def transact(self, work: Work[T]) -> T:
        assert self.database is not None
        if not self.on:
            return await self.database.transact(work)
        return await self.database.transact(lambda now: self.noting(work, now))

    async def changes(self) -> int:
        assert self.database is not None
        return await self.database.changes()

    def noting(self, work: Work[T], now: datetime) -> Transaction[T]:
        transaction, made = work(now), list[Statement]()
        try:
            statement = next(transaction)
            while True:
                made += [statement] if statement.sql.startswith(WRITES) else []
                found = yield statement
                statement = transaction.send(found)
        except StopIteration as end:
            self.written += [made] if made else []
            result: T = end.value
            return result


@asynccontextmanager
async def people(home: Path, *, writes: bool = True) -> AsyncGenerator[tuple[People, Recorded]]:
    """Open a Sayso whose tools and model take no time, the model one that writes or the grammar."""
    furnish(home)
    recorded = Recorded()

    def database(given: Database) -> Database:
        recorded.database = given
        return recorded

    def runner(_: Runner) -> Runner:
        return Instant()

    def model(given: Model) -> Model:
        return Scripted() if writes else given

    seams = Seams(database=database, runner=runner, model=model)
    async with wiring.opened(home / "sayso.yml", seams) as app:
        yield People(app), recorded


async def floor_us(home: Path, recorded: Recorded) -> float:
    """Write once more what was written, to the copy, and return the CPU microseconds of all of it."""
    transactions = [
        [(one.sql, dict(one.values)) for one in statements] for statements in recorded.written
    ]
    with closing(
        sqlite3.connect(home / "floor.db", isolation_level=None, check_same_thread=False)
    ) as to:
        to.execute("PRAGMA synchronous = FULL")

        def write(statements: list[tuple[str, dict[str, str | int | None]]]) -> None:
            to.execute("BEGIN IMMEDIATE")
            for sql, values in statements:
                to.execute(sql, values).fetchall()
            to.execute("COMMIT")

        async def all_of_it() -> None:
            for statements in transactions:
                await asyncio.get_running_loop().run_in_executor(None, write, statements)

        [spent] = await cpu_us(all_of_it, 1)
    return spent


async def beside_floor(name: str, texts: Sequence[str]) -> None:
    """Measure journeys that begin with these words, then record some more of them and replay those."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        async with people(home) as (them, recorded):

            async def journey() -> None:
                for text in texts:
                    told = await them.ask("bob", text)
                    if told.request:
                        assert "succeeded" in await them.approve("bob", told.request.id)

            await cpu_us(journey, WARM)
            gc.collect()
            ours = median(await cpu_us(journey, TIMES))
            copy(home)
            recorded.on = True
            await cpu_us(journey, TIMES)
        least = await floor_us(home, recorded) / TIMES
    each = len(recorded.written) / TIMES
    rows = sum(map(len, recorded.written)) / TIMES
    cpu_row(f"{name} ({rows:.0f} writes in {each:.0f})", ours, least, "at most 3 x")


def copy(home: Path) -> None:
    """Copy the database as it is now."""
    with (
        closing(sqlite3.connect(home / "data" / "sayso.db")) as source,
        closing(sqlite3.connect(home / "floor.db")) as target,
    ):
        source.backup(target)
        target.execute("PRAGMA journal_mode = WAL")


async def growth(name: str, text: str, *, writes: bool) -> None:
    """Have one conversation go on for 1,000 turns in one process."""
    with tempfile.TemporaryDirectory() as folder:
        async with people(Path(folder), writes=writes) as (them, _):
            first = await them.ask("bob", text)

            async def turn() -> None:
                await them.ask("bob", text, first.conversation)

            # Another one first, so that the tenth turn is not slow for what any process does once.
            for _ in range(WARM):
                await them.ask("bob", text)
            spent = await cpu_us(turn, TURNS + AROUND)
    early = median(spent[10 - AROUND : 10 + AROUND])
    late = median(spent[TURNS - AROUND : TURNS + AROUND])
    cpu_row(f"turn 1,000 beside turn 10, {name}", late, early, "at most 1.2 x")


def main() -> None:
    asyncio.run(beside_floor("a read turn", ["look"]))
    asyncio.run(beside_floor("ask, card, click, run, report", ["nothing"]))
    asyncio.run(growth("a model", "look", writes=True))
    asyncio.run(growth("the grammar", "look", writes=False))


if __name__ == "__main__":
    main()
