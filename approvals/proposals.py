"""What somebody wants to run, until it is a request that waits for people."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from approvals.models import Rule
from core.cards import Card
from core.conversations import Closing
from core.plans import Plan
from core.profiles import DEFAULT
from core.tools import Checked
from core.transcript import AgentText


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """Gated calls of one step, who wants them, and what the agent says about them."""

    tenant: str
    conversation: str
    turn: str
    requester: str
    profile: str = DEFAULT
    """The profile through which the agent acts."""
    calls: tuple[Checked, ...]
    about: AgentText
    supersedes: str | None = None
    """The request whose plan an entitled person asked for again, or edited."""
    editors: tuple[str, ...] = ()
    """Who has edited it, each once: they count as its requesters too."""
    edited_by: str | None = None
    """Who edits the request that this supersedes; None where it is asked for."""
    expects: Plan | None = None
    """An exported plan that the calls must still come down to."""
    undoes: str | None = None
    """The run that this would undo, if it is about one."""
    closing: Closing | None = None
    """The turn that ends with this, in the same transaction; None where no turn proposes it."""
    by: float | None = None
    """When looking at what it would do is cut, on the loop's clock; None where no turn proposes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRequest:
    """A request that is ready to be stored: nothing about it is decided later."""

    id: str
    proposal: Proposal
    plan: Plan
    rule: Rule
    card: Callable[[str, datetime], Card]
    """Draws the card for a request's id, once the store has decided until when it lives."""
    remind_in: timedelta | None = None
    """After what time people are reminded, if it is still open."""
    grant: str | None = None
    """The standing grant that its plan asks for; else the one that covers it, so that nobody is asked."""
    escalate_in: timedelta | None = None
    """After what time other groups are told, if it is still open."""
