"""What happens when a typed line means something: it goes through the door of its kind."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from approvals import reports
from approvals.models import Request
from bot import plain, spoken
from bot.wiring import App
from core.deliveries import Asking
from core.errors import Refused
from core.events import (
    Approve,
    Ask,
    AskAgain,
    Deny,
    Edit,
    LinkWish,
    ProposeGrant,
    RevokeGrant,
    Stop,
    UndoRun,
    WantOutput,
)
from core.rulings import Ruling
from core.terminal import Bare, Resolve, Seat, Show

Deed: TypeAlias = (
    Ask
    | Approve
    | Deny
    | Edit
    | AskAgain
    | UndoRun
    | WantOutput
    | ProposeGrant
    | RevokeGrant
    | LinkWish
    | Stop
    | Bare
    | Resolve
    | Ruling
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a deed led to at once: a sentence for whoever typed, and the conversation it is in."""

    text: str = ""
    conversation: str | None = None
    approved: Request | None = None
    """What somebody said yes to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doors:
    """The doors that events of any platform go through. What comes of them is delivered."""

    app: App
    has_shown: Callable[[str], bool]
    """Whether a request's card was shown where somebody types."""
    is_here: Callable[[str], bool]
    """Whether what is said in a conversation is shown where somebody types."""

    async def act(self, deed: Deed, seat: Seat) -> Told:
        """Do it; raise with a sentence where it may not be."""
        match deed:
            case Ask() | AskAgain() | UndoRun():
                return await self._asked(deed, seat)
            case Approve() | Deny() | Edit():
                return await self._decided(deed)
            case Bare():
                return await self._bare(deed, seat)
            case _:
                return Told(text=await self._said(deed, seat))

    async def _said(
        self,
        deed: Stop | Resolve | WantOutput | ProposeGrant | RevokeGrant | LinkWish | Ruling,
        seat: Seat,
    ) -> str:
        match deed:
            case Stop():
                text = await self._stopped(deed)
            case Resolve():
                text = await self._resolved(deed, seat)
            case WantOutput():
                text = await self.app.looking.output(deed)
            case ProposeGrant() | RevokeGrant():
                text = (await self.app.granting.take(deed)).text
            case LinkWish():
                text = (await self.app.desk.linking.take(deed)).text
            case _:
                text = await self.app.rulings.rule(deed)
        return text

    async def _asked(self, ask: Ask | AskAgain | UndoRun, seat: Seat) -> Told:
        inbox, there = self.app.inbox, Ask(identity=ask.identity, place=seat.place, text="")
        match ask:
            case Ask():
                received = await inbox.ask(ask)
            case AskAgain():
                received = await inbox.ask_again(there, ask.request)
            case UndoRun():
                received = await inbox.undo(there, ask.run)
        text = plain.queued(received.ahead) if received.ahead else ""
        return Told(text=text, conversation=received.turn.conversation)

    async def _stopped(self, stop: Stop) -> str:
        """Stop what is named; a conversation in which nothing was asked yet is no other's."""
        if stop.conversation or stop.everything:
            return spoken.stopped(await self.app.stopping.stop(stop))
        return spoken.nothing_here(await self.app.stopping.elsewhere(stop.identity))

    async def _decided(self, decision: Approve | Deny | Edit) -> Told:
        if isinstance(decision, Edit):
            return Told(text=spoken.edited(await self.app.desk.editing.edit(decision)))
        if isinstance(decision, Approve):
            decided = await self.app.deciding.vote(decision)
            text = spoken.counted(decided.request, decided.yes)
            return Told(text=text, approved=decided.request)
        await self.app.deciding.deny(decision)
        return Told(text="Your no counts: nothing of it runs.")

    async def _bare(self, bare: Bare, seat: Seat) -> Told:
        """Decide the one thing that can be meant: a bare word never decides anything else."""
        if bare.verb == "again":
            found = await self.app.looking.ended(seat)
        else:
            found = await self.app.looking.decidable(seat.identity)
        if len(found) != 1:
            raise Refused(spoken.which(found, bare.verb))
        if bare.verb != "again" and not self.has_shown(found[0].id):
            raise Refused(spoken.unseen(found[0]))
        return await self.act(_named(bare, seat, found[0]), seat)

    async def shown(self, show: Show, seat: Seat) -> Asking:
        """Return the card that somebody wants to see: the named one, or that of all that waits."""
        if show.request:
            return await self.app.looking.card(seat.identity, show.request)
        found = await self.app.looking.waiting(seat.identity)
        if len(found) != 1:
            raise Refused(spoken.which(found, "show"))
        return await self.app.looking.card(seat.identity, found[0].id)

    async def _resolved(self, resolve: Resolve, seat: Seat) -> str:
        run, index = await self._unknown(resolve, seat)
        if resolve.found == "verify":
            seen = await self.app.resolving.verify(seat.identity, run, index)
            if self.is_here(seen.run.conversation):
                return "It was looked at; that decides nothing."
            return reports.verification(seen, then=spoken.resolving(run, index))
        happened = resolve.found == "happened"
        ended = await self.app.resolving.resolve(seat.identity, run, index, happened=happened)
        if self.is_here(ended.conversation):
            return "Your word ends it."
        return f"Your word ends it. Run {ended.id}: {ended.state.value}."

    async def _unknown(self, resolve: Resolve, seat: Seat) -> tuple[str, int]:
        """Return the step that is meant; unnamed, the one that is unknown, where it was shown."""
        if resolve.run is not None and resolve.index is not None:
            return resolve.run, resolve.index
        found = await self.app.looking.unknown(seat.identity)
        if len(found) != 1:
            raise Refused(spoken.which_unknown(found))
        [(run, request)] = found
        if not self.has_shown(request.id):
            raise Refused(spoken.unseen_unknown(run, request))
        return run.id, spoken.unknown_step(run)


def _named(bare: Bare, seat: Seat, request: Request) -> Approve | Deny | AskAgain:
    match bare.verb:
        case "approve":
            return Approve(identity=seat.identity, request=request.id)
        case "deny":
            return Deny(identity=seat.identity, request=request.id, reason=bare.reason)
        case "again":
            return AskAgain(identity=seat.identity, request=request.id)
        case _:
            assert_never(bare.verb)
