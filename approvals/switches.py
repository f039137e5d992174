"""What an operator may turn off: nobody is asked in vain about what could not run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from approvals.brakes import Brake, Brakes
from approvals.policy import Authority
from core.tools import Checked

PLAN_ONLY = "execution is switched off here (execution.plan_only)"
NO_RUNS = "no turn may run anything here (execution.runs_per_turn is 0)"
OFF = frozenset({PLAN_ONLY, NO_RUNS})
"""Why nothing may run at all, until an operator changes that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What holds a plan back."""

    pause: Brake | None = None
    freeze: Brake | None = None
    before: datetime | None = None
    """When the next freeze begins, if any is to come."""

    @property
    def by(self) -> Brake | None:
        """Return one of them: a pause, which nothing gets past, before a freeze."""
        return self.pause or self.freeze


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """What an operator may turn off."""

    plan_only: bool = False
    """Freeze plans for export, ask nobody, run nothing."""
    runs_per_turn: int = 1
    network: bool = True
    """Run what says that it needs the network."""
    brakes: Brakes | None = None
    """Where it is kept what people hold back; None where nothing can be."""

    def obstacle(self) -> str | None:
        """Say why nothing may run here, or None."""
        if self.plan_only:
            return PLAN_ONLY
        if self.runs_per_turn < 1:
            return NO_RUNS
        return None

    async def held(self, authority: Authority, tenant: str, risks: Iterable[str]) -> Held:
        """Return what holds back plans of these risks now, and when the next freeze of them begins."""
        if self.brakes is None:
            return Held()
        now, wanted = await self.brakes.now(tenant), tuple(risks)
        lasting = (window.at(now.at) for window in authority.policy.windows)
        freeze = next((one for one in lasting if one and one.holds(wanted)), None)
        begin = [w.next(now.at) for w in authority.policy.windows if w.holds(wanted)]
        return Held(pause=now.pause, freeze=freeze, before=min(filter(None, begin), default=None))

    def offline(self, authority: Authority, profile: str, calls: Sequence[Checked]) -> str | None:
        """Say which call needs the network where it is off, judged from what it comes down to (C26)."""
        scope = authority.profiles.named(profile)
        if self.network and scope and scope.network:
            return None
        where = f"for the profile {profile}" if self.network else "here"
        for one in calls:
            if one.tool.expand(one.arguments).network:
                return f"{one.tool.name} needs the network, which is switched off {where}."
        return None
