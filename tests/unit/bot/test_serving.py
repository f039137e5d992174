"""Serving until a signal: what runs may come to its end, for a while."""

import asyncio
import os
import signal
from dataclasses import dataclass, field

import pytest

from bot.serving import keep, serve, signalled
from core.errors import Unavailable
from tests.jobs import PATIENCE


@dataclass
class FakeEngine:
    """Serves until it is told to stop, and then for as long as it takes to let go."""

    letting_go: asyncio.Event = field(default_factory=asyncio.Event)
    fails: bool = False
    was_cut: bool = False
    owner: str = "this process"

    async def serve(self, stop: asyncio.Event) -> None:
        if self.fails:
            raise ValueError("broken")
        await stop.wait()
        try:
            await self.letting_go.wait()
        except asyncio.CancelledError:
            self.was_cut = True
            raise

    async def run(self, job: str, stop: asyncio.Event) -> bool:
        raise NotImplementedError

    async def see_through(self, job: str, stop: asyncio.Event) -> None:
        raise NotImplementedError

    def look(self) -> None:
        raise NotImplementedError


async def test_it_tells_that_it_is_ready_and_serves_until_it_is_told_to_stop() -> None:
    engine, stop, told = FakeEngine(), asyncio.Event(), list[str]()
    serving = asyncio.create_task(serve(engine, stop, lambda: told.append("ready"), grace=PATIENCE))
    await asyncio.sleep(0.05)
    assert (told, serving.done()) == (["ready"], False)
    stop.set()
    await asyncio.sleep(0.05)
    assert not serving.done()
    engine.letting_go.set()
    await asyncio.wait_for(serving, PATIENCE)
    assert not engine.was_cut


async def test_the_grace_begins_once_what_comes_before_it_is_over() -> None:
    engine, stop, over = FakeEngine(), asyncio.Event(), asyncio.Event()
    stop.set()
    serving = asyncio.create_task(serve(engine, stop, lambda: None, grace=0.01, before=over.wait))
    await asyncio.sleep(0.05)
    was_cut = [engine.was_cut]
    over.set()
    await asyncio.wait_for(serving, PATIENCE)
    assert [*was_cut, engine.was_cut] == [False, True]


async def test_what_takes_too_long_after_that_is_cut() -> None:
    engine, stop = FakeEngine(), asyncio.Event()
    stop.set()
    await asyncio.wait_for(serve(engine, stop, lambda: None, grace=0.05), PATIENCE)
    assert engine.was_cut


async def test_an_engine_that_breaks_is_no_clean_end() -> None:
    with pytest.raises(ValueError, match="broken"):
        await serve(FakeEngine(fails=True), asyncio.Event(), lambda: None)


async def test_what_is_kept_going_is_done_at_once_and_again_and_ends_with_the_server(
    caplog: pytest.LogCaptureFixture,
) -> None:
    stop, done = asyncio.Event(), list[int]()

    async def begin() -> None:
        done.append(len(done))
        if len(done) == 2:
            raise Unavailable("sayso.yml: line 3: half saved")
        if len(done) == 4:
            stop.set()

    await asyncio.wait_for(keep(begin, stop, every=0.01), PATIENCE)
    assert done == [0, 1, 2, 3]
    assert caplog.text.count("half saved") == 1


async def test_what_is_kept_going_does_not_keep_the_server_from_ending() -> None:
    stop, done = asyncio.Event(), list[int]()

    async def begin() -> None:
        done.append(1)

    keeping = asyncio.create_task(keep(begin, stop, every=3600))
    await asyncio.sleep(0.02)
    stop.set()
    await asyncio.wait_for(keeping, PATIENCE)
    assert done == [1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_both_signals_are_heard(number: signal.Signals) -> None:
    stop = signalled()
    try:
        os.kill(os.getpid(), number)
        await asyncio.wait_for(stop.wait(), PATIENCE)
    finally:
        for each in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().remove_signal_handler(each)
