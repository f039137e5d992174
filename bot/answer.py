"""What happens in a turn: from a message to an answer or to a card, in one job."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from approvals import entitlement
from approvals.gate import Gate
from approvals.models import Proposal
from approvals.policy import Action, Authority
from bot.mailbox import mailbox_of
from core import commands, plans
from core.agent import Agent, Dictated, Session
from core.canonical import Json
from core.conversations import Again, Closing, Conversations, Exported, Masked, Turn, TurnEnd, Words
from core.errors import Incorrect, Invalid, Refused, SaysoError, Unavailable
from core.jobs import Hold, LeaseLost
from core.mailbox import Mailbox
from core.outcomes import Outcome, Reason
from core.plans import Plan
from core.ports import Model
from core.principals import Principal
from core.prompt import Prompt
from core.tools import Caller, Checked, Effect, Tool, Toolbox
from core.transcript import AgentText, Entry, Heard

_MASKED = (
    "Your message holds what looks like a secret, so I read no further and kept it masked. "
    "Let a runbook name the secret (`secrets:`), and change one that was really used."
)
_log = logging.getLogger("sayso.turn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    """Handles the job of a turn, in whichever process claimed it. Nothing that it does changes anything."""

    conversations: Conversations
    agent: Agent
    model: Model
    gate: Gate
    toolbox: Callable[[], Toolbox]
    defaults: Mapping[str, Json]
    running: Callable[[str], int]
    """Counts the commands that run for a turn right now."""

    async def __call__(self, hold: Hold) -> None:
        """Answer or propose, and end the turn; one that is stopped ends as stopped."""
        turn = await self.conversations.turn(hold.job.tenant, str(hold.job.payload["turn"]))
        if turn is None or turn.reason is not None:
            return
        mailbox = mailbox_of(turn, self.conversations, self.gate)
        answering = _Answer(rules=self, turn=turn, hold=hold, mailbox=mailbox)
        outcome, killed = await self._until_stopped(hold, turn, answering.outcome())
        if outcome.reason is Reason.STOPPED:
            outcome = replace(outcome, entries=answering.so_far)
        end = TurnEnd(
            reason=outcome.reason,
            text=outcome.text,
            suggestions=outcome.suggestions,
            killed=killed,
            entries=outcome.entries,
            absorbed=mailbox.heard,
        )
        await self._end(hold, Closing(turn=turn, job=hold.job, end=end))

    async def _until_stopped(
        self, hold: Hold, turn: Turn, answer: Awaitable[Outcome]
    ) -> tuple[Outcome, int]:
        """Return the outcome, or cut it where somebody stops it; and how many commands that killed."""
        answering, stopping = asyncio.ensure_future(answer), asyncio.ensure_future(hold.stopped())
        killed = 0
        try:
            await asyncio.wait({answering, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
            if not answering.done():
                killed = self.running(turn.id)
                answering.cancel()
                await asyncio.wait({answering})
        if answering.cancelled():
            return Outcome(reason=Reason.STOPPED, text=""), killed
        return answering.result(), killed

    async def _end(self, hold: Hold, closing: Closing) -> None:
        """Write the end, trying again while the database fails and the job is still ours."""
        while True:
            hold.check()
            try:
                await self.conversations.end(closing)
            except LeaseLost:
                raise
            except Unavailable as error:
                _log.warning("turn %s: %s", closing.turn.id, error.shown)
                await asyncio.sleep(0.2)
            else:
                return


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """One turn on its way."""

    rules: Answering
    turn: Turn
    hold: Hold
    mailbox: Mailbox
    _seen: list[Entry] = field(default_factory=list[Entry])

    @property
    def so_far(self) -> tuple[Entry, ...]:
        """Return what the model was told and had done when somebody cut the turn."""
        return tuple(self._seen)

    @property
    def _caller(self) -> Caller:
        turn = self.turn
        return Caller(
            tenant=turn.tenant,
            principal=turn.principal,
            conversation=turn.conversation,
            turn=turn.id,
            call="",
        )

    def _saw(self, news: tuple[Entry, ...], entries: tuple[Entry, ...]) -> None:
        self._seen[:] = (*news, *entries)

    async def outcome(self) -> Outcome:
        """Return how the turn ends; what is raised on purpose is an answer too."""
        try:
            return await self._outcome()
        except LeaseLost:
            # Lost, or told to end just now: which of both, the end of the turn finds out.
            return Outcome(reason=Reason.STOPPED, text="")
        except (Invalid, Unavailable) as error:
            return Outcome(reason=Reason.ERROR, text=error.shown)
        except SaysoError as error:
            return _answered(error.shown)

    async def _outcome(self) -> Outcome:
        authority, principal = self.rules.gate.person(self.turn.tenant, self.turn.principal)
        if not entitlement.may_chat(authority, principal, self.turn.place):
            return _answered("You may no longer ask Sayso here, so this was not looked at.")
        tools = self.rules.toolbox().offered(partial(_may_use, authority, principal))
        match self.turn.wish:
            case Words(text=text):
                return await self._to_words(text, tools)
            case Masked():
                return _answered(_MASKED)
            case Exported(plan=body):
                plan = plans.read(body)
                return await self._to_plan(plan, tools, expects=plan)
            case Again(request=request):
                old = await self.rules.gate.may_again(authority, principal, request)
                return await self._to_plan(old.plan, tools, supersedes=old.id)

    async def _to_words(self, text: str, tools: Toolbox) -> Outcome:
        try:
            model = self._model_for(text, tools)
        except Incorrect as misuse:
            return _answered(misuse.shown)
        known = await self.rules.conversations.history(self.turn)
        outcome = await self.rules.agent.turn(
            Heard(speaker=self.turn.principal, text=text),
            model=model,
            history=(*known.entries, *known.news),
            # Named after the claim too: whoever answers next must not be taken for this one.
            session=Session(
                turn=f"{self.turn.id}.{self.hold.job.fence}",
                caller=self._caller,
                prompt=Prompt(tools=self.mailbox.beside(tools) if model.generative else tools),
                mail=self.mailbox.news,
                defaults=self.rules.defaults,
                watch=partial(self._saw, known.news),
            ),
            propose=partial(self._propose, known.news),
        )
        return replace(outcome, entries=(*known.news, *outcome.entries))

    def _model_for(self, text: str, tools: Toolbox) -> Model:
        """Return what decides: the person, where they typed a command, else the model."""
        marked = commands.after_mark(text)
        typed = commands.parse(marked, tools) if marked else None
        return Dictated(typed) if typed else self.rules.model

    async def _to_plan(
        self,
        plan: Plan,
        tools: Toolbox,
        *,
        expects: Plan | None = None,
        supersedes: str | None = None,
    ) -> Outcome:
        calls = [tools[call.tool].check(call.arguments, {}) for call in plan.calls]
        end = TurnEnd(reason=Reason.PROPOSED, text="")
        new = replace(
            self._proposal(calls, AgentText(), end), expects=expects, supersedes=supersedes
        )
        return Outcome(reason=Reason.PROPOSED, text="", request=await self._proposed(new))

    async def _propose(
        self,
        news: tuple[Entry, ...],
        calls: Sequence[Checked],
        about: AgentText,
        seen: str,
        entries: tuple[Entry, ...],
    ) -> str:
        end = TurnEnd(
            reason=Reason.PROPOSED,
            text=seen,
            entries=(*news, *entries),
            absorbed=self.mailbox.heard,
        )
        return await self._proposed(self._proposal(calls, about, end))

    def _proposal(self, calls: Sequence[Checked], about: AgentText, end: TurnEnd) -> Proposal:
        return Proposal(
            tenant=self.turn.tenant,
            conversation=self.turn.conversation,
            turn=self.turn.id,
            requester=self.turn.principal,
            calls=tuple(calls),
            about=about,
            closing=Closing(turn=self.turn, job=self.hold.job, end=end),
        )

    async def _proposed(self, proposal: Proposal) -> str:
        rules, turn = self.rules, self.turn
        if rules.gate.switches.plan_only:
            plan = await rules.gate.freeze(proposal)
            await rules.conversations.keep_plan(turn.tenant, plan.id, plan.sha256, plan.canonical)
            raise Refused(
                f"Nothing runs here, so nobody is asked. The plan is frozen as {plan.id}; "
                f"write it out with: sayso plan export {plan.id}"
            )
        self.hold.check()
        return (await rules.gate.propose(proposal)).id


def _answered(text: str) -> Outcome:
    return Outcome(reason=Reason.ANSWERED, text=text)


def _may_use(authority: Authority, principal: Principal, tool: Tool) -> bool:
    action: Action = "tool:read" if tool.effect is Effect.READ else "run:propose"
    return authority.policy.may(principal, action, [tool.resource])
