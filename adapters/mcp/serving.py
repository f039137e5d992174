"""Sayso as an MCP server on standard input and output, for the host that started this process."""

import asyncio
import logging
from dataclasses import dataclass
from typing import Any, Protocol, cast

import anyio
from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from adapters.mcp import wire
from core.canonical import JsonObject
from core.declarations import Declaration
from core.errors import SaysoError

_INSTRUCTIONS = (
    "Reads run at once. Whatever would change something only becomes a plan that people decide about: "
    "such a call returns status pending_approval with the id of its request, and nothing has been "
    "done. Tell your user so, then call plan_status. You can approve nothing."
)
_FAULT = (
    "Something went wrong inside Sayso. Tell an operator: the log of this server has the details."
)
_log = logging.getLogger("sayso.mcp")


class Answer(Protocol):
    """What came of a call."""

    @property
    def text(self) -> str:
        """Return it for the agent."""
        ...

    @property
    def values(self) -> dict[str, Any]:
        """Return the same for its program."""
        ...

    @property
    def failed(self) -> bool:
        """Whether the call was in vain."""
        ...


class Offer(Protocol):
    """What a host may list and call."""

    async def declared(self) -> tuple[Declaration, ...]:
        """Return what may be called now."""
        ...

    async def call(self, tool: str, arguments: JsonObject, stop: asyncio.Event) -> Answer:
        """Make one call; once `stop` is set, what it does is cut. Raises why nothing was begun."""
        ...


async def serve(offer: Offer, version: str, stop: asyncio.Event) -> None:
    """Serve until the host goes away, or until `stop`, which is the same; what runs then is cut."""
    server: Server[Any] = Server(
        "sayso",
        version=version,
        instructions=_INSTRUCTIONS,
        on_list_tools=_Listing(offer),
        on_call_tool=_Calling(offer),
    )
    async with wire.standard(stop) as (lines, answers):
        streams = stdio_server(cast("Any", lines), cast("Any", answers))
        async with streams as (heard, told):
            await server.run(heard, told, server.create_initialization_options())


@dataclass(frozen=True, slots=True)
class _Listing:
    offer: Offer

    async def __call__(
        self, context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        del context, params
        try:
            declared = await self.offer.declared()
        except SaysoError as error:
            raise MCPError(types.INTERNAL_ERROR, error.shown) from error
        except Exception as error:
            _log.exception("tools could not be listed")
            raise MCPError(types.INTERNAL_ERROR, _FAULT) from error
        return types.ListToolsResult(tools=[*map(_tool, declared)])


@dataclass(frozen=True, slots=True)
class _Calling:
    offer: Offer

    async def __call__(
        self, context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        del context
        try:
            answer = await self._answered(params)
        except SaysoError as error:
            return _result(error.shown, {"status": error.kind, "text": error.shown}, failed=True)
        except Exception:  # noqa: BLE001 - the SDK would tell the host what it says
            _log.exception("a call of the host")
            return _result(_FAULT, {"status": "unavailable", "text": _FAULT}, failed=True)
        return _result(answer.text, answer.values, failed=answer.failed)

    async def _answered(self, params: types.CallToolRequestParams) -> Answer:
        """Make a call; a host that does not want it any more cuts it, and waits until that is so."""
        stop = asyncio.Event()
        call = self.offer.call(params.name, params.arguments or {}, stop)
        work = asyncio.ensure_future(call)
        try:
            await asyncio.wait({work})
        finally:
            stop.set()
            with anyio.CancelScope(shield=True):
                await asyncio.wait({work})
        return work.result()


def _tool(one: Declaration) -> types.Tool:
    hints = types.ToolAnnotations(
        read_only_hint=one.reads, destructive_hint=not one.reads, open_world_hint=False
    )
    schema = dict(one.schema)
    return types.Tool(
        name=one.name, description=one.description, input_schema=schema, annotations=hints
    )


def _result(text: str, values: dict[str, Any], *, failed: bool) -> types.CallToolResult:
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=text)]
    return types.CallToolResult(content=content, structured_content=values, is_error=failed)
