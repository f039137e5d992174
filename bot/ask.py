"""What happens when somebody asks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from approvals.gate import Gate
from approvals.models import Proposal, Request
from approvals.policy import Action, Authority
from core import commands, ids
from core.agent import Agent, Dictated, Outcome, Reason, Session
from core.canonical import Json
from core.conversations import Conversations, Turn
from core.display import sound
from core.errors import Incorrect, Refused
from core.events import Ask, AskAgain
from core.plans import Plan
from core.ports import Model
from core.principals import Principal
from core.redaction import Redactor
from core.tools import Checked, Effect, Tool, Toolbox
from core.transcript import AgentText, Heard

_MASKED = (
    "Your message holds what looks like a secret, so I read no further and kept it masked. "
    "Let a runbook name the secret (`secrets:`), and change one that was really used."
)
LONGEST = 16_000
"""Characters in one message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """How one turn ended, and the request that it opened."""

    conversation: str
    turn: str
    reason: Reason
    text: str
    suggestions: tuple[str, ...] = ()
    request: Request | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Runs one turn: from a message to an answer or to a card."""

    conversations: Conversations
    agent: Agent
    model: Model
    gate: Gate
    toolbox: Callable[[], Toolbox]
    defaults: Mapping[str, Json]
    redactor: Redactor

    async def ask(self, ask: Ask) -> Answered:
        """Answer a message; raise `Refused` where no turn was started."""
        authority, principal = await self._admitted(ask)
        text = _message(ask.text)
        masked = self.redactor.text(text)
        turn = await self._begin(ask, principal, masked)
        if masked != text:
            return await self._end(turn, Outcome(reason=Reason.ANSWERED, text=_MASKED), None)
        tools = self._offered(authority, principal)
        try:
            model = self._model_for(text, tools)
        except Incorrect as misuse:
            return await self._end(turn, Outcome(reason=Reason.ANSWERED, text=misuse.shown), None)
        opened: list[Request] = []

        async def propose(calls: Sequence[Checked], about: AgentText) -> str:
            opened.append(await self._propose(turn, calls, about))
            return opened[-1].id

        outcome = await self.agent.turn(
            Heard(speaker=principal.id, text=text),
            model=model,
            session=Session(turn=turn.id, tools=tools, defaults=self.defaults),
            propose=propose,
        )
        return await self._end(turn, outcome, opened[-1] if opened else None)

    async def ask_plan(self, ask: Ask, plan: Plan) -> Answered:
        """Propose an exported plan, only as long as it still comes down to the same hash."""
        authority, principal = await self._admitted(ask)
        turn = await self._begin(ask, principal, f"(an exported plan, {plan.id})")
        tools = self._offered(authority, principal)
        return await self._propose_again(turn, tools, plan, expects=plan)

    async def ask_again(self, ask: Ask, request: str) -> Answered:
        """Ask once more for what a request showed: a new plan, a new card, no votes."""
        authority, principal = await self._admitted(ask)
        old = await self.gate.again(AskAgain(identity=ask.identity, request=request))
        there = replace(ask, conversation=old.conversation)
        turn = await self._begin(there, principal, f"(again: request {old.id})")
        tools = self._offered(authority, principal)
        return await self._propose_again(turn, tools, old.plan, supersedes=old.id)

    async def _propose_again(
        self,
        turn: Turn,
        tools: Toolbox,
        plan: Plan,
        *,
        expects: Plan | None = None,
        supersedes: str | None = None,
    ) -> Answered:
        try:
            calls = [tools[call.tool].check(call.arguments, {}) for call in plan.calls]
            request = await self._propose(turn, calls, AgentText(), expects, supersedes)
        except Refused as refusal:
            return await self._end(turn, Outcome(reason=Reason.ANSWERED, text=refusal.shown), None)
        proposed = Outcome(reason=Reason.PROPOSED, text="", request=request.id)
        return await self._end(turn, proposed, request)

    def _offered(self, authority: Authority, principal: Principal) -> Toolbox:
        return self.toolbox().offered(lambda tool: _may_use(authority, principal, tool))

    def _model_for(self, text: str, tools: Toolbox) -> Model:
        """Return what decides: the person, where they typed a command, else the model."""
        marked = commands.after_mark(text)
        typed = commands.parse(marked, tools) if marked else None
        return Dictated(typed) if typed else self.model

    async def _admitted(self, ask: Ask) -> tuple[Authority, Principal]:
        authority, principal = await self.gate.who(ask.identity)
        place = f"channel:{ask.place.platform}/{ask.place.workspace}/{ask.place.channel}"
        if not authority.policy.may(principal, "chat:ask", [place]):
            await self.gate.refuse(principal, place, "You may not ask Sayso here (chat:ask).")
        return authority, principal

    async def _begin(self, ask: Ask, principal: Principal, text: str) -> Turn:
        turn = Turn(
            id=ids.turn_id(),
            tenant=principal.tenant,
            conversation=ask.conversation or ids.conversation_id(),
            principal=principal.id,
        )
        await self.conversations.begin_turn(turn, ask.place, text, opens=ask.conversation is None)
        return turn

    async def _propose(
        self,
        turn: Turn,
        calls: Sequence[Checked],
        about: AgentText,
        expects: Plan | None = None,
        supersedes: str | None = None,
    ) -> Request:
        proposal = Proposal(
            tenant=turn.tenant,
            conversation=turn.conversation,
            turn=turn.id,
            requester=turn.principal,
            calls=tuple(calls),
            about=about,
            expects=expects,
            supersedes=supersedes,
        )
        if self.gate.switches.plan_only:
            plan = await self.gate.freeze(proposal)
            await self.conversations.keep_plan(turn.tenant, plan.id, plan.sha256, plan.canonical)
            raise Refused(
                f"Nothing runs here, so nobody is asked. The plan is frozen as {plan.id}; "
                f"write it out with: sayso plan export {plan.id}"
            )
        return await self.gate.propose(proposal)

    async def _end(self, turn: Turn, outcome: Outcome, request: Request | None) -> Answered:
        await self.conversations.end_turn(turn, reason=outcome.reason, text=outcome.text)
        return Answered(
            conversation=turn.conversation,
            turn=turn.id,
            reason=outcome.reason,
            text=outcome.text,
            suggestions=outcome.suggestions,
            request=request,
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


def _may_use(authority: Authority, principal: Principal, tool: Tool) -> bool:
    action: Action = "tool:read" if tool.effect is Effect.READ else "run:propose"
    return authority.policy.may(principal, action, [tool.resource])
