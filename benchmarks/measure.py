"""How the benchmarks measure: medians of interleaved repeats, printed with their spread."""

import statistics
import time
from collections.abc import Awaitable, Callable


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
