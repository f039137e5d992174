"""For a minute, three workers are killed and paused at random; prints what that broke: nothing.

Run `python -m benchmarks.stress_jobs`.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from tests.jobs_stress import stress


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(stress(Path(folder), lanes=60, count=3600, job=0.7, most=180))
    print(f"3600 jobs, 60 lanes, 3 workers, {found.seconds:.0f} s")
    print(
        f"{found.kills} kills, {found.pauses} pauses beyond the lease, {found.reruns} safe re-runs"
    )
    print(f"states: {dict(found.states)}")
    broken = (found.disorders, found.overlaps, found.never_twice, found.lost)
    names = ("out of order", "overlapping effects", "`never` begun twice", "done without an end")
    print(", ".join(f"{count} {name}" for count, name in zip(broken, names, strict=True)))
    sys.exit(any(broken))


if __name__ == "__main__":
    main()
