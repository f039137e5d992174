"""The MCP servers of the configuration: what of them is offered, and what calls it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, cast

from adapters.sandbox.boxes import Box
from adapters.steps import KindRunner, NoRunner
from bot import settings
from bot.mcp_section import ServerSection
from bot.settings import Settings
from core.canonical import JsonObject
from core.durations import milliseconds
from core.errors import Invalid, Refused
from core.plans import Step, ToolStep
from core.ports import Secrets
from core.redaction import Redactor
from core.tools import Effect, Tool, Work

if TYPE_CHECKING:
    from adapters.mcp.tools import Server

MISSING = "MCP is not installed here. Install Sayso with its extra: sayso[mcp]."


class McpServers:
    """What is there only where servers are configured: nothing of MCP is imported otherwise."""

    def __init__(self, file: Path, configured: Settings, taken: Mapping[str, str]) -> None:
        """Raise `Invalid` with file, line and field for a tool that cannot be offered."""
        self.drifted = set[str]()
        self._tools = _tools(file, configured, taken)
        self._accepted = {
            (step.server, step.tool): tool
            for _, tool in self._tools
            for step in tool.expand({}).steps
            if isinstance(step, ToolStep)
        }

    def offered(self) -> tuple[Tool, ...]:
        """Return what may be called: nothing of a server that says something else than it did."""
        return tuple(tool for server, tool in self._tools if server not in self.drifted)

    def bound(self, runbook: Tool) -> Tool:
        """Return a runbook whose calls of tools say what would be started for them."""
        return replace(runbook, expand=partial(self._expanded, runbook)) if self._tools else runbook

    def _expanded(self, runbook: Tool, arguments: JsonObject) -> Work:
        work = runbook.expand(arguments)
        reads = runbook.effect is Effect.READ
        return replace(
            work,
            steps=tuple(self._filled(step, reads=reads) for step in work.steps),
            verify=self._filled(work.verify, reads=True) if work.verify else None,
        )

    def _filled(self, step: Step, *, reads: bool) -> Step:
        """Return a step with all that decides it; one that may only read calls only what only reads."""
        if not isinstance(step, ToolStep):
            return step
        tool = self._accepted.get((step.server, step.tool))
        if tool is None:
            return step  # of which its runner says that it was not accepted
        if reads and tool.effect is not Effect.READ:
            raise Refused(
                f"{tool.name} may change something, so nothing that only looks can call it. An operator "
                "has to correct the runbook, or list it under `reads` in sayso.yml."
            )
        checked = tool.check(cast("JsonObject", step.arguments), {})
        [made] = tool.expand(checked.arguments).steps
        return replace(
            made, timeout_ms=step.timeout_ms, retry=step.retry, on_failure=step.on_failure
        )

    def runner(self, box: Box, secrets: Secrets, redactor: Redactor) -> KindRunner[ToolStep]:
        """Return what calls them."""
        if not self._tools:
            return NoRunner("No tool of an MCP server was accepted here.")
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
    if not all(map(find_spec, ("jsonschema", "mcp"))):
        raise Invalid(MISSING)
    from adapters.mcp import tools  # noqa: PLC0415 - an extra

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
