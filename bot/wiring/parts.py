"""Every part of the app, made once and handed to whatever needs it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from adapters import processes
from adapters.artifact_folder import ArtifactFolder
from adapters.console.terminals import Terminals
from adapters.counted import CountedRunner
from adapters.grammar import GrammarModel
from adapters.heads_file import HeadsFile
from adapters.jobs.kinds import Pace
from adapters.jobs.queue import TableQueue
from adapters.key_file import NAME, KeyFile
from adapters.storage.artifacts import KeptArtifacts
from adapters.storage.brakes import Brakes
from adapters.storage.conversations import Conversations
from adapters.storage.deliveries import Deliveries
from adapters.storage.erasing import Erasing
from adapters.storage.factors import Factors
from adapters.storage.grants import Grants
from adapters.storage.leases import Leases
from adapters.storage.links import Links
from adapters.storage.rates import Rates
from adapters.storage.requests import Requests
from adapters.storage.runs import Runs
from adapters.storage.transactions import Database, ErasingDatabase
from adapters.workfolder import WorkFolder
from approvals.acting import Acting
from approvals.freeze import Freezer
from approvals.gate import Gate
from approvals.standings import Standings
from approvals.switches import Switches
from approvals.undoing import Undoing
from bot import settings
from bot.authority import AuthorityFile
from bot.inbox import Inbox
from bot.live import Live
from bot.schedule import Scheduling, schedules_of
from bot.settings import Settings
from bot.sweep import ErasingAll
from bot.wiring.catalogue import SystemClock, folder, home_of, toolbelt
from bot.wiring.mcp_servers import McpServers
from bot.wiring.platforms import Ground, platforms
from bot.wiring.platforms import secrets as platform_secrets
from bot.wiring.runners import modules_of, runner_of, safe_box_of
from bot.wiring.secrets import secrets_of
from bot.wiring.storage import death_in, passwords
from core.deliveries import TERMINAL, Chat
from core.ports import Heads, Model, Runner, Secrets
from core.redaction import Redactor
from core.tools import Toolbox

_STEPS_WRITE = "steps can write there. Choose a folder outside `runbooks.workdir`."


@dataclass(frozen=True, slots=True, kw_only=True)
class Seams:
    """What somebody may put between Sayso and what it writes to, acts on or listens to, such as a fault."""

    database: Callable[[Database], Database] = lambda database: database
    runner: Callable[[Runner], Runner] = lambda runner: runner
    model: Model = field(default_factory=GrammarModel)
    chats: Mapping[str, Chat] = field(default_factory=dict[str, Chat])
    """Platforms besides those that are configured."""
    pace: Pace = field(default_factory=Pace)


def heads_of(file: Path, configured: Settings) -> Heads | None:
    """Return where heads of the audit log are noted, where the configuration names a place."""
    place = configured.audit.heads
    return HeadsFile(home_of(file) / place) if place else None


def artifact_folder(file: Path, configured: Settings) -> Path:
    """Return where whole outputs are kept; raise `Invalid` where steps can write there."""
    home = home_of(file)
    folder = home / configured.artifacts.beside(configured.storage.path)
    if folder.resolve().is_relative_to((home / configured.runbooks.workdir).resolve()):
        raise settings.blame(file, "artifacts", "folder", problem=_STEPS_WRITE)
    return folder


def _artifacts(
    configured: Settings, file: Path, database: Database
) -> tuple[ArtifactFolder, KeptArtifacts]:
    section = configured.artifacts
    folder = artifact_folder(file, configured)
    return (
        ArtifactFolder(folder=folder, most_bytes=section.most_bytes),
        KeptArtifacts(database=database, lasts=section.keep),
    )


class Parts:
    """What several parts of the app share."""

    def __init__(
        self, configured: Settings, file: Path, database: ErasingDatabase, seams: Seams
    ) -> None:
        self.settings = configured
        self.pace, self.model = seams.pace, seams.model
        self.is_dead = death_in(configured.storage)
        terminals = Terminals(
            me=processes.me(), is_dead=self.is_dead, here=seams.chats.get(TERMINAL)
        )
        home = home_of(file)
        self.database = seams.database(database)
        authority = AuthorityFile(file)
        self.platforms = platforms(
            configured,
            Ground(
                home=home,
                leases=Leases(self.database, is_dead=self.is_dead),
                directory=lambda: authority().directory,
            ),
        )
        self.chats: Mapping[str, Chat] = {
            **{name: platform.chat for name, platform in self.platforms.items()},
            **seams.chats,
            TERMINAL: terminals,
        }
        self.keys = KeyFile((home / configured.storage.path).with_name(NAME))
        self.heads = heads_of(file, configured)
        self.redactor = Redactor.of(
            (*platform_secrets(configured, home), *passwords(configured.storage, home))
        )
        secrets = secrets_of(configured, home, self.redactor)
        self.toolbelt = toolbelt(file, configured, self.database, self.redactor)
        self.servers = McpServers(file, configured, self.toolbelt.owners)
        self.runner = CountedRunner(seams.runner(self._runner(file, configured, secrets)))
        self.artifacts, self.kept = _artifacts(configured, file, self.database)
        self.erasing = ErasingAll(
            erasing=Erasing(database), artifacts=self.artifacts, kept=self.kept
        )
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
                runner=self.runner,
                files=WorkFolder(home / configured.runbooks.workdir),
                sources=modules_of(configured, home),
                folder=configured.runbooks.workdir,
            ),
            acting=Acting(
                store=self.requests,
                authority=authority,
                rates=Rates(self.database),
                standings=Standings(
                    rosters={name: platform.roster for name, platform in self.platforms.items()},
                    links=self.links,
                ),
            ),
            factors=Factors(self.database, self.keys),
            toolbox=self.toolbox,
            switches=Switches(
                plan_only=configured.execution.plan_only,
                runs_per_turn=configured.execution.runs_per_turn,
                network=configured.execution.network,
                brakes=self.brakes,
            ),
            redactor=self.redactor,
            grants=Grants(self.database),
        )
        self.scheduling = Scheduling(
            schedules=lambda: schedules_of(settings.read(file)),
            inbox=self.inbox(look=_nothing, runner=None),
            store=self.requests,
            queue=TableQueue(self.database),
            clock=SystemClock(),
        )

    def _runner(self, file: Path, configured: Settings, secrets: Secrets) -> Runner:
        """Return what runs steps of every kind."""
        home = home_of(file)
        box = safe_box_of(configured, file, home)
        return runner_of(
            box,
            modules_of(configured, home),
            configured.http.allowed,
            self.servers.runner(box, secrets, self.redactor),
            secrets=secrets,
            redactor=self.redactor,
        )

    def toolbox(self) -> Toolbox:
        """Return what there is to run, read afresh: the runbooks, and the tools of MCP servers."""
        runbooks = Toolbox(tuple(map(self.servers.bound, self.folder.toolbox())))
        return runbooks.beside(*self.servers.offered())

    @property
    def links(self) -> Links:
        """Return where the accounts are that people linked to themselves."""
        return Links(self.database)

    @property
    def undoing(self) -> Undoing:
        """Return what finds out what undoes a run."""
        return Undoing(gate=self.gate, runs=self.runs, toolbox=self.toolbox)

    @property
    def brakes(self) -> Brakes:
        """Return what holds tenants and conversations back."""
        return Brakes(self.database)

    def inbox(self, *, look: Callable[[], None], runner: str | None) -> Inbox:
        """Return what takes messages in."""
        return Inbox(
            conversations=self.conversations,
            gate=self.gate,
            undoing=self.undoing,
            redactor=self.redactor,
            look=look,
            runner=runner,
        )


def _nothing() -> None:
    """Look for nothing at once: whoever serves does so at the next poll."""
