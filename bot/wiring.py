"""The composition root: the only module that knows which adapter fills which port."""

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from adapters import console, processes
from adapters.counted import CountedRunner
from adapters.grammar import GrammarModel
from adapters.jobs.kinds import Kind, Pace
from adapters.jobs.queue import TableQueue
from adapters.jobs.table import TableEngine
from adapters.leftovers import Leftovers, nothing
from adapters.runbook_folder import Catalogue, RunbookFolder
from adapters.sandbox import PlainRunner
from adapters.storage import jobs, settling, turns
from adapters.storage.conversations import Conversations
from adapters.storage.deliveries import Deliveries
from adapters.storage.rates import Rates
from adapters.storage.records import Records
from adapters.storage.requests import Requests
from adapters.storage.runs import Runs
from adapters.storage.sqlite import SqliteDatabase
from adapters.storage.transactions import Database
from adapters.workfolder import WorkFolder
from approvals.execution import Execution
from approvals.freeze import Freezer
from approvals.gate import Gate, Switches
from approvals.models import EXPIRE, REMIND, RUN
from bot import settings
from bot.answer import Answering
from bot.ask import Asking
from bot.authority import AuthorityFile
from bot.decide import Deciding
from bot.deliver import Delivering
from bot.expire import Expiring
from bot.guards import guards_of
from bot.inbox import Inbox
from bot.remind import Reminding
from bot.resolve import Resolving
from bot.run import Running
from bot.schedule import TICK, Scheduling, schedules_of
from bot.settings import Settings
from bot.stop import Stopping
from core.agent import Agent
from core.conversations import TURN
from core.deliveries import EDIT, POST, Chat
from core.errors import Invalid
from core.limits import Limits
from core.plans import RunStep
from core.ports import Ended, Ending, Model, Runner
from core.redaction import Redactor
from core.tools import Toolbox

_MOST_TRIES = 50
"""How often what cannot do harm is begun: each restart of an unlucky day takes one."""

account = console.account
draw = console.draw


class SystemClock:
    """The time of this machine."""

    def now(self) -> datetime:
        """Return the time in UTC."""
        return datetime.now(UTC)  # noqa: TID251 - the Clock that everything else asks


@dataclass(frozen=True, slots=True)
class NoSandbox:
    """A `Runner` for a configuration that names no sandbox: nothing runs."""

    backend: str = "unset"

    def obstacle(self, step: RunStep) -> str | None:
        """Say how to choose a sandbox."""
        del step
        return (
            "nothing may run, because no sandbox is chosen. An operator has to set "
            "`sandbox: {backend: none}` in sayso.yml to run commands without one."
        )

    async def run(self, step: RunStep, *, step_id: str) -> Ended:
        """Start nothing."""
        del step_id
        return Ended(ending=Ending.NOT_STARTED, exit_code=None, output=self.obstacle(step) or "")


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """Everything that a command may use."""

    inbox: Inbox
    asking: Asking
    deciding: Deciding
    stopping: Stopping
    resolving: Resolving
    scheduling: Scheduling
    engine: TableEngine
    records: Records
    catalogue: Callable[[], Catalogue]
    toolbox: Callable[[], Toolbox]
    settings: Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Seams:
    """What somebody may put between Sayso and what it writes to, acts on or listens to, such as a fault."""

    database: Callable[[Database], Database] = lambda database: database
    runner: Callable[[Runner], Runner] = lambda runner: runner
    chats: Mapping[str, Chat] = field(default_factory=dict[str, Chat])
    """Platforms besides those that are configured."""
    pace: Pace = field(default_factory=Pace)
    model: Model = field(default_factory=GrammarModel)


@asynccontextmanager
async def opened(file: Path, seams: Seams | None = None) -> AsyncGenerator[App]:
    """Open what the configuration names, notice what dead processes left, and close it again."""
    configured = settings.read(file)
    _must_name_tools(file, configured)
    path = _home(file) / configured.storage.path
    database = await SqliteDatabase.open(path, SystemClock())
    try:
        app = _Parts(configured, file, database, seams or Seams()).app()
        await app.engine.notice()
        yield app
    finally:
        await database.aclose()


def _must_name_tools(file: Path, configured: Settings) -> None:
    """Raise `Invalid` for a profile that names a tool that is not there."""
    if any(section.tools for section in configured.profiles.values()):
        for problem in unknown_tools(configured, catalogue(file, configured)):
            raise Invalid(problem)


def unknown_tools(configured: Settings, found: Catalogue) -> Iterator[str]:
    """Yield what is wrong with the tools of profiles; nothing while a file that is bad may be the reason."""
    known = {tool.name for tool in found.tools}
    for name, section in configured.profiles.items():
        for tool in section.tools or ():
            if tool not in known and not found.faults:
                yield f"profiles.{name}.tools: there is no tool {tool}. Correct or remove it."


