"""Where requests may go: hosts in one spelling, and the list that an operator keeps of them. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from core import addresses
from core.addresses import Address, Reach

PORTS = {"http": 80, "https": 443}
_LABEL = r"[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?"
_NAME = re.compile(rf"(?:{_LABEL}\.)*{_LABEL}")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_LONGEST = 253
_PORT = re.compile(r"[1-9][0-9]{0,4}")
_MOST = 65535
_LISTED = re.compile(r"(\[[^\[\]]*\]|[^:\[\]]*)(?::(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """Somebody whom a request can be sent to."""

    name: str
    """In lowercase; an address of IPv6 without its brackets."""
    port: int

    @property
    def address(self) -> Address | None:
        """Return the address that it is written as; None where it has a name."""
        return addresses.read(self.name)

    @property
    def is_this_machine(self) -> bool:
        """Whether its name can only mean the machine on which it is asked for."""
        return self.name == "localhost" or self.name.endswith(".localhost")

    def __str__(self) -> str:
        return f"[{self.name}]:{self.port}" if ":" in self.name else f"{self.name}:{self.port}"


def read(text: str, default: int) -> Host:
    """Return the host that is written so; raise `ValueError` for any spelling but the plain one."""
    found = _LISTED.fullmatch(text)
    name, port = found.groups() if found else ("", None)
    if port is not None and not (_PORT.fullmatch(port) and int(port) <= _MOST):
        raise ValueError("a port is a number between 1 and 65535")
    return Host(name=_name(name), port=default if port is None else int(port))


def _name(text: str) -> str:
    if not text.isascii():
        raise ValueError("write the name of a host in ASCII, as xn--… where it has other letters")
    name = text.lower()
    if name.startswith("["):
        inner = name[1:-1]
        if ":" not in inner or not addresses.read(inner):
            raise ValueError("write an address of IPv6 in its shortest form, such as [2001:db8::1]")
        return inner
    if _NUMBER.fullmatch(name.rpartition(".")[2]):
        if not addresses.read(name):
            raise ValueError("write an address as four plain numbers, such as 192.168.0.1")
        return name
    if len(name) > _LONGEST or not _NAME.fullmatch(name):
        raise ValueError("this is not the name of a host, such as api.example.com")
    return name


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """The hosts that requests may go to. Nothing that is not listed is ever asked."""

    public: frozenset[Host] = frozenset()
    private: frozenset[Host] = frozenset()
    """Those that may be in a network of one's own."""

    def obstacle(self, host: Host) -> str | None:
        """Say why nothing may be sent there, as far as that is told without asking for its address."""
        if host not in self.public | self.private:
            return (
                f"No request may be sent to {host}. An operator has to list it under `http.hosts` in "
                "sayso.yml, or under `http.private` where it is in a network of your own."
            )
        if host.address and not self.may_reach(host, host.address):
            return (
                f"{host} is in a private or special range, where requests go only to what is listed "
                "under `http.private` in sayso.yml."
            )
        return None

    def may_reach(self, host: Host, address: Address) -> bool:
        """Whether a request for a listed host may go to this address of it."""
        reach = addresses.reach(address)
        if reach is Reach.PUBLIC:
            return True
        if host not in self.private:
            return False
        # Whoever answers for a name may answer anything: no name leads to this machine or to what
        # clouds keep for it, unless it says so itself.
        if reach is Reach.LOOPBACK and host.is_this_machine:
            return True
        return reach is Reach.PRIVATE or host.address == address


def each(texts: Iterable[str]) -> frozenset[Host]:
    """Return the hosts of a list; one without a port is meant with the ports of http and of https.

    Raises `ValueError` for what names no host.
    """
    return frozenset(read(text, port) for text in texts for port in PORTS.values())
