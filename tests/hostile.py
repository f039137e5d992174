"""The real product under a model that does what a test says; people decide, and only what happened counts."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from approvals.models import Request
from bot import authority, wiring
from bot.ask import Answered
from bot.wiring import App, Seams
from core.canonical import Json
from core.events import Approve, Ask, Deny, Stop
from core.principals import Identity
from core.tools import RESERVED
from core.transcript import AgentText, Broken, ToolCall, Use
from core.transcript import Stop as Ended
from tests.fakes.model import Scripted, ScriptedModel
from tests.sayso import Sayso

WHY = "because somebody asked"
_END = Broken(stop=Ended.UNKNOWN)
"""What a model says after its script: it ends the turn at once, where a failing fake would be tried again."""


def person(name: str) -> Identity:
    """Return somebody's account on the console."""
    platform, workspace = authority.CONSOLE
    return Identity(platform=platform, workspace=workspace, user=name)


def call(tool: str, arguments: dict[str, Json] | None = None, *, id: str = "1") -> ToolCall:  # noqa: A002 - what a provider calls it
    """Return a call as a model makes it, with a reason where it gives none of its own."""
    given = arguments or {}
    reads = tool.startswith("show")
    about: dict[str, Json] = {} if reads or given.keys() & set(RESERVED) else {"rationale": WHY}
    return ToolCall(id=id, tool=tool, arguments={**given, **about})


def use(*calls: ToolCall, text: str = "", about: AgentText | None = None) -> Use:
    """Return a step; calls without an id of their own are numbered."""
    return Use(calls=calls, text=text, about=about or AgentText())


def append(word: str = "alpha", *, id: str = "1", **more: Json) -> ToolCall:  # noqa: A002 - see above
    """Return the call that the tests are about: it needs one vote, of bob or carol."""
    return call("append-word", {"word": word, **more}, id=id)


LOOK = call("show-ledger", id="look")


@dataclass(kw_only=True)
class Team:
    """Alice asks, bob and carol may approve, mallory may nothing but chat."""

    sayso: Sayso
    app: App
    model: ScriptedModel
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])

    def __post_init__(self) -> None:
        self.files = self.found()

    def found(self) -> dict[str, bytes]:
        """Return what lies in the working folder."""
        work = self.sayso.folder / "work"
        return {str(f.relative_to(work)): f.read_bytes() for f in work.rglob("*") if f.is_file()}

    async def ask(
        self, *script: Scripted, here: str | None = None, as_: str = "alice", text: str = "go on"
    ) -> Answered:
        """Have somebody say something, and the model play this."""
        self.model.then(*script, *[_END] * 3)
        place = authority.CONSOLE_PLACE
        message = Ask(identity=person(as_), place=place, text=text, conversation=here)
        received = await self.app.inbox.ask(message)
        return await self.app.asking.answer(received, asyncio.Event())

    async def propose(
        self, *calls: ToolCall, here: str | None = None, as_: str = "alice"
    ) -> Request:
        """Have the model propose calls; nothing of them has run yet."""
        answered = await self.ask(use(*calls or (append(),)), here=here, as_=as_)
        assert answered.request is not None, answered
        return answered.request

    async def approve(self, request: Request, *people: str) -> None:
        """Have people press Approve."""
        for name in people or ("bob",):
            click = Approve(identity=person(name), request=request.id)
            await self.app.deciding.approve(click, asyncio.Event())

    async def deny(self, request: Request, by: str = "bob", reason: str = "") -> None:
        """Have somebody press Deny."""
        await self.app.deciding.deny(Deny(identity=person(by), request=request.id, reason=reason))

    async def stop(self, by: str = "alice") -> None:
        """Have somebody stop everything that is theirs."""
        await self.app.stopping.stop(Stop(identity=person(by), everything=True))

    async def refused_results(self, *calls: ToolCall, here: str | None = None) -> list[str]:
        """Have the model make calls that lead to no card; return what it is told about each."""
        told = list[str]()

        async def reads(_: object) -> Use:
            told.extend(one.text for one in self.model.told)
            return use()

        answered = await self.ask(use(*calls), reads, here=here)
        assert answered.request is None, answered
        return told

    def nothing_happened(self) -> None:
        """Fail if anything ran, or anybody seems to have agreed to anything."""
        assert self.found() == self.files
        assert self.sayso.sql("SELECT * FROM run") == []
        assert self.sayso.sql("SELECT * FROM vote") == []
        assert self.sayso.sql("SELECT id FROM request WHERE state IN ('granted', 'spent')") == []

    def ran(self, *requests: Request) -> None:
        """Fail unless exactly these ran, once each, approved by people."""
        spent = self.sayso.sql("SELECT id FROM request WHERE state IN ('granted', 'spent')")
        assert sorted(spent) == sorted((one.id,) for one in requests)
        runs = self.sayso.sql("SELECT request, state FROM run")
        assert sorted(runs) == sorted((one.id, "succeeded") for one in requests)
        short = (
            "SELECT id FROM request WHERE state = 'spent' AND quorum >"
            " (SELECT count(*) FROM vote WHERE request = request.id)"
        )
        assert self.sayso.sql(short) == []
        others = {n: b for n, b in self.found().items() if n != "ledger.txt"}
        assert others == {n: b for n, b in self.files.items() if n != "ledger.txt"}

    async def runs_once_approved(self, here: str | None = None, word: str = "counterpart") -> None:
        """Show that the same product does run a call that people did approve, and nothing besides."""
        self.nothing_happened()
        request = await self.propose(append(word), here=here)
        self.nothing_happened()
        await self.approve(request)
        self.ran(request)
        assert self.sayso.ledger() == [word]


@asynccontextmanager
async def team(sayso: Sayso, model: ScriptedModel | None = None) -> AsyncGenerator[Team]:
    """Open the product in a folder, as a process does that has just started."""
    played = model or ScriptedModel(generative=True)
    async with wiring.opened(Path(sayso.folder / "sayso.yml"), Seams(model=played)) as app:
        yield Team(sayso=sayso, app=app, model=played)