def catalogue(file: Path, configured: Settings) -> Catalogue:
    """Return the runbooks as they are now, with what is wrong with the others."""
    return _folder(file, configured).catalogue()


class _Parts:
    """What several parts of the app share."""

    def __init__(self, configured: Settings, file: Path, database: Database, seams: Seams) -> None:
        self.settings = configured
        self.chats, self.pace, self.model = seams.chats, seams.pace, seams.model
        self.database = database = seams.database(database)
        home = _home(file)
        work = home / configured.runbooks.workdir
        secrets = settings.secret_values(configured.secrets, home)
        self.redactor = Redactor.of(secrets.values())
        plain = PlainRunner(folder=work, secrets=secrets, redactor=self.redactor)
        runner = plain if configured.sandbox.backend == "none" else NoSandbox()
        self.runner = CountedRunner(seams.runner(runner))
        self.folder = _folder(file, configured)
        self.conversations = Conversations(database)
        self.requests, self.runs = Requests(database), Runs(database)
        self.gate = Gate(
            store=self.requests,
            freezer=Freezer(
                runner=self.runner, files=WorkFolder(work), folder=configured.runbooks.workdir
            ),
            authority=AuthorityFile(file),
            toolbox=self.folder.toolbox,
            switches=Switches(
                plan_only=configured.execution.plan_only,
                runs_per_turn=configured.execution.runs_per_turn,
            ),
            redactor=self.redactor,
            rates=Rates(database),
        )

        self.scheduling = Scheduling(
            schedules=lambda: schedules_of(settings.read(file)),
            inbox=self._inbox(look=_nothing, runner=None),
            store=self.requests,
            queue=TableQueue(database),
            clock=SystemClock(),
        )

    def app(self) -> App:
        engine = TableEngine(
            self.database,
            self._kinds(),
            owner=processes.me(),
            is_dead=processes.is_dead,
            pace=self.pace,
        )
        return App(
            inbox=self._inbox(look=engine.look, runner=engine.owner),
            asking=Asking(conversations=self.conversations, requests=self.requests, engine=engine),
            deciding=Deciding(
                gate=self.gate, requests=self.requests, runs=self.runs, engine=engine
            ),
            stopping=Stopping(
                conversations=self.conversations,
                requests=self.requests,
                runs=self.runs,
                gate=self.gate,
                processes=processes.StepProcesses(),
            ),
            resolving=Resolving(
                store=self.runs, requests=self.requests, gate=self.gate, runner=self.runner
            ),
            scheduling=self.scheduling,
            records=Records(self.database),
            engine=engine,
            catalogue=self.folder.catalogue,
            toolbox=self.folder.toolbox,
            settings=self.settings,
        )

    def _inbox(self, *, look: Callable[[], None], runner: str | None) -> Inbox:
        return Inbox(
            conversations=self.conversations,
            gate=self.gate,
            redactor=self.redactor,
            look=look,
            runner=runner,
        )

    def _kinds(self) -> dict[str, Kind]:
        """Return every kind of job that there is: any process may find one that another left."""
        left = Leftovers(self.database)
        delivering = Delivering(
            deliveries=Deliveries(self.database),
            requests=self.requests,
            runs=self.runs,
            conversations=self.conversations,
            chats=self.chats,
        )
        expiring = Expiring(store=self.requests)
        reminding = Reminding(store=self.requests, gate=self.gate)
        again = partial(jobs.settle_safe, most=_MOST_TRIES)
        return {
            TURN: Kind(handler=self._answering(), clean=left.of_turn, settle=turns.settle),
            RUN: Kind(handler=self._running(), clean=left.of_run, settle=settling.settle),
            TICK: Kind(handler=self.scheduling, clean=nothing, settle=again),
            REMIND: Kind(handler=reminding, clean=nothing, settle=again),
            EXPIRE: Kind(handler=expiring, clean=nothing, settle=again),
            POST: Kind(handler=delivering.post, clean=nothing, settle=again),
            EDIT: Kind(handler=delivering.edit, clean=nothing, settle=again),
        }

    def _running(self) -> Running:
        execution = Execution(store=self.runs, runner=self.runner)
        return Running(store=self.requests, gate=self.gate, execution=execution)

    def _answering(self) -> Answering:
        return Answering(
            conversations=self.conversations,
            agent=Agent(runner=self.runner, redactor=self.redactor, limits=Limits()),
            model=self.model,
            gate=self.gate,
            toolbox=self.folder.toolbox,
            defaults=self.settings.defaults,
            rates=Rates(self.database),
            running=self.runner.running,
            guards=guards_of(self.settings.guardrails),
        )


def _nothing() -> None:
    """Look for nothing at once: whoever serves does so at the next poll."""


def _home(file: Path) -> Path:
    """Return the folder that paths in the configuration are relative to."""
    return file.resolve().parent


def _folder(file: Path, configured: Settings) -> RunbookFolder:
    folder = _home(file) / configured.runbooks.folder
    return RunbookFolder(folder, strict=configured.runbooks.strict)
