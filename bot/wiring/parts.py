"""Every part of the app, made once and handed to whatever needs it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from adapters import processes
from adapters.console.terminals import Terminals
from adapters.counted import CountedRunner
from adapters.grammar import GrammarModel
from adapters.heads_file import HeadsFile
from adapters.jobs.kinds import Kind, Pace
from adapters.jobs.queue import TableQueue
from adapters.jobs.table import TableEngine
from adapters.key_file import NAME, KeyFile
from adapters.leftovers import Leftovers, nothing
from adapters.runbook_folder import Catalogue
from adapters.sandbox import PlainRunner
from adapters.storage import jobs, reminders, settling, turns
from adapters.storage.conversations import Conversations
from adapters.storage.deliveries import Deliveries
from adapters.storage.erasing import Erasing
from adapters.storage.frames import Frames
from adapters.storage.newest import Newest
from adapters.storage.rates import Rates
from adapters.storage.receipts import Receipts
from adapters.storage.records import Records
from adapters.storage.reminders import Reminders
from adapters.storage.requests import Requests
from adapters.storage.runs import Runs
from adapters.storage.transactions import Database, ErasingDatabase
from adapters.workfolder import WorkFolder
from approvals.execution import Execution
from approvals.freeze import Freezer
from approvals.gate import Gate
from approvals.models import EXPIRE, REMIND, RUN
from approvals.switches import Switches
from bot import notify, settings
from bot.absent import NoSandbox
from bot.answer import Answering
from bot.ask import Asking
from bot.authority import AuthorityFile
from bot.briefing import Briefing, instructions
from bot.decide import Deciding
from bot.deliver import Delivering
from bot.expire import Expiring
from bot.guards import guards_of
from bot.history import Recalling
from bot.inbox import Inbox
from bot.live import Live
from bot.looking import Looking
from bot.means import Means
from bot.notify import Notifying
from bot.publish import Publishing
from bot.remind import Reminding
from bot.resolve import Resolving
from bot.run import Running
from bot.schedule import TICK, Scheduling, schedules_of
from bot.settings import Settings
from bot.stop import Stopping
from bot.wiring.catalogue import SystemClock, folder, home_of, toolbelt
from core.agent import Agent
from core.conversations import TURN
from core.deliveries import EDIT, POST, TERMINAL, Chat
from core.ports import Keys, Model, Runner
from core.redaction import Redactor
from core.reminders import DUE
from core.toolbelt import Toolbelt
from core.tools import Toolbox

_MOST_TRIES = 50
"""How often what cannot do harm is begun: each restart of an unlucky day takes one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """Everything that a command may use."""

    inbox: Inbox
    asking: Asking
    deciding: Deciding
    stopping: Stopping
    resolving: Resolving
    looking: Looking
    scheduling: Scheduling
    engine: TableEngine
    records: Records
    receipts: Receipts
    keys: Keys
    publishing: Publishing
    erasing: Erasing
    catalogue: Callable[[], Catalogue]
    toolbox: Callable[[], Toolbox]
    toolbelt: Toolbelt
    settings: Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Seams:
    """What somebody may put between Sayso and what it writes to, acts on or listens to, such as a fault."""

    database: Callable[[Database], Database] = lambda database: database
    runner: Callable[[Runner], Runner] = lambda runner: runner
    model: Model = field(default_factory=GrammarModel)
    chats: Mapping[str, Chat] = field(default_factory=dict[str, Chat])
    """Platforms besides those that are configured."""
    pace: Pace = field(default_factory=Pace)


