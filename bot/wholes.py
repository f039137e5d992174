"""All that a step printed, as it was kept or as its report shows it."""

import asyncio
from hashlib import sha256

from approvals import outputs
from approvals.models import Step
from core.artifacts import Artifacts, name_of
from core.errors import Refused

_ALTERED = (
    "What lies there is not what was kept: its digest is another one. Look who can write to the "
    "folder of the artifacts."
)
_LOST = "Its file is missing, though it was to be kept. Look who can write to the folder of the artifacts."


async def whole(artifacts: Artifacts, run: str, step: Step) -> bytes:
    """Return all that a step printed; raise `Refused` where it is nowhere, or is something else."""
    why = outputs.obstacle(step)
    if why:
        raise Refused(why)
    stored = step.whole.stored if step.whole else None
    if stored is None:
        return step.output.encode()
    data = await artifacts.read(name_of(run, step.index))
    if data is None:
        raise Refused(_LOST)
    digest = await asyncio.to_thread(sha256, data)  # of megabytes, while others go on
    if digest.hexdigest() != stored.sha256:
        raise Refused(_ALTERED)
    return data
