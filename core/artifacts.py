"""The port that keeps whole outputs of steps, where those are more than is shown.

What is handed to it is masked already: nothing else may reach a disk.
"""

from collections.abc import AsyncIterable, Collection
from dataclasses import dataclass
from typing import Protocol

from core.ids import is_run_id, step_id


def name_of(run: str, index: int) -> str:
    """Return the name under which the whole output of a step is kept."""
    return step_id(run, index)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """What was kept: how many bytes those are, and the SHA-256 of them."""

    bytes: int
    sha256: str


def step_of(name: str) -> tuple[str, int] | None:
    """Return the run and the number of the step that a name stands for; None for any other name."""
    run, _, index = name.rpartition(".")
    return (run, int(index)) if is_run_id(run) and index.isdecimal() else None


class Artifacts(Protocol):
    """Where they lie. Whose they are, and who may see them, stands in the database."""

    async def keep(self, name: str, pieces: AsyncIterable[bytes]) -> Stored:
        """Keep all of it, so that a crash leaves it there, or nothing of it.

        What lay there under this name is replaced. Raises `Refused` where it is more than one may
        have, and `Unavailable` where it cannot be written.
        """
        ...

    async def read(self, name: str) -> bytes | None:
        """Return what was kept, None where nothing is; raise `Unavailable` where it cannot be read."""
        ...

    async def remove(self, names: Collection[str]) -> None:
        """Remove these, if they are there; raise `Unavailable` where one cannot be removed."""
        ...

    async def left(self) -> frozenset[str]:
        """Return the names of all that lies there for so long that no step is still about to end."""
        ...


class Kept(Protocol):
    """What the database knows of them. Every method is one transaction."""

    async def outlived(self) -> frozenset[str]:
        """Note of what has been kept for long enough that it is no more, and return its names."""
        ...

    async def lying(self) -> frozenset[str]:
        """Return the names of all that is still to be there, of every tenant."""
        ...

    async def of(self, conversation: str) -> frozenset[str]:
        """Return the names of all that was ever kept for a conversation."""
        ...
