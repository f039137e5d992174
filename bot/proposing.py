"""How a turn proposes: its gated calls become one plan that waits for people, or it hears why not."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from approvals.gate import Gate
from approvals.models import Run
from approvals.proposals import Proposal
from core.calls import said
from core.conversations import Closing, Conversations, Turn, TurnEnd
from core.errors import Refused, SaysoError
from core.gateway import Access, objection, too_often
from core.guardrails import Guarding, Output, Proposed, Violation
from core.jobs import Hold
from core.outcomes import Reason
from core.plans import Plan
from core.tools import Checked, Toolbox
from core.transcript import AgentText


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposing:
    """Proposes on behalf of one turn, which ends in the same transaction."""

    conversations: Conversations
    gate: Gate
    turn: Turn
    hold: Hold
    guarding: Guarding
    access: Access
    until: float
    """When the turn's time is over, on the loop's clock: nothing is looked at after that."""

    async def calls(self, calls: Sequence[Checked], about: AgentText, end: TurnEnd) -> str:
        """Propose what a model or a typed command calls; return the request's id."""
        return await self._proposed(self._proposal(calls, about, end))

    async def plan(
        self,
        plan: Plan,
        tools: Toolbox,
        *,
        expects: Plan | None = None,
        supersedes: str | None = None,
    ) -> str | Violation:
        """Propose what a plan of before says, by these tools; no model has a say in it."""
        calls = [tools[call.tool].check(call.arguments, {}) for call in plan.calls]
        new = self._whole(calls)
        return await self._checked(replace(new, expects=expects, supersedes=supersedes))

    async def undo(self, run: Run, calls: Sequence[Checked]) -> str | Violation:
        """Propose what undoes a run; no model has a say in it."""
        return await self._checked(replace(self._whole(calls), undoes=run.id))

    async def _checked(self, new: Proposal) -> str | Violation:
        calls = new.calls
        violation = await self.guarding.check(Proposed(calls=calls, about=AgentText()))
        if violation:
            return violation
        error = await self._objection(calls)
        if error:
            return await self._guarded(error)
        return await self._proposed(new)

    def _whole(self, calls: Sequence[Checked]) -> Proposal:
        return self._proposal(calls, AgentText(), TurnEnd(reason=Reason.PROPOSED, text=""))

    async def _objection(self, calls: Sequence[Checked]) -> SaysoError | None:
        """Return why a call may not be made, or came too often, as the gateway of a loop does.

        Counted are all or none, and none before each of them is authorised.
        """
        for checked in calls:
            error = await objection(self.access.authorize, checked)
            if error:
                return error
        errors = await too_often(self.access.count, calls)
        return errors[min(errors)] if errors else None

    async def _guarded(self, error: SaysoError) -> Violation:
        """Raise why a plan is not proposed, unless a guardrail stops it: a tool may have said that."""
        text = said(error.shown, self.guarding.redactor)
        violation = await self.guarding.check(Output(text=text, results=()))
        if violation:
            return violation
        raise error

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
            by=self.until,
        )

    async def _proposed(self, proposal: Proposal) -> str:
        if self.gate.switches.plan_only:
            plan = await self.gate.freeze(proposal)
            await self.conversations.keep_plan(self.turn, self.hold.job, plan)
            raise Refused(
                f"Nothing runs here, so nobody is asked. The plan is frozen as {plan.id}; "
                f"write it out with: sayso plan export {plan.id}"
            )
        self.hold.check()
        return (await self.gate.propose(proposal)).id
