"""What happens when a freeze begins or ends: every conversation in which something waits is told."""

from collections.abc import Callable
from dataclasses import dataclass

from approvals.brakes import Brakes
from approvals.policy import Authority
from core.errors import Invalid, Unavailable

EVERY = 20.0
"""Seconds between two looks: so much later people are told. The gate itself looks each time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Freezing:
    """Keeps in the database which freezes last, so that each is told of once, after a restart too."""

    authority: Callable[[], Authority]
    brakes: Brakes

    async def __call__(self) -> None:
        """Look once; raise `Unavailable` where the configuration cannot be read just now."""
        try:
            authority = self.authority()
        except Invalid as error:
            raise Unavailable(error.shown) from error
        for tenant in sorted(set(authority.directory.workspaces.values())):
            now = await self.brakes.now(tenant)
            lasting = [window.at(now.at) for window in authority.policy.windows]
            await self.brakes.windows(tenant, [one for one in lasting if one])
