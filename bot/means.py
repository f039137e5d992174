"""What turns work with, and what one of them may use."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from approvals.delegation import Delegation
from approvals.gate import Gate
from approvals.undoing import Undoing
from bot.briefing import Briefing
from bot.history import Recalling
from core.agent import Agent
from core.canonical import Json
from core.conversations import Conversations
from core.gateway import Access
from core.guardrails import Guards
from core.ports import Model
from core.profiles import Profile
from core.rates import Rates
from core.toolbelt import Toolbelt
from core.tools import Tool, Toolbox
from core.toolset import Channel


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What every turn works with."""

    conversations: Conversations
    recalling: Recalling
    briefing: Briefing
    agent: Agent
    model: Model
    gate: Gate
    undoing: Undoing
    rates: Rates
    toolbox: Callable[[], Toolbox]
    """Reads the catalogue afresh; raises where it cannot be read."""
    defaults: Mapping[str, Json]
    guards: Guards


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What one turn may use."""

    runbooks: Toolbox
    belt: Toolbelt
    may: Callable[[Tool], bool]
    delegation: Delegation
    profile: Profile

    def known(self, channel: Channel) -> Toolbox:
        """Return all that there is on a channel."""
        return self.belt.beside(self.runbooks, channel)

    def offered(self, channel: Channel) -> Toolbox:
        """Return what of that may be used."""
        return self.known(channel).offered(self.may)

    @property
    def access(self) -> Access:
        """Return what is asked at each call."""
        return Access(authorize=self.delegation.authorize, count=self.delegation.count)
