"""What people do in chat, with nothing left of the platform it came from."""

from dataclasses import dataclass

from core.principals import Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where to answer: a thread in a channel of one workspace."""

    platform: str
    workspace: str
    channel: str
    thread: str | None = None
    """The platform's id of the thread. None on the console, where whoever asked reads the answer."""

    @property
    def resource(self) -> str:
        """Return the name under which the policy knows the channel."""
        return f"channel:{self.platform}/{self.workspace}/{self.channel}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Somebody wants something: in the named conversation, in that of the thread, or in a new one."""

    identity: Identity
    place: Place
    text: str
    conversation: str | None = None
    profile: str | None = None
    """The profile that they chose, if they did."""
    deliveries: tuple[str, ...] = ()
    """Every id under which the platform may deliver this message again, in that workspace."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRun:
    """Somebody pressed Stop below a run. `request` is whatever the button carried, not yet believed."""

    identity: Identity
    request: str
