"""What a server offers now, for an operator who decides whether to accept it."""

import asyncio
from dataclasses import dataclass

from mcp import Client, types

from adapters.mcp import servers
from adapters.mcp.children import Nursery
from adapters.mcp.definitions import Definition
from adapters.mcp.tools import Server
from adapters.sandbox.boxes import Bounds
from core.errors import Refused, Unavailable
from core.ids import turn_id
from core.ports import Secrets

_ASKED = 30.0
"""Seconds that a server has to say what it offers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probing:
    """Asks servers what they offer."""

    nursery: Nursery
    secrets: Secrets

    async def offers(self, server: Server) -> dict[str, Definition | str]:
        """Return what each tool of a server is, or why it cannot be accepted."""
        bounds = Bounds(memory_bytes=server.memory_bytes, seconds=_ASKED, network=server.network)
        values = await self.secrets.values(server.secrets)
        box = self.nursery.box
        if sentence := box.obstacle():
            raise Unavailable(sentence)
        if not box.program(server.argv[0], bounds):
            raise Refused(f"There is no program {server.argv[0]!a} that may be started.")
        async with self.nursery.child(server.argv, bounds, values, turn_id()) as child:
            asking = servers.client(child.lines, child.answers)
            task = asyncio.create_task(_offers(asking))
            await asyncio.wait({task}, timeout=_ASKED)
            task.cancel()
            await asyncio.wait({task})
            error = asyncio.CancelledError() if task.cancelled() else task.exception()
            if error:
                told = child.complaints().splitlines()[-1:]
                why = f" It printed last: {told[0]}" if told else ""
                raise Unavailable(
                    f"{server.name} did not answer as an MCP server does.{why}"
                ) from error
            return task.result()


async def _offers(asking: Client) -> dict[str, Definition | str]:
    async with asking:
        found = await servers.listed(asking)
    return {name: _definition(tool) for name, tool in found.items()}


def _definition(tool: types.Tool) -> Definition | str:
    try:
        return servers.definition(tool)
    except Refused as error:
        return error.shown
