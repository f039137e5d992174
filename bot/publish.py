"""Writes the audit log's head down outside the database, so that nobody can shorten the log unseen."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from core.audit import Entry
from core.ports import Heads, Keys

EVERY = 60.0
"""Seconds between two looks for a new head."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Publishing:
    """Publishes heads, where there is a place for them."""

    keys: Keys
    newest: Callable[[], Awaitable[Entry | None]]
    heads: Heads | None

    async def begin(self) -> None:
        """Have a key, so that its public part can be noted before anything is signed with it."""
        self.keys.key()

    async def __call__(self) -> None:
        """Publish the head as it is now, unless it is there already; raise `Unavailable` if it cannot be."""
        entry = await self.newest() if self.heads else None
        if self.heads and entry and entry.hash not in self.heads.last():
            self.heads.append(f"{entry.at} {entry.seq} {entry.hash}")
