"""The tour: a minute of a team's day, played for real. People type what anybody could type."""

from pathlib import Path

from bot import wiring
from bot.conversing import Conversing
from bot.demo import fleet
from bot.demo.acting import Acting
from bot.demo.scenes import SCENES
from bot.wiring import Seams, terminals
from core.deliveries import TERMINAL
from core.terminal import Terminal

_AFTER = "Your turn: run `sayso demo` in a terminal, or read the README."


async def play(home: Path, terminal: Terminal) -> int:
    """Play every scene in a furnished folder; return 0."""
    seams = Seams(chats={TERMINAL: terminal.chat})
    work = home / "work"
    async with fleet.running(work), wiring.opened(home / "sayso.yml", seams) as app:
        conversing = Conversing(
            app=app, terminal=terminal, read=terminals.read, who="alice", one_by_one=True
        )
        acting = Acting(conversing=conversing, work=work)
        async with conversing.serving():
            for number, (title, scene) in enumerate(SCENES, 1):
                await terminal.head(f"{number}. {title}")
                await scene(acting)
        await terminal.head(_AFTER)
    return 0
