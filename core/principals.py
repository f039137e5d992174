"""Who acts: identities as platforms know them, and the people behind them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from core.display import one_line
from core.errors import Refused, SaysoError, Unavailable
from core.standing import Active, NotActive, Standing, Unknown, together

STRANGER = "(unknown)"
"""What the audit log calls somebody whom nobody listed; what was given is then their account."""
_STRANGER = "Sayso does not know you here. Ask an operator to list you under `people`."
_AS_LISTED = Active()
"""Says nothing that the file does not say."""


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
    unsure: frozenset[str] = frozenset()
    """Groups of which nobody could say whether they are in them: they allow nothing, and still deny."""
    authenticated_at: datetime | None = None
    """When they proved, for this one deed, that they hold their second factor; None where they did not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """What the configuration says about one person."""

    identities: frozenset[Identity]
    groups: frozenset[str]
    unsure: frozenset[str] = frozenset()
    """As of a `Principal`."""
    linked: Mapping[Identity, Identity] = field(default_factory=dict[Identity, Identity])
    """Those of the identities that are linked -> the listed one on which each rests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Absent:
    """Why somebody who is listed counts for nothing now."""

    name: str
    platform: str
    standing: NotActive | Unknown

    @property
    def why(self) -> str:
        """Return the reason, as a part of a sentence."""
        platform = self.platform.capitalize()
        if isinstance(self.standing, Unknown):
            return f"{platform} could not be asked about {self.name} just now: {self.standing.why}"
        return f"the {platform} account of {self.name} {self.standing.why}"

    def error(self) -> SaysoError:
        """Return what that person is told."""
        if isinstance(self.standing, Unknown):
            return Unavailable(f"Nothing was done. {self.why}. Try again in a minute.")
        return Refused(
            f"Nothing was done: {self.why}, so it counts for nothing here. Ask an operator to correct "
            "who is listed under `people`, if that is wrong."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Directory:
    """Everybody: which workspaces a tenant owns, and who is behind which identity."""

    workspaces: Mapping[tuple[str, str], str]
    """(platform, workspace) -> tenant."""
    people: Mapping[str, Person]
    absent: Mapping[str, Absent] = field(default_factory=dict[str, Absent])
    """Who is listed and counts for nothing now, as a platform says."""
    doubts: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of whom something could not be asked -> what and why, as a part of a sentence."""

    def accounts(self, person: str, platform: str, workspace: str) -> tuple[Identity, ...]:
        """Return as whom a workspace knows somebody; none where it does not."""
        listed = self.people.get(person)
        return tuple(
            one
            for one in sorted(listed.identities if listed else (), key=str)
            if (one.platform, one.workspace) == (platform, workspace)
        )

    def behind(self, identity: Identity) -> tuple[str, ...]:
        """Return the names of all who have this identity: more than one is as good as none."""
        wanted = {identity}  # a set knows the hashes of what is in it: here, everybody is looked at
        return tuple(
            name for name, one in self.people.items() if not wanted.isdisjoint(one.identities)
        )

    def resolve(self, identity: Identity) -> Principal:
        """Return the one person behind an identity.

        Raises `Refused` for none, for more than one and for somebody who is absent; `Unavailable`
        where that could not be asked.
        """
        tenant = self.workspaces.get((identity.platform, identity.workspace))
        found = self.behind(identity)
        if tenant is None or len(found) != 1:
            name = one_line(identity.user, 64)
            raise Refused(
                f"{_STRANGER} On {identity.platform.capitalize()} your name is {name}.",
                logged=_STRANGER,
                identity=identity,
                matches=len(found),
            )
        self.must_be_here(found[0])
        return _principal(found[0], tenant, self.people[found[0]])

    def must_be_here(self, person: str) -> None:
        """Raise why somebody counts for nothing now, where a platform says so."""
        if person in self.absent:
            raise self.absent[person].error()

    def find(self, tenant: str, person: str) -> Principal | None:
        """Return somebody as they are now, or None where they are no longer in this tenant."""
        known = self.people.get(person)
        if known is None or person in self.absent or not self._is_of(tenant, known):
            return None
        return _principal(person, tenant, known)

    def members(self, tenant: str) -> tuple[Principal, ...]:
        """Return everybody in a tenant, by name."""
        found = (self.find(tenant, name) for name in sorted(self.people))
        return tuple(person for person in found if person is not None)

    def listed(self, tenant: str) -> tuple[str, ...]:
        """Return the names of everybody who is listed for a tenant, whatever a platform says."""
        return tuple(name for name, known in self.people.items() if self._is_of(tenant, known))

    def with_standings(self, standings: Mapping[Identity, Standing]) -> "Directory":
        """Return everybody as platforms say that they are; who was not asked about stays as listed.

        Who is not active, or could not be asked about, is absent. Groups of a platform come on top
        of those of the file. An account that is not there, or not yet, is nobody's.
        """
        says = {identity for identity, one in standings.items() if one != _AS_LISTED}
        if not says:
            return self
        people, absent, doubts = dict(self.people), dict(self.absent), dict(self.doubts)
        for name, person in self.people.items():
            if says.isdisjoint(person.identities):
                continue
            every = sorted(person.identities, key=_parts)
            told = {i: said for i in every if (said := _said(i, person, standings))}
            unasked = [Active()] if len(told) < len(person.identities) else []
            match together([*told.values(), *unasked]):
                case Active() as active:
                    people[name] = _with(person, active, told)
                    lacking = active.unsure.keys() - person.groups
                    if lacking:
                        doubts[name] = _unsure(active, sorted(lacking), next(iter(told)).platform)
                case standing:
                    at = next(i for i, one in told.items() if one == standing)
                    absent[name] = Absent(name=name, platform=at.platform, standing=standing)
                    if isinstance(standing, Unknown):
                        doubts[name] = absent[name].why
        return replace(self, people=people, absent=absent, doubts=doubts)

    def _is_of(self, tenant: str, person: Person) -> bool:
        owners = (self.workspaces.get((i.platform, i.workspace)) for i in person.identities)
        return tenant in owners


def _principal(name: str, tenant: str, person: Person) -> Principal:
    return Principal(id=name, tenant=tenant, groups=person.groups, unsure=person.unsure)


def _parts(identity: Identity) -> tuple[str, str, str]:
    return identity.platform, identity.workspace, identity.user


def _with(person: Person, active: Active, told: Mapping[Identity, Standing]) -> Person:
    nobodys = {i for i, one in told.items() if isinstance(one, NotActive)}
    return replace(
        person,
        identities=person.identities - nobodys,
        groups=person.groups | active.groups,
        unsure=frozenset(active.unsure) - person.groups,
    )


def _said(
    identity: Identity, person: Person, standings: Mapping[Identity, Standing]
) -> Standing | None:
    """Return what a platform says of an account.

    One that is linked gives no groups, and is nobody's once the one on which it rests is.
    """
    own = standings.get(identity)
    if identity not in person.linked:
        return own
    under = standings.get(person.linked[identity])
    if isinstance(under, NotActive):
        return under
    return _AS_LISTED if isinstance(own, Active) else own


def _unsure(active: Active, groups: list[str], platform: str) -> str:
    why = active.unsure[groups[0]]
    return (
        f"{platform.capitalize()} could not be asked just now who is in {', '.join(groups)}: {why}"
    )
