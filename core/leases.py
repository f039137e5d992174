"""Leases: of what one process alone may do, which one does it. They belong to no tenant."""

from datetime import timedelta
from typing import Protocol


class Leases(Protocol):
    """Where it is kept who holds what. One statement decides each, so of two at once one has it.

    A name may be taken where nobody holds it: it was never taken or was given back, its time is over, or
    the process that took it died on this machine.
    """

    async def take(self, name: str, owner: str, lasts: timedelta) -> bool:
        """Hold it from now on for so long, where nobody else does; return whether it is held so.

        Whoever holds it already prolongs it, and false tells them that they have lost it.
        """
        ...

    async def give_back(self, name: str, owner: str) -> None:
        """Hold it no longer. What somebody else holds stays theirs."""
        ...

    async def holder(self, name: str) -> str | None:
        """Return who holds it; None where anybody may take it."""
        ...
