"""Every kind of job that there is: any process may find one that another left."""

from functools import partial

from adapters.jobs.kinds import Clean, Kind
from adapters.leftovers import Leftovers, nothing
from adapters.storage import jobs, reminders, settling, turns
from adapters.storage.deliveries import Deliveries
from adapters.storage.drafts import Drafts
from adapters.storage.frames import Frames
from adapters.storage.rates import Rates
from adapters.storage.reminders import Reminders
from approvals.execution import Execution
from approvals.keeping import Keeping
from approvals.models import ESCALATE, EXPIRE, REMIND, RUN
from bot import notify
from bot.answer import Answering
from bot.briefing import Briefing, instructions
from bot.deliver import Delivering
from bot.drafting import Drafting
from bot.expire import Expiring
from bot.guards import guards_of
from bot.history import Recalling
from bot.linking import Telling
from bot.means import Means
from bot.notify import Notifying
from bot.remind import Reminding
from bot.run import Running
from bot.schedule import TICK
from bot.wiring.parts import Parts
from core.agent import Agent
from core.conversations import TURN
from core.deliveries import EDIT, OPEN, POST
from core.jobs import Handler
from core.links import LINK
from core.reminders import DUE

_MOST_TRIES = 50
"""How often what cannot do harm is begun: each restart of an unlucky day takes one."""


def kinds_of(parts: Parts) -> dict[str, Kind]:
    """Return every kind of job that there is: any process may find one that another left."""
    left = Leftovers(parts.database)
    delivering = Delivering(
        deliveries=Deliveries(parts.database),
        requests=parts.requests,
        runs=parts.runs,
        conversations=parts.conversations,
        chats=parts.chats,
        live=parts.live,
        acting=parts.gate.acting,
        undoing=parts.undoing,
        artifacts=parts.artifacts,
    )
    expiring = Expiring(store=parts.requests)
    reminding = Reminding(store=parts.requests, gate=parts.gate)
    again = partial(jobs.settle_safe, most=_MOST_TRIES)
    return {
        TURN: Kind(handler=_answering(parts), clean=left.of_turn, settle=turns.settle),
        RUN: run_kind(_running(parts), left.of_run),
        TICK: Kind(handler=parts.scheduling, clean=nothing, settle=again),
        DUE: Kind(
            handler=_notifying(parts),
            clean=nothing,
            settle=partial(reminders.settle, most=_MOST_TRIES),
        ),
        REMIND: Kind(handler=reminding, clean=nothing, settle=again),
        ESCALATE: Kind(handler=reminding.escalate, clean=nothing, settle=again),
        EXPIRE: Kind(handler=expiring, clean=nothing, settle=again),
        LINK: Kind(
            handler=Telling(links=parts.links, chats=parts.chats), clean=nothing, settle=again
        ),
        OPEN: Kind(handler=delivering.open, clean=nothing, settle=again),
        POST: Kind(handler=delivering.post, clean=nothing, settle=again),
        EDIT: Kind(handler=delivering.edit, clean=nothing, settle=again),
    }


def run_kind(handler: Handler, clean: Clean) -> Kind:
    """Return what runs are: a pause lasts as long as it lasts, and the request itself has an end."""
    return Kind(handler=handler, clean=clean, settle=settling.settle, is_kept=True)


def _running(parts: Parts) -> Running:
    keeping = Keeping(artifacts=parts.artifacts, most_per_run=parts.settings.artifacts.most_per_run)
    execution = Execution(store=parts.runs, runner=parts.runner, keeping=keeping)
    return Running(store=parts.requests, gate=parts.gate, execution=execution, live=parts.live)


def _notifying(parts: Parts) -> Notifying:
    return Notifying(
        reminders=Reminders(parts.database),
        inbox=parts.inbox(look=_nothing, runner=None),
        guards=guards_of(parts.settings.guardrails),
        wakes=notify.wakes(parts.model, parts.settings.toolsets.reminders),
    )


def _answering(parts: Parts) -> Answering:
    drafting = Drafting(
        drafts=Drafts(parts.database),
        deliveries=Deliveries(parts.database),
        chats=parts.chats,
        redactor=parts.redactor,
    )
    return Answering(means=_means(parts), running=parts.runner.running, drafting=drafting)


def _means(parts: Parts) -> Means:
    return Means(
        conversations=parts.conversations,
        recalling=Recalling(
            conversations=parts.conversations,
            requests=parts.requests,
            redactor=parts.redactor,
        ),
        briefing=Briefing(
            system=instructions(),
            frames=Frames(parts.database),
            redactor=parts.redactor,
            toolbelt=parts.toolbelt,
        ),
        agent=Agent(runner=parts.runner, redactor=parts.redactor),
        model=parts.model,
        gate=parts.gate,
        undoing=parts.undoing,
        rates=Rates(parts.database),
        toolbox=parts.toolbox,
        defaults=parts.settings.defaults,
        guards=guards_of(parts.settings.guardrails),
    )


def _nothing() -> None:
    """Look for nothing at once: whoever serves does so at the next poll."""
