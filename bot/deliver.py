"""What happens until the thread of a conversation shows what was said: posted once, in order."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from approvals import cards
from approvals.models import Request
from approvals.store import ApprovalStore, RunStore
from core.conversations import Conversations
from core.deliveries import Asking, Chat, Deliveries, Delivery, Message, Text, post_of
from core.errors import Refused, Unavailable
from core.events import Place
from core.jobs import Hold

T = TypeVar("T")
_log = logging.getLogger("sayso.deliver")


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivering:
    """Posts entries and redraws cards. A failing platform is tried again, later and later.

    The lane of the conversation is taken meanwhile, so nothing overtakes what waits.
    """

    deliveries: Deliveries
    requests: ApprovalStore
    runs: RunStore
    conversations: Conversations
    chats: Mapping[str, Chat]
    """By platform."""
    pauses: tuple[float, ...] = (0.5, 1, 2, 5, 10, 30)
    """Seconds between two tries; the last one again and again."""

    async def post(self, hold: Hold) -> None:
        """Post one entry, unless it was posted before."""
        tenant, payload = hold.job.tenant, hold.job.payload
        conversation, seq = str(payload["conversation"]), int(str(payload["seq"]))
        entry = await self.deliveries.entry(tenant, conversation, seq)
        if entry is None or entry.posted is not None:
            return
        message = await self._message(tenant, entry)
        key = post_of(conversation, seq)
        posted = await self._tried(
            hold, lambda: self._chat(entry.place).post(entry.place, message, key=key)
        )
        await self.deliveries.posted(tenant, conversation, seq, posted)

    async def edit(self, hold: Hold) -> None:
        """Have a card show what has become of its request, where it was posted."""
        tenant, name = hold.job.tenant, str(hold.job.payload["request"])
        card = await self.deliveries.card(tenant, name)
        request = await self.requests.get(tenant, name)
        if card is None or request is None:
            return
        message = await self._card(request)
        await self._tried(
            hold, lambda: self._chat(card.place).edit(card.place, card.message, message)
        )

    async def _message(self, tenant: str, entry: Delivery) -> Message:
        about = entry.about or ""
        match entry.kind:
            case "card" if request := await self.requests.get(tenant, about):
                return await self._card(request)
            case "answered" if turn := await self.conversations.turn(tenant, about):
                return Text(text=entry.text, suggestions=turn.suggestions)
            case "report" if run := await self.runs.run(tenant, about):
                return Text(text=entry.text, buttons=cards.choices(run))
            case _:
                return Text(text=entry.text)

    async def _card(self, request: Request) -> Asking:
        run = await self.runs.run_of(request.tenant, request.id)
        card, told = cards.drawn(request, run)
        return Asking(card=card, status=told)

    def _chat(self, place: Place) -> Chat:
        chat = self.chats.get(place.platform)
        if chat is None:
            raise Refused(f"{place.platform} is not configured, so nothing is posted there.")
        return chat

    async def _tried(self, hold: Hold, post: Callable[[], Awaitable[T]]) -> T:
        """Do it, again and again while the platform is out of reach and the job is ours."""
        tries = 0
        while True:
            hold.check()
            try:
                return await post()
            except Unavailable as error:
                pause = self.pauses[min(tries, len(self.pauses) - 1)]
                _log.warning("%s: %s; again in %s s", hold.job.id, error.shown, pause)
                await asyncio.sleep(pause)
                tries += 1
