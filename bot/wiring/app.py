"""The app: every deed, with what it takes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from adapters import console, processes
from adapters.jobs.table import TableEngine
from adapters.runbook_folder import Catalogue
from adapters.storage.newest import Newest
from adapters.storage.receipts import Receipts
from adapters.storage.records import Records
from approvals.editing import Editing
from approvals.granting import Granting
from approvals.linking import LinkingAccounts
from bot.announce import Announcing, place_of
from bot.ask import Asking
from bot.decide import Deciding
from bot.desk import FrontDesk
from bot.freezing import Freezing
from bot.grant import StandingGrants
from bot.guards import guards_of
from bot.inbox import Inbox
from bot.linking import LinkingDesk
from bot.looking import Looking
from bot.lookups import Lookups
from bot.plan_status import PlanStatus
from bot.publish import Publishing
from bot.relaying import Relaying
from bot.resolve import Resolving
from bot.ruling import Rulings
from bot.schedule import Scheduling
from bot.settings import Settings
from bot.stop import Stopping
from bot.sweep import Sweeping
from bot.welcoming import Welcoming
from bot.wiring.kinds import kinds_of
from bot.wiring.parts import Parts
from core.artifacts import Artifacts
from core.erasing import Erasing
from core.platforms import Platform
from core.ports import Keys
from core.principals import Identity
from core.toolbelt import Toolbelt
from core.tools import Toolbox
from core.toolset import Channel


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """Everything that a command may use."""

    inbox: Inbox
    asking: Asking
    relaying: Callable[[Identity], Relaying]
    """Returns what serves an agent in somebody's name."""
    deciding: Deciding
    granting: StandingGrants
    stopping: Stopping
    resolving: Resolving
    looking: Looking
    scheduling: Scheduling
    engine: TableEngine
    records: Records
    receipts: Receipts
    keys: Keys
    publishing: Publishing
    announcing: Announcing
    erasing: Erasing
    artifacts: Artifacts
    sweeping: Sweeping
    catalogue: Callable[[], Catalogue]
    toolbox: Callable[[], Toolbox]
    toolbelt: Toolbelt
    settings: Settings
    desk: FrontDesk
    rulings: Rulings
    freezing: Freezing
    platforms: Mapping[str, Platform]


def app_of(parts: Parts) -> App:
    """Return everything that a command may use."""
    engine = TableEngine(
        parts.database,
        kinds_of(parts),
        owner=processes.me(),
        is_dead=parts.is_dead,
        pace=parts.pace,
    )
    records = Records(parts.database)
    desk = _desk(parts, engine)
    inbox, asking = parts.inbox(look=engine.look, runner=engine.owner), _asking(parts, engine)
    return App(
        desk=desk,
        rulings=desk.rulings,
        freezing=Freezing(authority=parts.gate.acting.authority, brakes=parts.brakes),
        platforms=parts.platforms,
        inbox=inbox,
        asking=asking,
        relaying=lambda identity: Relaying(
            status=PlanStatus(
                identity=identity, looking=desk.looking, notice=engine.notice, draw=console.draw
            ),
            inbox=inbox,
            asking=asking,
            known=lambda: parts.toolbelt.beside(parts.toolbox(), Channel.TOOL),
            draw=console.draw,
        ),
        deciding=desk.deciding,
        granting=desk.granting,
        stopping=desk.stopping,
        resolving=desk.resolving,
        looking=desk.looking,
        scheduling=parts.scheduling,
        records=records,
        receipts=Receipts(parts.database),
        keys=parts.keys,
        announcing=Announcing(
            newest=records.head,
            place=place_of(parts.settings.audit.channel),
            chats=parts.chats,
        ),
        publishing=Publishing(keys=parts.keys, newest=records.head, heads=parts.heads),
        erasing=parts.erasing,
        artifacts=parts.artifacts,
        sweeping=Sweeping(artifacts=parts.artifacts, kept=parts.kept),
        engine=engine,
        catalogue=parts.folder.catalogue,
        toolbox=parts.toolbox,
        toolbelt=parts.toolbelt,
        settings=parts.settings,
    )


def _asking(parts: Parts, engine: TableEngine) -> Asking:
    return Asking(
        conversations=parts.conversations,
        requests=parts.requests,
        runs=parts.runs,
        engine=engine,
    )


def _desk(parts: Parts, engine: TableEngine) -> FrontDesk:
    looking = Looking(
        gate=parts.gate,
        undoing=parts.undoing,
        requests=parts.requests,
        run_store=parts.runs,
        newest=Newest(parts.database),
        records=Records(parts.database),
    )
    deciding = Deciding(gate=parts.gate, requests=parts.requests, runs=parts.runs, engine=engine)
    granting = StandingGrants(
        granting=Granting(gate=parts.gate, conversations=parts.conversations), deciding=deciding
    )
    return FrontDesk(
        inbox=parts.inbox(look=engine.look, runner=None),
        deciding=deciding,
        granting=granting,
        stopping=Stopping(
            conversations=parts.conversations,
            requests=parts.requests,
            runs=parts.runs,
            gate=parts.gate,
            processes=processes.StepProcesses(),
        ),
        resolving=Resolving(
            store=parts.runs, requests=parts.requests, gate=parts.gate, runner=parts.runner
        ),
        looking=looking,
        conversations=parts.conversations,
        editing=Editing(gate=parts.gate, guards=guards_of(parts.settings.guardrails)),
        lookups=Lookups(looking=looking, welcoming=Welcoming(gate=parts.gate)),
        rulings=Rulings(
            gate=parts.gate,
            brakes=parts.brakes,
            requests=parts.requests,
            conversations=parts.conversations,
            deciding=deciding,
        ),
        linking=LinkingDesk(accounts=LinkingAccounts(links=parts.links, acting=parts.gate.acting)),
    )
