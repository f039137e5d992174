"""Asks an MCP server of the configuration what it offers now."""

from collections.abc import Mapping
from pathlib import Path

from bot.settings import Settings
from bot.wiring.catalogue import home_of
from bot.wiring.mcp_servers import MISSING, server_of
from bot.wiring.runners import box_of
from bot.wiring.secrets import secrets_of
from core.errors import Invalid
from core.redaction import Redactor


async def probed(
    file: Path, configured: Settings, server: str
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return what each tool of a server is now, and why others cannot be accepted."""
    try:
        from adapters.mcp.children import Nursery  # noqa: PLC0415 - an extra
        from adapters.mcp.probing import Probing  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise Invalid(MISSING) from error

    home, redactor = home_of(file), Redactor.of([])
    secrets = secrets_of(configured, home, redactor)
    nursery = Nursery(box=box_of(configured, home), redactor=redactor)
    found = await Probing(nursery=nursery, secrets=secrets).offers(
        server_of(server, configured.mcp.servers[server])
    )
    usable = {name: one.text for name, one in found.items() if not isinstance(one, str)}
    return usable, {name: one for name, one in found.items() if isinstance(one, str)}
