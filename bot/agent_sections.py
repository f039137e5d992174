"""The sections of `sayso.yml` about the agent: what it may use, how far and how often, and what stops it."""

import re
import warnings
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from bot.sections import Names, Seconds, Section
from core.counts import Count
from core.display import hidden
from core.durations import Duration
from core.rates import UNHURRIED
from core.toolsets.memory import MemoryConfig
from core.toolsets.reminders import RemindersConfig
from core.toolsets.skills import SkillsConfig

_SLASHES = 2
_DEFAULTS: dict[str, object] = {}
Channels = Annotated[
    tuple[Annotated[str, Field(json_schema_extra={"pattern": "^[^/]+/[^/]+/[^/]+$"})], ...],
    Field(strict=False),
]


class ProfileSection(Section):
    """What the agent may use, and how far it may go, in some conversations."""

    tools: Names | None = None
    """The only tools that there are; left out, all of them."""
    max_turns: Count | None = Field(default=None, ge=1)
    """How often the model may be asked for one answer."""
    max_tool_calls: Count | None = Field(default=None, ge=1)
    """How much may be looked up for one answer."""
    max_tokens: Count | None = Field(default=None, ge=1)
    """What one answer may cost."""
    max_seconds: Seconds | None = None
    """How long one answer may take."""
    network: bool = True
    """Whether what needs the network may be used."""
    tenants: Names = ()
    """Whose conversations get it."""
    channels: Channels = ()
    """Which ones' conversations get it, as `platform/workspace/channel`."""
    choose: Names = ()
    """Groups whose people may choose it with `--profile`."""

    @field_validator("channels")
    @classmethod
    def _are_channels(cls, channels: tuple[str, ...]) -> tuple[str, ...]:
        if not all(c.count("/") == _SLASHES and all(c.split("/")) for c in channels):
            raise ValueError("write a channel as platform/workspace/channel")
        return channels


class RateSection(Section):
    """So many at once, and as many again over each further span of that length."""

    most: Count = Field(ge=1, le=1_000_000)
    """How many at once."""
    per: Duration
    """After how long as many again."""


class ToolRateSection(RateSection):
    """How often one person may have tools called whose name fits."""

    tool: str = Field(min_length=1, max_length=64)
    """A tool's name; `*` stands for any part of it."""


class RatesSection(Section):
    """How often one person may do something. Of `tools`, the first line that fits counts."""

    messages: RateSection = RateSection(most=UNHURRIED.messages.most, per=UNHURRIED.messages.per)
    tools: tuple[ToolRateSection, ...] = ()
    """The first line that fits a tool counts."""


class GuardrailSection(Section):
    """What must not occur at one stage of a turn, and what people are told where it does."""

    stage: Literal["input", "context", "tool", "output"]
    """What is asked, what a model reads, what it calls, or what is answered."""
    pattern: re.Pattern[str]
    """A regular expression that must not be found there."""
    reason: str = Field(min_length=1, max_length=300, json_schema_extra={"pattern": r"\S"})
    """What whoever asked is told."""

    @field_validator("pattern", mode="before")
    @classmethod
    def _compiles(cls, pattern: object) -> re.Pattern[str]:
        if not isinstance(pattern, str):
            raise ValueError("write a regular expression in quotes")  # noqa: TRY004 - pydantic wants it
        try:
            with warnings.catch_warnings(action="error"):
                compiled = re.compile(pattern)
        except (re.error, OverflowError, RecursionError, Warning) as error:
            raise ValueError(f"this is no regular expression: {error}") from error
        if compiled.search(""):
            raise ValueError("this is found in every text; leave out what may be empty")
        return compiled

    @field_validator("reason")
    @classmethod
    def _can_be_seen(cls, reason: str) -> str:
        if not any(not hidden(c) for c in reason if not c.isspace()):
            raise ValueError("write words that people can see, and that tell them why")
        return reason


class ToolsetsSection(BaseModel):
    """What there is besides runbooks: each toolset that stands here is on.

    Another name is that of a toolset which an installed package offers; `bot.toolsets` checks it.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="allow",
        json_schema_extra={"additionalProperties": {"type": ["object", "null"]}},
    )

    memory: MemoryConfig | None = None
    reminders: RemindersConfig | None = None
    skills: SkillsConfig | None = None

    @model_validator(mode="before")
    @classmethod
    def _is_on(cls, values: Any) -> Any:  # noqa: ANN401 - whatever stands in the file
        """Take a name with nothing after it for one with its defaults."""
        if not isinstance(values, dict):
            return values
        found = cast("dict[str, object]", values)
        return {name: found[name] if found[name] is not None else _DEFAULTS for name in found}

    @property
    def on(self) -> dict[str, object]:
        """Return what stands behind each name, in alphabetical order."""
        own = {name: getattr(self, name) for name in type(self).model_fields}
        found = {**own, **(self.model_extra or {})}
        return {name: found[name] for name in sorted(found) if found[name] is not None}
