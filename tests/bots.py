"""Processes that decide, run and stop on one database, with a runner that does what a test says."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from adapters.jobs.kinds import Kind
from adapters.jobs.table import TableEngine
from adapters.storage import jobs, reminders, turns
from adapters.storage.rates import Rates
from adapters.storage.transactions import rows
from approvals.execution import Execution
from approvals.keeping import Keeping
from approvals.models import ESCALATE, EXPIRE, REMIND, RUN, Request, Run, job_of
from approvals.undoing import Undoing
from bot.answer import Answering
from bot.ask import Answered, Asking
from bot.briefing import Briefing, by_name, instructions
from bot.decide import Decided, Deciding
from bot.deliver import Delivering
from bot.drafting import Drafting
from bot.expire import Expiring
from bot.history import Cache, Recalling
from bot.inbox import Inbox
from bot.live import Live, LoopTimer, Tempo, Timer
from bot.means import Means
from bot.notify import Notifying
from bot.remind import Reminding
from bot.resolve import Resolving
from bot.run import Running
from bot.stop import Stopped, Stopping
from bot.wiring.kinds import run_kind
from core.agent import Agent
from core.conversations import TURN, Received, Turn
from core.conversations import job_of as turn_job
from core.deliveries import EDIT, OPEN, POST, Chat
from core.events import Approve, Ask, Place, Stop, StopRun
from core.frame import Classifier, Frames
from core.guardrails import Guards
from core.jobs import Engine, Handler, Job
from core.principals import Identity
from core.redaction import Redactor
from core.reminders import DUE
from core.toolbelt import Toolbelt
from core.tools import Tool, Toolbox
from core.transcript import Entry, Move
from tests.builders import PLACE, TENANT, a_proposal
from tests.fakes.artifacts import FakeArtifacts
from tests.fakes.model import ScriptedModel
from tests.fakes.processes import FakeProcesses
from tests.fakes.runner import Argv, for_ever
from tests.gates import APPEND, SECRET, World, who
from tests.jobs import PATIENCE, QUICK, soon
from tests.stores import OTHER_CONVERSATION, at_rest


@dataclass
class Bots:
    """Any number of processes; `dead` are the owners whose process counts as gone."""

    world: World
    dead: set[str] = field(default_factory=set[str])
    model: ScriptedModel = field(default_factory=ScriptedModel)
    guards: Guards = field(default_factory=Guards)
    chats: dict[str, Chat] = field(default_factory=dict[str, Chat])
    processes: FakeProcesses = field(default_factory=FakeProcesses)
    toolbelt: Toolbelt = field(default_factory=Toolbelt)
    wakes: bool = True
    """Whether a reminder that is due starts a turn."""
    classifier: Callable[[Toolbox], Classifier] = by_name
    frames: Frames | None = None
    """Where tasks are read instead."""
    cache: Cache = field(default_factory=Cache)
    """What these processes remember: more than any that are really several may."""
    tempo: Tempo = field(default_factory=Tempo)
    timer: Timer = field(default_factory=LoopTimer)
    artifacts: FakeArtifacts = field(default_factory=FakeArtifacts)
    is_broken: bool = False
    """A test ended a job as nothing of ours would, so what hangs on it need not be at rest."""

    @property
    def undoing(self) -> Undoing:
        """Return what finds out what undoes a run."""
        return self.world.undoing

    @property
    def inbox(self) -> Inbox:
        """Return what takes messages in, for nobody in particular."""
        return Inbox(
            conversations=self.world.stores.conversations,
            gate=self.world.gate,
            undoing=self.undoing,
            redactor=Redactor.of([SECRET]),
            look=lambda: None,
        )

    @property
    def answering(self) -> Answering:
        """Return the handler of turns."""
        return Answering(
            means=self.means, running=self.world.counted.running, drafting=self.drafting
        )

    @property
    def means(self) -> Means:
        """Return what turns work with."""
        stores, redactor = self.world.stores, Redactor.of([SECRET])
        return Means(
            conversations=stores.conversations,
            recalling=Recalling(
                conversations=stores.conversations,
                requests=stores.requests,
                redactor=redactor,
                cache=self.cache,
            ),
            briefing=Briefing(
                system=instructions(),
                frames=self.frames or stores.frames,
                redactor=redactor,
                toolbelt=self.toolbelt,
                classifier=self.classifier,
                seconds=0.5,
            ),
            agent=Agent(runner=self.world.counted, redactor=redactor, pauses=()),
            model=self.model,
            gate=self.world.gate,
            undoing=self.undoing,
            rates=Rates(stores.database),
            toolbox=lambda: Toolbox.of(self.world.tools),
            defaults={},
            guards=self.guards,
        )

    @property
    def delivering(self) -> Delivering:
        """Return the handler of deliveries."""
        stores = self.world.stores
        return Delivering(
            deliveries=stores.deliveries,
            requests=stores.requests,
            runs=stores.runs,
            conversations=stores.conversations,
            chats=self.chats,
            live=self.live,
            acting=self.world.gate.acting,
            undoing=self.undoing,
            artifacts=self.artifacts,
        )

    @cached_property
    def drafting(self) -> Drafting:
        """Return what shows answers while they are written: one for all of these processes."""
        stores = self.world.stores
        return Drafting(
            drafts=stores.drafts,
            deliveries=stores.deliveries,
            chats=self.chats,
            redactor=Redactor.of([SECRET]),
            timer=self.timer,
        )

    @cached_property
    def live(self) -> Live:
        """Return what shows runs: one for all of these processes, so that a delivery waits for it."""
        stores = self.world.stores
        return Live(
            deliveries=stores.deliveries,
            runs=stores.runs,
            chats=self.chats,
            tempo=self.tempo,
            timer=self.timer,
        )

    @property
    def notifying(self) -> Notifying:
        """Return the handler of reminders that are due."""
        return Notifying(
            reminders=self.world.stores.reminders,
            inbox=self.inbox,
            guards=self.guards,
            wakes=self.wakes,
        )

    @property
    def running(self) -> Running:
        """Return the handler of runs."""
        stores = self.world.stores
        execution = Execution(
            store=stores.runs,
            runner=self.world.counted,
            keeping=Keeping(artifacts=self.artifacts, most_per_run=2),
        )
        return Running(
            store=stores.requests, gate=self.world.gate, execution=execution, live=self.live
        )

    def engine(self, owner: str) -> TableEngine:
        """Return the engine of one process, for every kind of job that a message or a click leads to."""
        delivering, store = self.delivering, self.world.stores.requests
        return TableEngine(
            self.world.stores.database,
            {
                TURN: Kind(handler=self.answering, clean=_nothing, settle=turns.settle),
                RUN: run_kind(self.running, _nothing),
                EXPIRE: _safe(Expiring(store=store)),
                REMIND: _safe(Reminding(store=store, gate=self.world.gate)),
                ESCALATE: _safe(Reminding(store=store, gate=self.world.gate).escalate),
                DUE: Kind(
                    handler=self.notifying,
                    clean=_nothing,
                    settle=partial(reminders.settle, most=3),
                ),
                OPEN: _safe(delivering.open),
                POST: _safe(delivering.post),
                EDIT: _safe(delivering.edit),
            },
            owner=owner,
            is_dead=self.dead.__contains__,
            pace=QUICK,
        )

    def deciding(self, owner: str = "a", engine: Engine | None = None) -> Deciding:
        """Return what takes the votes in one process."""
        stores = self.world.stores
        return Deciding(
            gate=self.world.gate,
            requests=stores.requests,
            runs=stores.runs,
            engine=engine or self.engine(owner),
        )

    async def receive(
        self,
        text: str,
        conversation: str | None = None,
        *,
        person: str | Identity = "alice",
        place: Place | None = None,
    ) -> Received:
        """Have somebody's message come in; at a terminal of their own, unless a place is named."""
        identity = who(person) if isinstance(person, str) else person
        at = place or replace(PLACE, workspace=identity.workspace)
        message = Ask(identity=identity, place=at, text=text, conversation=conversation)
        return await self.inbox.ask(message)

    async def answer(
        self, received: Received, *, owner: str = "a", stop: asyncio.Event | None = None
    ) -> Answered:
        """Wait for the answer to a message in one process, which gives it unless another does."""
        stores = self.world.stores
        asking = Asking(
            conversations=stores.conversations,
            requests=stores.requests,
            runs=stores.runs,
            engine=self.engine(owner),
        )
        return await asyncio.wait_for(asking.answer(received, stop or asyncio.Event()), PATIENCE)

    async def turn(self, received: Received) -> Turn:
        """Return the turn of a message as it is now."""
        found = await self.world.stores.conversations.turn(TENANT, received.turn.id)
        assert found is not None
        return found

    @property
    def resolving(self) -> Resolving:
        """Return what looks at the unknown and ends it."""
        stores, world = self.world.stores, self.world
        return Resolving(
            store=stores.runs, requests=stores.requests, gate=world.gate, runner=world.runner
        )

    async def approve(
        self, person: str, request: Request, *, owner: str = "a", stop: asyncio.Event | None = None
    ) -> Decided:
        """Approve and wait, in one process."""
        click = Approve(identity=who(person), request=request.id)
        approving = self.deciding(owner).approve(click, stop or asyncio.Event())
        return await asyncio.wait_for(approving, PATIENCE)

    async def vote(self, person: str, request: Request) -> Decided:
        """Approve and leave the run to others."""
        return await self.deciding().vote(Approve(identity=who(person), request=request.id))

    async def stop(
        self,
        person: str | Identity,
        conversation: str | None = None,
        *,
        everything: bool = False,
    ) -> Stopped:
        """Stop from a process that runs nothing itself."""
        identity = who(person) if isinstance(person, str) else person
        event = Stop(identity=identity, conversation=conversation, everything=everything)
        return await asyncio.wait_for(self.stopping.stop(event), PATIENCE)

    async def stop_run(self, person: str, request: str) -> Stopped:
        """Press the button below a run, in a process that runs nothing itself."""
        pressed = StopRun(identity=who(person), request=request)
        return await asyncio.wait_for(self.stopping.stop_run(pressed), PATIENCE)

    @property
    def stopping(self) -> Stopping:
        """Return what stops."""
        stores = self.world.stores
        return Stopping(
            conversations=stores.conversations,
            requests=stores.requests,
            runs=stores.runs,
            gate=self.world.gate,
            processes=self.processes,
        )

    async def elsewhere(self, tool: Tool = APPEND, word: str = "beta") -> Request:
        """Have alice ask in another conversation."""
        call = tool.check({"word": word}, {})
        return await self.world.ask(a_proposal(call, conversation=OTHER_CONVERSATION, turn="t_2"))

    @asynccontextmanager
    async def hanging(
        self, *requests: Request, at: Argv = ("append-word",)
    ) -> AsyncGenerator[list["asyncio.Task[Decided]"]]:
        """Have bob approve these, each in a process of its own, and hang in the step."""
        self.world.runner.meanwhile[at] = for_ever
        tasks = [
            asyncio.create_task(self.approve("bob", request, owner=f"process {number}"))
            for number, request in enumerate(requests)
        ]

        async def begun() -> bool:
            return sum(argv[: len(at)] == at for argv in self.world.effects()) == len(requests)

        await soon(begun)
        try:
            yield tasks
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    @asynccontextmanager
    async def thinking(self, *received: Received) -> AsyncGenerator[list["asyncio.Task[Answered]"]]:
        """Have each of these answered in a process of its own, by a model that never comes to an end."""
        begun = list[int]()

        async def thinks(_: Sequence[Entry]) -> Move:
            begun.append(1)
            await for_ever()
            raise AssertionError

        self.model = ScriptedModel(*[thinks] * len(received))
        tasks = [
            asyncio.create_task(self.answer(one, owner=f"thinker {number}"))
            for number, one in enumerate(received)
        ]

        async def all_begun() -> bool:
            return len(begun) == len(received)

        await soon(all_begun)
        try:
            yield tasks
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    @asynccontextmanager
    async def serving(self, owner: str = "server") -> AsyncGenerator[None]:
        """Serve the queue inside the block."""
        stop = asyncio.Event()
        task = asyncio.create_task(self.engine(owner).serve(stop))
        try:
            yield
        finally:
            stop.set()
            await asyncio.wait_for(task, PATIENCE)

    async def at_rest(self) -> None:
        """Check at the end of a test that nothing was lost."""
        if not self.is_broken:
            await at_rest(self.world.stores)

    async def run_of(self, request: Request) -> Run | None:
        """Return the run of a request, if it has one."""
        return await self.world.stores.runs.run_of(request.tenant, request.id)

    async def job(self, about: Request | Received) -> str:
        """Return the state of the job that runs a request, or answers a message."""
        name = job_of(about.id) if isinstance(about, Request) else turn_job(about.turn.id)
        (row,) = await self.world.stores.database.transact(
            lambda _: rows("SELECT state FROM job WHERE id = :id", id=name)
        )
        state: str = row["state"]
        return state

    async def ended(self, about: Request | Received) -> None:
        """Wait until the job of a request or a message is over."""

        async def is_over() -> bool:
            return await self.job(about) not in {"queued", "running"}

        await soon(is_over)


def _safe(handler: Handler) -> Kind:
    return Kind(handler=handler, clean=_nothing, settle=jobs.settle_safe)


async def _nothing(_: Job) -> None:
    """Kill nothing: a fake runner leaves no processes."""
