"""Serves the MCP host that started this process, in the name of the account that it runs as."""

import asyncio
from pathlib import Path

from bot import serving
from bot.opened import warn, with_app
from bot.printed import Printed
from bot.typist import identity
from bot.wiring import App, agents

_GRACE = 8.0
"""Seconds in which what is cut comes to its end: a little more than the engine gives it."""
_LEFT = "The host went away; nothing is left running here."


def mcp_serve(file: Path, *, name: str | None) -> Printed:
    """Serve until the host goes away, or until SIGINT or SIGTERM, which cuts what runs here."""

    async def deed(app: App) -> Printed:
        stop = serving.signalled()
        warn((*app.catalogue().faults, *app.toolbelt.faults))
        serve = asyncio.create_task(agents.serve(app.relaying(identity(app, name)), stop))
        told = asyncio.create_task(stop.wait())
        await asyncio.wait({serve, told}, return_when=asyncio.FIRST_COMPLETED)
        told.cancel()
        await asyncio.wait({serve}, timeout=_GRACE)
        serve.cancel()  # does nothing to one that is done
        await asyncio.wait({serve})
        if not serve.cancelled():
            serve.result()
        return Printed(object={}, text=_LEFT)

    return with_app(file, deed)
