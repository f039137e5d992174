"""One turn of the agent with everything around it, so that a test names only what it is about."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from core.agent import Agent, Session
from core.canonical import Json
from core.errors import SaysoError
from core.gateway import Access, Check, Count
from core.guardrails import Guarding, Guards
from core.limits import Limits
from core.mailbox import Mailbox, no_mail
from core.outcomes import Outcome
from core.past import NOTHING
from core.ports import Draft
from core.prompt import Prompt
from core.redaction import Redactor
from core.tools import Checked, Effect, Tool, Toolbox
from core.trail import Happening, Trail
from core.transcript import AgentText, Entry, Heard, ToolCall, Use, Wire, whole
from core.waiting import now
from tests.builders import a_caller, a_tool
from tests.fakes.model import Scripted, ScriptedModel
from tests.fakes.runner import FakeRunner

HEARD = Heard(speaker="alice", text="append alpha")
LOOK = a_tool("look", effect=Effect.READ)
LOOK_TWICE = a_tool("look-twice", effect=Effect.READ, steps=2)
WRITE = a_tool("append-word")
TOOLS = (LOOK, LOOK_TWICE, WRITE)
REQUEST = "f" * 32


@dataclass
class Proposals:
    """Stands for the gate: remembers what was proposed, and refuses where a test says so."""

    refusal: SaysoError | None = None
    slow: float = 0.0
    made: list[tuple[tuple[Checked, ...], AgentText]] = field(
        default_factory=list[tuple[tuple[Checked, ...], AgentText]]
    )
    seen: list[str] = field(default_factory=list[str])
    """What the reads of the same step had found."""
    entries: list[tuple[Entry, ...]] = field(default_factory=list[tuple[Entry, ...]])
    """What the turn was to append."""

    async def __call__(
        self, calls: Sequence[Checked], about: AgentText, seen: str, entries: tuple[Entry, ...]
    ) -> str:
        await asyncio.sleep(self.slow)
        if self.refusal:
            raise self.refusal
        self.made.append((tuple(calls), about))
        self.seen.append(seen)
        self.entries.append(entries)
        return REQUEST


CALLER = a_caller()


async def untold(_: Sequence[Happening]) -> None:
    """Keep nothing."""


async def unbriefed() -> tuple[Entry, ...]:
    """Tell nothing before a message."""
    return ()


async def unchecked(_: object) -> None:
    """Refuse nothing."""


def an_access(authorize: Check = unchecked, count: Count = unchecked) -> Access:
    """Return what may be done: everything, unless something is said."""
    return Access(authorize=authorize, count=count)


def a_guarding(guards: Guards, redactor: Redactor, trail: Trail = untold) -> Guarding:
    """Return what asks these guards."""
    return Guarding(guards=guards, redactor=redactor, trail=trail, turn="t_1")


def a_session(limits: Limits) -> Session:
    """Return what a turn within these limits may use: everything, and nobody is told."""
    tools = Toolbox.of(TOOLS)
    return Session(
        turn="t_1",
        end=now() + limits.seconds,
        limits=limits,
        spent=0,
        caller=CALLER,
        prompt=Prompt(tools=tools),
        defaults={},
        known=tools,
        access=an_access(),
        guarding=a_guarding(Guards(), Redactor.of([])),
        trail=untold,
        brief=unbriefed,
        mail=no_mail,
        watch=lambda _: None,
    )


@dataclass
class Scene:
    """One turn with everything around it."""

    runner: FakeRunner = field(default_factory=FakeRunner)
    proposals: Proposals = field(default_factory=Proposals)
    limits: Limits = field(default_factory=lambda: Limits(seconds=10))
    tools: tuple[Tool, ...] = TOOLS
    defaults: dict[str, Json] = field(default_factory=dict[str, Json])
    redactor: Redactor = field(default_factory=lambda: Redactor.of(["hunter2hunter2"]))
    history: tuple[Entry, ...] = ()
    heard: Heard = HEARD
    generative: bool = False
    known: tuple[Tool, ...] = ()
    """All tools, where `tools` are only those that whoever asks may use."""
    access: Access = field(default_factory=an_access)
    guards: Guards = field(default_factory=Guards)
    happened: list[Happening] = field(default_factory=list[Happening])
    trail: Trail | None = None
    """Where that is kept instead."""
    watch: Callable[[tuple[Entry, ...]], None] = lambda _: None
    mailbox: Mailbox | None = None
    draft: Draft | None = None

    async def turn(self, *script: Scripted) -> tuple[Outcome, ScriptedModel]:
        """Have a model play a script; whatever it does, the transcript stays whole."""
        model = ScriptedModel(*script, generative=self.generative)
        agent = Agent(runner=self.runner, redactor=self.redactor, pauses=(0, 0))
        tools = Toolbox.of(self.tools)
        offered = tools.beside(self.mailbox.tool) if self.mailbox else tools
        trail = self.trail or self._tell
        session = replace(
            a_session(self.limits),
            prompt=Prompt(tools=offered),
            defaults=self.defaults,
            known=Toolbox.of(self.known) if self.known else offered,
            access=self.access,
            guarding=a_guarding(self.guards, self.redactor, trail),
            trail=trail,
            watch=self.watch,
            draft=self.draft,
            mail=self.mailbox.news if self.mailbox else no_mail,
        )
        outcome = await agent.turn(
            self.heard,
            model=model,
            session=session,
            propose=self.proposals,
            history=NOTHING.then(*self.history),
        )
        assert whole(outcome.entries) == outcome.entries
        return outcome, model

    async def _tell(self, happened: Sequence[Happening]) -> None:
        self.happened += happened


def call(tool: str, word: str = "alpha", *, name: str = "1", **more: Json) -> ToolCall:
    """Return a call of one of the tools."""
    return ToolCall(id=name, tool=tool, arguments={"word": word, **more})


def use(*calls: ToolCall, about: AgentText | None = None, tokens: int = 0) -> Use:
    """Return a step; `tokens` are what it took."""
    return Use(calls=calls, about=about or AgentText(), wire=Wire(output_tokens=tokens))
