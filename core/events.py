"""What people do in chat, with nothing left of the platform it came from."""

from dataclasses import dataclass

from core.principals import Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where to answer: a channel of one workspace. Its threads are conversations."""

    platform: str
    workspace: str
    channel: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Somebody wants something; in the named conversation, or in a new one."""

    identity: Identity
    place: Place
    text: str
    conversation: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Approve:
    """Somebody pressed Approve. `request` is whatever the button carried, not yet believed."""

    identity: Identity
    request: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Deny:
    """Somebody pressed Deny and may have said why."""

    identity: Identity
    request: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskAgain:
    """Somebody wants what an ended request showed to be asked once more, as a new plan."""

    identity: Identity
    request: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Somebody wants it to end: one conversation, what they may stop here, or everything."""

    identity: Identity
    conversation: str | None = None
    everything: bool = False
