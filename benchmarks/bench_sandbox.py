"""What the sandbox adds to the start of a step, and how late the event loop is while a step floods its output."""

import asyncio
import statistics
import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from adapters.sandbox.boxes import Box, NoBox
from adapters.sandbox.bubblewrap import Bubblewrap
from adapters.sandbox.programs import Program, Programs
from benchmarks.measure import median_ms, row
from core import ids
from core.ports import Ending, Tail
from core.redaction import Redactor
from tests.fakes.secrets import FakeSecrets

TIMES = 25
FLOODS = 20
TICK = 0.001


def program(*argv: str) -> Program:
    return Program(argv=argv, timeout_ms=20_000, memory_bytes=1 << 30, secrets=())


async def run(box: Box, what: Program) -> Ending:
    def hear(_: Tail) -> None:
        """Listen as whoever shows progress does, who reads the tail only now and then."""

    programs = Programs(box=box, secrets=FakeSecrets(), redactor=Redactor.of([]))
    ended = await programs.run(what, step_id=ids.step_id(ids.run_id(), 0), hear=hear)
    return ended.ending


async def startup(boxes: tuple[Box, ...]) -> None:
    """Print how long the shortest step takes in each, in turn so that both meet the same machine."""
    found: dict[str, list[float]] = {box.backend: [] for box in boxes}
    for _ in range(TIMES):
        for box in boxes:
            found[box.backend].append(await median_ms(partial(run, box, program("true")), 1))
    floor = statistics.median(found["none"])
    for name, spent in found.items():
        row(f"the shortest step, sandbox {name}", statistics.median(spent), floor)


async def late(box: Box) -> None:
    """Print how late a timer is while steps print for ever, and how much of that is our own work."""
    lags, ours, flooding = list[float](), list[float](), asyncio.create_task(floods(box))
    while not flooding.done():
        wall, own = time.perf_counter() + TICK, time.thread_time()
        await asyncio.sleep(TICK)
        lags.append((time.perf_counter() - wall) * 1000)
        ours.append((time.thread_time() - own) * 1000)
    assert await flooding == {Ending.TOO_MUCH_OUTPUT}
    for what, spent in (("late by the clock", lags), ("late by our own work", ours)):
        p99 = statistics.quantiles(spent, n=100)[-1]
        print(f"{what + ', p99, sandbox ' + box.backend:<44} {p99:8.2f} ms   promise: below 20 ms")


async def floods(box: Box) -> set[Ending]:
    return {await run(box, program("yes")) for _ in range(FLOODS)}


async def main() -> None:
    with TemporaryDirectory(prefix="sayso-bench-") as name:
        folder = Path(name).resolve()
        boxes: tuple[Box, ...] = (NoBox(folder=folder), Bubblewrap(folder=folder))
        await startup(boxes)
        for box in boxes:
            await late(box)


if __name__ == "__main__":
    asyncio.run(main())
