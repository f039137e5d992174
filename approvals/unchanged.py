"""Whether everything is still as it was shown: the checks of I3, at the click and again at the spend."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from approvals import entitlement
from approvals.freeze import Freezer
from approvals.models import Request
from approvals.policy import Authority
from approvals.standings import Standings
from approvals.switches import Switches
from core.differences import difference
from core.errors import Invalid, Refused, Unavailable
from core.plans import Plan
from core.roster import Freshness
from core.tools import Toolbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Unchanged:
    """Compares a request with the world as it is now."""

    freezer: Freezer
    authority: Callable[[], Authority]
    toolbox: Callable[[], Toolbox]
    switches: Switches
    standings: Standings

    async def obstacle(self, request: Request, freshness: Freshness) -> str | None:
        """Say what is no longer as it was shown; the order is that of I3.

        `freshness` is how old what platforms say about people may be: at the spend, only `NOW` will
        do, and what cannot be asked is an obstacle. Before it, that is raised as `Unavailable`.
        """
        off = self.switches.obstacle()
        if off:
            return off
        try:
            authority, toolbox = self.authority(), self.toolbox()
        except Invalid as error:
            # A file that is being saved says nothing about the plan, so the votes are kept.
            raise Unavailable(error.shown) from error
        try:
            now = await self._frozen_again(request, authority, toolbox)
        except (Refused, Unavailable) as error:
            return f"it can no longer be prepared as it was shown ({error.shown.rstrip('.')})"
        if request.rule != authority.policy.strictest(call.risk for call in request.plan.calls):
            return "the rules that decide it changed"
        return difference(request.plan, now) or await self._lost(request, authority, freshness)

    async def _frozen_again(self, request: Request, authority: Authority, toolbox: Toolbox) -> Plan:
        """Return the plan as everything is now; raise `Refused` where it could not be proposed."""
        calls = [toolbox[call.tool].check(call.arguments, {}) for call in request.plan.calls]
        off = self.switches.offline(authority, request.profile, calls)
        if off:
            raise Refused(off)
        frozen = await self.freezer.freeze(calls, authority, who=request.id)
        return replace(frozen.plan, standing=request.plan.standing)

    async def _lost(
        self, request: Request, authority: Authority, freshness: Freshness
    ) -> str | None:
        """Say whose authority is gone: last, since dry runs take long and platforms answer for now."""
        alone = [request.broken_by] if request.broken_by else []
        whose = (*entitlement.requesters(request), *request.voters, *alone)
        standing = await self.standings.of(authority, request.tenant, whose, freshness)
        lost, unchecked = (
            entitlement.lost(standing, request),
            entitlement.unchecked(standing, request),
        )
        if unchecked and not lost and freshness is not Freshness.NOW:
            raise Unavailable(f"Your yes was not counted: {unchecked}. Try again in a minute.")
        return lost or unchecked
