"""What happens in a turn: from a message to an answer or to a card."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

from approvals import entitlement
from approvals.delegation import Delegation
from approvals.policy import Authority
from bot import masked, whose
from bot.history import Recalled
from bot.mailbox import mailbox_of
from bot.means import Given, Means
from bot.proposing import Proposing
from core import commands, dictated, plans, reminders
from core.agent import Session
from core.calls import said
from core.conversations import Turn, TurnEnd
from core.errors import Incorrect, Invalid, Refused, SaysoError, Unavailable
from core.guardrails import Guarding, Input, Violation
from core.jobs import Hold, LeaseLost
from core.mailbox import Mailbox
from core.outcomes import Outcome, Reason
from core.past import Past
from core.ports import Draft, Model
from core.principals import Principal
from core.prompt import Prompt
from core.task import Task
from core.tools import Checked, Toolbox
from core.toolset import Channel
from core.trail import Happening
from core.transcript import AgentText, Entry, Heard, Noted
from core.waiting import now
from core.wishes import Again, Exported, Masked, Relayed, Undone, Words

_Kept: TypeAlias = Callable[[tuple[Entry, ...]], tuple[Entry, ...]]
"""Returns what a conversation keeps of what a turn appended."""
_log = logging.getLogger("sayso.turn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Turning:
    """One turn on its way."""

    means: Means
    turn: Turn
    hold: Hold
    mailbox: Mailbox
    task: Task
    draft: Draft | None = None
    """Shows its answer while it is written, where somebody can see that."""
    _seen: list[Entry] = field(default_factory=list[Entry])

    @classmethod
    def of(cls, means: Means, turn: Turn, hold: Hold, draft: Draft | None = None) -> "Turning":
        """Return a turn at its beginning."""
        mailbox, task = mailbox_of(turn, means.conversations, means.gate), means.briefing.task()
        return cls(means=means, turn=turn, hold=hold, mailbox=mailbox, task=task, draft=draft)

    async def outcome(self) -> Outcome:
        """Return how the turn ends; what is raised on purpose is an answer too."""
        try:
            return await self._outcome()
        except LeaseLost:
            # Lost, or told to end just now: which of both, the end of the turn finds out.
            return Outcome(reason=Reason.STOPPED, text="")
        except SaysoError as error:
            # Other people's words may stand in it: of a tool, a runbook or a file.
            text = said(error.shown, self.means.agent.redactor)
            is_fault = isinstance(error, Invalid | Unavailable)
            return Outcome(reason=Reason.ERROR if is_fault else Reason.ANSWERED, text=text)

    def end(self, outcome: Outcome, killed: int) -> TurnEnd:
        """Return the end of the turn; of one that was cut, what it was told and had done."""
        cut = outcome.reason is Reason.STOPPED
        entries = tuple(self._seen) if cut else outcome.entries
        end = self._end(outcome.reason, outcome.text, entries)
        return replace(end, suggestions=outcome.suggestions, killed=killed)

    def _end(self, reason: Reason, text: str, entries: tuple[Entry, ...]) -> TurnEnd:
        return TurnEnd(
            reason=reason,
            text=text,
            entries=entries,
            absorbed=self.mailbox.heard,
            frame=self.task.frame,
        )

    async def _outcome(self) -> Outcome:
        authority, principal = await self.means.gate.acting.person(
            self.turn.tenant, self.turn.principal
        )
        given = self._given(authority, principal)
        match self.turn.wish:
            case Words(text=text):
                return await self._to_words(text, given)
            case Relayed() as wish:
                return await self._led(wish.shown, whose.relayed(wish), given)
            case Masked(text=text):
                return _answered(masked.told(text))
            case wish:
                return _proposed(await self._planned(wish, (authority, principal), given))

    async def _planned(
        self, wish: Exported | Again | Undone, who: tuple[Authority, Principal], given: Given
    ) -> str | Violation:
        """Propose what a plan of before, or the undo of a run, comes down to now."""
        tools = given.runbooks.offered(given.may)
        proposing = self._proposing(given)
        match wish:
            case Exported(plan=body):
                plan = plans.read(body)
                return await proposing.plan(plan, tools, expects=plan)
            case Again(request=request):
                old = await self.means.gate.may_again(*who, request)
                return await proposing.plan(old.plan, tools, supersedes=old.id)
            case Undone(run=name):
                return await proposing.undo(*await self.means.undoing.calls(who, name, tools))

    def _given(self, authority: Authority, principal: Principal) -> Given:
        """Return what this turn may use; raise `Refused` where it may do nothing at all."""
        means, turn = self.means, self.turn
        if not entitlement.may_chat(authority, principal, turn.place):
            doubt = entitlement.doubt(authority, principal.id)
            raise Refused(f"You may no longer ask Sayso here, so this was not looked at.{doubt}")
        profile = authority.profiles.named(turn.profile)
        if profile is None:
            raise Refused(
                f"The profile of this conversation, {turn.profile}, is no longer there. Start a new "
                "conversation."
            )
        until = now() + profile.limits.seconds
        delegation = Delegation(
            gate=means.gate, rates=means.rates, turn=turn, claim=self.hold.job.claim, until=until
        )
        return Given(
            runbooks=means.toolbox(),
            belt=means.briefing.toolbelt,
            may=partial(delegation.may_use, authority, principal),
            delegation=delegation,
            profile=profile,
        )

    async def _to_words(self, text: str, given: Given) -> Outcome:
        try:
            model = self._model_for(text, given.offered(Channel.COMMAND))
        except Incorrect as misuse:
            return await self._misused(text, misuse.shown)
        return await self._led(text, model, given)

    async def _led(self, text: str, model: Model, given: Given) -> Outcome:
        """Return how a turn ends in which a model decides about what was heard."""
        prompt = self._prompt(model, given)
        recalled = await self._recalled(model, prompt, given)
        kept = partial(whose.kept, recalled.fresh, model)
        outcome = await self.means.agent.turn(
            Heard(speaker=self.turn.principal, text=text),
            model=model,
            history=recalled.past,
            session=self._session(text, model, prompt, given, recalled),
            propose=partial(self._propose, given, kept),
        )
        return replace(whose.told(outcome, model), entries=kept(outcome.entries))

    async def _misused(self, text: str, why: str) -> Outcome:
        """Return the end of a turn in which a command was typed that nothing can be made of."""
        heard = Heard(speaker=self.turn.principal, text=text)
        violation = await self._guarding.check(Input(speaker=heard.speaker, text=text))
        if violation:
            return replace(_blocked(violation), entries=(violation.note,))
        return replace(_answered(why), entries=(heard, Noted(text=why)))

    def _model_for(self, text: str, tools: Toolbox) -> Model:
        """Return what decides: the person, where they typed a command, else the model."""
        marked = commands.after_mark(text)
        typed = commands.parse(marked, tools) if marked else None
        return dictated.Dictated(typed) if typed else self.means.model

    def _prompt(self, model: Model, given: Given) -> Prompt:
        """Return what stands before the conversation."""
        tools = given.offered(whose.channel(model))
        if not model.generative:
            return Prompt(tools=tools)
        # Declared whether they are of use or not, so that the prompt stays as it is.
        return self.means.briefing.prompt(tools.beside(self.mailbox.tool, self.task.tool))

    async def _recalled(self, model: Model, prompt: Prompt, given: Given) -> Recalled:
        """Return what the model knows of what came before."""
        means, end = self.means, given.delegation.until
        asking = means.agent.asking(model, prompt, self._name, self._tell)
        limits = given.profile.limits
        return await means.recalling.recall(self.turn, asking, self._guarding, limits, end=end)

    async def _briefed(
        self, text: str, model: Model, prompt: Prompt, given: Given, past: Past
    ) -> tuple[Entry, ...]:
        """Take in the message, which may be read, and return what its model is told before it."""
        if not model.generative:
            return ()
        caller, end = given.delegation.caller, given.delegation.until
        briefing, visible = self.means.briefing, past.entries
        # A reminder that is due was typed by nobody, so it is not what the task is.
        said = None if reminders.is_of_one(self.turn.schedule) else text
        return await briefing.states(self.task, said, prompt.tools, caller, visible, end=end)

    def _session(
        self, text: str, model: Model, prompt: Prompt, given: Given, recalled: Recalled
    ) -> Session:
        return Session(
            turn=self._name,
            end=given.delegation.until,
            limits=given.profile.limits,
            spent=recalled.tokens,
            caller=given.delegation.caller,
            prompt=prompt,
            defaults=self.means.defaults,
            known=given.known(whose.channel(model)),
            access=given.access,
            guarding=self._guarding,
            trail=self._tell,
            brief=partial(self._briefed, text, model, prompt, given, recalled.past),
            mail=self.mailbox.news,
            watch=partial(self._saw, partial(whose.kept, recalled.fresh, model)),
            draft=self.draft,
        )

    async def _propose(
        self,
        given: Given,
        kept: _Kept,
        calls: Sequence[Checked],
        about: AgentText,
        seen: str,
        entries: tuple[Entry, ...],
    ) -> str:
        end = self._end(Reason.PROPOSED, seen, kept(entries))
        return await self._proposing(given).calls(calls, about, end)

    def _proposing(self, given: Given) -> Proposing:
        means = self.means
        return Proposing(
            conversations=means.conversations,
            gate=means.gate,
            turn=self.turn,
            hold=self.hold,
            guarding=self._guarding,
            access=given.access,
            until=given.delegation.until,
        )

    @property
    def _guarding(self) -> Guarding:
        means = self.means
        return Guarding(
            guards=means.guards,
            redactor=means.agent.redactor,
            trail=self._tell,
            turn=self._name,
        )

    @property
    def _name(self) -> str:
        """Return what its commands are named after.

        The claim is in it too: whoever answers next must not be taken for this one.
        """
        return f"{self.turn.id}.{self.hold.job.fence}"

    def _saw(self, kept: _Kept, entries: tuple[Entry, ...]) -> None:
        self._seen[:] = kept(entries)

    async def _tell(self, happened: Sequence[Happening]) -> None:
        """Keep what happened; where that fails, the turn goes on, and its end says how it ended."""
        try:
            await self.means.conversations.happened(self.turn, self.hold.job, happened)
        except LeaseLost:
            raise
        except Unavailable as error:
            _log.warning("turn %s: not on record: %s", self.turn.id, error.shown)


def _answered(text: str) -> Outcome:
    return Outcome(reason=Reason.ANSWERED, text=text)


def _blocked(violation: Violation) -> Outcome:
    return Outcome(reason=violation.reason, text=violation.text)


def _proposed(request: str | Violation) -> Outcome:
    if isinstance(request, Violation):
        return _blocked(request)
    return Outcome(reason=Reason.PROPOSED, text="", request=request)
