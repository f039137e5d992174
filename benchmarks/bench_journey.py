"""Ask, card, click, run, report: beside the least that any durable journey has to do.

The floor is hand-written: the same number of durable transactions (synchronous=FULL) with one
INSERT each on one thread, and one `/bin/true` as a child process.
"""

import asyncio
import subprocess
import tempfile
from pathlib import Path

from benchmarks.measure import DurableFloor, median_ms, row
from bot import authority, plain, wiring
from bot.ask import Answered
from bot.wiring import App
from core.events import Approve, Ask
from core.principals import Identity

TIMES = 60
TRANSACTIONS = 8
ROOT = Path(__file__).resolve().parents[1]
RUNBOOK = "name: nothing\nsummary: Nothing.\nrisk: low\nphrases: [do nothing]\nsteps: [{run: [/bin/true]}]\n"
READ = "name: look\nsummary: Look.\neffect: read\nphrases: [look]\nsteps: [{run: [/bin/true]}]\n"


def furnish(home: Path) -> None:
    (home / "runbooks").mkdir()
    (home / "work").mkdir()
    demo = (ROOT / "runbooks" / "demo" / "sayso.yml").read_text()
    # Nobody who measures is too fast.
    (home / "sayso.yml").write_text(f"{demo}\nrates: {{messages: {{most: 1000000, per: 1s}}}}\n")
    (home / "runbooks" / "nothing.yml").write_text(RUNBOOK)
    (home / "runbooks" / "look.yml").write_text(READ)


class Person:
    """Somebody at the console, through the same doors as everybody."""

    def __init__(self, app: App, name: str) -> None:
        platform, workspace = authority.CONSOLE
        self.app = app
        self.identity = Identity(platform=platform, workspace=workspace, user=name)

    async def ask(self, text: str) -> Answered:
        ask = Ask(identity=self.identity, place=authority.CONSOLE_PLACE, text=text)
        return await self.app.asking.answer(await self.app.inbox.ask(ask), asyncio.Event())

    async def approve(self, request: str) -> str:
        click = Approve(identity=self.identity, request=request)
        decided = await self.app.deciding.approve(click, asyncio.Event())
        return plain.decided(decided.request, decided.run)


class Floor(DurableFloor):
    async def child(self) -> None:
        child = subprocess.Popen(["/bin/true"])
        while child.poll() is None:
            await asyncio.sleep(0.001)

    async def journey(self) -> None:
        await self.transactions(TRANSACTIONS)
        await self.child()


async def measured(home: Path) -> None:
    floor = Floor(home / "floor.db")
    async with wiring.opened(home / "sayso.yml") as app:
        bob = Person(app, "bob")
        cards: list[Answered] = []

        async def ask() -> None:
            cards.append(await bob.ask("do nothing"))

        async def approve() -> None:
            request = cards.pop().request
            assert request is not None
            assert "succeeded" in await bob.approve(request.id)

        async def journey() -> None:
            await ask()
            await approve()

        async def read() -> None:
            await bob.ask("look")

        for work in (journey, read, floor.journey):
            await median_ms(work, 5)
        least, one = await median_ms(floor.journey, TIMES), await median_ms(floor.child, TIMES)
        await asyncio.sleep(0)
        row("ask, card, click, run, report", await median_ms(journey, TIMES), least)
        row("ask until the card is stored", await median_ms(ask, TIMES), least)
        row(
            "click until the report is stored",
            await median_ms(approve, TIMES),
            least,
            "of it, one child process",
        )
        row("a read, answered", await median_ms(read, TIMES), least)
        row("floor: transactions and a child", least, least)
        row("floor: the child alone", one, least)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        furnish(home)
        asyncio.run(measured(home))


if __name__ == "__main__":
    main()
