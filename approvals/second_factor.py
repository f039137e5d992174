"""The second factor: a one-time code, newer than the request, from whoever decides (C41).

A code is judged before the policy is asked and used up with what it decides, in the same
transaction: what is refused in between uses up nothing.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import NoReturn

from approvals.acting import Acting
from approvals.factors import (
    NOT_ENROLLED,
    WANTED,
    WANTED_OF_A_BREAKER,
    CodeSpent,
    Factors,
    Failed,
    RightCode,
)
from approvals.models import Request, Rule
from core.principals import Principal


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondFactor:
    """Demands a code where the rule of a request does."""

    acting: Acting
    factors: Factors

    async def must_hold(
        self, principal: Principal, request: Request, code: str, *, anew: bool = False
    ) -> tuple[Principal, RightCode | None]:
        """Return who decides, with when they proved it, and the code to be used up with the decision.

        Whose yes is there already needs none for another, unless they decide something `anew`.
        Raises `Refused`, on record, where the rule demands a code and this one counts for nothing.
        """
        if not request.rule.second_factor or (principal.id in request.voters and not anew):
            return principal, None
        wanted = WANTED_OF_A_BREAKER if anew else WANTED
        found = await self._judged(principal, request, code, wanted)
        if isinstance(found, Failed):
            await self.acting.refuse(principal, request.id, found.why)
        return replace(principal, authenticated_at=found.at), found

    async def spent(self, principal: Principal, request: Request, why: CodeSpent) -> NoReturn:
        """Refuse somebody, on record, whose code was used up before it could count."""
        await self.acting.refuse(principal, request.id, why.shown)

    async def enrolled(self, tenant: str, rule: Rule) -> Collection[str] | None:
        """Return who could give a code; None where the rule wants none."""
        return await self.factors.enrolled(tenant) if rule.second_factor else None

    async def _judged(
        self, principal: Principal, request: Request, code: str, wanted: str
    ) -> RightCode | Failed:
        if code:
            return await self.factors.check(
                principal.tenant, principal.id, code, since=request.opened_at
            )
        enrolled = await self.factors.enrolled(principal.tenant)
        return Failed(why=wanted if principal.id in enrolled else NOT_ENROLLED)
