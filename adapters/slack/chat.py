"""Posts and edits in Slack: every message once, whatever happens on the way."""

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from adapters.platforms.tasks import failed
from adapters.platforms.waits import Waits
from adapters.slack import payload
from adapters.slack.messages import Drawn, draw, told, unfinished
from adapters.slack.posted import Finder, Found, metadata
from adapters.slack.refusals import code_of, is_unclear, unanswered
from adapters.slack.statuses import Status, Statuses
from adapters.slack.uploads import Uploads, file_of
from adapters.slack.web import Answer, Web
from core.deliveries import Asking, Drafted, Message, Opening, Progress, Text
from core.errors import Refused, SaysoError, Unavailable
from core.events import Place
from core.platforms import Told

_PLAIN = {"unfurl_links": False, "unfurl_media": False, "parse": "none"}
"""Nothing is fetched or linked because of what a text says."""
_REMEMBERED = 2000
"""So many messages are remembered as they are drawn: an edit that changes nothing is not sent."""
_SOON = timedelta(seconds=5)
"""For so long an answer waits to take the place of its draft; then it is posted below, and that removed."""
_ELSEWHERE = "Sayso has no token here for the Slack workspace in which this was asked."
_CUT = Told(
    text="The rest is cut. The whole of it would be a file, and the Slack app lacks the scope "
    "files:write: add it under “OAuth & Permissions” and install the app again."
)


