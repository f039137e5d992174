"""Profiles: what the agent may use in a conversation, and how far it may go there.

A profile only narrows: nobody can do through it what the policy does not let them do (C68).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.errors import Refused
from core.events import Place
from core.limits import Limits

DEFAULT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """How the agent is set up for some conversations."""

    name: str
    tools: frozenset[str] | None = None
    """The only tools that there are; None for all, and with none in it there are none."""
    limits: Limits = field(default_factory=Limits)
    network: bool = True
    """Whether what needs the network may be used."""
    choosers: frozenset[str] = frozenset()
    """Groups whose people may choose it by its name."""

    def allows(self, tool: str) -> bool:
        """Whether a tool may be used at all."""
        return self.tools is None or tool in self.tools


@dataclass(frozen=True, slots=True, kw_only=True)
class Profiles:
    """All profiles, and which conversations get which."""

    known: Mapping[str, Profile] = field(default_factory=lambda: {DEFAULT: Profile(name=DEFAULT)})
    of_tenant: Mapping[str, str] = field(default_factory=dict[str, str])
    of_channel: Mapping[str, str] = field(default_factory=dict[str, str])
    """By the resource of a place."""

    def named(self, name: str) -> Profile | None:
        """Return a profile as it is now; None where there is none of that name any more."""
        return self.known.get(name)

    def of(self, tenant: str, place: Place) -> Profile:
        """Return what a new conversation there gets: the channel's, else the tenant's, else the default."""
        name = self.of_channel.get(place.resource) or self.of_tenant.get(tenant) or DEFAULT
        return self.known[name]

    def chosen(self, name: str, groups: frozenset[str]) -> Profile:
        """Return the profile that somebody chose; raise `Refused` where they may not, naming those they may."""
        found = self.known.get(name)
        if found and found.choosers & groups:
            return found
        may = sorted(n for n, profile in self.known.items() if profile.choosers & groups)
        listed = f"You may choose {', '.join(may)}." if may else "Leave --profile out."
        raise Refused(f"There is no profile of that name that you may choose. {listed}")
