"""Which addresses belong to everybody, and which to a network of one's own or to nobody at all. Pure."""

from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address
_Networks: TypeAlias = tuple[IPv4Network | IPv6Network, ...]


class Reach(StrEnum):
    """Who answers at an address."""

    PUBLIC = "public"
    PRIVATE = "private"
    """Somebody in a network of one's own."""
    LOOPBACK = "loopback"
    """This very machine."""
    SPECIAL = "special"
    """The services of a cloud about a machine, whoever a translator leads to, many at once, nobody."""


def _networks(*texts: str) -> _Networks:
    return tuple(map(ip_network, texts))


_LOOPBACK = _networks("127.0.0.0/8", "::1/128")
_PRIVATE = _networks(
    "10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"
)  # fmt: skip
_METADATA = _networks("fd00:ec2::/32", "fd20:ce::/32", "100.100.100.200/32")
"""Where clouds tell a machine its own credentials, though the range is that of private networks."""
_GLOBAL = ip_network("2000::/3")
"""All that is given out of IPv6 so far."""
_NOBODY = _networks(
    "0.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24",
    "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)  # fmt: skip
"""More than `is_global` knows: it calls 224.0.0.1, 192.0.0.8 and 2002:7f00:1:: global."""


def read(text: str) -> Address | None:
    """Return the address that a text is in its only spelling; None for anything else."""
    try:
        found = ip_address(text)
    except ValueError:
        return None
    return found if str(found) == text and "%" not in text else None


def reach(address: Address) -> Reach:
    """Say who answers there. What stands for an address of IPv4 in one of IPv6 is special, whatever it is."""
    if _is_in(address, _LOOPBACK):
        return Reach.LOOPBACK
    if _is_in(address, _PRIVATE):
        return Reach.SPECIAL if _is_in(address, _METADATA) else Reach.PRIVATE
    given_out = address.version == 4 or address in _GLOBAL  # noqa: PLR2004  # the older kind
    if given_out and address.is_global and not _is_in(address, _NOBODY):
        return Reach.PUBLIC
    return Reach.SPECIAL


def _is_in(address: Address, networks: _Networks) -> bool:
    return any(address in network for network in networks)
