"""What an operator may turn off: nobody is asked in vain about what could not run."""

from collections.abc import Sequence
from dataclasses import dataclass

from approvals.policy import Authority
from core.tools import Checked

PLAN_ONLY = "execution is switched off here (execution.plan_only)"
NO_RUNS = "no turn may run anything here (execution.runs_per_turn is 0)"
OFF = frozenset({PLAN_ONLY, NO_RUNS})
"""Why nothing may run at all, until an operator changes that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """What an operator may turn off."""

    plan_only: bool = False
    """Freeze plans for export, ask nobody, run nothing."""
    runs_per_turn: int = 1
    network: bool = True
    """Run what says that it needs the network."""

    def obstacle(self) -> str | None:
        """Say why nothing may run here, or None."""
        if self.plan_only:
            return PLAN_ONLY
        if self.runs_per_turn < 1:
            return NO_RUNS
        return None

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
