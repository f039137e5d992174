"""Sets the demo up, plays it, and leaves nothing behind."""

import asyncio
import os
import shlex
import shutil
import signal
import sys
import tempfile
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path

from bot import at_terminal, log_files
from bot.called_off import SHELL, CalledOff
from bot.demo import fleet, tour
from bot.wiring import terminals
from core.terminal import Terminal

WELCOME = """You are alice, who asks; bob and carol decide, mallory has no rights.
Real services run here, in a temporary folder. Type help or /help, and /as bob."""


def play(*, as_tour: bool, as_chat: bool, no_color: bool) -> int:
    """Hold a conversation at a terminal, or else play the tour; return the exit code."""
    chatting = as_chat or (terminals.has_one() and not as_tour)
    with tempfile.TemporaryDirectory(prefix="sayso-demo-") as folder:
        home = Path(folder)
        furnish(home)
        begin = _chat(home, plain=no_color) if chatting else _tour(home, plain=no_color)
        with (
            log_files.logging_into(home / "sayso.log"),
            suppress(KeyboardInterrupt, asyncio.CancelledError),
        ):
            return asyncio.run(begin)
    return SHELL + signal.SIGINT


async def _chat(home: Path, *, plain: bool) -> int:
    async with fleet.running(home / "work"):
        left = await at_terminal.hold(
            home / "sayso.yml", lambda _: "alice", plain=plain, welcome=WELCOME
        )
    return left.code


async def _tour(home: Path, *, plain: bool) -> int:
    terminal = terminals.printer(plain=plain)
    return await _until_told(tour.play(home, terminal), terminal)


async def _until_told(work: Coroutine[None, None, int], terminal: Terminal) -> int:
    """Return what comes of it; where the process is told to end, or nobody reads, it is cut and cleans up."""
    task, off = asyncio.create_task(work), CalledOff()

    def end(number: signal.Signals) -> None:
        off.call(number)
        task.cancel()

    async def read_by() -> None:
        await terminal.unread()
        end(signal.SIGPIPE)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, end, number)
    reading = asyncio.create_task(read_by())
    await asyncio.wait({task})
    reading.cancel()
    return off.code if task.cancelled() else task.result()


def furnish(home: Path) -> None:
    """Put everything into a folder that the demo needs."""
    samples = _samples()
    shutil.copytree(samples / "demo", home, dirs_exist_ok=True)
    (home / "runbooks").mkdir()
    for runbook in samples.glob("*.yml"):
        shutil.copy(runbook, home / "runbooks")
    # Steps see only /usr/bin and /bin, where there may be no Python as new as this one.
    starter = home / "work" / "fleetctl"
    python = shlex.quote(os.path.realpath(sys.executable))
    starter.write_text(f'#!/bin/sh\nexec {python} -I fleetctl.py "$@"\n', encoding="utf-8")
    starter.chmod(0o755)


def _samples() -> Path:
    """Return the sample catalogue: inside an installed wheel, else in the checkout."""
    bot = Path(__file__).resolve().parents[1]
    installed = bot / "samples"
    return installed if installed.is_dir() else bot.parent / "runbooks"
