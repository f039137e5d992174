"""What may never come back is waited for in bounded time, and there is one of it at a time."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.aside import Aside, begin
from core.errors import Refused
from tests.jobs import PATIENCE

ROOT = Path(__file__).parents[3]
AT_ONCE = 0.01
HANGS = """
import asyncio, threading
from bot import leaving
from bot.aside import Aside, begin

async def main():
    begin(threading.Event().wait)
    try:
        await Aside().within(0.01, threading.Event().wait)
    except TimeoutError:
        print("late")

leaving.run(main())
leaving.leave(0)
"""


@dataclass
class Hanging:
    """A deed that takes until it is let go."""

    let_go: threading.Event = field(default_factory=threading.Event)
    times: int = 0
    most: int = 0
    now: int = 0

    def __call__(self) -> int:
        self.times, self.now = self.times + 1, self.now + 1
        self.most = max(self.most, self.now)
        self.let_go.wait()
        self.now -= 1
        return self.times


@pytest.fixture
def hanging() -> Generator[Hanging]:
    found = Hanging()
    yield found
    found.let_go.set()


def fail() -> None:
    raise Refused("No.")


async def test_what_comes_of_it_comes_back() -> None:
    aside = Aside()
    assert await aside.within(PATIENCE, lambda: 1) == 1
    with pytest.raises(Refused):
        await aside.within(PATIENCE, fail)
    assert await aside.within(PATIENCE, lambda: 2) == 2


async def test_nobody_waits_longer_than_that_and_the_loop_goes_on(hanging: Hanging) -> None:
    aside = Aside()
    waiting = asyncio.create_task(aside.within(PATIENCE, hanging))
    await asyncio.sleep(0)  # the loop is not held
    assert not waiting.done()
    waiting.cancel()
    with pytest.raises(TimeoutError):
        await aside.within(AT_ONCE, hanging)


async def test_what_hangs_keeps_out_what_comes_after_it(hanging: Hanging) -> None:
    aside = Aside()
    for _ in range(3):
        with pytest.raises(TimeoutError):
            await aside.within(AT_ONCE, hanging)
    assert hanging.times == 1
    hanging.let_go.set()
    assert await aside.within(PATIENCE, hanging) == 2


async def test_of_many_at_once_each_waits_for_its_turn(hanging: Hanging) -> None:
    aside = Aside()
    many = [asyncio.create_task(aside.within(PATIENCE, hanging)) for _ in range(5)]
    await asyncio.sleep(0)
    hanging.let_go.set()
    assert sorted(await asyncio.gather(*many)) == [1, 2, 3, 4, 5]
    assert hanging.most == 1


def test_without_a_loop_it_is_bounded_too(hanging: Hanging) -> None:
    with pytest.raises(TimeoutError):
        begin(hanging).result(AT_ONCE)
    with pytest.raises(Refused):
        begin(fail).result(PATIENCE)


def test_a_process_ends_without_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HANGS],
        cwd=ROOT, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=True, timeout=PATIENCE,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("late\n", "")
