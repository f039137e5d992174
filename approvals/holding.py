"""Whether a pause or a freeze holds something back, at each moment at which the gate has to know."""

from dataclasses import dataclass
from datetime import datetime

from approvals import entitlement
from approvals.acting import Acting
from approvals.models import Request
from approvals.policy import Authority
from approvals.proposals import Proposal
from approvals.switches import Held, Switches
from core.errors import Invalid, Refused, Unavailable
from core.principals import Principal

NOT_NOW = "Everything is held back for now."
"""What the log has of it: a reason is somebody's words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """Looks at the pause in the database and the freezes in the file."""

    acting: Acting
    switches: Switches

    async def must_not_hold(self, authority: Authority, proposal: Proposal) -> None:
        """Raise `Refused` where nothing is proposed now; in a freeze, who may break the glass proposes."""
        risks = [checked.tool.risk for checked in proposal.calls]
        held = await self.switches.held(authority, proposal.tenant, risks)
        by = held.pause if entitlement.may_break(authority, proposal) else held.by
        if by:
            raise Refused(f"Not proposed: {by.why}. {by.then}", logged=NOT_NOW)

    async def must_count(
        self, authority: Authority, principal: Principal, request: Request
    ) -> None:
        """Refuse a yes that nothing would come of now."""
        held = (await self._of(authority, request)).by
        if held:
            reason = f"Your yes was not counted: {held.why}. {held.then}"
            await self.acting.refuse(principal, request.id, reason, logged=NOT_NOW)

    async def until(self, request: Request) -> datetime | None:
        """Return when a freeze begins after which it can no longer be spent; raise where that is now."""
        try:
            authority = self.acting.authority()
        except Invalid as error:
            raise Unavailable(error.shown) from error
        held = await self._of(authority, request)
        if held.by:
            raise Unavailable(f"Not run yet: {held.by.why}. It waits until that is over.")
        return held.before

    async def _of(self, authority: Authority, request: Request) -> Held:
        """Return what holds a request back: where the glass is broken, a pause alone."""
        risks = [call.risk for call in request.plan.calls] if request.is_intact else ["*"]
        held = await self.switches.held(authority, request.tenant, risks)
        return Held(pause=held.pause) if request.broken_by else held
