"""The commands about MCP: declarations, as in `bot.cli`."""

from typing import Any

import click

from bot.options import as_name, run


@click.group()
def mcp() -> None:
    """Serve agents of others, over the Model Context Protocol."""


@mcp.command("serve")
@as_name
def mcp_serve(**given: Any) -> None:
    """Serve the MCP host that starts this: reads run, changes wait for people."""
    run("mcp_serve", as_json=False, **given)


COMMANDS = (mcp,)
