"""Accounts that people linked to themselves: laid over the file, which always wins. Pure but for the port.

A link says that an account of a platform is somebody whom the file lists. It rests on the account
through which that person agreed, and counts only as long as the file lists that one as theirs.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from core.principals import Directory, Identity, Person

LASTS = timedelta(minutes=10)
"""How long a code is good for, and then how long the first side has to confirm."""
LINK = "link"
"""The kind of job that tells one side what the other did."""
_CODE = re.compile(r"[0-9A-HJKMNP-TV-Z]{5}-?[0-9A-HJKMNP-TV-Z]{5}", re.IGNORECASE)


def read_code(text: str) -> str | None:
    """Return the code that a text is, in the one way in which it is hashed; None for any other text."""
    bare = text.strip("`")
    return bare.replace("-", "").upper() if _CODE.fullmatch(bare) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """An account that somebody linked to themselves."""

    account: Identity
    principal: str
    rests_on: Identity
    """The account, which the file lists, through which they agreed."""


class LinkState(StrEnum):
    """How far a link is on its way."""

    OFFERED = "offered"
    CLAIMED = "claimed"
    """An account gave the code: it has not confirmed yet."""
    ASKED = "asked"
    """The account confirmed, and the first side is asked."""
    MADE = "made"
    REFUSED = "refused"
    ENDED = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class Linking:
    """A link on its way."""

    id: str
    """What a button carries: 128 random bits."""
    tenant: str
    principal: str
    rests_on: Identity
    account: Identity | None
    """Who gave the code, once somebody has."""
    state: LinkState
    expires_at: datetime


class Links(Protocol):
    """Where links are kept. Every method is one transaction, with its audit entry.

    Each step is one conditional statement: it holds only in the state before it, before its time is
    over and for whoever may take it; None says that it did not.
    """

    async def made(self, tenant: str) -> Sequence[Link]:
        """Return every link of a tenant, whether the file still carries it or not."""
        ...

    async def get(self, tenant: str, linking: str) -> Linking | None:
        """Return one whose time is not over, however far it came."""
        ...

    async def waiting(self, tenant: str, principal: str) -> Sequence[Linking]:
        """Return those that wait for this person's last word."""
        ...

    async def offer(
        self, tenant: str, linking: str, code: str, *, principal: str, rests_on: Identity
    ) -> Linking:
        """Keep the digest of a code, instead of any that this person was given before."""
        ...

    async def claim(self, tenant: str, code: str, account: Identity) -> Linking | None:
        """Let an account that is nobody's use up a code, by its digest."""
        ...

    async def ask(self, tenant: str, linking: str, account: Identity) -> Linking | None:
        """Take the yes of the account that claimed it, and have the first side be asked."""
        ...

    async def make(
        self, tenant: str, linking: str, *, principal: str, platform: str
    ) -> Linking | None:
        """Take the last yes, of the person on the first platform, and link the account.

        Not where it was linked meanwhile, or the person has another one in that workspace.
        """
        ...

    async def refuse(
        self, tenant: str, linking: str, *, principal: str = "", account: Identity | None = None
    ) -> Linking | None:
        """Take the no of either side."""
        ...

    async def end(
        self, tenant: str, principal: str, *, account: Identity | None = None, platform: str = ""
    ) -> Sequence[Link]:
        """End somebody's links: all, one account's, or those of a platform; and what is on its way."""
        ...

    async def lose(self, tenant: str, links: Sequence[Link]) -> None:
        """End links that the file does not carry any more, for good."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LaidOver:
    """Everybody as the file and their links say, and the links that the file does not carry."""

    directory: Directory
    lost: tuple[Link, ...]


def laid_over(directory: Directory, tenant: str, links: Iterable[Link]) -> LaidOver:
    """Return everybody of the file with the accounts that they linked.

    No link counts whose account the file names, whose person the file does not list any more as the
    one on whom it rests, or beside another account of theirs in that workspace.
    """
    owners = _owners(directory.people)
    people, lost = dict(directory.people), list[Link]()
    for link in links:
        person = people.get(link.principal)
        if person is None or not _is_carried(directory, tenant, link, person, owners):
            lost.append(link)
            continue
        people[link.principal] = replace(
            person,
            identities=person.identities | {link.account},
            linked={**person.linked, link.account: link.rests_on},
        )
        owners[link.account].append(link.principal)
    return LaidOver(directory=replace(directory, people=people), lost=tuple(lost))


def _is_carried(
    directory: Directory,
    tenant: str,
    link: Link,
    person: Person,
    owners: Mapping[Identity, Sequence[str]],
) -> bool:
    own, other = link.rests_on, link.account
    are_of_tenant = all(directory.workspaces.get(_where(one)) == tenant for one in (own, other))
    has_one = any(_where(one) == _where(other) for one in person.identities)
    is_theirs = owners.get(own) == [link.principal] and own not in person.linked
    return are_of_tenant and is_theirs and not owners.get(other) and not has_one


def _where(identity: Identity) -> tuple[str, str]:
    return identity.platform, identity.workspace


def _owners(people: Mapping[str, Person]) -> dict[Identity, list[str]]:
    owners: dict[Identity, list[str]] = defaultdict(list)
    for name, person in people.items():
        for identity in person.identities:
            owners[identity].append(name)
    return owners
