"""What happens with whatever people do on a platform: it goes through the door of its kind."""

from dataclasses import dataclass

from approvals import entitlement
from approvals.editing import Editing
from approvals.models import Request, Run, StepState
from approvals.policy import Authority
from bot import naming, plain, spoken
from bot.decide import Deciding
from bot.grant import StandingGrants
from bot.inbox import Inbox
from bot.linking import LinkingDesk
from bot.looking import Looking
from bot.lookups import MOST, Lookups
from bot.resolve import Resolving
from bot.ruling import Rulings
from bot.stop import Stopped, Stopping
from core.cards import Button
from core.conversations import Arrival, Conversations, Turn
from core.errors import Refused
from core.events import (
    Approve,
    Ask,
    AskAgain,
    BeginEdit,
    Deny,
    Edit,
    Edited,
    Invited,
    LinkWish,
    Lookup,
    Place,
    ProposeGrant,
    ResolveRun,
    Review,
    RevokeGrant,
    Stop,
    StopHere,
    StopRun,
    TakeUp,
    UndoRun,
    WantOutput,
)
from core.platforms import Event, Home, Told
from core.principals import Identity, Principal
from core.roster import Freshness
from core.rulings import Lift, Pause, Resume, Ruling

_NO_SUGGESTION = "That suggestion is not there any more. Say what you need in words."
_NOT_UNKNOWN = "Nothing of that run is unknown any more. Look at its report."
_NOTHING_HERE = "Nothing was asked here, so there is nothing to stop."
_WHERE = "Press this in the thread of the request."


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontDesk:
    """Implements `core.platforms.Desk`."""

    inbox: Inbox
    deciding: Deciding
    granting: StandingGrants
    stopping: Stopping
    resolving: Resolving
    looking: Looking
    conversations: Conversations
    lookups: Lookups
    editing: Editing
    rulings: Rulings
    linking: LinkingDesk

    async def take(self, event: Event) -> Told:
        """See the port."""
        match event:
            case (
                Ask(known_only=True, place=place)
                | StopHere(known_only=True, place=place)
                | Lookup(known_only=True, place=place)
                | WantOutput(known_only=True, place=place)
                | Pause(known_only=True, place=Place() as place)
                | Resume(known_only=True, place=Place() as place)
                | Lift(known_only=True, place=Place() as place)
            ):
                # In any other thread it is said to somebody else: whoever says it is nobody's business.
                is_ours = await self._is_ours(place)
                return await self._taken(event) if is_ours else Told(is_nobodys=True)
            case LinkWish(known_only=True, place=Place() as place):
                is_ours = await self._is_ours(place)
                return await self._taken(event) if is_ours else Told(is_nobodys=True)
            case _:
                return await self._taken(event)

    async def _is_ours(self, place: Place) -> bool:
        tenant = self._tenant(place)
        return bool(tenant and await self.conversations.at(tenant, place))

    def _tenant(self, place: Place) -> str | None:
        directory = self.looking.gate.acting.authority().directory
        return directory.workspaces.get((place.platform, place.workspace))

    async def _taken(self, event: Event) -> Told:
        match event:
            case Ask() | AskAgain() | UndoRun() | TakeUp():
                return await self._asked(event)
            case Stop() | StopHere() | StopRun():
                return _stopped(await self._stop(event))
            case (
                Review()
                | Lookup()
                | Invited()
                | WantOutput()
                | ProposeGrant()
                | RevokeGrant()
                | LinkWish()
            ):
                return await self._looked(event)
            case BeginEdit() | Edited():
                return await self._edited(event)
            case _:
                return Told(text=await self._decided(event))

    async def _looked(
        self,
        event: Review | Lookup | Invited | WantOutput | ProposeGrant | RevokeGrant | LinkWish,
    ) -> Told:
        """Show something, or see to standing grants and links, which tell whoever sees to them."""
        match event:
            case LinkWish():
                return await self.linking.take(event)
            case ProposeGrant() | RevokeGrant():
                return await self.granting.take(event)
            case Lookup(at="grants"):
                return await self.granting.listed(event.identity)
            case _:
                return await self.lookups.look(event)

    async def home(self, identity: Identity) -> Home:
        """See the port."""
        return await self.lookups.home(identity)

    async def _asked(self, event: Ask | AskAgain | UndoRun | TakeUp) -> Told:
        match event:
            case Ask():
                received = await self.inbox.ask(event)
            case TakeUp():
                received = await self.inbox.ask(await self._suggested(event))
            case AskAgain():
                received = await self.inbox.ask_again(_there(event), event.request)
            case UndoRun():
                received = await self.inbox.undo(_there(event), event.run)
        return Told(text=plain.queued(received.ahead) if received.ahead else "")

    async def _suggested(self, event: TakeUp) -> Ask:
        """Return what a suggestion says, asked by whoever pressed it, where it was made."""
        authority, principal = await self.looking.gate.acting.who(event.identity)
        turn = await self.conversations.turn(principal.tenant, event.turn)
        here = turn is not None and turn.place == event.place
        if turn is None or not (
            here
            and 0 <= event.number < len(turn.suggestions)
            and entitlement.may_chat(authority, principal, turn.place)
        ):
            await self.looking.gate.acting.refuse(principal, event.turn, _NO_SUGGESTION)
        return Ask(
            identity=event.identity,
            place=event.place,
            text=turn.suggestions[event.number],
            deliveries=event.deliveries,
        )

    async def _decided(self, event: Approve | Deny | Edit | ResolveRun | Ruling) -> str:
        match event:
            case Approve():
                decided = await self.deciding.vote(event)
                return spoken.counted(decided.request, decided.yes)
            case Deny():
                await self.deciding.deny(event)
                return "Your no counts: nothing of it runs."
            case Edit():
                return spoken.edited(await self.editing.edit(event))
            case ResolveRun():
                return await self._resolved(event)
            case _:
                return await self.rulings.rule(event)

    async def _stop(self, event: Stop | StopHere | StopRun) -> Stopped | str:
        match event:
            case Stop():
                return await self.stopping.stop(event)
            case StopHere():
                return await self._stop_here(event)
            case StopRun() if event.request.startswith("t_"):
                return await self._stop_turn(event)
            case StopRun():
                return await self.stopping.stop_run(event)

    async def _whoever_stops(self, identity: Identity) -> tuple[Authority, Principal]:
        # A platform that cannot be asked just now keeps nobody from stopping.
        return await self.looking.gate.acting.who(identity, Freshness.HELD)

    async def _stop_here(self, event: StopHere) -> Stopped | str:
        _, principal = await self._whoever_stops(event.identity)
        here = await self.conversations.at(principal.tenant, event.place)
        if here is None:
            return _NOTHING_HERE
        return await self.stopping.stop(Stop(identity=event.identity, conversation=here))

    async def _stop_turn(self, event: StopRun) -> Stopped | str:
        _, principal = await self._whoever_stops(event.identity)
        turn = await self.conversations.turn(principal.tenant, event.request)
        if turn is None:
            return _NOTHING_HERE
        return await self.stopping.stop(
            Stop(identity=event.identity, conversation=turn.conversation)
        )

    async def _resolved(self, event: ResolveRun) -> str:
        _, _, request = await self.looking.gate.seen(event.identity, event.request)
        _, run = await self.looking.latest(request)
        unknown = [s.index for s in run.steps if s.state is StepState.UNKNOWN] if run else []
        if run is None or not unknown:
            raise Refused(_NOT_UNKNOWN)
        if event.found == "verify":
            await self.resolving.verify(event.identity, run.id, unknown[0])
            return "It was looked at; that decides nothing. Read what it printed."
        happened = event.found == "happened"
        await self.resolving.resolve(event.identity, run.id, unknown[0], happened=happened)
        return "Your word ends it."

    async def _edited(self, event: BeginEdit | Edited) -> Told:
        if isinstance(event, Edited):
            return await self._reworded(event)
        found = await self.editing.form(event)
        return Told(text=found) if isinstance(found, str) else Told(form=found)

    async def _reworded(self, event: Edited) -> Told:
        """Have a card tell that the message which asked for it says something else by now (P-10).

        Any other message is none of Sayso's business, whoever wrote it.
        """
        turn = await self._that_came(event)
        if turn is None or turn.request is None or self.inbox.is_said(turn, event.text):
            return Told()
        _, principal = await self.looking.gate.acting.who(event.identity)
        if turn.principal == principal.id:
            await self.looking.requests.edited(principal.tenant, turn.request)
        return Told()

    async def _that_came(self, event: Edited) -> Turn | None:
        tenant = self._tenant(event.place)
        if tenant is None:
            return None
        came = Arrival(tenant=tenant, principal="", place=event.place, deliveries=(event.delivery,))
        turn = await self.conversations.arrived_before(came)
        return turn if isinstance(turn, Turn) else None


def _there(event: AskAgain | UndoRun) -> Ask:
    """Return where something without words is asked for."""
    if event.place is None:
        raise Refused(_WHERE)
    return Ask(identity=event.identity, place=event.place, text="", deliveries=event.deliveries)


def _stopped(one: Stopped | str) -> Told:
    """Tell what a stop did; where something has to be chosen, with a button each."""
    if isinstance(one, str):
        return Told(text=one)
    labels = [naming.named(each, one.asked) for each in one.choices[:MOST]]
    ids = [_opaque(each) for each in one.choices[:MOST]]
    buttons = tuple(
        Button(label=f"Stop {label}", verb="stop", request=name)
        for label, name in zip(labels, ids, strict=True)
    )
    return Told(text=spoken.stopped(one), buttons=buttons)


def _opaque(one: Turn | Run | Request) -> str:
    """Return what a button that stops it carries; a request that waits goes with its conversation."""
    match one:
        case Run():
            return one.request
        case Request():
            return one.turn
        case Turn():
            return one.id
