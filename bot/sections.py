"""The sections of `sayso.yml`, each checked by itself."""

from datetime import UTC, datetime, timedelta, tzinfo
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
)

from core.counts import Count, no_boolean
from core.durations import Duration

ACTIONS = (
    "chat:ask", "tool:read", "run:propose", "plan:approve", "plan:deny", "plan:edit", "run:stop",
    "run:resolve", "grant:propose", "grant:revoke", "plan:break_glass", "tenant:pause",
)  # fmt: skip
"""What a policy may speak of."""


_SOME_DAY = datetime(2000, 1, 1, tzinfo=UTC)


class Section(BaseModel):
    """A part of the file that knows every name in it."""

    model_config = ConfigDict(frozen=True, extra="forbid")


Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
"""Plain ASCII, because it stands on cards as software's own word."""
Names = Annotated[tuple[str, ...], Field(strict=False)]
Identities = Annotated[
    tuple[Annotated[str, Field(json_schema_extra={"pattern": "^[^:]+:[^:]+$"})], ...],
    Field(strict=False),
]


Reference = Annotated[str, Field(pattern="^(env|file):.+")]
"""Where a secret comes from: `env:NAME` or `file:PATH`."""
Seconds = Annotated[float, BeforeValidator(no_boolean), Field(gt=0, le=86_400, allow_inf_nan=False)]


class TenantSection(Section):
    """The workspaces and guilds that one tenant owns, and whether the console is its."""

    slack: Names = ()
    """Ids of workspaces."""
    discord: Names = ()
    """Ids of guilds, in quotes."""
    console: bool = False
    """Whether the command line is this tenant's; it can be one's only."""


class PersonSection(Section):
    """One person: console accounts, `TEAM:USER` and `GUILD:USER` identities, and groups."""

    console: Names = ()
    """Names of accounts on this machine."""
    slack: Identities = ()
    """As `TEAM:USER`."""
    discord: Identities = ()
    """As `GUILD:USER`."""
    groups: Names = ()
    """What the policy speaks of; everybody is in `everyone`."""

    @field_validator("slack", "discord")
    @classmethod
    def _are_pairs(cls, identities: tuple[str, ...]) -> tuple[str, ...]:
        if not all(i.count(":") == 1 and all(i.split(":")) for i in identities):
            raise ValueError("write an identity as workspace and user with a colon between")
        return identities


class PolicyLine(Section):
    """One rule. `resource` is everything unless it says otherwise."""

    effect: Literal["allow", "deny"]
    """One line that denies beats all that allow."""
    action: str = Field(
        min_length=1, json_schema_extra={"anyOf": [{"enum": [*ACTIONS]}, {"pattern": r"[*?\[]"}]}
    )
    """What may be done; `*` stands for any part of it."""
    resource: str = "*"
    """With what: `runbook:NAME` or `tool:NAME`; `*` stands for any part of it."""
    groups: Annotated[tuple[str, ...], Field(min_length=1)]
    """By whom."""

    @field_validator("action")
    @classmethod
    def _exists(cls, action: str) -> str:
        if not any(fnmatchcase(known, action) for known in ACTIONS):
            raise ValueError(f"there is no such action; there are {', '.join(ACTIONS)}")
        return action


class PolicySection(Section):
    """Default deny; one line that denies beats all that allow."""

    rules: tuple[PolicyLine, ...] = ()
    """Their order means nothing."""
    linking: bool = False
    """Whether people may link accounts that are not listed to themselves."""


class RiskSection(Section):
    """How many must agree, and until when."""

    quorum: Count = Field(default=1, ge=1, le=20)
    """How many different people must agree."""
    requester_may_vote: bool = False
    """Whether whoever asked may be one of them."""
    expires: Duration = timedelta(hours=8)
    """After this nobody can approve it any more."""
    second_factor: bool = False
    """Whether approving takes a one-time code; people get theirs with `sayso enrol`."""
    remind_at: float | None = Field(default=None, gt=0, lt=1)
    """The part of that time after which those who may vote are reminded, such as 0.5."""
    escalate_to: Names = ()
    """Groups that are told later, where still nobody decided: that gives them no right to vote."""
    escalate_at: float = Field(default=0.75, gt=0, lt=1)
    """The part of that time after which they are."""


