"""What of this machine every program in a sandbox may read: its programs, and little of /etc."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PROGRAMS = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")
"""Links into /usr on most machines, folders on others."""
_ETC = ("alternatives", "ld.so.cache", "localtime")
_ETC_OF_THE_NETWORK = (
    "ca-certificates/extracted", "crypto-policies", "gai.conf", "host.conf", "hosts", "nsswitch.conf",
    "pki/ca-trust/extracted", "pki/tls", "protocols", "resolv.conf", "services", "ssl/cert.pem",
    "ssl/certs", "ssl/openssl.cnf",
)  # fmt: skip
"""Never all of /etc/ssl or /etc/pki: private keys lie beside the certificates."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A file or folder of this machine that can be read under a name of its own."""

    at: Path
    real: Path
    """The same with every link followed."""

    @classmethod
    def of(cls, path: Path) -> "Shown":
        """Return what can be read at a path of this machine under that very path."""
        return cls(path, Path(os.path.realpath(path)))


def shown(*, network: bool) -> Iterator[Shown]:
    """Yield what every program may read, as far as this machine has it."""
    yield Shown.of(Path("/usr"))
    for path in (Path("/", name) for name in _PROGRAMS):
        if path.is_dir() and not path.is_symlink():
            yield Shown.of(path)
    for name in (*_ETC, *(_ETC_OF_THE_NETWORK if network else ())):
        # The name servers are often a link to where another service keeps them.
        if (path := Path("/etc", name)).exists():
            yield Shown.of(path)


def links() -> Iterator[tuple[str, Path]]:
    """Yield the links into /usr that this machine has at its top, each with where it leads."""
    for path in (Path("/", name) for name in _PROGRAMS):
        if path.is_symlink():
            yield str(path.readlink()), path
