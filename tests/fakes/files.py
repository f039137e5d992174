"""A working folder that exists only as the digests of its files."""

from dataclasses import dataclass, field

from core.errors import Unavailable


@dataclass(kw_only=True)
class FakeFiles:
    """Implements `core.ports.Files`."""

    digests: dict[str, str] = field(default_factory=dict[str, str])
    unreadable: set[str] = field(default_factory=set[str])

    async def sha256(self, file: str) -> str | None:
        """See the port."""
        if file in self.unreadable:
            raise Unavailable("A file that this depends on cannot be read.", file=file)
        return self.digests.get(file)
