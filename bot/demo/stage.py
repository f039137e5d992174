"""Sets the demo up, plays it, and leaves nothing behind."""

import asyncio
import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

from bot import wiring
from bot.demo import chat, fleet, tour
from bot.demo.people import People


def play(*, tour: bool) -> int:
    """Play the tour, or on a terminal hold a conversation; return the exit code."""
    on_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    with tempfile.TemporaryDirectory(prefix="sayso-demo-") as folder:
        home = Path(folder)
        _furnish(home)
        try:
            return asyncio.run(_play(home, as_tour=tour or not on_terminal))
        except KeyboardInterrupt:
            return 0


async def _play(home: Path, *, as_tour: bool) -> int:
    async with fleet.running(home / "work"), wiring.opened(home / "sayso.yml") as app:
        people = People(app)
        return await (tour.play(people) if as_tour else chat.hold(people))


def _furnish(home: Path) -> None:
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