@dataclass(slots=True, kw_only=True)
class SlackChat:
    """Implements `core.deliveries.Chat`. The id of a message is those of its pieces, with commas."""

    web: Web
    finder: Finder
    uploads: Uploads
    statuses: Statuses
    waits: Waits = field(default_factory=Waits)
    _unclear: set[str] = field(default_factory=set[str])
    """What was tried in this process, and may be there in part."""
    _longer: set[str] = field(default_factory=set[str])
    """Messages that have more pieces by now than their id names."""
    _shown: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    """The digest of each message as it is drawn, by channel and id."""

    async def post(
        self,
        place: Place,
        message: Message,
        *,
        key: str,
        again: bool = False,
        drafted: Drafted | None = None,
    ) -> str:
        """See the port."""
        at = _where(place, message)
        pieces = await self._drawn(place, message)
        found = await self._found(at, key, looks=again or key in self._unclear)
        self._unclear.add(key)
        try:
            if drafted and isinstance(message, Text) and 0 not in found.pieces:
                found.pieces.update(await self._instead(at, drafted, pieces[0], key))
            await self._missing(at, pieces, key, found)
            if drafted:
                await self._take_back(at, drafted, besides=found.pieces[0])
        except SaysoError as error:
            if not found.pieces and not is_unclear(error):
                self._unclear.discard(key)
            raise
        self._unclear.discard(key)
        ids = [found.pieces[number] for number in range(len(pieces))]
        self._shows(at, message, ids[0])
        return ",".join(ids)

    async def draft(self, place: Place, text: str, *, drafted: Drafted, again: bool = False) -> str:
        """See the port."""
        await self._must_be_ours(place)
        piece = await asyncio.to_thread(unfinished, text)
        ts, marks = drafted.message, metadata(drafted.key, 0)
        if ts is None and again:
            ts = await self._draft(place, drafted)
        if ts is None:
            return await self._post(place, piece, marks)
        await self._update(place, ts, piece, marks)
        return ts

    async def _instead(
        self, at: Place, drafted: Drafted, piece: Drawn, key: str
    ) -> Mapping[int, str]:
        """Put a piece in the place of a draft and return it as the first; nothing where it cannot be soon."""
        ts = drafted.message or await self._draft(at, drafted)
        try:
            is_there = ts is not None and await self._update(at, ts, piece, metadata(key, 0))
        except Unavailable as error:
            if error.after is None or error.after <= _SOON:
                raise
            return {}
        return {0: ts} if ts is not None and is_there else {}

    async def _take_back(self, at: Place, drafted: Drafted, *, besides: str) -> None:
        """Remove a draft whose place was not taken.

        No card takes it: Slack tells nobody of a mention that an edit adds.
        """
        ts = drafted.message or await self._draft(at, drafted)
        if ts not in (None, besides):
            await self._gone_is_fine("chat.delete", {"channel": at.channel, "ts": ts})

    async def _draft(self, at: Place, drafted: Drafted) -> str | None:
        return (await self._found(at, drafted.key, looks=True)).pieces.get(0)

    async def edit(self, place: Place, posted: str, message: Message) -> None:
        """See the port."""
        ids = posted.split(",")
        pieces = await self._drawn(place, message)
        for ts, piece in zip(ids, pieces, strict=False):
            await self._update(place, ts, piece)
        for ts in ids[len(pieces) :]:
            await self._gone_is_fine("chat.delete", {"channel": place.channel, "ts": ts})
        more = pieces[len(ids) :]
        if more or posted in self._longer:
            self._longer.add(posted)
            await self._more(place, f"more:{posted}", more)

    async def _drawn(self, place: Place, message: Message) -> tuple[Drawn, ...]:
        """Draw a message: what a model wrote may take seconds to read, and no click waits for that."""
        await self._must_be_ours(place)
        return await asyncio.to_thread(draw, message, team=place.workspace)

    async def _must_be_ours(self, place: Place) -> None:
        """Raise where a place is in another workspace: an id there may be somebody else's here."""
        bot = await self.finder.account.bot()
        if place.workspace != bot.team:
            raise Unavailable(_ELSEWHERE)

    async def _missing(self, at: Place, pieces: Sequence[Drawn], key: str, found: Found) -> None:
        """Post what is not there yet, in order, and write down in `found` what is."""
        for number, piece in enumerate(pieces):
            if number not in found.pieces:
                found.pieces[number] = await self._post(at, piece, metadata(key, number))
        document = next((piece.document for piece in pieces if piece.document), None)
        if document is None or found.has_file or len(pieces) in found.pieces:
            return
        there = await self.uploads.uploaded(at.channel, at.thread, file_of(key), document)
        if not there:
            marks = metadata(key, len(pieces))
            found.pieces[len(pieces)] = await self._post(at, told(_CUT), marks)

    async def _more(self, at: Place, key: str, pieces: Sequence[Drawn]) -> None:
        """Bring up to date what a longer edit has added below a message."""
        found = await self._found(at, key, looks=True)
        for number, piece in enumerate(pieces):
            if number in found.pieces:
                await self._update(at, found.pieces[number], piece)
            else:
                await self._post(at, piece, metadata(key, number))
        for number, ts in found.pieces.items():
            if number >= len(pieces):
                await self._gone_is_fine("chat.delete", {"channel": at.channel, "ts": ts})

    async def _found(self, at: Place, key: str, *, looks: bool) -> Found:
        if not looks:
            return Found(pieces={})
        try:
            return await self.finder.found(at, key, file_of(key))
        except Refused as error:
            if code_of(error) != "missing_scope":
                raise
            failed(error)  # then better twice than never
            return Found(pieces={})

    async def _post(self, at: Place, piece: Drawn, marks: Mapping[str, object]) -> str:
        body = {
            **_PLAIN,
            "channel": at.channel,
            "thread_ts": at.thread,
            "text": piece.text,
            "blocks": list(piece.blocks),
            "metadata": marks,
        }
        answer = await self.waits.called(
            f"chat.postMessage:{at.channel}", lambda: self.web.write("chat.postMessage", body)
        )
        ts = _ts(answer)
        self._remember(at.channel, ts, piece)
        return ts

    async def _update(
        self, at: Place, ts: str, piece: Drawn, marks: Mapping[str, object] | None = None
    ) -> bool:
        """Draw a message anew; return whether it is there. What marks it stays where nothing new does."""
        if marks is None and self._shown.get((at.channel, ts)) == _digest(piece):
            return True
        self._shown.pop((at.channel, ts), None)
        body = {
            **_PLAIN,
            "channel": at.channel,
            "ts": ts,
            "text": piece.text,
            "blocks": list(piece.blocks),
            "metadata": marks,
        }
        is_there = await self._gone_is_fine("chat.update", body)
        self._remember(at.channel, ts, piece)
        return is_there

    async def _gone_is_fine(self, method: str, body: Mapping[str, object]) -> bool:
        """Call, and return whether there was anything to change."""
        try:
            await self.waits.called(method, lambda: self.web.write(method, body))
        except Refused as error:
            if code_of(error) not in {"message_not_found", "thread_not_found"}:
                raise
            return False
        return True

    def _remember(self, channel: str, ts: str, piece: Drawn) -> None:
        self._shown[channel, ts] = _digest(piece)
        while len(self._shown) > _REMEMBERED:
            del self._shown[next(iter(self._shown))]

    def _shows(self, at: Place, message: Message, ts: str) -> None:
        status: Status = "active"
        if isinstance(message, Asking):
            status = "suspended"
        elif isinstance(message, Progress | Opening):
            status = "processing"
        self.statuses.show(at.channel, at.thread or ts, status)


def _where(place: Place, message: Message) -> Place:
    """Return the place without a thread that is yet to be opened."""
    opens = isinstance(message, Opening) or not place.is_opened
    return replace(place, thread=None) if opens else place


def _ts(answer: Answer) -> str:
    ts = payload.ts(answer, "ts")
    if not ts:
        raise unanswered("chat.postMessage", why="no id")
    return ts


def _digest(piece: Drawn) -> str:
    return hashlib.sha256(json.dumps([piece.text, piece.blocks]).encode()).hexdigest()
