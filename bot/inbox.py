"""What comes in: kept together with the turn that answers it, before anybody is told that it arrived."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from approvals import entitlement
from approvals.gate import Gate
from approvals.policy import EVERYONE, Authority
from approvals.undoing import Undoing
from core import canonical, ids, one_time_codes
from core.canonical import JsonObject
from core.conversations import Arrival, Conversations, NewTurn, NotHere, Received, Turn
from core.display import sound
from core.errors import Refused
from core.events import Ask, AskAgain, Place
from core.plans import Plan
from core.principals import Principal
from core.rates import TOO_FAST, NoRoom, TooFast
from core.redaction import Redactor
from core.wishes import Again, Exported, Masked, Relayed, Undone, Wish, Words

LONGEST = 16_000
"""Characters in one message."""
_ELSEWHERE = (
    "That was asked for in another conversation, and only there it can be asked for again. Ask for "
    "the same here, in words."
)
NOT_HERE = "You may not ask Sayso here (chat:ask)."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Admitted:
    """Somebody who may ask here, and what came of their message if it came in before."""

    authority: Authority
    principal: Principal
    before: Received | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbox:
    """Takes messages in."""

    conversations: Conversations
    gate: Gate
    undoing: Undoing
    redactor: Redactor
    look: Callable[[], None]
    """Has work looked for at once, where this process serves."""
    runner: str | None = None
    """This process, where it is about to answer by itself what it takes in."""

    async def ask(self, ask: Ask) -> Received:
        """Keep a message; raise `Refused` where it starts no turn. The same one twice is one (I9)."""
        async with self._admitted(ask) as admitted:
            return admitted.before or await self._receive(ask, admitted, self._wish(ask.text))

    async def ask_plan(self, ask: Ask, plan: Plan) -> Received:
        """Keep the wish that an exported plan be proposed."""
        async with self._admitted(ask) as admitted:
            wish = Exported(plan=plan.canonical, name=plan.id)
            return admitted.before or await self._receive(ask, admitted, wish)

    async def relay(self, ask: Ask, tool: str, arguments: JsonObject) -> Received:
        """Keep the wish that one call be made, which somebody's agent elsewhere makes."""
        async with self._admitted(ask) as admitted:
            wish = self._call(sound(tool), arguments)
            return admitted.before or await self._receive(ask, admitted, wish)

    async def ask_again(self, ask: Ask, request: str) -> Received:
        """Keep the wish that what a request showed be proposed once more, in its conversation."""
        async with self._admitted(ask) as admitted:
            if admitted.before:
                return admitted.before
            old = await self.gate.again(AskAgain(identity=ask.identity, request=request))
            there = replace(ask, conversation=old.conversation)
            try:
                return await self._receive(there, admitted, Again(request=old.id))
            except NotHere as error:
                raise Refused(_ELSEWHERE) from error

    async def wanted(
        self,
        who: tuple[str, str],
        where: Place | tuple[Place, str],
        text: str,
        *,
        schedule: str,
        delivery: str,
    ) -> NewTurn:
        """Return what a schedule asks for in somebody's name (tenant, person).

        That is in a new conversation, unless one is named beside the place. Raises `Refused` where
        that person may not.
        """
        authority, principal = await self.gate.acting.person(*who)
        place, conversation = where if isinstance(where, tuple) else (where, None)
        if not entitlement.may_chat(authority, principal, place):
            raise Refused(NOT_HERE)
        profile = authority.profiles.of(principal.tenant, place).name
        new = _new(principal, place, self._wish(text))
        return replace(
            new,
            conversation=conversation,
            profile=profile,
            schedule=schedule,
            deliveries=(delivery,),
        )

    async def undo(self, ask: Ask, run: str) -> Received:
        """Keep the wish that a run be undone: in its conversation, from elsewhere in that of the place."""
        async with self._admitted(ask) as admitted:
            if admitted.before:
                return admitted.before
            # What may be done there is said by people and rules as they are for votes.
            found = await self.undoing.run(*await self.gate.acting.who(ask.identity), run)
            wish = Undone(run=found.id)
            try:
                there = replace(ask, conversation=found.conversation)
                return await self._receive(there, admitted, wish)
            except NotHere:
                return await self._receive(ask, admitted, wish)

    @asynccontextmanager
    async def _admitted(self, ask: Ask) -> AsyncGenerator[_Admitted]:
        """Admit whoever is not too fast (C67): what is refused in here is counted, as what is kept is.

        A message that came in before is neither counted nor too fast. Whether it did is asked again
        where it is kept, so that of two deliveries at once neither is refused for the other.
        """
        authority, principal = await self.gate.acting.asks(ask.identity)
        arrival = _arrival(ask, authority, principal)
        before = await self.conversations.arrived_before(arrival)
        if isinstance(before, NoRoom):
            await self.gate.acting.refuse(principal, "", before.refusal(TOO_FAST))
        try:
            yield await self._welcome(ask, authority, principal, before)
        except TooFast as error:
            await self.gate.acting.refuse(principal, "", error.shown)
        except Refused:
            if not before:
                await self.gate.acting.count(principal, authority.rates.messages)
            raise

    async def _welcome(
        self, ask: Ask, authority: Authority, principal: Principal, before: Turn | None
    ) -> _Admitted:
        if not entitlement.may_chat(authority, principal, ask.place):
            doubt = entitlement.doubt(authority, principal.id)
            await self.gate.acting.refuse(principal, ask.place.resource, f"{NOT_HERE}{doubt}")
        if before:
            self.look()
        received = Received(turn=before, ahead=0) if before else None
        return _Admitted(authority=authority, principal=principal, before=received)

    async def _profile(self, ask: Ask, authority: Authority, principal: Principal) -> str:
        """Return the profile of a new conversation: the one chosen, else that of the place."""
        profiles = authority.profiles
        if ask.profile is None:
            return profiles.of(principal.tenant, ask.place).name
        try:
            return profiles.chosen(ask.profile, principal.groups | {EVERYONE}).name
        except Refused as error:
            await self.gate.acting.refuse(principal, "", error.shown)

    def is_said(self, turn: Turn, text: str) -> bool:
        """Return whether a text is the message of a turn: a platform tells of edits that change no word."""
        return turn.wish.shown == self._masked(sound(text))

    def _wish(self, text: str) -> Wish:
        sounded = _message(text)
        masked = self._masked(sounded)
        return Words(text=sounded) if masked == sounded else Masked(text=masked)

    def _call(self, tool: str, arguments: JsonObject) -> Wish:
        wish = Relayed(tool=tool, arguments=canonical.encode(arguments))
        masked = self._masked(_message(wish.shown))
        return wish if masked == wish.shown else Masked(text=masked)

    def _masked(self, text: str) -> str:
        """Return a text without what is secret in it; a code beside a request's id was meant for it."""
        return one_time_codes.masked(self.redactor.text(text))

    async def _receive(self, ask: Ask, admitted: _Admitted, wish: Wish) -> Received:
        authority, principal = admitted.authority, admitted.principal
        profile = await self._profile(ask, authority, principal)
        new = _new(principal, ask.place, wish)
        return await self.keep(
            replace(
                new,
                conversation=ask.conversation,
                profile=profile,
                chosen=ask.profile is not None,
                deliveries=ask.deliveries,
                rate=authority.rates.messages,
                runner=self.runner,
            )
        )

    async def keep(self, new: NewTurn) -> Received:
        """Keep what was `wanted`; raise `Refused` where what its schedule asked for before still waits."""
        received = await self.conversations.receive(new)
        self.look()
        return received


def _arrival(ask: Ask, authority: Authority, principal: Principal) -> Arrival:
    return Arrival(
        tenant=principal.tenant,
        principal=principal.id,
        place=ask.place,
        deliveries=ask.deliveries,
        rate=authority.rates.messages,
    )


def _new(principal: Principal, place: Place, wish: Wish) -> NewTurn:
    return NewTurn(
        id=ids.turn_id(),
        tenant=principal.tenant,
        principal=principal.id,
        place=place,
        opens=ids.conversation_id(),
        wish=wish,
    )


def _message(text: str) -> str:
    sounded = sound(text)
    if not sounded.strip():
        raise Refused("There is nothing in that message. Say what you need, for example: help")
    if len(sounded) > LONGEST:
        raise Refused(
            f"That is {len(sounded):,} characters; {LONGEST:,} is the most. Say it shorter."
        )
    return sounded