class ModelSection(Section):
    """Who thinks. Without a model, a strict grammar over the runbooks' phrases."""

    provider: Literal["grammar"] = "grammar"
    """The strict grammar is all there is yet."""


class ScheduleSection(Section):
    """A time at which Sayso is asked in somebody's name; what that proposes waits for people."""

    cron: str = Field(json_schema_extra={"examples": ["0 3 * * 1-5"]})
    """Five fields as cron has them."""
    timezone: str = "UTC"
    """A name such as Europe/Berlin."""
    ask: str = Field(min_length=1, max_length=1000)
    """What is asked."""
    person: str = Field(alias="as")
    """In whose name, of those under `people`."""
    tenant: str | None = None
    """May be left out where there is one only."""

    @field_validator("cron")
    @classmethod
    def _strikes(cls, cron: str) -> str:
        try:
            next(CronSim(cron, _SOME_DAY))
        except (CronSimError, StopIteration) as error:
            raise ValueError("write five fields as cron does, such as 0 3 * * 1-5") from error
        return cron

    @field_validator("timezone")
    @classmethod
    def _is_known(cls, timezone: str) -> str:
        zone_of(timezone)
        return timezone


def zone_of(timezone: str) -> tzinfo:
    """Return a time zone; raise `ValueError` where this machine knows none of that name."""
    if timezone == "UTC":
        return UTC
    try:
        return ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(
            "this machine knows no such time zone; try Europe/Berlin or UTC"
        ) from error


class RunbooksSection(Section):
    """Where runbooks lie, and where their steps run."""

    folder: Path = Path("runbooks")
    """Relative to the folder of `sayso.yml`."""
    workdir: str = "work"
    """Relative to it too."""
    strict: bool = False
    """Refuse to start while any file is bad, instead of leaving that file out."""


class AuditSection(Section):
    """Where the audit log's heads are noted outside the database."""

    heads: Path | None = None
    """A file that only grows: a line for each new head, at most one a minute."""
    channel: str | None = Field(default=None, pattern="^[a-z]+/[^/]+/[^/]+$")
    """A channel such as slack/T0TEAM/C0AUDIT: a post for each new head, at most one an hour."""


_OWN = (("proc",), ("dev",))
"""What a sandbox has one of its own of; that of the machine would show other processes."""


class SandboxSection(Section):
    """How steps are kept from everything else."""

    backend: Literal["bwrap", "none"] = "bwrap"
    """`bwrap` is bubblewrap, for Linux; with `none`, steps run with all the rights of Sayso's own account."""
    readable: Annotated[
        tuple[Annotated[Path, Field(json_schema_extra={"pattern": "^/"})], ...], Field(strict=False)
    ] = ()
    """What steps may read besides /usr and their working folder, such as /opt/tools."""

    @field_validator("readable")
    @classmethod
    def _are_whole(cls, paths: tuple[Path, ...]) -> tuple[Path, ...]:
        if not all(path.is_absolute() and path.parts[1:2] not in _OWN for path in paths):
            raise ValueError("write whole paths from /, and none in /proc or /dev")
        return paths


class ExecutionSection(Section):
    """What may run at all."""

    plan_only: bool = False
    """Freeze plans to be exported, and run nothing."""
    runs_per_turn: Count = Field(default=1, ge=0, le=1)
    """With 0, nothing is proposed to run."""
    network: bool = True
    """Whether anything may run that says that it needs the network."""


class ConsoleSection(Section):
    """The command line as a platform."""

    allow_as: bool = False
    """Let whoever has the shell act as anybody. For demonstrations only."""
