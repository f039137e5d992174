"""Writes the audit log's head down outside the database, so that nobody can shorten the log unseen."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial

from bot.aside import Aside
from core.audit import Entry
from core.errors import Unavailable
from core.ports import Heads, Keys

EVERY = 60.0
"""Seconds between two looks for a new head."""
WITHIN = 3.0
"""Seconds that a disk has to take one."""
HANGS = "the disk that it is on does not answer. Look at that disk, or name another place."


@dataclass(frozen=True, slots=True, kw_only=True)
class Publishing:
    """Publishes heads, where there is a place for them: aside, since that may be on a disk that hangs."""

    keys: Keys
    newest: Callable[[], Awaitable[Entry | None]]
    heads: Heads | None
    within: float = WITHIN
    aside: Aside = field(default_factory=Aside)

    async def begin(self) -> None:
        """Have a key, so that its public part can be noted before anything is signed with it."""
        self.keys.key()

    async def __call__(self) -> None:
        """Publish the head as it is now, unless it is there already; raise `Unavailable` if it cannot be."""
        if self.heads is None:
            return
        entry = await self.newest()
        try:
            await self.aside.within(self.within, partial(_note, self.heads, entry))
        except TimeoutError as error:
            raise Unavailable(
                f"The audit log's head could not be published in `audit.heads`: {HANGS}"
            ) from error


def _note(heads: Heads, entry: Entry | None) -> None:
    last = heads.last()  # where it is no place, that is told before there is any head
    if entry and entry.hash not in last:
        heads.append(f"{entry.at} {entry.seq} {entry.hash}")
