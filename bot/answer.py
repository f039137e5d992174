"""What happens in a turn: from a message to an answer or to a card, in one job."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from approvals import entitlement
from approvals.delegation import Delegation
from approvals.gate import Gate
from approvals.models import Proposal
from approvals.policy import Authority
from bot.mailbox import mailbox_of
from core import commands, plans
from core.agent import Agent, Dictated, Session
from core.canonical import Json
from core.conversations import Again, Closing, Conversations, Exported, Masked, Turn, TurnEnd, Words
from core.errors import Incorrect, Invalid, Refused, SaysoError, Unavailable
from core.gateway import Access
from core.guardrails import Guarding, Guards, Proposed
from core.jobs import Hold, LeaseLost
from core.mailbox import Mailbox
from core.outcomes import Outcome, Reason
from core.plans import Plan
from core.ports import Model
from core.principals import Principal
from core.profiles import Profile
from core.prompt import Prompt
from core.rates import Rates
from core.tools import Checked, Toolbox
from core.trail import Happening
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
    rates: Rates
    running: Callable[[str], int]
    """Counts the commands that run for a turn right now."""
    guards: Guards = field(default_factory=Guards)

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
class _Given:
    """What a turn may use."""

    known: Toolbox
    tools: Toolbox
    delegation: Delegation
    profile: Profile

    @property
    def access(self) -> Access:
        return Access(authorize=self.delegation.authorize, count=self.delegation.count)


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

    def _given(self, authority: Authority, principal: Principal) -> _Given:
        """Return what this turn may use; raise `Refused` where it may do nothing at all."""
        turn = self.turn
        if not entitlement.may_chat(authority, principal, turn.place):
            raise Refused("You may no longer ask Sayso here, so this was not looked at.")
        profile = authority.profiles.named(turn.profile)
        if profile is None:
            raise Refused(
                f"The profile of this conversation, {turn.profile}, is no longer there. Start a new "
                "conversation."
            )
        until = asyncio.get_running_loop().time() + profile.limits.seconds
        delegation = Delegation(
            gate=self.rules.gate, rates=self.rules.rates, turn=turn, until=until
        )
        known = self.rules.toolbox()
        tools = known.offered(partial(delegation.may_use, authority, principal))
        return _Given(known=known, tools=tools, delegation=delegation, profile=profile)

    async def _tell(self, happened: Sequence[Happening]) -> None:
        """Keep what happened; where that fails, the turn goes on, and its end says how it ended."""
        try:
            await self.rules.conversations.happened(self.turn, self.hold.job.fence, happened)
        except Unavailable as error:
            _log.warning("turn %s: not on record: %s", self.turn.id, error.shown)

    @property
    def _guarding(self) -> Guarding:
        """Return the guards for a plan that comes without a model."""
        rules = self.rules
        return Guarding(
            guards=rules.guards, redactor=rules.agent.redactor, trail=self._tell, turn=self.turn.id
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
        given = self._given(authority, principal)
        tools = given.tools
        match self.turn.wish:
            case Words(text=text):
                return await self._to_words(text, given)
            case Masked():
                return _answered(_MASKED)
            case Exported(plan=body):
                plan = plans.read(body)
                return await self._to_plan(plan, tools, expects=plan)
            case Again(request=request):
                old = await self.rules.gate.may_again(authority, principal, request)
                return await self._to_plan(old.plan, tools, supersedes=old.id)

    async def _to_words(self, text: str, given: _Given) -> Outcome:
        try:
            model = self._model_for(text, given.tools)
        except Incorrect as misuse:
            return _answered(misuse.shown)
        known = await self.rules.conversations.history(self.turn)
        # Declared whether anything arrives or not, so that the prompt stays as it is.
        tools = self.mailbox.beside(given.tools) if model.generative else given.tools
        agent = replace(self.rules.agent, limits=given.profile.limits)
        outcome = await agent.turn(
            Heard(speaker=self.turn.principal, text=text),
            model=model,
            history=(*known.entries, *known.news),
            # Named after the claim too: whoever answers next must not be taken for this one.
            session=Session(
                turn=f"{self.turn.id}.{self.hold.job.fence}",
                caller=given.delegation.caller,
                prompt=Prompt(tools=tools),
                known=given.known,
                access=given.access,
                trail=self._tell,
                mail=self.mailbox.news,
                defaults=self.rules.defaults,
                guards=self.rules.guards,
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
        violation = await self._guarding.check(Proposed(calls=tuple(calls), about=AgentText()))
        if violation:
            return Outcome(reason=violation.reason, text=violation.text)
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
            profile=self.turn.profile,
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
