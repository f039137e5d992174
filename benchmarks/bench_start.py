"""How long commands take to start, beside a bare interpreter in the same run."""

import asyncio
import subprocess
import sys
from pathlib import Path

from benchmarks.measure import median_ms, row

ROOT = Path(__file__).resolve().parents[1]
TIMES = 15


async def started(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


async def main() -> None:
    bare = await median_ms(lambda: started("-c", "pass"), TIMES)
    row("python -c pass", bare, bare)
    helped = await median_ms(lambda: started("-m", "bot", "--help"), TIMES)
    row("sayso --help", helped, bare, "promise: below 300 ms")
    imported = await median_ms(lambda: started("-c", "import bot.console"), TIMES)
    row("everything a command imports", imported, bare)


if __name__ == "__main__":
    asyncio.run(main())
