"""Which pieces of a message are in Slack already, so that none is posted twice."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from adapters.slack import payload
from adapters.slack.account import Account
from adapters.slack.payload import Payload
from adapters.slack.web import Answer, Web
from core.events import Place

EVENT = "sayso"
"""The type of the metadata that every message of Sayso carries."""
PAGE = 200
MOST_PAGES = 10
"""Of a thread, which Slack gives oldest first."""
NEWEST_PAGES = 2
"""Of a channel, which it gives newest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was found of one message: pieces by their number, and whether the file is there."""

    pieces: dict[int, str]
    has_file: bool = False


def metadata(key: str, number: int) -> dict[str, object]:
    """Return what marks one piece of a message as posted under a key."""
    return {"event_type": EVENT, "event_payload": {"key": key, "n": number}}


@dataclass(slots=True, kw_only=True)
class Finder:
    """Looks through a thread, or through the newest of a channel."""

    web: Web
    account: Account

    async def found(self, place: Place, key: str, file: str) -> Found:
        """Return what Sayso itself has posted there under a key; raises as `Web` does."""
        bot = await self.account.bot()
        pieces: dict[int, str] = {}
        has_file = False
        async for message in self._messages(place):
            if message.get("bot_id") != bot.bot_id and message.get("user") != bot.user:
                continue  # anybody may write metadata that looks like ours
            has_file = has_file or _has_file(message, file)
            number = _number(message, key)
            if number is not None:
                pieces.setdefault(number, str(message.get("ts", "")))
        return Found(pieces=pieces, has_file=has_file)

    async def _messages(self, place: Place) -> AsyncIterator[Payload]:
        query: dict[str, object] = {
            "channel": place.channel,
            "ts": place.thread,
            "limit": PAGE,
            "include_all_metadata": True,
        }
        method = "conversations.replies" if place.thread else "conversations.history"
        for _ in range(MOST_PAGES if place.thread else NEWEST_PAGES):
            answer = await self.web.read(method, query)
            for message in payload.items(answer.get("messages")):
                yield payload.of(message)
            query["cursor"] = _next(answer)
            if not query["cursor"]:
                return


def _next(answer: Answer) -> str:
    return payload.text(answer, "response_metadata", "next_cursor")


def _number(message: Payload, key: str) -> int | None:
    marks = payload.of(message.get("metadata"))
    ours = payload.of(marks.get("event_payload"))
    if marks.get("event_type") != EVENT or ours.get("key") != key:
        return None
    number = ours.get("n")
    return number if isinstance(number, int) else None


def _has_file(message: Payload, name: str) -> bool:
    files = payload.items(message.get("files"))
    return any(payload.of(one).get("name") == name for one in files)
