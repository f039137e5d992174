"""What happens when a request reaches its time: it ends, and its card says so without a click."""

from dataclasses import dataclass

from approvals.store import ApprovalStore
from core.jobs import Hold


@dataclass(frozen=True, slots=True, kw_only=True)
class Expiring:
    """Handles the job that a request leaves for its time."""

    store: ApprovalStore

    async def __call__(self, hold: Hold) -> None:
        """End whatever is past its time."""
        hold.check()
        await self.store.expire()
