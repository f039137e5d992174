"""What happens until the thread of a conversation shows what was said: posted once, in order."""

from collections.abc import Mapping
from dataclasses import dataclass

from approvals import cards, progress
from approvals.models import Request
from approvals.store import ApprovalStore, RunStore
from bot.live import Live
from core.conversations import Conversations
from core.deliveries import Asking, Chat, Deliveries, Delivery, Message, Text, post_of
from core.errors import Refused
from core.events import Place
from core.jobs import Hold


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivering:
    """Posts entries and redraws cards and the progress of runs, each as the store has it at that moment.

    Where a platform does not answer, the job is put back and keeps its lane: nothing overtakes it.
    """

    deliveries: Deliveries
    requests: ApprovalStore
    runs: RunStore
    conversations: Conversations
    chats: Mapping[str, Chat]
    """By platform."""
    live: Live

    async def post(self, hold: Hold) -> None:
        """Post one entry, unless it was posted before."""
        tenant, payload = hold.job.tenant, hold.job.payload
        conversation, seq = str(payload["conversation"]), int(str(payload["seq"]))
        entry = await self.deliveries.entry(tenant, conversation, seq)
        if entry is None or entry.posted is not None:
            return
        message = await self._message(tenant, entry)
        key = post_of(conversation, seq)
        hold.check()
        posted = await self._chat(entry.place).post(entry.place, message, key=key)
        await self.deliveries.posted(tenant, conversation, seq, posted)

    async def edit(self, hold: Hold) -> None:
        """Have a card show what has become of its request, or where a run is, where that was posted."""
        payload = hold.job.payload
        if "run" in payload:
            await self._edit_progress(hold, str(payload["run"]))
        else:
            await self._edit_card(hold, str(payload["request"]))

    async def _edit_card(self, hold: Hold, name: str) -> None:
        tenant = hold.job.tenant
        card = await self.deliveries.card(tenant, name)
        request = await self.requests.get(tenant, name)
        if card is None or request is None:
            return
        message = await self._card(request)
        hold.check()
        await self._chat(card.place).edit(card.place, card.message, message)

    async def _edit_progress(self, hold: Hold, name: str) -> None:
        await self.live.quiet(name)
        entry = await self.deliveries.progress(hold.job.tenant, name)
        run = await self.runs.run(hold.job.tenant, name)
        if entry is None or entry.posted is None or run is None:
            return
        hold.check()
        await self._chat(entry.place).edit(entry.place, entry.posted, progress.shown(run))

    async def _message(self, tenant: str, entry: Delivery) -> Message:
        about = entry.about or ""
        match entry.kind:
            case "card" if request := await self.requests.get(tenant, about):
                return await self._card(request)
            case "progress" if run := await self.runs.run(tenant, about):
                return progress.shown(run)
            case "answered" if turn := await self.conversations.turn(tenant, about):
                return Text(text=entry.text, suggestions=turn.suggestions)
            case "report" if run := await self.runs.run(tenant, about):
                text = cards.in_chat(entry.text, run)
                return Text(text=text, buttons=cards.choices(run), is_report=True)
            case _:
                return await self._words(tenant, entry.text, about, is_note=entry.kind == "note")

    async def _words(self, tenant: str, text: str, about: str, *, is_note: bool) -> Text:
        request = await self.requests.get(tenant, about) if is_note else None
        same = about if request and text == cards.status(request) else None
        return Text(text=text, is_note=is_note, same_as=same)

    async def _card(self, request: Request) -> Asking:
        run = await self.runs.run_of(request.tenant, request.id)
        card, told = cards.drawn(request, run)
        return Asking(card=card, status=told)

    def _chat(self, place: Place) -> Chat:
        chat = self.chats.get(place.platform)
        if chat is None:
            raise Refused(f"{place.platform} is not configured, so nothing is posted there.")
        return chat
