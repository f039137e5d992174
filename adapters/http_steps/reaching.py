"""The way to a host: its name is looked up once, and connections go to what was found and may be asked."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Collection, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from ipaddress import IPv6Address
from threading import Thread
from typing import TypeAlias

from aiohttp import AddrInfoType, TCPConnector
from aiohttp.abc import AbstractResolver, ResolveResult

from core import addresses
from core.addresses import Address
from core.errors import Refused, Unavailable
from core.hosts import Allowed, Host

Lookup: TypeAlias = Callable[[Host], Awaitable[Collection[str]]]
"""Returns every address of a host, as this machine finds them; raises `OSError` where it does not."""
_MOST = 8
"""Addresses of one host that are tried."""


async def look_up(host: Host) -> Collection[str]:
    """Ask this machine for the addresses of a host, as any program on it would."""
    future = Future[Collection[str]]()
    future.set_running_or_notify_cancel()
    # In a thread that no process waits for when it ends: whom it asks may take minutes.
    Thread(target=_ask, args=(future, host), daemon=True).start()
    return await asyncio.wrap_future(future)


def _ask(future: Future[Collection[str]], host: Host) -> None:
    try:
        found = socket.getaddrinfo(host.name, host.port, type=socket.SOCK_STREAM)
        future.set_result([str(sockaddr[0]) for *_, sockaddr in found])
    except OSError as error:
        future.set_exception(error)


async def addresses_of(host: Host, allowed: Allowed, lookup: Lookup) -> tuple[Address, ...]:
    """Return where a host may be reached.

    Raises `Refused` where any of its addresses may not be, and `Unavailable` where it has none now.
    """
    if host.address:
        return (host.address,)
    try:
        texts = await lookup(host)
    except OSError as error:
        raise Unavailable(
            f"The name {host.name} leads nowhere now, so nothing was sent."
        ) from error
    found = dict.fromkeys(map(addresses.read, texts))
    if not all(address and allowed.may_reach(host, address) for address in found):
        raise Refused(
            f"The name {host.name} leads to an address in a private or special range, so nothing was "
            "sent. An operator may list it under `http.private` in sayso.yml."
        )
    if not found:
        raise Unavailable(f"The name {host.name} leads nowhere now, so nothing was sent.")
    return tuple(address for address in found if address)[:_MOST]


def connector(found: Sequence[Address]) -> TCPConnector:
    """Return what connects to these addresses and to no others, and keeps no connection."""

    def checked(info: AddrInfoType) -> socket.socket:
        family, kind, protocol, _, (address, *_) = info
        # Whatever the library made of the host: this is the last moment before a connection.
        if addresses.read(address) not in found:
            raise PermissionError(f"{address} was not looked up")
        return socket.socket(family, kind, protocol)

    return TCPConnector(
        resolver=_Found(found),
        use_dns_cache=False,
        force_close=True,
        happy_eyeballs_delay=None,
        socket_factory=checked,
    )


@dataclass(frozen=True, slots=True)
class _Found(AbstractResolver):
    """Knows what was found already, and asks nobody."""

    found: Sequence[Address]

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """See the library: each address, as one that needs no look-up."""
        del family
        return [
            ResolveResult(
                hostname=host,
                host=str(address),
                port=port,
                family=socket.AF_INET6 if isinstance(address, IPv6Address) else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for address in self.found
        ]

    async def close(self) -> None:
        """See the library."""
