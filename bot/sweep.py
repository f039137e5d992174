"""What happens to whole outputs that nobody needs any more: those kept for long enough, and nobody's."""

from dataclasses import dataclass

from core.artifacts import Artifacts, Kept
from core.erasing import Erased, Erasing

EVERY = 3600.0
"""Seconds between two looks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweeping:
    """Removes whole outputs. What the database says is no more is gone from the folder soon after."""

    artifacts: Artifacts
    kept: Kept

    async def __call__(self) -> None:
        """Remove what was kept for long enough, and what a process left that died; raise as the ports do."""
        outlived = await self.kept.outlived()
        left = await self.artifacts.left()
        await self.artifacts.remove(outlived | (left - await self.kept.lying()))


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasingAll:
    """Erases conversations with the whole outputs that were kept for them. Implements `core.erasing.Erasing`."""

    erasing: Erasing
    artifacts: Artifacts
    kept: Kept

    async def erase(self, conversation: str, *, account: str) -> Erased:
        """See the port. Doing it again removes what could not be removed from the folder."""
        erased = await self.erasing.erase(conversation, account=account)
        await self.artifacts.remove(await self.kept.of(conversation))
        return erased
