"""What happens when somebody says whether anything may run: a pause, its end, and an end of denials."""

from dataclasses import dataclass

from approvals import cards, entitlement
from approvals.brakes import LONGEST_WHY, Brakes
from approvals.cards import names
from approvals.gate import Gate
from approvals.models import State, Yes
from approvals.policy import Authority
from approvals.store import ApprovalStore
from bot.decide import Deciding
from core.conversations import Conversations
from core.display import one_line
from core.events import Place
from core.principals import Principal
from core.roster import Freshness
from core.rulings import BreakGlass, HandOver, Lift, Pause, Resume, Ruling

NOT_PAUSED = "Nothing is paused here."
NOT_BLOCKED = "Nothing of that conversation is held back by denials."


@dataclass(frozen=True, slots=True, kw_only=True)
class Rulings:
    """Holds back what would run, and lets it go on."""

    gate: Gate
    brakes: Brakes
    requests: ApprovalStore
    conversations: Conversations
    deciding: Deciding

    async def rule(self, event: Ruling) -> str:
        """Do it and say what came of it; raise `Refused` where it may not be."""
        match event:
            case Pause():
                return await self._pause(event)
            case Resume():
                return await self._resume(event)
            case Lift():
                return await self._lift(event)
            case BreakGlass():
                return await self._break(event)
            case HandOver():
                return await self._hand_over(event)

    async def _pause(self, event: Pause) -> str:
        # As a stop: a platform that cannot be asked just now keeps nobody from it, and no rate does.
        authority, principal = await self.gate.acting.who(event.identity, Freshness.HELD)
        if not entitlement.may_pause(authority, principal):
            await self._not_theirs(principal)
        reason = one_line(self.gate.redactor.text(event.reason), LONGEST_WHY)
        here = await self._conversation(principal, event.place)
        pause = await self.brakes.pause(
            principal.tenant, principal=principal.id, reason=reason, conversation=here
        )
        return (
            f"Paused: {pause.why}. Nothing new runs and nothing is proposed; reads go on, and what runs "
            f"already does, until somebody stops it. {pause.then}"
        )

    async def _resume(self, event: Resume) -> str:
        authority, principal = await self.gate.acting.admit(event.identity, "rules")
        if not entitlement.may_pause(authority, principal):
            await self._not_theirs(principal)
        here = await self._conversation(principal, event.place)
        ended = await self.brakes.resume(
            principal.tenant, principal=principal.id, conversation=here
        )
        return f"Resumed: {ended.set_by} had paused it." if ended else NOT_PAUSED

    async def _not_theirs(self, principal: Principal) -> None:
        authority = await self.gate.acting.named(principal.tenant)
        who = names(entitlement.pausers(authority, principal.tenant)) or "nobody"
        reason = f"You may not pause or resume (tenant:pause); {who} may."
        await self.gate.acting.refuse(principal, f"tenant:{principal.tenant}", reason)

    async def _lift(self, event: Lift) -> str:
        authority, principal = await self.gate.acting.admit(event.identity, "rules")
        named = event.conversation or await self._conversation(principal, event.place)
        last = await self.brakes.blocked(principal.tenant, named) if named else None
        request = await self.requests.get(principal.tenant, last) if last else None
        if named is None or request is None:
            return NOT_BLOCKED
        if not entitlement.may_see(authority, principal, request):
            await self.gate.acting.refuse(principal, named, NOT_BLOCKED)
        about = entitlement.resources(request)
        if not authority.policy.may(principal, "plan:approve", about):
            known = await self.gate.acting.named(principal.tenant)
            who = names(known.holders(principal.tenant, "plan:approve", about)) or "nobody"
            reason = (
                f"You may not lift that: it takes who may approve what was denied last. {who} may."
            )
            await self.gate.acting.refuse(principal, named, reason)
        if not await self.brakes.lift(principal.tenant, named, principal=principal.id):
            return NOT_BLOCKED
        return "Lifted: things can be proposed there again. What was denied stays refused."

    async def _break(self, event: BreakGlass) -> str:
        decided = await self.deciding.break_glass(event)
        if decided.yes is Yes.LATE:
            return cards.too_late(decided.request)
        return f"You broke the glass: everybody who may approve it is told. {cards.status(decided.request)}"

    async def _hand_over(self, event: HandOver) -> str:
        await self.gate.acting.admit(event.identity, "handovers")
        authority, principal, request = await self.gate.seen(event.identity, event.request)
        to = _named(authority, principal.tenant, event)
        allowed = entitlement.yet_to_vote(authority, request)
        if request.state is not State.OPEN:
            await self.gate.acting.refuse(principal, request.id, cards.too_late(request))
        if to not in allowed:
            whose = f"{names(allowed)} may" if allowed else "nobody may right now"
            reason = f"Nobody was asked: they may not approve this, or did so already; {whose}."
            await self.gate.acting.refuse(principal, request.id, reason)
        if not await self.requests.hand_over(
            request.tenant, request.id, principal=principal.id, to=to
        ):
            return f"{to} was asked before. {cards.status(request)}"
        return f"{to} is asked where the card is."

    async def _conversation(self, principal: Principal, place: Place | None) -> str | None:
        return await self.conversations.at(principal.tenant, place) if place else None


def _named(authority: Authority, tenant: str, event: HandOver) -> str:
    """Return whom somebody names, by the name in the file or by their account there; else nobody."""
    wanted, here = event.to.lower(), event.identity
    for name in authority.directory.listed(tenant):
        accounts = authority.directory.accounts(name, here.platform, here.workspace)
        if name.lower() == wanted or any(one.user.lower() == wanted for one in accounts):
            return name
    return ""
