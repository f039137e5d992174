"""Which pieces of a message are on Discord already, so that none is posted twice.

Discord gives back no nonce, so a message is known by what it carries: components by the id of the
first, buttons by what they mean, a file by its name. Words carry nothing, and the same words may
well be said twice: those count where nobody else has written since.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import discord

from adapters.discord.drawn import Drawn
from adapters.discord.marks import mark
from adapters.discord.messages import unfinished
from adapters.discord.rest import Rest
from adapters.platforms.tasks import failed as log_failure
from core.errors import Invalid, Refused

LOOKED_AT = 100
"""So many of the newest messages: as many as Discord gives at once."""
_WRITING = unfinished("").content.rpartition("\n")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class There:
    """A message as it was found."""

    id: str
    content: str = ""
    marks: frozenset[int | None] = frozenset()
    """The ids of its outermost components."""
    buttons: tuple[str, ...] = ()
    """The custom ids in it."""
    files: frozenset[str] = frozenset()
    has_thread: bool = False
    is_ours: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was found of one message: pieces by their number, and whether the file is there."""

    pieces: dict[int, str]
    has_file: bool = False


def posted(there: Sequence[There], key: str, pieces: Sequence[Drawn], file: str) -> Found:
    """Return what has been posted under a key, of messages that are given newest first."""
    found = dict[int, str]()
    for number, piece in enumerate(pieces):
        taken = set(found.values())
        fits = _fits(piece, mark(key, number))
        among = there if piece.components or piece.below else _since_anybody_else(there)
        match = next((m.id for m in among if m.is_ours and m.id not in taken and fits(m)), None)
        if match is not None:
            found[number] = match
    return Found(pieces=found, has_file=any(m.is_ours and file in m.files for m in there))


def opening(there: Sequence[There], piece: Drawn, file: str) -> Found:
    """Return what was asked, where that stands in a channel and nothing was opened from it yet."""
    match = next(
        (m.id for m in there if m.is_ours and not m.has_thread and _says(piece, m)),
        None,
    )
    has_file = any(m.is_ours and file in m.files for m in there)
    return Found(pieces={} if match is None else {0: match}, has_file=has_file)


def draft(there: Sequence[There]) -> str | None:
    """Return the message in which an answer is shown that is still being written."""
    return next((m.id for m in there if m.is_ours and m.content.endswith(_WRITING)), None)


@dataclass(slots=True, kw_only=True)
class Finder:
    """Looks at the newest messages of a channel or a thread."""

    rest: Rest

    async def newest(self, channel: str) -> list[There]:
        """Return them, newest first; none where Sayso may not read there. Raises as `Rest` does."""

        async def read(client: discord.Client) -> list[There]:
            history = client.get_partial_messageable(int(channel)).history(limit=LOOKED_AT)
            us = client.user.id if client.user is not None else 0
            return [_read(message, us) async for message in history if _is_said(message)]

        try:
            return await self.rest.call("read messages", read, on=channel)
        except Invalid:
            raise
        except Refused as error:
            log_failure(error)  # then better twice than never
            return []


def _fits(piece: Drawn, marked: int) -> Callable[[There], bool]:
    if piece.components:
        return lambda message: marked in message.marks
    if piece.below:
        pressed = tuple(_custom_ids(piece.below))
        return lambda message: message.buttons == pressed
    return lambda message: _says(piece, message)


def _says(piece: Drawn, message: There) -> bool:
    return message.content.strip() == piece.content.strip() != ""


def _since_anybody_else(there: Sequence[There]) -> list[There]:
    since = list[There]()
    for message in there:
        if not message.is_ours:
            break
        since.append(message)
    return since


def _custom_ids(components: Iterable[Any]) -> Iterable[str]:
    for component in components:
        if "custom_id" in component:
            yield component["custom_id"]
        yield from _custom_ids(component.get("components", ()))


def _is_said(message: discord.Message) -> bool:
    """Whether somebody wrote it: not that somebody joined a thread, or that one was begun."""
    return message.type in {discord.MessageType.default, discord.MessageType.reply}


def _read(message: discord.Message, us: int) -> There:
    return There(
        id=str(message.id),
        content=message.content,
        marks=frozenset(getattr(component, "id", None) for component in message.components),
        buttons=tuple(_custom_ids(component.to_dict() for component in message.components)),
        files=frozenset(attachment.filename for attachment in message.attachments),
        has_thread=message.flags.has_thread,
        is_ours=message.author.id == us,
    )
