"""`sayso.yml` and the environment, checked at the border and handed on as values of ours.

Who may do what comes from the file alone: no environment variable can name a person, loosen a rule
or let one account act as another. Everything else can be overridden as `SAYSO_SECTION__KEY`.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pydantic import Field, ValidationError, ValidationInfo, field_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from bot.agent_sections import GuardrailSection, ProfileSection, RatesSection, ToolsetsSection
from bot.approval_sections import ApprovalsSection
from bot.http_section import HttpSection
from bot.mcp_section import McpSection
from bot.platform_sections import DiscordSection, SlackSection
from bot.secret_sections import SecretSource
from bot.sections import (
    AuditSection,
    ConsoleSection,
    ExecutionSection,
    ModelSection,
    Name,
    PersonSection,
    PolicySection,
    RunbooksSection,
    SandboxSection,
    ScheduleSection,
    TenantSection,
)
from bot.storage_sections import ArtifactsSection, StorageSection
from core import documents, wording
from core.display import one_line
from core.documents import Document
from core.errors import Invalid
from core.exact_values import LONGEST, unfit

PREFIX = "SAYSO_"
AUTHORITY = (
    "tenants", "people", "policy", "approvals", "console",
    "execution", "sandbox", "http", "secrets", "runbooks", "schedules", "profiles", "rates",
    "guardrails", "toolsets", "mcp", "audit", "artifacts", "slack", "discord",
)  # fmt: skip
"""Sections that the environment cannot touch: who may decide, what may run, and how."""
RESERVED_NAMES = frozenset({"sayso", "nobody", "everyone", "system"})
NOT_SETTINGS = ("SAYSO_STEP_ID",)
"""What Sayso itself puts into the environment of a step."""


class Settings(BaseSettings):
    """Everything that differs between two deployments."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True
    )

    tenants: dict[Name, TenantSection] = Field(default_factory=dict)
    """Teams that share nothing, by name."""
    people: dict[Name, PersonSection] = Field(default_factory=dict)
    """Everybody whom Sayso knows, by name."""
    policy: PolicySection = PolicySection()
    approvals: ApprovalsSection = ApprovalsSection()
    model: ModelSection = ModelSection()
    runbooks: RunbooksSection = RunbooksSection()
    storage: StorageSection = StorageSection()
    artifacts: ArtifactsSection = ArtifactsSection()
    audit: AuditSection = AuditSection()
    sandbox: SandboxSection = SandboxSection()
    execution: ExecutionSection = ExecutionSection()
    http: HttpSection = HttpSection()
    console: ConsoleSection = ConsoleSection()
    guardrails: tuple[GuardrailSection, ...] = Field(default=(), strict=False)
    """What must not be asked, read, called or answered."""
    defaults: dict[str, bool | int | float | str] = Field(default_factory=dict)
    """Arguments that are filled in where somebody leaves them out, by name."""
    schedules: dict[Name, ScheduleSection] = Field(default_factory=dict)
    """What is asked at its time, by name."""
    profiles: dict[Name, ProfileSection] = Field(default_factory=dict)
    """What the agent may use, by name; `default` is where no other fits."""
    rates: RatesSection = RatesSection()
    toolsets: ToolsetsSection = ToolsetsSection()
    mcp: McpSection = McpSection()
    secrets: dict[str, SecretSource] = Field(default_factory=dict)
    """Where each secret comes from: `env:NAME`, `file:PATH`, or a command that prints it."""
    slack: SlackSection | None = None
    discord: DiscordSection | None = None

    @field_validator("tenants")
    @classmethod
    def _share_nothing(cls, tenants: dict[str, TenantSection]) -> dict[str, TenantSection]:
        if sum(tenant.console for tenant in tenants.values()) > 1:
            raise ValueError("the console can belong to one tenant only")
        for platform in ("slack", "discord"):
            owned = [w for tenant in tenants.values() for w in getattr(tenant, platform)]
            if len(set(owned)) != len(owned):
                raise ValueError(f"one {platform} workspace belongs to two tenants")
        return tenants

    @field_validator("people")
    @classmethod
    def _are_people(cls, people: dict[str, PersonSection]) -> dict[str, PersonSection]:
        for name in RESERVED_NAMES & {name.lower() for name in people}:
            raise ValueError(f"nobody can be called {name}: the software speaks by that name")
        return people

    @field_validator("schedules")
    @classmethod
    def _name_people(
        cls, schedules: dict[str, ScheduleSection], info: ValidationInfo
    ) -> dict[str, ScheduleSection]:
        people, tenants = info.data.get("people", {}), info.data.get("tenants", {})
        for name, section in schedules.items():
            if section.person not in people:
                raise ValueError(f"{name}: `as` names nobody under `people`")
            if section.tenant not in tenants and (section.tenant or len(tenants) != 1):
                raise ValueError(f"{name}: `tenant` has to name one of your tenants")
        return schedules

    @field_validator("discord")
    @classmethod
    def _name_roles(cls, given: DiscordSection | None, info: ValidationInfo) -> object:
        tenants: dict[str, TenantSection] = info.data.get("tenants", {})
        if given:
            given.must_name_roles({one for tenant in tenants.values() for one in tenant.discord})
        return given

    @field_validator("profiles")
    @classmethod
    def _claim_once(
        cls, profiles: dict[str, ProfileSection], info: ValidationInfo
    ) -> dict[str, ProfileSection]:
        tenants = info.data.get("tenants", {})
        claimed: dict[tuple[str, str], str] = {}
        for name, section in profiles.items():
            if unknown := set(section.tenants) - set(tenants):
                raise ValueError(f"{name}: there is no tenant {min(unknown)}")
            whose = [
                *(("tenant", t) for t in section.tenants),
                *(("channel", c) for c in section.channels),
            ]
            for kind, what in whose:
                first = claimed.setdefault((kind, what), name)
                if first != name:
                    raise ValueError(f"the {kind} {what} has two profiles, {first} and {name}")
        return profiles

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Let the environment win over the file; read nothing else."""
        del settings_cls, dotenv_settings, file_secret_settings
        return env_settings, init_settings


def read(file: Path) -> Settings:
    """Return the settings of a file and the environment; raise `Invalid` with file, line and field."""
    document = _document(file)
    _refuse_environment()
    if document.value is not None and not isinstance(document.value, dict):
        raise document.error((), "it must hold names with values. Start from the README's example.")
    values = cast("dict[str, Any]", document.value or {})
    try:
        return Settings(**values)
    except ValidationError as error:
        raise _blamed(document, error) from error
    except SettingsError as error:
        raise Invalid(
            "One of the SAYSO_ variables does not hold what its section needs. Correct or unset it."
        ) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalWishes:
    """What the environment says about the terminal."""

    plain: bool
    """Somebody wants no colours: the NO_COLOR convention."""
    dumb: bool
    """It understands nothing but characters and line ends."""


def terminal_wishes() -> TerminalWishes:
    """Return what the environment says about the terminal."""
    return TerminalWishes(
        plain=bool(os.environ.get("NO_COLOR")),  # noqa: TID251 - the module for it
        dumb=os.environ.get("TERM", "dumb") in {"", "dumb", "unknown"},  # noqa: TID251 - the module for it
    )


def blame(file: Path, *path: str | int, problem: str) -> Invalid:
    """Return the error for a value that is sound by itself and still wrong, with file, line and field."""
    return _document(file).error(path, problem)


def stray_names() -> tuple[str, ...]:
    """Return variables that look meant for Sayso and set nothing."""
    return tuple(
        sorted(
            name
            for name in os.environ  # noqa: TID251 - the module for it
            if _is_ours(name) and _section(name) not in Settings.model_fields
        )
    )


def secret_values(sources: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return the values of secrets; raise `Invalid` for one that cannot be read, or cannot be one."""
    return {name: secret(f"secrets.{name}", at, folder) for name, at in sources.items()}


