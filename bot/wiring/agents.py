"""How agents of others are served; what speaks their protocol is there where it was installed."""

import asyncio
from importlib.metadata import version

from bot.relaying import Relaying
from bot.wiring.mcp_servers import MISSING
from core.errors import Invalid


async def serve(relaying: Relaying, stop: asyncio.Event) -> None:
    """Serve the MCP host that started this process, until it goes away or `stop`."""
    try:
        from adapters.mcp import serving  # noqa: PLC0415 - an extra, and heavy
    except ImportError as error:
        raise Invalid(MISSING) from error

    await serving.serve(relaying, version("sayso"), stop)
