"""The section of `sayso.yml` about MCP servers, whose tools are offered beside the runbooks."""

from datetime import timedelta
from typing import Annotated

from pydantic import Field, field_validator

from bot.sections import Names, Section
from core.durations import Duration
from core.step_forms import Variable

ServerName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,31}$")]


class ServerSection(Section):
    """An MCP server that is started for each call, and what of it may be called."""

    command: Annotated[tuple[str, ...], Field(strict=False, min_length=1, max_length=200)]
    """The program and its arguments, never a shell; it runs where steps run."""
    reads: Names = ()
    """Which of its tools change nothing, so that they run at once; all others wait for people."""
    tools: dict[str, str] = Field(default_factory=dict)
    """What it said of each tool that may be called, as `sayso mcp probe NAME` prints it."""
    secrets: Annotated[tuple[Variable, ...], Field(strict=False)] = ()
    """Names under `secrets`, which it may see."""
    network: bool = False
    """Whether it needs the network."""
    timeout: Duration = timedelta(seconds=60)
    """After this it is ended."""
    risk: str = Field("medium", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
    """The rule under `approvals` that says how many must agree."""

    @field_validator("command")
    @classmethod
    def _can_be_started(cls, command: tuple[str, ...]) -> tuple[str, ...]:
        if not command[0] or any("\0" in word for word in command):
            raise ValueError("its first element names the program, and none holds NUL")
        return command


class McpSection(Section):
    """Tools of others."""

    servers: dict[ServerName, ServerSection] = Field(default_factory=dict)
    """Each by the name that its tools are called after: NAME__TOOL."""
