"""Where Discord is. The SDK keeps that by class, so a process has one Discord for all its clients."""

import logging
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from discord.gateway import DiscordWebSocket
from discord.http import Route

from adapters.discord.setup import DiscordSetup

_HERE = frozenset({"127.0.0.1", "::1", "localhost"})
"""A proxy would look for these on its own machine."""


def point(setup: DiscordSetup) -> None:
    """Have every client of this process talk to another Discord, where the setup names one.

    The gateway as well: after a session that cannot be resumed the SDK falls back to its default.
    """
    if setup.api_url is not None:
        Route.BASE = setup.api_url.rstrip("/")
    if setup.gateway_url is not None:
        address = type(DiscordWebSocket.DEFAULT_GATEWAY)
        DiscordWebSocket.DEFAULT_GATEWAY = address(setup.gateway_url)


def proxy() -> str | None:
    """Return the proxy for Discord's address that the environment names, as for any other program."""
    host = urlsplit(Route.BASE).hostname or ""
    if host in _HERE or proxy_bypass(host):
        return None
    return getproxies().get(urlsplit(Route.BASE).scheme)


def silence() -> None:
    """Have the SDK's own loggers say nothing.

    They print what people wrote, and addresses that hold tokens. What goes wrong comes as an error.
    """
    logging.getLogger("discord").setLevel(logging.CRITICAL + 1)
