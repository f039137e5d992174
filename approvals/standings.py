"""People as their platforms say that they are at this moment, laid over what the file says."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from approvals.policy import Authority
from core.links import Links, laid_over
from core.principals import Directory, Identity
from core.roster import Freshness, Roster
from core.standing import Standing, Unknown

_UNANSWERED = Unknown(why="it did not say")


@dataclass(frozen=True, slots=True, kw_only=True)
class Standings:
    """Asks the rosters of the platforms. Where there is none, nothing is asked and nothing waits."""

    rosters: Mapping[str, Roster] = field(default_factory=dict[str, Roster])
    """By the name of the platform. People of any other one stand as they are listed."""
    links: Links | None = None
    """Where the accounts are that people linked to themselves; they are read anew each time."""

    async def linked(self, authority: Authority, tenant: str) -> Authority:
        """Return everybody as listed, with the accounts that they linked where those count.

        A link that the file does not carry any more ends here, for good.
        """
        links = await self.links.made(tenant) if self.links and authority.linking else ()
        if not (self.links and links):
            return authority
        found = laid_over(authority.directory, tenant, links)
        if found.lost:
            await self.links.lose(tenant, found.lost)
        return replace(authority, directory=found.directory)

    async def around(
        self, authority: Authority, identity: Identity, freshness: Freshness
    ) -> Authority:
        """Return who is behind an identity as they stand, among all of their tenant as far as known."""
        workspaces = authority.directory.workspaces
        tenant = workspaces.get((identity.platform, identity.workspace))
        if tenant is None:
            return authority
        linked = await self.linked(authority, tenant)
        return await self._among(linked, tenant, linked.directory.behind(identity), freshness)

    async def alone(
        self, authority: Authority, identity: Identity, freshness: Freshness
    ) -> Authority:
        """Return who is behind an identity as they stand; everybody else is as they are listed.

        That is for what names nobody else: it costs the same however many people there are.
        """
        workspaces = authority.directory.workspaces
        tenant = workspaces.get((identity.platform, identity.workspace))
        if tenant is None:
            return authority
        linked = await self.linked(authority, tenant)
        return await self._of(linked, tenant, linked.directory.behind(identity), freshness)

    async def acting(self, authority: Authority, tenant: str, *people: str) -> Authority:
        """Return these people as they stand, among all of their tenant as far as known."""
        linked = await self.linked(authority, tenant)
        return await self._among(linked, tenant, people, Freshness.RECENT)

    async def named(self, authority: Authority, tenant: str) -> Authority:
        """Return everybody of a tenant as far as known, to be named and no more."""
        linked = await self.linked(authority, tenant)
        return await self._among(linked, tenant, [], Freshness.HELD)

    async def of(
        self, authority: Authority, tenant: str, people: Iterable[str], freshness: Freshness
    ) -> Authority:
        """Return these people of a tenant as they stand; everybody else is as they are listed."""
        return await self._of(await self.linked(authority, tenant), tenant, people, freshness)

    async def _of(
        self, authority: Authority, tenant: str, people: Iterable[str], freshness: Freshness
    ) -> Authority:
        if not self.rosters:
            return authority
        theirs = _identities(authority.directory, tenant, people)
        return _laid_over(authority, await self._asked(theirs, freshness))

    async def _among(
        self, authority: Authority, tenant: str, people: Iterable[str], freshness: Freshness
    ) -> Authority:
        if not self.rosters:
            return authority
        directory = authority.directory
        theirs = _identities(directory, tenant, people)
        others = _identities(directory, tenant, directory.listed(tenant)) - theirs
        known, asked = await asyncio.gather(
            self._asked(others, Freshness.HELD), self._asked(theirs, freshness)
        )
        return _laid_over(authority, {**known, **asked})

    async def _asked(
        self, identities: Iterable[Identity], freshness: Freshness
    ) -> Mapping[Identity, Standing]:
        wanted = {name: [i for i in identities if i.platform == name] for name in self.rosters}
        told = await asyncio.gather(
            *(
                self.rosters[name].standings(some, freshness)
                for name, some in wanted.items()
                if some
            )
        )
        answers = {identity: one for answer in told for identity, one in answer.items()}
        return {i: answers.get(i, _UNANSWERED) for some in wanted.values() for i in some}


def _identities(directory: Directory, tenant: str, people: Iterable[str]) -> set[Identity]:
    """Return the accounts of these people in this tenant: what another one says of them is its own."""
    known = (directory.people[name] for name in people if name in directory.people)
    return {
        identity
        for person in known
        for identity in person.identities
        if directory.workspaces.get((identity.platform, identity.workspace)) == tenant
    }


def _laid_over(authority: Authority, standings: Mapping[Identity, Standing]) -> Authority:
    directory = authority.directory.with_standings(standings)
    return replace(authority, directory=directory)
