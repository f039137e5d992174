"""How an account comes to be somebody's besides those of the file: both sides say yes, or nothing is so.

Whoever is listed gets a code, the other account gives it and says yes, and whoever is listed says yes
again, on the platform on which they got it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import NoReturn

from approvals.acting import Acting
from approvals.policy import Authority
from core import ids
from core.canonical import sha256
from core.errors import Refused
from core.links import Link, Linking, Links, LinkState, read_code
from core.principals import STRANGER, Identity, Principal
from core.rates import TOO_FAST, Rate
from core.roster import Freshness

OFF = "Accounts are not linked here. An operator allows it with `policy: {linking: true}` in sayso.yml."
GONE = (
    "That is not there, or not any more. Write `link` where Sayso knows you, and begin anew with the "
    "code that it gives you."
)
KNOWN = "Sayso knows you here already, so there is nothing to link. `links` shows what is linked."
LISTED = "Do that with an account that stands in sayso.yml: a link cannot rest on a link."
HAS_ONE = "Sayso knows {} here by another account. Have them `unlink` that one first."
CODES = Rate(name="link codes", most=5, per=timedelta(minutes=10))
"""How many codes one account may try: with 50 bits each, nobody finds one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """A code, which nothing but this keeps."""

    code: str
    linking: Linking


@dataclass(frozen=True, slots=True, kw_only=True)
class Mine:
    """What somebody has linked, and what waits for their last word."""

    principal: str
    links: tuple[Link, ...]
    waiting: tuple[Linking, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkingAccounts:
    """Takes each step. Whoever may not take one gets one answer, and is put on record."""

    links: Links
    acting: Acting

    async def offer(self, identity: Identity) -> Offered:
        """Give somebody who is listed a code; any that they had before is worth nothing any more."""
        _, principal = await self._listed(identity)
        code = ids.code()
        linking = await self.links.offer(
            principal.tenant,
            ids.link_id(),
            _digest(principal.tenant, code),
            principal=principal.id,
            rests_on=identity,
        )
        return Offered(code=code, linking=linking)

    async def claim(self, identity: Identity, given: str) -> Linking:
        """Let an account that is nobody's use up a code; return who it would be."""
        at = await self._around(identity)
        await self._count(at)
        directory = at.authority.directory
        if directory.behind(identity):
            await self._no(at, KNOWN)
        claimed = await self.links.claim(at.tenant, _digest(at.tenant, given), identity)
        if claimed is None:
            await self._no(at, GONE)
        if directory.accounts(claimed.principal, identity.platform, identity.workspace):
            await self.links.refuse(at.tenant, claimed.id, account=identity)
            await self._no(at, HAS_ONE.format(claimed.principal))
        return claimed

    async def confirm(self, identity: Identity, given: str) -> Linking:
        """Take the yes of either side, each in its turn."""
        at = await self._around(identity)
        found = await self._found(at, given)
        if found.account == identity:
            confirmed = await self.links.ask(at.tenant, found.id, identity)
        elif _may_make(at, found):
            _, principal = await self._listed(identity)
            confirmed = await self.links.make(
                at.tenant, found.id, principal=principal.id, platform=identity.platform
            )
        else:
            confirmed = None
        return confirmed or await self._no(at, GONE)

    async def refuse(self, identity: Identity, given: str) -> Linking:
        """Take the no of either side."""
        at = await self._around(identity)
        found = await self._found(at, given)
        refused = None
        if found.account == identity:
            refused = await self.links.refuse(at.tenant, found.id, account=identity)
        elif at.names == (found.principal,):
            refused = await self.links.refuse(at.tenant, found.id, principal=found.principal)
        return refused or await self._no(at, GONE)

    async def unlink(self, identity: Identity, platform: str = "") -> Sequence[Link]:
        """End the link of this very account; of a listed one, those that its person has, or on a platform.

        It takes something away alone, so nothing is asked about anybody and no switch keeps it.
        """
        at = self._at(self.acting.authority(), identity)
        made = await self.links.made(at.tenant)
        own = next((link for link in made if link.account == identity), None)
        if own:
            return await self.links.end(at.tenant, own.principal, account=identity)
        if len(at.names) != 1:
            await self._no(at, GONE)
        return await self.links.end(at.tenant, at.names[0], platform=platform)

    async def mine(self, identity: Identity) -> Mine:
        """Return what somebody has linked, and what waits for them."""
        authority, principal = await self.acting.who(identity, Freshness.HELD)
        linked = authority.directory.people[principal.id].linked
        links = [
            Link(account=account, principal=principal.id, rests_on=under)
            for account, under in linked.items()
        ]
        waiting = await self.links.waiting(principal.tenant, principal.id)
        return Mine(principal=principal.id, links=tuple(links), waiting=tuple(waiting))

    async def _listed(self, identity: Identity) -> tuple[Authority, Principal]:
        """Return somebody who acts through an account of the file, and is not too fast."""
        authority, principal = await self.acting.admit(identity, "links")
        if not authority.linking:
            await self.acting.refuse(principal, "", OFF)
        if identity in authority.directory.people[principal.id].linked:
            await self.acting.refuse(principal, "", LISTED)
        return authority, principal

    async def _found(self, at: "_At", given: str) -> Linking:
        found = await self.links.get(at.tenant, given) if ids.is_link_id(given) else None
        return found or await self._no(at, GONE)

    async def _around(self, identity: Identity) -> "_At":
        """Return where somebody is, with everybody as listed and linked, where linking is on."""
        at = self._at(self.acting.authority(), identity)
        if not at.authority.linking:
            await self._no(at, OFF)
        linked = await self.acting.standings.linked(at.authority, at.tenant)
        return self._at(linked, identity)

    def _at(self, authority: Authority, identity: Identity) -> "_At":
        tenant = authority.directory.workspaces.get((identity.platform, identity.workspace))
        if tenant is None:
            raise Refused(GONE)
        return _At(authority=authority, tenant=tenant, identity=identity)

    async def _count(self, at: "_At") -> None:
        who = f"{STRANGER} {sha256(repr(at.identity))}"
        lacking = await self.acting.rates.take(at.tenant, who, [CODES])
        if lacking:
            await self._no(at, lacking[0].refusal(TOO_FAST))

    async def _no(self, at: "_At", reason: str) -> NoReturn:
        who = at.names[0] if len(at.names) == 1 else STRANGER
        await self.acting.store.attempt_refused(
            at.tenant, principal=who, request=at.identity.user, why=reason
        )
        raise Refused(reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class _At:
    """Somebody who does something about links, and whom everybody is known as there."""

    authority: Authority
    tenant: str
    identity: Identity

    @property
    def names(self) -> tuple[str, ...]:
        """Return who has this account: nobody, as a rule, or one."""
        return self.authority.directory.behind(self.identity)


def _may_make(at: _At, found: Linking) -> bool:
    """Whether this person is asked, and the account may still come to be theirs by the file as it is now."""
    account, directory = found.account, at.authority.directory
    if account is None or found.state is not LinkState.ASKED or at.names != (found.principal,):
        return False
    has_one = directory.accounts(found.principal, account.platform, account.workspace)
    return not directory.behind(account) and not has_one


def _digest(tenant: str, given: str) -> str:
    return sha256(f"{tenant} {read_code(given) or given}")
