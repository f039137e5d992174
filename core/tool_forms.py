"""How a call of a tool of an MCP server is written in a runbook. Pure."""

from collections.abc import Iterator

from pydantic import Field, JsonValue, field_validator

from core import placeholders
from core.canonical import JsonObject
from core.durations import milliseconds
from core.params import Part
from core.plans import ToolStep
from core.sizes import ADDRESS_SPACE
from core.step_forms import Form, With


class Called(Part):
    """Which tool of which server, and with what."""

    server: str = Field(min_length=1, max_length=64)
    """As `mcp.servers` in `sayso.yml` calls it."""
    name: str = Field(min_length=1, max_length=64)
    """As the server calls its tool; it has to be accepted there."""
    arguments: With = Field(default_factory=dict[str, JsonValue], alias="with")
    """What it is called with. A text that is `{name}` alone becomes that parameter's value."""


class Foreign(Form):
    """One call of a tool of an MCP server."""

    tool: Called

    @field_validator("secrets")
    @classmethod
    def _are_the_servers(cls, secrets: tuple[str, ...]) -> tuple[str, ...]:
        if secrets:
            raise ValueError("what a server may see stands under mcp.servers in sayso.yml")
        return secrets

    def texts(self) -> Iterator[str]:
        """Yield every text in which a placeholder may stand."""
        yield from placeholders.texts_in(self.tool.arguments)

    def fill(self, arguments: JsonObject) -> ToolStep:
        """Return the call with every placeholder replaced; what starts the server is for whoever knows it."""
        return ToolStep(
            server=self.tool.server,
            argv=(),
            tool=self.tool.name,
            definition="",
            arguments=placeholders.fill_object(self.tool.arguments, arguments),
            timeout_ms=milliseconds(self.timeout),
            memory_bytes=ADDRESS_SPACE,
            secrets=(),
            retry=self.retry.fill() if self.retry else None,
            on_failure=self.on_failure,
        )
