"""Who acts: identities as platforms know them, and the people behind them."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.display import one_line
from core.errors import Refused

_STRANGER = "Sayso does not know you here. Ask an operator to list you under `people`."


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who a platform says someone is. All three parts together, always."""

    platform: str
    workspace: str
    user: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """A person in one tenant. Only a `Directory` makes one."""

    id: str
    tenant: str
    groups: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """What the configuration says about one person."""

    identities: frozenset[Identity]
    groups: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Directory:
    """Everybody: which workspaces a tenant owns, and who is behind which identity."""

    workspaces: Mapping[tuple[str, str], str]
    """(platform, workspace) -> tenant."""
    people: Mapping[str, Person]

    def resolve(self, identity: Identity) -> Principal:
        """Return the one person behind an identity; raise `Refused` for none and for more than one."""
        tenant = self.workspaces.get((identity.platform, identity.workspace))
        found = [name for name, person in self.people.items() if identity in person.identities]
        if tenant is None or len(found) != 1:
            name = one_line(identity.user, 64)
            raise Refused(
                f"{_STRANGER} On {identity.platform} your name is {name}.",
                logged=_STRANGER,
                identity=identity,
                matches=len(found),
            )
        return Principal(id=found[0], tenant=tenant, groups=self.people[found[0]].groups)

    def find(self, tenant: str, person: str) -> Principal | None:
        """Return somebody as they are now, or None where they are no longer in this tenant."""
        known = self.people.get(person)
        if known is None or not any(
            self.workspaces.get((i.platform, i.workspace)) == tenant for i in known.identities
        ):
            return None
        return Principal(id=person, tenant=tenant, groups=known.groups)

    def members(self, tenant: str) -> tuple[Principal, ...]:
        """Return everybody in a tenant, by name."""
        found = (self.find(tenant, name) for name in sorted(self.people))
        return tuple(person for person in found if person is not None)
