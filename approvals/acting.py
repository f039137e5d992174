"""Who is acting, as people and rules are at that moment; whoever is refused is put on record."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

from approvals.policy import Authority
from approvals.standings import Standings
from approvals.store import ApprovalStore
from core.errors import Refused
from core.principals import STRANGER, Identity, Principal
from core.rates import TOO_FAST, Rate, Rates
from core.roster import Freshness

UNLINKED = (
    "If Sayso knows you elsewhere, write `link` there, and here `/sayso link` with the code that it "
    "gives you."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Acting:
    """Finds out who somebody is here, and refuses."""

    store: ApprovalStore
    authority: Callable[[], Authority]
    """Reads people and rules afresh, as the file has them; raises where they cannot be read."""
    rates: Rates
    standings: Standings = field(default_factory=Standings)
    """What platforms say about people."""

    async def who(
        self, identity: Identity, freshness: Freshness = Freshness.RECENT
    ) -> tuple[Authority, Principal]:
        """Return people and rules as they are now, and who is acting; a stranger is put on record."""
        authority = await self.standings.around(self.authority(), identity, freshness)
        return await self._resolved(authority, identity)

    async def asks(self, identity: Identity) -> tuple[Authority, Principal]:
        """Return the same as `who`, where everybody else is as they are listed."""
        authority = await self.standings.alone(self.authority(), identity, Freshness.RECENT)
        return await self._resolved(authority, identity)

    async def named(self, tenant: str) -> Authority:
        """Return everybody of a tenant as far as platforms are known to say, to be named and no more."""
        return await self.standings.named(self.authority(), tenant)

    async def _resolved(
        self, authority: Authority, identity: Identity
    ) -> tuple[Authority, Principal]:
        try:
            return authority, authority.directory.resolve(identity)
        except Refused as error:
            workspace = (identity.platform, identity.workspace)
            if workspace in authority.directory.workspaces:
                await self.store.attempt_refused(
                    authority.directory.workspaces[workspace],
                    principal=STRANGER,
                    request=identity.user,
                    why=error.logged,
                )
                if authority.linking and not authority.directory.behind(identity):
                    raise Refused(f"{error.shown} {UNLINKED}", logged=error.logged) from error
            raise

    async def admit(self, identity: Identity, doing: str) -> tuple[Authority, Principal]:
        """Return the same as `who` for somebody who is not too fast; raise `Refused` otherwise (C67).

        What people are `doing` is counted by itself: who asks much may still vote.
        """
        authority, principal = await self.who(identity)
        rate = authority.rates.of_people(doing)
        lacking = await self.rates.take(principal.tenant, principal.id, [rate])
        if lacking:
            await self.refuse(principal, "", lacking[0].refusal(TOO_FAST))
        return authority, principal

    async def count(self, principal: Principal, rate: Rate) -> None:
        """Count what somebody did, where there is room: it was refused already."""
        await self.rates.take(principal.tenant, principal.id, [rate])

    async def person(self, tenant: str, principal: str) -> tuple[Authority, Principal]:
        """Return people and rules, and somebody as they are now; everybody else is as listed."""
        authority = await self.standings.of(self.authority(), tenant, [principal], Freshness.RECENT)
        authority.directory.must_be_here(principal)
        found = authority.directory.find(tenant, principal)
        if found is None:
            raise Refused("Sayso does not know you any more, so this was not looked at.")
        return authority, found

    async def refuse(
        self, principal: Principal, request: str, reason: str, *, logged: str = ""
    ) -> NoReturn:
        """Refuse what somebody tried, and put it on record; `request` is what they gave.

        A reason that holds anybody's words has another form for the log.
        """
        refused = Refused(reason, logged=logged)
        await self.store.attempt_refused(
            principal.tenant, principal=principal.id, request=request, why=refused.logged
        )
        raise refused