class Parts:
    """What several parts of the app share."""

    def __init__(
        self, configured: Settings, file: Path, database: ErasingDatabase, seams: Seams
    ) -> None:
        self.settings = configured
        self.pace, self.model = seams.pace, seams.model
        terminals = Terminals(
            me=processes.me(), is_dead=processes.is_dead, here=seams.chats.get(TERMINAL)
        )
        self.chats: Mapping[str, Chat] = {**seams.chats, TERMINAL: terminals}
        self.erasing = Erasing(database)
        self.database = seams.database(database)
        home = home_of(file)
        work = home / configured.runbooks.workdir
        self.keys = KeyFile((home / configured.storage.path).with_name(NAME))
        self.heads = HeadsFile(home / configured.audit.heads) if configured.audit.heads else None
        secrets = settings.secret_values(configured.secrets, home)
        self.redactor = Redactor.of(secrets.values())
        plain = PlainRunner(folder=work, secrets=secrets, redactor=self.redactor)
        runner = plain if configured.sandbox.backend == "none" else NoSandbox()
        self.runner = CountedRunner(seams.runner(runner))
        self.toolbelt = toolbelt(file, configured, self.database, self.redactor)
        self.folder = folder(file, configured, self.toolbelt.owners)
        self.folder.must_not_clash()
        self.conversations = Conversations(self.database)
        self.requests, self.runs = Requests(self.database), Runs(self.database)
        self.live = Live(
            deliveries=Deliveries(self.database),
            runs=self.runs,
            chats=self.chats,
            shows=terminals.shows,
        )
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
                network=configured.execution.network,
            ),
            redactor=self.redactor,
            rates=Rates(self.database),
        )

        self.scheduling = Scheduling(
            schedules=lambda: schedules_of(settings.read(file)),
            inbox=self._inbox(look=_nothing, runner=None),
            store=self.requests,
            queue=TableQueue(self.database),
            clock=SystemClock(),
        )

    def app(self) -> App:
        """Return everything that a command may use."""
        engine = TableEngine(
            self.database,
            self._kinds(),
            owner=processes.me(),
            is_dead=processes.is_dead,
            pace=self.pace,
        )
        records = Records(self.database)
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
            looking=Looking(
                gate=self.gate,
                requests=self.requests,
                run_store=self.runs,
                newest=Newest(self.database),
                records=Records(self.database),
            ),
            scheduling=self.scheduling,
            records=records,
            receipts=Receipts(self.database),
            keys=self.keys,
            publishing=Publishing(keys=self.keys, newest=records.head, heads=self.heads),
            erasing=self.erasing,
            engine=engine,
            catalogue=self.folder.catalogue,
            toolbox=self.folder.toolbox,
            toolbelt=self.toolbelt,
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
            live=self.live,
        )
        expiring = Expiring(store=self.requests)
        reminding = Reminding(store=self.requests, gate=self.gate)
        again = partial(jobs.settle_safe, most=_MOST_TRIES)
        return {
            TURN: Kind(handler=self._answering(), clean=left.of_turn, settle=turns.settle),
            RUN: Kind(handler=self._running(), clean=left.of_run, settle=settling.settle),
            TICK: Kind(handler=self.scheduling, clean=nothing, settle=again),
            DUE: Kind(
                handler=self._notifying(),
                clean=nothing,
                settle=partial(reminders.settle, most=_MOST_TRIES),
            ),
            REMIND: Kind(handler=reminding, clean=nothing, settle=again),
            EXPIRE: Kind(handler=expiring, clean=nothing, settle=again),
            POST: Kind(handler=delivering.post, clean=nothing, settle=again),
            EDIT: Kind(handler=delivering.edit, clean=nothing, settle=again),
        }

    def _running(self) -> Running:
        execution = Execution(store=self.runs, runner=self.runner)
        return Running(store=self.requests, gate=self.gate, execution=execution, live=self.live)

    def _notifying(self) -> Notifying:
        return Notifying(
            reminders=Reminders(self.database),
            inbox=self._inbox(look=_nothing, runner=None),
            guards=guards_of(self.settings.guardrails),
            wakes=notify.wakes(self.model, self.settings.toolsets.reminders),
        )

    def _answering(self) -> Answering:
        return Answering(means=self._means(), running=self.runner.running)

    def _means(self) -> Means:
        return Means(
            conversations=self.conversations,
            recalling=Recalling(
                conversations=self.conversations,
                requests=self.requests,
                redactor=self.redactor,
            ),
            briefing=Briefing(
                system=instructions(),
                frames=Frames(self.database),
                redactor=self.redactor,
                toolbelt=self.toolbelt,
            ),
            agent=Agent(runner=self.runner, redactor=self.redactor),
            model=self.model,
            gate=self.gate,
            rates=Rates(self.database),
            toolbox=self.folder.toolbox,
            defaults=self.settings.defaults,
            guards=guards_of(self.settings.guardrails),
        )


def _nothing() -> None:
    """Look for nothing at once: whoever serves does so at the next poll."""
