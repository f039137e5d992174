"""The pieces of messages, each known by the key under which it was posted in this process."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from adapters.discord.drawn import Drawn
from adapters.discord.finding import Found, There
from adapters.discord.marks import file_of, mark, nonce
from adapters.discord.messages import told
from adapters.discord.posts import At, Posts
from adapters.discord.refusals import MISSING_PERMISSIONS, TOO_LARGE, code_of
from core.deliveries import Message
from core.errors import Refused
from core.platforms import Told

V = TypeVar("V")

_REMEMBERED = 2000
"""So many messages are remembered: an edit that changes nothing is not sent."""
_CUT = "The rest is cut: all of it would be a file, and that could not be posted. {why}"


@dataclass(slots=True, kw_only=True)
class Pieces:
    """Raises as `Rest` does."""

    posts: Posts
    _keys: dict[str, str] = field(default_factory=dict[str, str])
    """Under which key each message was posted, by its id."""
    _shown: dict[str, str] = field(default_factory=dict[str, str])
    """The digest of each message as it is drawn, by its id."""

    def may_be(self, key: str, there: Sequence[There]) -> list[There]:
        """Return those messages of which it is not known that they are something else."""
        return [message for message in there if self._keys.get(message.id, key) == key]

    async def send(self, at: At, piece: Drawn, key: str, number: int = 0) -> str:
        """Post a piece and return its id."""
        message = await self.posts.send(at, piece, nonce=nonce(key, number), mark=mark(key, number))
        self._remember(message, key, piece)
        return message

    async def update(
        self, at: At, message: str, piece: Drawn, key: str | None = None, number: int = 0
    ) -> bool:
        """Draw a message anew, under a key where it becomes another piece; return whether it is there."""
        if key is None and self._shown.get(message) == _digest(piece):
            return True
        self._shown.pop(message, None)
        marked = None if key is None else mark(key, number)
        is_there = await self.posts.edit(at, message, piece, mark=marked, was_words=key is not None)
        self._remember(message, key or self._keys.get(message), piece)
        return is_there

    async def missing(
        self, at: At, message: Message, pieces: Sequence[Drawn], key: str, found: Found
    ) -> None:
        """Post what is not there yet, in order, and write down in `found` what is."""
        for number, piece in enumerate(pieces):
            if number not in found.pieces:
                found.pieces[number] = await self.send(at, piece, key, number)
        document = next((piece.document for piece in pieces if piece.document), None)
        if document is not None and not found.has_file:
            await self._file(at, file_of(key, message), document, key, len(pieces))

    async def more(self, at: At, key: str, pieces: Sequence[Drawn], found: dict[int, str]) -> None:
        """Bring up to date what a longer edit has added below a message, and `found` with it."""
        for number, piece in enumerate(pieces):
            if number in found:
                await self.update(at, found[number], piece)
            else:
                found[number] = await self.send(at, piece, key, number)
        for number in range(len(pieces), len(found)):
            await self.posts.remove(at, found.pop(number))

    async def _file(self, at: At, name: str, document: str, key: str, number: int) -> None:
        try:
            await self.posts.file(at, name, document, nonce=nonce(key, number))
        except Refused as error:
            if code_of(error) not in {MISSING_PERMISSIONS, *TOO_LARGE}:
                raise
            cut = told(Told(text=_CUT.format(why=error.shown)))
            await self.send(at, cut, key, number)

    def _remember(self, message: str, key: str | None, piece: Drawn) -> None:
        self._shown[message] = _digest(piece)
        if key is not None:
            self._keys[message] = key
        _forget(self._shown)
        _forget(self._keys)


def _forget(kept: dict[str, V]) -> None:
    while len(kept) > _REMEMBERED:
        del kept[next(iter(kept))]


def _digest(piece: Drawn) -> str:
    whole = json.dumps([piece.content, piece.components, piece.below])
    return hashlib.sha256(whole.encode()).hexdigest()
