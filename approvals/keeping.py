"""All that a step printed, kept where that is more than is shown. That it cannot be ends no step."""

import asyncio
from dataclasses import dataclass

from approvals.models import Run, Step, Whole
from core.artifacts import Artifacts, name_of
from core.errors import Refused, Unavailable
from core.ports import Ended, Pieces

_ENOUGH = "This run has kept as many as a run may: artifacts.most_per_run in sayso.yml."
_SLOW = "The disk did not answer in time."


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """Keeps whole outputs, before it is written down that their steps ended."""

    artifacts: Artifacts
    most_per_run: int
    patience: float = 60.0
    """For how many seconds a disk may take over one, while its step waits to end."""

    async def whole(self, run: Run, index: int, ended: Ended | None) -> Whole | None:
        """Keep all that a step printed; None where what is shown of it is all."""
        if ended is None or ended.whole is None:
            return None
        if sum(_is_stored(step) for step in run.steps) >= self.most_per_run:
            return Whole(why_not=_ENOUGH)
        return await self._kept(name_of(run.id, index), ended.whole)

    async def _kept(self, name: str, pieces: Pieces) -> Whole:
        try:
            async with asyncio.timeout(self.patience):
                return Whole(stored=await self.artifacts.keep(name, pieces()))
        except TimeoutError:
            return Whole(why_not=_SLOW)
        except (Refused, Unavailable) as error:
            return Whole(why_not=error.shown)


def _is_stored(step: Step) -> bool:
    return step.whole is not None and step.whole.stored is not None
