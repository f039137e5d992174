"""The life of a request for approval, and of the run that comes of it."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property

from approvals.brakes import Brake
from approvals.grants import Under, Use
from core import plans
from core.artifacts import Stored
from core.canonical import JsonObject, sha256
from core.cards import Card, decode
from core.errors import Refused
from core.plans import OnFailure, Plan
from core.ports import Ended
from core.profiles import DEFAULT
from core.transcript import AgentText


class State(StrEnum):
    """Where a request is. Open and granted can still end in any other way; the rest are ends."""

    OPEN = "open"
    GRANTED = "granted"
    """Enough people agreed; the checks before the spend have still to pass."""
    SPENT = "spent"
    DENIED = "denied"
    EXPIRED = "expired"
    REVOKED = "revoked"
    SUPERSEDED = "superseded"


class Yes(StrEnum):
    """What became of somebody's yes."""

    COUNTED = "counted"
    AGAIN = "again"
    """It was there already."""
    LATE = "late"
    """It is none: enough people had agreed before it came, or the request had ended."""


RUN = "run"
"""The kind of job that runs a granted request."""
EXPIRE = "expire"
"""The kind of job that ends a request at its time."""
REMIND = "remind"
"""The kind of job that brings an open request to mind."""
ESCALATE = "escalate"
"""The kind of job that tells other groups of an open request."""


_ALTERED = Card(
    title="The stored card is not the one that was shown",
    plan=(), facts=(), warnings=(), estimate="none", preview=(), unchecked=(), buttons=(),
)  # fmt: skip


def job_of(request: str) -> str:
    """Return the id of the job that runs a request: it has one, ever."""
    return f"{RUN}:{request}"


LIVE = frozenset({State.OPEN, State.GRANTED})


class RunState(StrEnum):
    """Where a run is."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


class StepState(StrEnum):
    """Where one step of a run is."""

    PENDING = "pending"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    UNKNOWN = "unknown"
    """It may have happened. Never repeated; a person resolves it."""
    NOT_RUN = "not_run"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How many people must agree, whether the requester counts, and until when."""

    name: str
    quorum: int
    requester_may_vote: bool
    expires: timedelta
    second_factor: bool = False
    """Whether each yes takes a one-time code that is newer than the request."""

    def extras(self) -> JsonObject:
        """Return what stands in a rule's text only where it is so: without it, digests stay as they were."""
        return {"second_factor": True} if self.second_factor else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """One person's yes. A no ends the request, so it is kept there."""

    principal: str
    at: datetime
    second_factor: bool = False
    """Whether a code of their second factor came with it."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """A plan that waits for people, or how that ended."""

    id: str
    tenant: str
    conversation: str
    turn: str
    requester: str
    profile: str = DEFAULT
    plan_body: str
    """The stored bytes. They and the card's are believed only where they hash to what was shown."""
    plan_sha256: str
    rule: Rule
    state: State
    votes: tuple[Vote, ...]
    about: AgentText
    card_body: str
    card_sha256: str
    times_asked: int
    opened_at: datetime
    expires_at: datetime
    ended_by: str | None
    """Who denied it, asked again, edited it, or found by a click that it had changed; else None."""
    reason: str
    edited_at: datetime | None = None
    """When whoever asked gave their message other words. That changes nothing about the plan."""
    editors: tuple[str, ...] = ()
    """As of `Proposal`."""
    became: str | None = None
    """The request that somebody made of this one by editing it."""
    under: Under | None = None
    """The standing grant that covers it. Then its votes are those by which people allowed that."""
    broken_by: str | None = None
    """Who let it run without what its rule asks for, or in spite of a freeze."""
    broken_why: str = ""
    brakes: tuple[Brake, ...] = ()
    """What holds back everything in its tenant while it is live. Only `get` and `live` tell it."""

    @property
    def is_intact(self) -> bool:
        """Whether the stored bytes, plan and card, are the ones that were shown and approved."""
        plan, card = sha256(self.plan_body), sha256(self.card_body)
        return (plan, card) == (self.plan_sha256, self.card_sha256)

    @cached_property
    def plan(self) -> Plan:
        """Return the plan; raise `Refused` where the stored bytes are not the ones that were shown."""
        if not self.is_intact:
            raise Refused("The stored plan is not the one that was shown, so it can never run.")
        return plans.read(self.plan_body)

    @property
    def card(self) -> Card:
        """Return the card as it was drawn, or where its stored bytes were altered, one that says so."""
        if sha256(self.card_body) != self.card_sha256:
            return _ALTERED
        return decode(self.card_body)

    @property
    def voters(self) -> tuple[str, ...]:
        """Return who said yes, in order."""
        return tuple(vote.principal for vote in self.votes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Denial:
    """A refused effect: refused for its conversation until somebody entitled asks again."""

    tool: str
    by: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """What became of all that a step printed, where that is more than is shown."""

    stored: Stored | None = None
    """None where it was not kept."""
    why_not: str = ""
    """In a sentence."""
    is_gone: bool = False
    """Whether it was removed since: it was kept for long enough, or was erased."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepEnd:
    """How one step ended, as far as anybody can tell."""

    state: StepState
    exit_code: int | None = None
    output: str = ""
    note: str = ""
    whole: Whole | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a run."""

    index: int
    tool: str
    state: StepState
    exit_code: int | None
    output: str
    note: str
    """Why it ended as it did, where the exit code does not say."""
    started_at: datetime | None = None
    ended_at: datetime | None = None
    on_failure: OnFailure = "stop"
    """Whether the steps behind it run where it has failed."""
    whole: Whole | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """The execution of a plan."""

    id: str
    tenant: str
    conversation: str
    request: str
    plan: str
    """The plan's short name."""
    voters: tuple[str, ...]
    state: RunState
    fence: int
    """Which claim of the run's job this copy belongs to; a later claim makes it stale."""
    steps: tuple[Step, ...]
    started_at: datetime
    ended_at: datetime | None
    under: Use | None = None
    """The use of a standing grant that it is, where it is one."""
    broken_by: str | None = None
    """As of its request."""
    broken_why: str = ""

    @property
    def tools(self) -> tuple[str, ...]:
        """Return the names of the tools, each once, in order."""
        return tuple(dict.fromkeys(step.tool for step in self.steps))


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What the `verify` of an unknown step printed: evidence for a person, never a verdict."""

    run: Run
    index: int
    principal: str
    ended: Ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Voted:
    """A request after somebody's yes; `job` is the run that this yes put into the queue, if it did."""

    request: Request
    yes: Yes
    job: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Proof that a request was spent, and the run it was spent on. Only `ApprovalStore` makes one."""

    request: Request
    run: Run
