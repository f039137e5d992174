"""An MCP server as a child of ours, for as long as one question to it takes."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import Client, types
from mcp.shared.message import SessionMessage

from adapters.mcp.definitions import Definition, of
from adapters.mcp.lines import Answers, Lines
from core.errors import Refused

MOST_PAGES = 20
MOST_TOOLS = 200


def client(lines: Lines, answers: Answers) -> Client:
    """Return a client that answers nothing: no elicitation, no sampling, no roots, no cache."""
    return Client(_streams(lines, answers), cache=None)


async def listed(asking: Client) -> Mapping[str, types.Tool]:
    """Return what a server offers; raise `Refused` for a list that has no end, or names one twice."""
    found, cursor, seen = dict[str, types.Tool](), None, set[str | None]()
    for _ in range(MOST_PAGES):
        page = await asking.list_tools(cursor=cursor, cache_mode="bypass")
        for tool in page.tools:
            if tool.name in found:
                raise Refused("it lists two tools of one name.")
            found[tool.name] = tool
        cursor = page.next_cursor
        if len(found) > MOST_TOOLS or cursor in seen:
            raise Refused(f"it lists more than {MOST_TOOLS} tools, or some again and again.")
        if cursor is None:
            return found
        seen.add(cursor)
    raise Refused(f"its list has more than {MOST_PAGES} pages.")


def definition(tool: types.Tool) -> Definition:
    """Return what a server says of a tool; raise `Refused` where that cannot be accepted."""
    hints = tool.annotations
    return of(
        {
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": tool.input_schema,
            "outputSchema": tool.output_schema,
            "annotations": hints
            and hints.model_dump(mode="json", by_alias=True, exclude_none=True),
        }
    )


@asynccontextmanager
async def _streams(lines: Lines, answers: Answers) -> AsyncGenerator[tuple[Any, Any]]:
    said, heard = anyio.create_memory_object_stream[SessionMessage | Exception]()
    telling, told = anyio.create_memory_object_stream[SessionMessage]()
    async with said, heard, telling, told, anyio.create_task_group() as tasks:
        tasks.start_soon(_hear, lines, said)
        tasks.start_soon(_tell, told, answers)
        try:
            yield heard, telling
        finally:
            tasks.cancel_scope.cancel()


async def _hear(lines: Lines, said: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
    async with said:
        async for line in lines:
            try:
                message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError as error:
                await said.send(error)
            else:
                await said.send(SessionMessage(message))


async def _tell(told: MemoryObjectReceiveStream[SessionMessage], answers: Answers) -> None:
    async for one in told:
        text = one.message.model_dump_json(by_alias=True, exclude_unset=True)
        await answers.write(f"{text}\n")
        await answers.flush()
