"""Posts the audit log's head in a channel, where everybody sees it and nobody can take it back alone."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from core.audit import Entry
from core.deliveries import Chat, Text
from core.events import Place

EVERY = 3600.0
"""Seconds between two heads in a channel."""


@dataclass(slots=True, kw_only=True)
class Announcing:
    """Announces heads, where a channel is configured."""

    newest: Callable[[], Awaitable[Entry | None]]
    place: Place | None
    chats: Mapping[str, Chat]
    _last: str = field(default="", init=False)

    async def __call__(self) -> None:
        """Post the head as it is now, unless this process did; raise as `Chat` does."""
        chat = self.chats.get(self.place.platform) if self.place else None
        entry = await self.newest() if chat else None
        if self.place is None or chat is None or entry is None or entry.hash == self._last:
            return
        text = (
            f"Head of the audit log at {entry.at}: entry {entry.seq}, {entry.hash}. Whether it is "
            f"still there shows: sayso audit verify --head {entry.hash}"
        )
        await chat.post(self.place, Text(text=text, is_note=True), key=f"head:{entry.hash}")
        self._last = entry.hash


def place_of(channel: str | None) -> Place | None:
    """Return the channel that the configuration names as `platform/workspace/channel`."""
    if channel is None:
        return None
    platform, workspace, name = channel.split("/")
    return Place(platform=platform, workspace=workspace, channel=name)
