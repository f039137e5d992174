"""Turns, clicks and stops as people feel them, and what waits: each beside a hand-written floor.

The floors are durable transactions (synchronous=FULL, one INSERT each): as many as the way has to
write at least. Of a start: the message, its claim. Of a gap: the end, the next claim. Of a click:
the vote, the claim, the spend, the intent. Of a stop: the mark and the end.
"""

import asyncio
import gc
import os
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from statistics import median

from adapters.storage.opening import MOST_OPEN
from adapters.storage.requests import Requests
from adapters.storage.sqlite import SqliteDatabase
from benchmarks.bench_journey import furnish
from benchmarks.measure import DurableFloor, median_ms, row
from bot import wiring
from bot.authority import CONSOLE, CONSOLE_PLACE
from bot.wiring import App, Seams
from core.events import Approve, Ask, Stop
from core.plans import Step
from core.ports import Ended, Ending, Hear, Runner
from core.principals import Identity
from tests.builders import a_checked, a_new_request, a_new_turn, a_rule
from tests.jobs_stress import SystemClock
from tests.stores import Stores, heard

TIMES = 40
PENDING = 10_000
BOB = Identity(platform=CONSOLE[0], workspace=CONSOLE[1], user="bob")


@dataclass
class Probe:
    """A runner that runs nothing and tells when it was asked to; it hangs where it should."""

    began_at: list[float] = field(default_factory=list[float])
    ended_at: list[float] = field(default_factory=list[float])
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    hangs: bool = False
    backend: str = "none"

    def obstacle(self, step: Step) -> str | None:
        del step
        return None

    async def run(self, step: Step, *, step_id: str, hear: Hear | None = None) -> Ended:
        del step, step_id, hear
        self.began_at.append(time.perf_counter())
        self.begun.set()
        if self.hangs:
            await asyncio.Event().wait()
        self.ended_at.append(time.perf_counter())
        return Ended(ending=Ending.EXITED, exit_code=0, output="")

    async def next(self) -> float:
        await self.begun.wait()
        self.begun.clear()
        return self.began_at[-1]


@asynccontextmanager
async def serving(home: Path, probe: Probe) -> AsyncGenerator[App]:
    def instead(_: Runner) -> Runner:
        return probe

    async with wiring.opened(home / "sayso.yml", Seams(runner=instead)) as app:
        stop = asyncio.Event()
        served = asyncio.create_task(app.engine.serve(stop))
        yield app
        stop.set()
        await served


def ask(text: str, conversation: str | None = None) -> Ask:
    return Ask(identity=BOB, place=CONSOLE_PLACE, text=text, conversation=conversation)


async def quiet(number: int) -> None:
    """Wait until nothing is under way, at another moment of a poll each time."""
    await asyncio.sleep(0.12 + number % 10 / 100)


async def starts(app: App, probe: Probe, floor: DurableFloor) -> None:
    found = list[float]()
    for number in range(TIMES):
        await quiet(number)
        begin = time.perf_counter()
        await app.inbox.ask(ask("look"))
        app.engine.look()
        found.append((await probe.next() - begin) * 1000)
    row(
        "message to its first read",
        median(found),
        await median_ms(lambda: floor.transactions(2), 100),
    )


async def gaps(app: App, probe: Probe, floor: DurableFloor) -> None:
    """Fill one conversation with messages and look how long nothing happens between two turns."""
    first = await app.inbox.ask(ask("look"))
    del probe.began_at[:], probe.ended_at[:]
    for _ in range(15):
        await app.inbox.ask(ask("look", first.turn.conversation))
    while len(probe.ended_at) < 15:
        await asyncio.sleep(0.01)
    pairs = zip(probe.began_at[1:15], probe.ended_at[0:14], strict=True)
    found = median([(began - ended) * 1000 for began, ended in pairs])
    row(
        "gap between two turns of a conversation",
        found,
        await median_ms(lambda: floor.transactions(2), 100),
    )


async def clicks(app: App, probe: Probe, floor: DurableFloor) -> None:
    found = list[float]()
    for number in range(TIMES):
        received = await app.inbox.ask(ask("do nothing"))
        turn = await app.asking.answer(received, asyncio.Event())
        assert turn.request is not None
        await quiet(number)
        probe.begun.clear()
        begin = time.perf_counter()
        await app.deciding.vote(Approve(identity=BOB, request=turn.request.id))
        found.append((await probe.next() - begin) * 1000)
    least = await median_ms(lambda: floor.transactions(4), 100)
    row("click to running", median(found), least, "promise: median below 25 ms")


async def stops(app: App, probe: Probe, floor: DurableFloor) -> None:
    await quiet(0)
    probe.hangs = True
    least = await median_ms(lambda: floor.transactions(2), 100)
    for name, text in (("answer", "look"), ("step", "do nothing")):
        found = list[float]()
        for number in range(TIMES // 2):
            probe.begun.clear()
            received = await app.inbox.ask(ask(text))
            where = received.turn.conversation
            if name == "step":
                turn = await app.asking.answer(received, asyncio.Event())
                assert turn.request is not None
                await app.deciding.vote(Approve(identity=BOB, request=turn.request.id))
            await probe.next()
            await quiet(number)
            begin = time.perf_counter()
            stopped = await app.stopping.stop(Stop(identity=BOB, conversation=where))
            found.append((time.perf_counter() - begin) * 1000)
            assert stopped.turns or stopped.runs
        worst = f"worst {max(found):.0f} ms; promise: below 1 s"
        row(f"stop to gone, {name}", median(found), least, worst)
    probe.hangs = False


def resident() -> int:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


async def pending(home: Path) -> None:
    """Let 10,000 requests wait for people in a process that serves, and a floor of as many rows."""
    database = await SqliteDatabase.open(home / "data" / "sayso.db", SystemClock())
    stores = Stores(database)
    for number in range(PENDING // MOST_OPEN):
        await heard(stores, a_new_turn(f"t_{number}", opens=f"c_{number}"))
    async with serving(home, Probe()):
        await asyncio.sleep(2)
        before, tasks = resident(), len(asyncio.all_tasks())
        for number in range(PENDING):
            new = a_new_request(
                a_checked(f"w{number}"),
                rule=a_rule(expires=timedelta(days=30)),
                conversation=f"c_{number // MOST_OPEN}",
            )
            await Requests(database).open(new)
        await asyncio.sleep(2)
        each, more = (resident() - before) / PENDING, len(asyncio.all_tasks()) - tasks
    await database.aclose()
    floor = DurableFloor(home / "rows.db")
    before = resident()
    await floor.transactions(PENDING)
    least = max(0.0, (resident() - before) / PENDING)
    print(
        f"{f'{PENDING:,} requests wait, resident each':<44} {each:8.0f} B    floor {least:.0f} B"
        f"        {more} tasks added; promise: below 1,024 B, no task"
    )


async def measured(home: Path) -> None:
    furnish(home)
    floor, probe = DurableFloor(home / "floor.db"), Probe()
    async with serving(home, probe) as app:
        await starts(app, probe, floor)
        await gaps(app, probe, floor)
        await clicks(app, probe, floor)
        await stops(app, probe, floor)
    await pending(home)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measured(Path(folder)))


if __name__ == "__main__":
    main()
