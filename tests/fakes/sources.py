"""Files of functions that a test made up."""

from dataclasses import dataclass, field

from core.errors import Unavailable


@dataclass(kw_only=True)
class FakeSources:
    """Implements `core.ports.Sources`."""

    digests: dict[str, str] = field(default_factory=dict[str, str])
    unreadable: set[str] = field(default_factory=set[str])

    async def sha256(self, function: str) -> str | None:
        """See the port."""
        if function in self.unreadable:
            raise Unavailable("The code of a function cannot be read.", function=function)
        return self.digests.get(function)
