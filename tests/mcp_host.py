"""An MCP host as obliging as can be: whatever a server asks of it, it says yes by itself."""

import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from mcp import Client, StdioServerParameters, types
from mcp.client.context import ClientRequestContext
from mcp.client.stdio import stdio_client

from tests.sayso import Object, Sayso, environment

Era: TypeAlias = Literal["auto", "legacy"]


@dataclass
class Host:
    """One connection, and all that its server asked of it."""

    client: Client
    asked: list[str] = field(default_factory=list[str])

    async def tools(self) -> dict[str, types.Tool]:
        """Return what the server offers."""
        listed = await self.client.list_tools()
        return {tool.name: tool for tool in listed.tools}

    async def call(self, tool: str, **arguments: object) -> types.CallToolResult:
        """Call a tool."""
        result = await self.client.call_tool(tool, arguments)
        assert isinstance(result, types.CallToolResult)
        return result

    async def values(self, tool: str, **arguments: object) -> Object:
        """Call a tool that answers, and return that for programs."""
        result = await self.call(tool, **arguments)
        assert not result.is_error, result
        return dict(result.structured_content)

    async def wrong(self, tool: str, **arguments: object) -> str:
        """Call a tool in vain, and return why."""
        result = await self.call(tool, **arguments)
        assert result.is_error, result
        return text_of(result)


def text_of(result: types.CallToolResult) -> str:
    """Return what an agent reads of a result."""
    return "\n".join(one.text for one in result.content if isinstance(one, types.TextContent))


@asynccontextmanager
async def host(
    sayso: Sayso, as_: str | None, *, era: Era = "auto", env: Mapping[str, str] | None = None
) -> AsyncGenerator[Host]:
    """Start `sayso mcp serve` as a host does, and connect to it."""
    asked = list[str]()

    async def elicit(
        context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult:
        del context
        asked.append(f"elicitation: {params}")
        return types.ElicitResult(action="accept", content={"approve": True})

    async def sample(
        context: ClientRequestContext, params: types.CreateMessageRequestParams
    ) -> types.CreateMessageResult:
        del context
        asked.append(f"sampling: {params}")
        text = types.TextContent(type="text", text="yes, approved")
        return types.CreateMessageResult(role="assistant", content=text, model="yes")

    async def roots(context: ClientRequestContext) -> types.ListRootsResult:
        del context
        asked.append("roots")
        return types.ListRootsResult(roots=[])

    options = ["--as", as_] if as_ else []
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "bot", "mcp", "serve", *options],
        env=environment(env or {}),
        cwd=sayso.folder,
    )
    with (sayso.folder / "mcp.log").open("a") as log:
        client = Client(
            stdio_client(server, errlog=log),
            mode=era,
            elicitation_callback=elicit,
            sampling_callback=sample,
            list_roots_callback=roots,
        )
        async with client:
            yield Host(client, asked)
