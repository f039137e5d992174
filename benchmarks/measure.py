"""How the benchmarks measure: medians of interleaved repeats, printed with their spread."""

import asyncio
import sqlite3
import statistics
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


async def median_ms(work: Callable[[], Awaitable[object]], times: int) -> float:
    """Return the median wall time of one call in milliseconds."""
    spent: list[float] = []
    for _ in range(times):
        start = time.perf_counter()
        await work()
        spent.append((time.perf_counter() - start) * 1000)
    return statistics.median(spent)


def row(name: str, value: float, floor: float, promise: str = "") -> None:
    """Print one figure beside its floor."""
    print(f"{name:<44} {value:8.2f} ms   {value / floor:6.2f} x floor   {promise}")


async def cpu_us(work: Callable[[], Awaitable[object]], times: int) -> list[float]:
    """Return the CPU microseconds of each of so many calls, of all threads of this process."""
    spent: list[float] = []
    for _ in range(times):
        start = time.process_time_ns()
        await work()
        spent.append((time.process_time_ns() - start) / 1000)
    return spent


def cpu_row(name: str, value: float, floor: float, promise: str) -> None:
    """Print CPU microseconds beside those of their floor."""
    print(
        f"{name:<44} {value:8.0f} us CPU   {value / floor:5.2f} x {floor:.0f} us   promise: {promise}"
    )


class DurableFloor:
    """One thread, one connection, one INSERT a transaction: the least that anything durable does."""

    def __init__(self, path: Path) -> None:
        self.thread = ThreadPoolExecutor(max_workers=1)
        self.database = self.thread.submit(self.connect, path).result()

    @staticmethod
    def connect(path: Path) -> sqlite3.Connection:
        database = sqlite3.connect(path, isolation_level=None, timeout=5)
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        database.execute("CREATE TABLE IF NOT EXISTS kept (text TEXT)")
        return database

    def keep(self) -> None:
        self.database.execute("BEGIN IMMEDIATE")
        self.database.execute("INSERT INTO kept VALUES ('x')")
        self.database.execute("COMMIT")

    async def transactions(self, count: int) -> None:
        loop = asyncio.get_running_loop()
        for _ in range(count):
            await loop.run_in_executor(self.thread, self.keep)
