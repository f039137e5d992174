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
    "run:resolve", "grant:propose", "grant:revoke",
)  # fmt: skip
"""What a policy may speak of."""


_SOME_DAY = datetime(2000, 1, 1, tzinfo=UTC)


class Section(BaseModel):
    """A part of the file that knows every name in it."""

    model_config = ConfigDict(frozen=True, extra="forbid")


Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
"""Plain ASCII, because it stands on cards as software's own word."""
Names = Annotated[tuple[str, ...], Field(strict=False)]


Seconds = Annotated[float, BeforeValidator(no_boolean), Field(gt=0, le=86_400, allow_inf_nan=False)]


class TenantSection(Section):
    """The workspaces and guilds that one tenant owns, and whether the console is its."""

    slack: Names = ()
    discord: Names = ()
    console: bool = False


class PersonSection(Section):
    """One person: console accounts, `TEAM:USER` and `GUILD:USER` identities, and groups."""

    console: Names = ()
    slack: Names = ()
    discord: Names = ()
    groups: Names = ()

    @field_validator("slack", "discord")
    @classmethod
    def _are_pairs(cls, identities: tuple[str, ...]) -> tuple[str, ...]:
        if not all(i.count(":") == 1 and all(i.split(":")) for i in identities):
            raise ValueError("write an identity as workspace and user with a colon between")
        return identities


class PolicyLine(Section):
    """One rule. `resource` is everything unless it says otherwise."""

    effect: Literal["allow", "deny"]
    action: str = Field(min_length=1)
    resource: str = "*"
    groups: Annotated[tuple[str, ...], Field(min_length=1)]

    @field_validator("action")
    @classmethod
    def _exists(cls, action: str) -> str:
        if not any(fnmatchcase(known, action) for known in ACTIONS):
            raise ValueError(f"there is no such action; there are {', '.join(ACTIONS)}")
        return action


class PolicySection(Section):
    """Default deny; one line that denies beats all that allow."""

    rules: tuple[PolicyLine, ...] = ()


class RiskSection(Section):
    """How many must agree, and until when."""

    quorum: Count = Field(default=1, ge=1, le=20)
    requester_may_vote: bool = False
    expires: Duration = timedelta(hours=8)
    remind_at: float | None = Field(default=None, gt=0, lt=1)
    escalate_to: Names = ()


class ModelSection(Section):
    """Who thinks. Without a model, a strict grammar over the runbooks' phrases."""

    provider: Literal["grammar"] = "grammar"


class ScheduleSection(Section):
    """A time at which Sayso is asked in somebody's name; what that proposes waits for people."""

    cron: str
    timezone: str = "UTC"
    ask: str = Field(min_length=1, max_length=1000)
    person: str = Field(alias="as")
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
    workdir: str = "work"
    strict: bool = False
    """Refuse to start while any file is bad, instead of leaving that file out."""


class StorageSection(Section):
    """Where everything is kept."""

    url: str = "sqlite:data/sayso.db"

    @field_validator("url")
    @classmethod
    def _is_sqlite(cls, url: str) -> str:
        if not url.startswith("sqlite:") or url[len("sqlite:") :] in {"", ":memory:"}:
            raise ValueError("write sqlite: and a path, such as sqlite:data/sayso.db")
        return url

    @property
    def path(self) -> Path:
        """Return the database's file."""
        return Path(self.url.removeprefix("sqlite:"))


class AuditSection(Section):
    """Where the audit log's heads are noted outside the database."""

    heads: Path | None = None


class SandboxSection(Section):
    """How steps are kept from everything else. There is no default: unset means nothing runs."""

    backend: Literal["none"] | None = None


class ExecutionSection(Section):
    """What may run at all."""

    plan_only: bool = False
    runs_per_turn: Count = Field(default=1, ge=0, le=1)
    network: bool = True
    """Whether anything may run that says that it needs the network."""


class ConsoleSection(Section):
    """The command line as a platform."""

    allow_as: bool = False
