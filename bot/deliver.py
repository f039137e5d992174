"""What happens until the thread of a conversation shows what was said: posted once, in order."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from approvals import cards, entitlement, progress, reports
from approvals.acting import Acting
from approvals.models import Request, Run, State
from approvals.store import ApprovalStore, RunStore
from approvals.undoing import Undoing
from bot.live import Live
from bot.wholes import whole
from core.artifacts import Artifacts, step_of
from core.cards import Button
from core.conversations import Conversations
from core.deliveries import (
    OPEN,
    TERMINAL,
    Asking,
    Chat,
    Deliveries,
    Delivery,
    Message,
    Opening,
    Progress,
    Text,
    post_of,
)
from core.errors import Invalid, Refused, Unavailable
from core.events import OPENS, Place
from core.jobs import Hold
from core.principals import Identity

_MOST_OPENED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivering:
    """Posts entries and redraws cards and the progress of runs, each as the store has it at that moment.

    Where a platform does not answer, or does not let us in, the job is put back and keeps its lane:
    nothing overtakes it.
    """

    deliveries: Deliveries
    requests: ApprovalStore
    runs: RunStore
    conversations: Conversations
    chats: Mapping[str, Chat]
    """By platform."""
    live: Live
    acting: Acting
    undoing: Undoing
    artifacts: Artifacts

    async def open(self, hold: Hold) -> None:
        """Open the thread of a conversation that began outside of any, unless that was done before."""
        conversation = str(hold.job.payload["conversation"])
        place = await self.deliveries.place(hold.job.tenant, conversation)
        if place is not None:
            with _until_corrected():
                await self._opened(hold, conversation, place)

    async def post(self, hold: Hold) -> None:
        """Post one entry, unless it was posted before.

        What cannot be posted where it belongs reaches at least whoever asked.
        """
        with _until_corrected():
            await self._post(hold)

    async def _post(self, hold: Hold) -> None:
        tenant, payload = hold.job.tenant, hold.job.payload
        conversation, seq = str(payload["conversation"]), int(str(payload["seq"]))
        entry = await self.deliveries.entry(tenant, conversation, seq)
        if entry is None or entry.posted is not None:
            return
        message = await self._message(tenant, entry)
        key, again = post_of(conversation, seq), hold.job.was_begun
        try:
            place = await self._opened(hold, conversation, entry.place)
            hold.check()
            posted = await self._chat(place).post(
                place, message, key=key, again=again, drafted=entry.drafted
            )
        except Invalid:
            raise
        except Refused as error:
            await self._tell_alone(hold, entry, message, error)
            raise
        await self.deliveries.posted(tenant, conversation, seq, posted)

    async def _opened(self, hold: Hold, conversation: str, place: Place) -> Place:
        """Return a place at which something can be posted.

        Whoever answers in a thread before it was written down whose it is has begun a conversation
        there: then another thread is opened.
        """
        if place.is_opened:
            return place
        tenant = hold.job.tenant
        found = await self.deliveries.opening(tenant, conversation)
        opening = found or Opening(author="", text="")
        asker = next(iter(await self._accounts(tenant, opening.author, place)), None)
        for number in range(_MOST_OPENED):
            hold.check()
            thread = await self._chat(place).post(
                # A thread below what was asked can be opened once; another one needs a new beginning.
                place if number == 0 else replace(place, thread=OPENS),
                replace(opening, asker=asker),
                key=f"{OPEN}:{conversation}:{number}",
                again=hold.job.was_begun,
            )
            if await self.deliveries.opened(tenant, conversation, thread):
                return replace(place, thread=thread)
        raise Unavailable("Every thread that was opened for this is another conversation's.")

    async def _tell_alone(
        self, hold: Hold, entry: Delivery, message: Message, error: Refused
    ) -> None:
        """Tell whoever asked last what could not be posted where they asked, and why."""
        told = _alone(message, error)
        place = await self._alone(hold.job.tenant, entry)
        if told is None or place is None:
            return
        key = f"{hold.job.id}:alone"
        await self._chat(place).post(place, told, key=key, again=hold.job.was_begun)

    async def _alone(self, tenant: str, entry: Delivery) -> Place | None:
        """Return where only whoever asked last reads; None where that is no one there."""
        if self.acting.authority().directory.find(tenant, entry.asker) is None:
            return None
        account = next(iter(await self._accounts(tenant, entry.asker, entry.place)), None)
        return replace(entry.place, channel=account.user, thread=None) if account else None

    async def _accounts(self, tenant: str, person: str, place: Place) -> tuple[Identity, ...]:
        """Return as whom a place knows somebody: on a terminal, nobody is called."""
        if place.platform == TERMINAL:
            return ()
        linked = await self.acting.standings.linked(self.acting.authority(), tenant)
        return linked.directory.accounts(person, place.platform, place.workspace)

    async def edit(self, hold: Hold) -> None:
        """Have a card show what has become of its request, or where a run is, where that was posted."""
        payload = hold.job.payload
        with _until_corrected():
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
        message = await self._card(request, card.place)
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
                return await self._card(request, entry.place)
            case "progress" if run := await self.runs.run(tenant, about):
                return progress.shown(run)
            case "answered" if turn := await self.conversations.turn(tenant, about):
                return Text(text=entry.text, suggestions=turn.suggestions, turn=turn.id)
            case "report" if run := await self.runs.run(tenant, about):
                text = reports.in_chat(entry.text, run)
                return Text(text=text, buttons=self._choices(run), is_report=True)
            case _:
                return await self._words(tenant, entry, is_note=entry.kind == "note")

    def _choices(self, run: Run) -> tuple[Button, ...]:
        return reports.choices(run, undo=self.undoing.offered(run))

    async def _output(self, tenant: str, entry: Delivery, name: str, index: int) -> Text:
        """Return all that a step printed beside what tells who wanted it; else why it is not there."""
        run = await self.runs.run(tenant, name)
        if run is None:
            return Text(text=entry.text, is_note=True)
        try:
            data = await whole(self.artifacts, run.id, run.steps[index])
        except Refused as error:
            return Text(text=f"{entry.text}\n{error.shown}", is_note=True)
        return Text(text=entry.text, is_note=True, document=data.decode())

    async def _words(self, tenant: str, entry: Delivery, *, is_note: bool) -> Text:
        about = entry.about or ""
        if is_note and (step := step_of(about)):
            return await self._output(tenant, entry, *step)
        request = await self.requests.get(tenant, about) if is_note else None
        if request is None:
            return Text(text=entry.text, is_note=is_note)
        if entry.text == cards.status(request):
            return Text(text=entry.text, is_note=True, same_as=about)
        if entry.calls:
            called = await self._called(tenant, entry)
            return Text(text=entry.text, is_note=True, wanted=called, label="For")
        wanted = await self._wanted(request, entry.place)
        return Text(text=entry.text, is_note=True, wanted=wanted)

    async def _called(self, tenant: str, entry: Delivery) -> tuple[Identity, ...]:
        found = [await self._accounts(tenant, name, entry.place) for name in entry.calls]
        return tuple(accounts[0] for accounts in found if accounts)

    async def _card(self, request: Request, place: Place) -> Asking:
        run = await self.runs.run_of(request.tenant, request.id)
        card, told = cards.drawn(request, run)
        return Asking(card=card, status=told, wanted=await self._wanted(request, place))

    async def _wanted(self, request: Request, place: Place) -> tuple[Identity, ...]:
        """Return as whom the place's workspace knows those whose yes an open request waits for."""
        if place.platform == TERMINAL or request.state is not State.OPEN or not request.is_intact:
            return ()
        authority = await self.acting.named(request.tenant)
        return tuple(
            one
            for name in entitlement.yet_to_vote(authority, request)
            for one in authority.directory.accounts(name, place.platform, place.workspace)
        )

    def _chat(self, place: Place) -> Chat:
        chat = self.chats.get(place.platform)
        if chat is None:
            raise Refused(f"{place.platform} is not configured, so nothing is posted there.")
        return chat


@contextmanager
def _until_corrected() -> Generator[None]:
    """Have what is wrong with a token or a file only put it off: somebody will correct that."""
    try:
        yield
    except Invalid as error:
        raise Unavailable(error.shown) from error


def _alone(message: Message, error: Refused) -> Text | None:
    """Return what somebody is told alone; a card is not decided there."""
    why = f"This could not be posted where you asked. {error.shown}"
    match message:
        case Text():
            return replace(message, text=f"{why}\n\n{message.text}")
        case Asking():
            told = f"{why} {message.card.title} {message.status} Ask for it again elsewhere."
            return Text(text=told, is_note=True)
        case Progress() | Opening():
            return None
