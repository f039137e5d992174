"""Processes that decide, run and stop on one database, with a runner that does what a test says."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from adapters.jobs.kinds import Kind
from adapters.jobs.table import TableEngine
from adapters.storage.runs import settle
from adapters.storage.transactions import rows
from approvals.execution import Execution
from approvals.models import RUN, Request, Run, job_of
from bot.decide import Decided, Deciding, Resolving
from bot.run import Running
from bot.stop import Stopped, Stopping
from core.events import Approve, Stop
from core.jobs import Engine, Job
from core.principals import Identity
from core.tools import Tool
from tests.builders import a_proposal
from tests.fakes.runner import Argv, for_ever
from tests.gates import APPEND, World, who
from tests.jobs import PATIENCE, QUICK, soon
from tests.stores import OTHER_CONVERSATION


@dataclass
class Bots:
    """Any number of processes; `dead` are the owners whose process counts as gone."""

    world: World
    dead: set[str] = field(default_factory=set[str])

    @property
    def running(self) -> Running:
        """Return the handler of runs."""
        stores = self.world.stores
        execution = Execution(store=stores.runs, runner=self.world.runner)
        return Running(store=stores.requests, gate=self.world.gate, execution=execution)

    def engine(self, owner: str) -> TableEngine:
        """Return the engine of one process."""
        kind = Kind(handler=self.running, clean=_nothing, settle=settle)
        return TableEngine(
            self.world.stores.database,
            {RUN: kind},
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
        stores = self.world.stores
        stopping = Stopping(requests=stores.requests, runs=stores.runs, gate=self.world.gate)
        identity = who(person) if isinstance(person, str) else person
        event = Stop(identity=identity, conversation=conversation, everything=everything)
        return await asyncio.wait_for(stopping.stop(event), PATIENCE)

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
    async def serving(self, owner: str = "server") -> AsyncGenerator[None]:
        """Serve the queue inside the block."""
        stop = asyncio.Event()
        task = asyncio.create_task(self.engine(owner).serve(stop))
        try:
            yield
        finally:
            stop.set()
            await asyncio.wait_for(task, PATIENCE)

    async def run_of(self, request: Request) -> Run | None:
        """Return the run of a request, if it has one."""
        return await self.world.stores.runs.run_of(request.tenant, request.id)

    async def job(self, request: Request) -> str:
        """Return the state of a request's job."""
        (row,) = await self.world.stores.database.transact(
            lambda _: rows("SELECT state FROM job WHERE id = :id", id=job_of(request.id))
        )
        state: str = row["state"]
        return state

    async def ended(self, request: Request) -> None:
        """Wait until a request's job is over."""

        async def is_over() -> bool:
            return await self.job(request) not in {"queued", "running"}

        await soon(is_over)


async def _nothing(_: Job) -> None:
    """Kill nothing: a fake runner leaves no processes."""