def secret(name: str, source: str, folder: Path) -> str:
    """Return what the setting of this name refers to now; raise as `secret_values` does."""
    kind, _, where = source.partition(":")
    try:
        value = (
            os.environ[where]  # noqa: TID251 - the module for it
            if kind == "env"
            else _content(folder / where)
        )
    except (KeyError, OSError, ValueError) as error:
        raise Invalid(
            f"{name}: {source} cannot be read. Set it, or correct where it comes from."
        ) from error
    if why := unfit(value):
        raise Invalid(f"{name}: {why}")
    return value


def variables(names: Iterable[str]) -> dict[str, str]:
    """Return the variables of these names that are set."""
    return {n: os.environ[n] for n in names if n in os.environ}  # noqa: TID251 - the module for it


def _content(file: Path) -> str:
    """Return what is in a file, and no more of it than can be a secret: nobody waits for a pipe."""
    if not file.is_file():
        raise FileNotFoundError(file)
    with file.open(encoding="utf-8") as content:
        return content.read(2 * LONGEST).strip()


def _document(file: Path) -> Document:
    name = one_line(file.name, 120)
    unreadable = Invalid(f"{name} cannot be read here. Run sayso in its folder, or use --config.")
    if not file.is_file():
        raise unreadable
    try:
        return documents.load(file.read_text(encoding="utf-8"), name)
    except UnicodeDecodeError as error:
        raise Invalid(f"{name}:1: this is not text in UTF-8. Save it as UTF-8.") from error
    except OSError as error:
        raise unreadable from error


def _refuse_environment() -> None:
    for name in os.environ:  # noqa: TID251 - the module for it
        if _is_ours(name) and _section(name) in AUTHORITY:
            raise Invalid(
                f"{name}: who may decide and what may run is set in sayso.yml alone. Unset this variable."
            )


def _is_ours(name: str) -> bool:
    # In any case: that is how pydantic-settings reads them.
    return name.upper().startswith(PREFIX) and name not in NOT_SETTINGS


def _section(name: str) -> str:
    return name[len(PREFIX) :].partition("__")[0].lower()


def _blamed(document: Document, error: ValidationError) -> Invalid:
    """Blame the file, or the environment where the value came from there."""
    variable = PREFIX + "__".join(str(part) for part in wording.first(error).where).upper()
    if variable in os.environ:  # noqa: TID251 - the module for it
        return Invalid(f"{variable}: this value does not fit. Correct or unset it.")
    return document.explain(error)
