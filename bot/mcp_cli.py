"""The commands about MCP: declarations, as in `bot.cli`."""

from typing import Any

import click

from bot.options import as_json, as_name, run
from bot.usage import argument


@click.group()
def mcp() -> None:
    """Serve agents of others, and use tools of others.

    Over the Model Context Protocol.
    """


@mcp.command("serve")
@as_name
def mcp_serve(**given: Any) -> None:
    """Serve the MCP host that starts this.

    Reads run, and changes wait for people.
    """
    run("mcp_serve", as_json=False, **given)


@mcp.command("probe")
@argument("server", "NAME", "the server, as `mcp.servers` in sayso.yml calls it")
@as_json
def mcp_probe(**given: Any) -> None:
    """Show what an MCP server offers now.

    To accept it, paste that into sayso.yml.
    """
    run("mcp_probe", **given)


COMMANDS = (mcp,)
