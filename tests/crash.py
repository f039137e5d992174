"""One request's life from the message to the delivered report, in processes that die where a test says.

`python -m tests.crash` reads a line for each process it is to fork, and answers with how it ended.
All writing goes through one port and all acting through two, so dying after each of their calls is
dying at every line that writes or acts.
"""

import asyncio
import json
import os
import signal
import sqlite3
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from adapters.grammar import GrammarModel
from adapters.jobs.kinds import Pace
from adapters.storage.transactions import Database, Row, Statement, Transaction, Work
from bot import wiring
from bot.wiring import App, Seams
from core.canonical import JsonObject
from core.deliveries import Asking, Drafted, Message, Progress, Text
from core.errors import Refused
from core.events import Approve, Ask, Place
from core.plans import Step
from core.ports import Ended, Hear, Listener, Runner
from core.principals import Identity
from core.prompt import Prompt
from core.transcript import Entry, Move, Returned, ToolCall, Use, whole
from tests.jobs import soon

T = TypeVar("T")
PLACE = Place(platform="slack", workspace="T0TEAM", channel="C1", thread="1.1")
PATIENCE = 30.0


@dataclass
class Points:
    """Everything that was written or done, in order; the process dies at the chosen one."""

    log: Path
    dies_at: str
    seen: dict[str, int] = field(default_factory=dict[str, int])

    def reached(self, name: str) -> None:
        """Note a point, and die where it is the chosen one."""
        self.seen[name] = number = self.seen.get(name, 0) + 1
        point = name if number == 1 else f"{name} ({number})"
        with self.log.open("a", encoding="utf-8") as log:
            log.write(f"{point}\n")
        if point == self.dies_at:
            os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class MortalDatabase:
    """A database after whose commits the process may die."""

    database: Database
    points: Points
    by_number: bool = False
    """Whether every commit that wrote anything at all is a point."""

    async def transact(self, work: Work[T]) -> T:
        """Run it, and reach a point where it wrote something."""
        wrote = list[str]()
        if self.by_number:
            result = await self.database.transact(lambda now: _counted(work(now), wrote))
            if wrote:
                self.points.reached("commit")
            return result
        result = await self.database.transact(lambda now: _watched(work(now), wrote))
        claims = [name for name in wrote if name.endswith(" claimed")]
        other = [name for name in wrote if name not in claims]
        for point in (*claims, *([", ".join(dict.fromkeys(other))] if other else [])):
            self.points.reached(point)
        return result

    async def changes(self) -> int:
        """Look."""
        return await self.database.changes()


def _watched(transaction: Transaction[T], wrote: list[str]) -> Transaction[T]:
    try:
        statement = next(transaction)
        while True:
            found = yield statement
            wrote += _writes(statement, found)
            statement = transaction.send(found)
    except StopIteration as end:
        result: T = end.value
        return result


def _counted(transaction: Transaction[T], wrote: list[str]) -> Transaction[T]:
    try:
        statement = next(transaction)
        while True:
            if not statement.sql.startswith("SELECT"):
                wrote.append(statement.sql)
            statement = transaction.send((yield statement))
    except StopIteration as end:
        result: T = end.value
        return result


def _writes(statement: Statement, found: list[Row]) -> Iterator[str]:
    """Name what a statement wrote, as far as anything later depends on it."""
    if statement.sql.startswith("INSERT INTO audit"):
        yield str(statement.values["kind"])
    elif statement.sql.startswith("INSERT INTO posted"):
        yield "the message's id is kept"
    elif found and "UPDATE job SET state = 'running'" in statement.sql:
        yield from (f"{row['kind']} job claimed" for row in found)
    elif found and statement.sql.startswith("UPDATE job SET state = :state"):
        yield f"{str(statement.values['id']).partition(':')[0]} job ended"


@dataclass(frozen=True)
class MortalRunner:
    """A runner after whose commands the process may die, and in the middle of one."""

    runner: Runner
    points: Points
    ledger: Path

    @property
    def backend(self) -> str:
        """See the port."""
        return self.runner.backend

    def obstacle(self, step: Step) -> str | None:
        """See the port."""
        return self.runner.obstacle(step)

    async def run(self, step: Step, *, step_id: str, hear: Hear | None = None) -> Ended:
        """Run it, and reach a point when it has begun to act and another one when it has ended."""
        running = asyncio.ensure_future(self.runner.run(step, step_id=step_id, hear=hear))

        async def acts() -> bool:
            return running.done() or self.ledger.read_text("utf-8") != ""

        await soon(acts)
        self.points.reached("the step acts")
        ended = await running
        self.points.reached("the step has acted")
        return ended


