"""What holds back everything that would run in a tenant: a pause, or a window of the configuration.

Reads go on, and so does what runs already: that is what stopping is for. What was approved is kept,
and runs once nothing holds it back, if it is then still as it was shown.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from core.display import one_line

MOST_DENIALS = 3
"""Denials in a conversation after which nothing is proposed there, until somebody entitled says so."""
LONGEST_WHY = 300
"""Characters of a reason that a person gives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brake:
    """One thing that holds back what would run."""

    name: str = ""
    """That of a window; empty for a pause, which a person set."""
    since: datetime
    until: datetime | None = None
    """None for a pause: it lasts until somebody ends it."""
    set_by: str = ""
    reason: str = ""
    """As whoever paused gave it, without any secret."""
    spares: frozenset[str] = frozenset()
    """Risks that go on."""

    @property
    def is_pause(self) -> bool:
        """Whether a person set it."""
        return not self.name

    @property
    def why(self) -> str:
        """Return why nothing runs, as a part of a sentence."""
        if self.is_pause:
            reason = f" ({one_line(self.reason)})" if self.reason else ""
            return f"{self.set_by} paused everything at {_at(self.since)}{reason}"
        until = f" until {_at(self.until)}" if self.until else ""
        return f"the freeze {self.name} lasts{until}"

    @property
    def then(self) -> str:
        """Say what ends it."""
        if self.is_pause:
            return "It lasts until somebody resumes: /sayso resume, or sayso resume."
        return (
            "Wait for its end; who has plan:break_glass can let one request through, with a reason."
        )

    def holds(self, risks: Iterable[str]) -> bool:
        """Whether it holds back a plan of these risks: all of it, unless each of them is spared."""
        return self.is_pause or not set(risks) <= self.spares


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """Who lets a request run alone, why, and who is called for that."""

    by: str
    why: str
    calls: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Now:
    """What holds a tenant back at one moment, which is the database's."""

    at: datetime
    pause: Brake | None


class Brakes(Protocol):
    """Where it is kept what holds tenants back. Every method is one transaction with its audit entry."""

    async def now(self, tenant: str) -> Now:
        """Return the time, and the pause if there is one."""
        ...

    async def pause(
        self, tenant: str, *, principal: str, reason: str, conversation: str | None = None
    ) -> Brake:
        """Hold everything back, and return the pause that stands: somebody else's where that came first.

        Every conversation in which something waits is told, and the one in which it was said.
        """
        ...

    async def resume(
        self, tenant: str, *, principal: str, conversation: str | None = None
    ) -> Brake | None:
        """End the pause and have what was approved go on; None where there was none."""
        ...

    async def windows(self, tenant: str, now: Sequence[Brake]) -> None:
        """Keep which windows last; where that is news, tell every conversation in which something waits."""
        ...

    async def blocked(self, tenant: str, conversation: str) -> str | None:
        """Return the request that was denied last, where denials keep a conversation from proposing."""
        ...

    async def lift(self, tenant: str, conversation: str, *, principal: str) -> bool:
        """Let a conversation propose again; False where nothing kept it from that."""
        ...


def paused(pause: Brake) -> str:
    """Tell a conversation that everything is held back."""
    return f"Held back: {pause.why}. Nothing new runs, and nothing is proposed. {pause.then}"


def resumed(principal: str) -> str:
    """Tell a conversation that things go on."""
    return f"{principal} resumed: what was approved goes on, and votes count again."


def began(window: Brake) -> str:
    """Tell a conversation that a window began."""
    return f"Held back: {window.why}. {window.then}"


def over(name: str) -> str:
    """Tell a conversation that a window is over."""
    return f"The freeze {name} is over: what was approved goes on, and votes count again."


def _at(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M:%S} UTC"
