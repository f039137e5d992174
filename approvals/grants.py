"""Standing grants: what people allowed to run without being asked again, and how far that went."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from core.durations import words
from core.plans import Standing


class GrantState(StrEnum):
    """Where a grant is. Only an active one lets anything run; the last five are ends."""

    PROPOSED = "proposed"
    """Its request waits for people."""
    ACTIVE = "active"
    SUSPENDED = "suspended"
    """What people agreed to is no longer as it was, or who agreed may no longer."""
    EXPIRED = "expired"
    USED_UP = "used_up"
    REVOKED = "revoked"
    DENIED = "denied"


@dataclass(frozen=True, slots=True, kw_only=True)
class Under:
    """The grant under which a request needed nobody, and the request by which people allowed that."""

    grant: str
    request: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One use of a grant, which is one run."""

    grant: str
    number: int
    most: int
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A standing grant as it is now. What exactly may run stands in the plan of its request."""

    id: str
    tenant: str
    state: GrantState
    request: str
    """The request by which people allow it."""
    requester: str
    """Whose wish alone it covers."""
    proposer: str
    place: str
    """Where they have to ask, as the policy names a channel."""
    plan_sha256: str
    """The one plan that may run."""
    used: int
    most: int
    lasts: timedelta
    """For how long from the moment at which it was approved."""
    until: datetime | None
    """None until it was approved. At that moment it is over."""
    proposed_at: datetime
    ended_by: str | None
    reason: str


class Grants(Protocol):
    """Where grants live. One past its time is expired before anything else is done to it.

    They come to be with their request, and are used with the spend: `ApprovalStore` does both.
    """

    async def get(self, tenant: str, grant: str) -> Grant | None:
        """Return a grant as it is now, or None where this tenant has none of that id."""
        ...

    async def made_by(self, tenant: str, request: str) -> Grant | None:
        """Return the grant that a request asks for, or None where it asks for none."""
        ...

    async def known(self, tenant: str) -> Sequence[Grant]:
        """Return every grant of a tenant, newest first."""
        ...

    async def active(self, tenant: str, requester: str, conversation: str) -> Sequence[Grant]:
        """Return the active grants for what somebody asks in a conversation, and so in its channel."""
        ...

    async def suspend(self, tenant: str, grant: str, *, reason: str) -> None:
        """End an active grant for a reason that no person gave."""
        ...

    async def revoke(self, tenant: str, grant: str, *, principal: str) -> Grant | None:
        """End a grant that is proposed, active or suspended, and its request; return it as it is now."""
        ...


def terms(standing: Standing) -> str:
    """Return what a grant would allow, exactly: how often, for how long, whom and where."""
    lasts = words(timedelta(milliseconds=standing.lasts_ms))
    times = f"{standing.uses} time{'s' if standing.uses > 1 else ''}"
    return (
        f"up to {times} within {lasts} of its approval, whenever {standing.requester} asks for "
        f"exactly this {where(standing.place)}"
    )


def where(place: str) -> str:
    """Return in words where a grant holds: the console is one place, and a channel has a name."""
    _, platform, _, channel = re.split("[:/]", place, maxsplit=3)
    return "on the console" if platform == "console" else f"in channel {channel} of {platform}"