@dataclass(frozen=True)
class Thread:
    """A chat that is a file. It implements `core.deliveries.Chat` as a platform with nonces does."""

    file: Path
    points: Points

    async def post(
        self,
        place: Place,
        message: Message,
        *,
        key: str,
        again: bool = False,
        drafted: Drafted | None = None,
    ) -> str:
        """Append a message, unless its key was posted."""
        del again, drafted
        assert place == PLACE
        kind = _kind(message)
        if all(line["key"] != key for line in self.lines()):
            self._append({"key": key, "kind": kind, "text": _text(message)})
        self.points.reached(f"the {kind} is posted")
        return key

    async def draft(self, place: Place, text: str, *, drafted: Drafted, again: bool = False) -> str:
        """Nobody speaks here before they have decided."""
        del place, text, drafted, again
        raise AssertionError

    async def edit(self, place: Place, posted: str, message: Message) -> None:
        """Append the new look of a message."""
        assert place == PLACE
        self._append({"key": f"edit of {posted}", "kind": "edit", "text": _text(message)})
        self.points.reached(f"the {_kind(message)} is redrawn")

    def lines(self) -> list[dict[str, str]]:
        """Return everything that was posted."""
        return [json.loads(line) for line in self.file.read_text("utf-8").splitlines()]

    def _append(self, line: dict[str, str]) -> None:
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def _text(message: Message) -> str:
    if isinstance(message, Progress):
        return "\n".join(
            [message.status, *message.printed, *(one.label for one in message.buttons)]
        )
    return message.status if isinstance(message, Asking) else message.text


def _kind(message: Message) -> str:
    kinds: dict[type[Message], str] = {Text: "text", Asking: "card", Progress: "progress"}
    return kinds[type(message)]


@dataclass(frozen=True)
class Life:
    """What the platform and the people do, over as many processes as it takes."""

    folder: Path
    app: App
    thread: Thread

    async def play(self, text: str) -> None:
        """Ask, wait for the card, approve it, wait for the report. Nothing acknowledged is sent again."""
        await self._once("asked", lambda: self._ask(text))
        await self._shown("card")
        await self._once("approved", self._approve)
        await self._shown("text")
        await soon(self._is_quiet)

    async def _once(self, name: str, event: Callable[[], Awaitable[None]]) -> None:
        acknowledged = self.folder / name
        if not acknowledged.exists():
            await event()
            self.thread.points.reached(f"{name}, and acknowledged")
            acknowledged.touch()

    async def _ask(self, text: str) -> None:
        ask = Ask(identity=_who("U0ALICE"), place=PLACE, text=text, deliveries=("Ev1", "C1:1.1"))
        await self.app.inbox.ask(ask)

    async def _approve(self) -> None:
        [request] = await self.app.records.requests()
        # Whoever clicks again, because the platform showed no answer, is told that it is decided.
        with suppress(Refused):
            await self.app.deciding.vote(Approve(identity=_who("U0BOB"), request=request.id))

    async def _shown(self, kind: str) -> None:
        async def is_there() -> bool:
            return any(line["kind"] == kind for line in self.thread.lines())

        await soon(is_there)

    async def _is_quiet(self) -> bool:
        with closing(sqlite3.connect(self.folder / "data" / "sayso.db")) as database:
            [(count,)] = database.execute(
                "SELECT count(*) FROM job WHERE state IN ('queued', 'running') AND kind NOT IN ('expire', 'due')"
            )
        return bool(count == 0)


def _who(user: str) -> Identity:
    return Identity(platform="slack", workspace="T0TEAM", user=user)


class Writer:
    """A model that writes: it looks, remembers, sets a reminder, then wants the change, by what it has seen."""

    generative = True
    steps: tuple[tuple[str, JsonObject], ...] = (
        ("show-ledger", {}),
        ("remember", {"kind": "semantic", "text": "alpha is wanted"}),
        ("remind_me", {"when": "2h", "text": "look again"}),
        ("append-word", {"word": "alpha", "rationale": "it was asked for"}),
    )

    async def next_move(
        self,
        entries: Sequence[Entry],
        prompt: Prompt,
        *,
        conclude: bool = False,
        hear: Listener | None = None,
    ) -> Move:
        """See the port."""
        del hear
        assert not conclude
        assert prompt.tools.names >= {tool for tool, _ in self.steps}
        assert whole(entries) == tuple(entries)
        done = sum(isinstance(entry, Returned) for entry in entries)
        tool, arguments = self.steps[done]
        return Use(calls=(ToolCall(id=str(done), tool=tool, arguments=arguments),))


async def live(folder: Path, dies_at: str, text: str, most: int, *, writes: bool) -> None:
    """Be one process of that life, which does at most so much at once.

    With a model that `writes`, every commit is a point.
    """
    points = Points(folder / "points", dies_at)
    thread = Thread(folder / "thread", points)
    seams = Seams(
        database=lambda database: MortalDatabase(database, points, by_number=writes),
        model=Writer() if writes else GrammarModel(),
        runner=lambda runner: MortalRunner(runner, points, folder / "work" / "ledger.txt"),
        chats={"slack": thread},
        pace=Pace(most=most),
    )
    async with wiring.opened(folder / "sayso.yml", seams) as app:
        stop = asyncio.Event()
        serving = asyncio.create_task(app.engine.serve(stop))
        async with asyncio.timeout(PATIENCE):
            await Life(folder, app, thread).play(text)
        stop.set()
        await serving


def main() -> None:
    """Fork a process a line: folder, where it dies, what is asked, how much at once, does a model write."""
    for line in sys.stdin:
        folder, dies_at, text, most, writes = json.loads(line)
        child = os.fork()
        if child == 0:
            asyncio.run(live(Path(folder), dies_at, text, most, writes=writes))
            os._exit(0)
        sys.stdout.write(f"{os.waitpid(child, 0)[1]}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
