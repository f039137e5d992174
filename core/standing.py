"""What a platform says about somebody's account: values, so that none is a yes by accident."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias


class Why(StrEnum):
    """Why an account gives nobody any authority. The value ends `the Slack account of bob …`."""

    DEACTIVATED = "was deactivated"
    BOT = "is a bot's"
    NOT_THERE = "is not known in that workspace"
    """There is none of that id, or it is another organisation's than the one that is listed."""
    PENDING = "has not accepted the rules of that server yet"
    """It may do nothing there until then, which says nothing about what else is somebody's."""
    TIMED_OUT = "is timed out in that server"
    """Somebody, or a rule of theirs, meant to end what it may do for a while."""


_NO_SIGN = frozenset({Why.NOT_THERE, Why.PENDING})


@dataclass(frozen=True, slots=True, kw_only=True)
class Active:
    """A person's account that may be used."""

    groups: frozenset[str] = frozenset()
    """Groups of Sayso that the platform puts them in, besides those of the file."""
    unsure: Mapping[str, str] = field(default_factory=dict[str, str])
    """Groups of which the platform could not say whether they are in them -> why it could not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotActive:
    """An account that gives nobody any authority."""

    why: Why


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """The platform could not be asked, which is never a yes."""

    why: str
    """Ends `Slack could not be asked just now: …`. Software wrote it."""


Standing: TypeAlias = Active | NotActive | Unknown


def together(standings: Iterable[Standing]) -> Standing:
    """Return what all that is known of one person's accounts comes to.

    Whoever was deactivated somewhere is gone everywhere: somebody meant to end what they may do.
    An account that is not there is no such sign, and says nothing about the others; nor is one that
    never began.
    """
    told = tuple(standings)
    inactive = [one for one in told if isinstance(one, NotActive)]
    ended = [one for one in inactive if one.why not in _NO_SIGN]
    unknown = [one for one in told if isinstance(one, Unknown)]
    active = [one for one in told if isinstance(one, Active)]
    if ended:
        return ended[0]
    if unknown:
        return unknown[0]
    if not active:
        return inactive[0] if inactive else NotActive(why=Why.NOT_THERE)
    groups = frozenset[str]().union(*(one.groups for one in active))
    unsure = {name: why for one in active for name, why in one.unsure.items()}
    return Active(
        groups=groups, unsure={name: why for name, why in unsure.items() if name not in groups}
    )
