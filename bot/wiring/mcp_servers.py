"""The MCP servers of the configuration: what of them is offered, and what calls it."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.sandbox.boxes import Box
from adapters.steps import KindRunner, NoRunner
from bot import settings
from bot.mcp_section import ServerSection
from bot.settings import Settings
from core.durations import milliseconds
from core.errors import Invalid
from core.plans import ToolStep
from core.ports import Secrets
from core.redaction import Redactor
from core.tools import Tool

if TYPE_CHECKING:
    from adapters.mcp.tools import Server

MISSING = "MCP is not installed here. Install Sayso with it: sayso[mcp]"


class McpServers:
    """What is there only where servers are configured: nothing of MCP is imported otherwise."""

    def __init__(self, file: Path, configured: Settings, taken: Mapping[str, str]) -> None:
        """Raise `Invalid` with file, line and field for a tool that cannot be offered."""
        self.drifted = set[str]()
        self._tools = _tools(file, configured, taken)

    def offered(self) -> tuple[Tool, ...]:
        """Return what may be called: nothing of a server that says something else than it did."""
        return tuple(tool for server, tool in self._tools if server not in self.drifted)

    def runner(self, box: Box, secrets: Secrets, redactor: Redactor) -> KindRunner[ToolStep]:
        """Return what calls them."""
        if not self._tools:
            return NoRunner("No MCP server is configured here.")
        from adapters.mcp.children import Nursery  # noqa: PLC0415 - an extra
        from adapters.mcp.runner import ToolRunner  # noqa: PLC0415 - an extra

        nursery = Nursery(box=box, redactor=redactor)
        return ToolRunner(nursery=nursery, secrets=secrets, drifted=self.drifted)


def server_faults(file: Path, configured: Settings, taken: Mapping[str, str]) -> Iterator[str]:
    """Yield what is wrong with the tools of MCP servers."""
    try:
        _tools(file, configured, taken)
    except Invalid as error:
        yield error.shown


def _tools(
    file: Path, configured: Settings, taken: Mapping[str, str]
) -> tuple[tuple[str, Tool], ...]:
    if not configured.mcp.servers:
        return ()
    try:
        from adapters.mcp import tools  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise Invalid(MISSING) from error

    servers = [server_of(name, one) for name, one in configured.mcp.servers.items()]
    return tools.named(servers, taken, partial(_blamed, file))


def server_of(name: str, section: ServerSection) -> "Server":
    """Return a server as it is configured."""
    from adapters.mcp.tools import Server  # noqa: PLC0415 - an extra

    return Server(
        name=name,
        argv=section.command,
        reads=section.reads,
        accepted=section.tools,
        secrets=section.secrets,
        network=section.network,
        timeout_ms=milliseconds(section.timeout),
        risk=section.risk,
    )


def _blamed(file: Path, server: str, tool: str, problem: str) -> Invalid:
    return settings.blame(file, "mcp", "servers", server, "tools", tool, problem=problem)
