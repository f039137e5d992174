"""A place for whole outputs that is a dictionary."""

from collections.abc import AsyncIterable, Collection
from dataclasses import dataclass, field
from hashlib import sha256

from approvals.keeping import Keeping
from core.artifacts import Stored
from core.errors import Refused, SaysoError


@dataclass(kw_only=True)
class FakeArtifacts:
    """Implements `core.artifacts.Artifacts`."""

    most_bytes: int = 1000
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    old: set[str] = field(default_factory=set[str])
    """Names of those that lie there for long."""
    fails: SaysoError | None = None
    """What every call raises."""

    async def keep(self, name: str, pieces: AsyncIterable[bytes]) -> Stored:
        """See the port."""
        self._must_work()
        whole = b""
        async for piece in pieces:
            whole += piece
            if len(whole) > self.most_bytes:
                raise Refused("It is more than is kept.")
        self.files[name] = whole
        return Stored(bytes=len(whole), sha256=sha256(whole).hexdigest())

    async def read(self, name: str) -> bytes | None:
        """See the port."""
        self._must_work()
        return self.files.get(name)

    async def remove(self, names: Collection[str]) -> None:
        """See the port."""
        self._must_work()
        for name in names:
            self.files.pop(name, None)

    async def left(self) -> frozenset[str]:
        """See the port."""
        self._must_work()
        return frozenset(self.files.keys() & self.old)

    def _must_work(self) -> None:
        if self.fails:
            raise self.fails


def keeping() -> Keeping:
    """Return what keeps whole outputs in a dictionary."""
    return Keeping(artifacts=FakeArtifacts(), most_per_run=2)
