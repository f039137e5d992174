"""The composition root: the only module that knows which adapter fills which port."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from adapters import console, processes
from adapters.grammar import GrammarModel
from adapters.jobs.kinds import Kind, Pace
from adapters.jobs.table import TableEngine
from adapters.leftovers import Leftovers
from adapters.runbook_folder import Catalogue, RunbookFolder
from adapters.sandbox import PlainRunner
from adapters.storage.conversations import Conversations
from adapters.storage.records import Records
from adapters.storage.requests import Requests
from adapters.storage.runs import Runs, settle
from adapters.storage.sqlite import SqliteDatabase
from adapters.workfolder import WorkFolder
from approvals.execution import Execution
from approvals.freeze import Freezer
from approvals.gate import Gate, Switches
from approvals.models import RUN
from bot import settings
from bot.ask import Asking
from bot.authority import AuthorityFile
from bot.decide import Deciding, Resolving
from bot.run import Running
from bot.settings import Settings
from bot.stop import Stopping
from core.agent import Agent, Limits
from core.plans import RunStep
from core.ports import Ended, Ending, Runner
from core.redaction import Redactor

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

    asking: Asking
    deciding: Deciding
    stopping: Stopping
    resolving: Resolving
    engine: TableEngine
    records: Records
    catalogue: Callable[[], Catalogue]
    settings: Settings


@asynccontextmanager
async def opened(file: Path) -> AsyncGenerator[App]:
    """Open what the configuration names, notice what dead processes left, and close it again."""
    configured = settings.read(file)
    path = _home(file) / configured.storage.path
    database = await SqliteDatabase.open(path, SystemClock())
    try:
        app = _app(configured, file, database)
        await app.engine.notice()
        yield app
    finally:
        await database.aclose()


def catalogue(file: Path, configured: Settings) -> Catalogue:
    """Return the runbooks as they are now, with what is wrong with the others."""
    return _folder(file, configured).catalogue()


def _app(configured: Settings, file: Path, database: SqliteDatabase) -> App:
    home = _home(file)
    secrets = settings.secret_values(configured.secrets, home)
    redactor = Redactor.of(secrets.values())
    work = home / configured.runbooks.workdir
    runner: Runner = (
        PlainRunner(folder=work, secrets=secrets, redactor=redactor)
        if configured.sandbox.backend == "none"
        else NoSandbox()
    )
    authority = AuthorityFile(file)
    folder = _folder(file, configured)
    toolbox = folder.toolbox
    requests, runs = Requests(database), Runs(database)
    gate = Gate(
        store=requests,
        freezer=Freezer(runner=runner, files=WorkFolder(work), folder=configured.runbooks.workdir),
        authority=authority,
        toolbox=toolbox,
        switches=Switches(
            plan_only=configured.execution.plan_only,
            runs_per_turn=configured.execution.runs_per_turn,
        ),
        redactor=redactor,
    )
    running = Running(store=requests, gate=gate, execution=Execution(store=runs, runner=runner))
    engine = TableEngine(
        database,
        {RUN: Kind(handler=running, clean=Leftovers(database).clean, settle=settle)},
        owner=processes.me(),
        is_dead=processes.is_dead,
        pace=Pace(),
    )
    return App(
        asking=Asking(
            conversations=Conversations(database),
            agent=Agent(runner=runner, redactor=redactor, limits=Limits()),
            model=GrammarModel(),
            gate=gate,
            toolbox=toolbox,
            defaults=configured.defaults,
            redactor=redactor,
        ),
        deciding=Deciding(gate=gate, requests=requests, runs=runs, engine=engine),
        stopping=Stopping(requests=requests, runs=runs, gate=gate),
        resolving=Resolving(store=runs, requests=requests, gate=gate, runner=runner),
        records=Records(database),
        engine=engine,
        catalogue=folder.catalogue,
        settings=configured,
    )


def _home(file: Path) -> Path:
    """Return the folder that paths in the configuration are relative to."""
    return file.resolve().parent


def _folder(file: Path, configured: Settings) -> RunbookFolder:
    folder = _home(file) / configured.runbooks.folder
    return RunbookFolder(folder, strict=configured.runbooks.strict)
