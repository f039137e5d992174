"""One step of a turn: a model's calls are admitted, its reads run, its gated calls proposed."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from core.admission import (
    Admission,
    agent_text,
    at_least,
    question,
    question_text,
    refusal,
)
from core.calls import Step, said, step
from core.errors import SaysoError, Unavailable
from core.evidence import Evidence
from core.gateway import Gateway
from core.guardrails import Guarding, Output, Proposed, Violation, results_of
from core.jobs import LeaseLost
from core.limits import Limits
from core.outcomes import LIMITS, Outcome, Reason
from core.progress import Progress
from core.reading import Reading
from core.redaction import Redactor
from core.tools import Checked, Effect
from core.transcript import AgentText, Entry, Result, ToolCall, Use

Propose: TypeAlias = Callable[
    [Sequence[Checked], AgentText, str, tuple[Entry, ...]], Awaitable[str]
]
"""Freezes gated calls as one plan and returns its request's id; raises `Refused` with the reason.

The text is what the reads of the same step found, with what was refused; the entries are what the turn
appends to the transcript if this is how it ends. Where it returns, the turn has ended.
"""

_MOST_REFUSALS = 3
"""Proposals that a turn may have refused: whoever is told no in so many words is not asking (P-04)."""
_REPEATED = 4
"""Times the calls of a turn that one step may hold, where most of them only repeat others."""
_WAITS = "The plan waits for approval, not run."
_BLOCKED = "Not proposed: another call of this step has to be corrected first."
_LAST = "Not run: this was the last step of the turn."
_LATE = "Not run, or not to its end: the time of the turn was over."
_STOPPED = "Not run to its end: it was stopped."
_ASKED = "The question was put to the person. The next message answers it."
_UNASKED = "The question was not put to the person: what was to be told with it was stopped."
_NOT_ASKED = "Not run: a question ends the turn. Make this call again if it is needed then."
_NOT_RUN = {
    Reason.MAX_SECONDS: _LATE,
    Reason.MAX_TOOL_CALLS: f"Not run: {LIMITS[Reason.MAX_TOOL_CALLS]}.",
    Reason.REPEATED_CALL: "Not run: a call of this step was made before and had been corrected.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stepping:
    """Takes the steps of one turn; each is kept with one result for each call, whatever cuts it."""

    limits: Limits
    redactor: Redactor
    gateway: Gateway
    reading: Reading
    progress: Progress
    propose: Propose
    guarding: Guarding
    deadline: float
    """When a tool is cancelled, on the loop's clock."""

    async def take(self, move: Use, *, looks: bool) -> Outcome | Reason | Violation | None:
        """Do what a step asks for; return how or why that ends the turn, None where it goes on.

        `looks` where reads may run: on a last step they would be read by nobody.
        """
        if not move.calls:
            return Reason.ERROR
        wanted = step(move, self.progress.names, self.limits.argument_bytes, self.redactor)
        asks = question(wanted) if self.gateway.rules.generative else None
        work = Evidence(step=wanted, made=(), redactor=self.redactor)
        if asks:
            return await self._ask(work, asks)
        reason = await self._admit(work)
        if reason:
            self._keep(work, _NOT_RUN[reason])
        ended = reason or await self._do(work, move.about, looks=looks)
        await self.gateway.tell()
        return ended

    async def _ask(self, work: Evidence, asks: ToolCall) -> Outcome:
        """End the turn with a question; nothing beside it is run."""
        room = self.progress.room
        work.results[asks.id] = Result(call=asks.id, text=_UNASKED, failed=True)
        unseen = work.entries(_NOT_ASKED, room)
        work.results[asks.id] = Result(call=asks.id, text=_ASKED)
        self.progress.say(*work.entries(_NOT_ASKED, room), unseen=unseen)
        beside = [call for call in work.step.calls if call is not asks]
        self.gateway.unmade(beside, _NOT_ASKED, most=self.limits.tool_calls)
        await self.gateway.tell()
        return self.progress.outcome(Reason.ASKED, said(question_text(asks), self.redactor))

    async def _admit(self, work: Evidence) -> Reason | None:
        """Have the calls checked; return why none of them is made."""
        if self._is_flood(work.step):
            why = _NOT_RUN[Reason.MAX_TOOL_CALLS]
            self.gateway.unmade(work.step.calls, why, most=0)
            return Reason.MAX_TOOL_CALLS
        try:
            async with asyncio.timeout_at(self.deadline):
                work.made = await self.gateway.admit(work.step, self.progress.seen)
        except TimeoutError:
            return Reason.MAX_SECONDS
        return self._too_much(work.made)

    def _is_flood(self, wanted: Step) -> bool:
        """Whether a step is beyond the limit before anything of it is checked, so that nothing is.

        Calls that only repeat others do not count, but there is an end to those too.
        """
        most = self.limits.tool_calls
        count = len(wanted.calls)
        return count > most and (
            count > _REPEATED * most or at_least(wanted, self.gateway.rules) > most
        )

    def _too_much(self, made: Sequence[Admission]) -> Reason | None:
        if any(one.repeats and one.mark in self.progress.corrected for one in made):
            return Reason.REPEATED_CALL
        self.progress.calls += sum(not one.repeats for one in made)
        return Reason.MAX_TOOL_CALLS if self.progress.calls > self.limits.tool_calls else None

    async def _do(
        self, work: Evidence, about: AgentText, *, looks: bool
    ) -> Outcome | Reason | Violation | None:
        """Look, then propose; what ran is kept, whatever cuts this."""
        work.results |= {one.call.id: one.refused for one in work.made if one.refused}
        reads = work.of(Effect.READ) if looks else {}
        try:
            violation = await self._unpostable(work, reads)
            if violation:
                self._keep(work, _LAST)
                return violation
            late = await self._look(work, reads)
            found = work.found(reads)
            request = None if late else await self._proposed(work, about, found)
        except BaseException:
            self._keep(work, _STOPPED)
            raise
        self._keep(work, _LATE if late else _LAST)
        self._remember(work)
        if isinstance(request, Violation):
            return request
        if request:
            return self.progress.outcome(Reason.PROPOSED, found, request)
        if self.progress.refusals >= _MOST_REFUSALS:
            return Reason.REPEATED_CALL
        return Reason.MAX_SECONDS if late else None

    async def _unpostable(self, work: Evidence, reads: Mapping[str, Checked]) -> Violation | None:
        """Return what stops a text that a read has posted later, when it is no part of an answer."""
        for key, checked in reads.items():
            if checked.tool.posts is None:
                continue
            text = str(checked.arguments.get(checked.tool.posts, ""))
            results = results_of(self.progress.entries)
            violation = await self.guarding.check(Output(text=text, results=results))
            if violation:
                work.results[key] = Result(call=key, text=violation.text, failed=True)
                return violation
        return None

    async def _look(self, work: Evidence, reads: dict[str, Checked]) -> bool:
        """Run reads; return whether the deadline cut any."""
        try:
            async with asyncio.timeout_at(self.deadline):
                work.results |= await self.gateway.dispatch([*reads.items()])
                wanted = {key: one for key, one in reads.items() if key not in work.results}
                work.open |= await self.reading.look(wanted, work.results)
        except TimeoutError:
            return True
        return False

    async def _proposed(
        self, work: Evidence, about: AgentText, found: str
    ) -> str | Violation | None:
        """Propose all gated calls of the step as one plan, or answer each of them with why not.

        Outside the deadline, for a request that was stored must also be reported: whoever proposes
        keeps to the end of the turn until then.
        """
        gated = work.of(Effect.WRITE)
        if not gated:
            return None
        if any(one.refused and one.refused.failed for one in work.made):
            self._block(work, gated, {})
            return None
        explained = agent_text(work.step, gated.keys(), about, self.redactor)
        posted = "\n".join(filter(None, (found, self.gateway.refusals(but=gated.values()))))
        violation = await self._violation(work, explained, posted)
        if violation:
            work.results |= {
                key: Result(call=key, text=violation.text, failed=True) for key in gated
            }
            return violation
        refused = await self.gateway.dispatch_together([*gated.items()])
        if refused:
            self._block(work, gated, refused)
            return None
        return await self._asked(work, gated, explained, posted)

    def _block(
        self, work: Evidence, gated: Mapping[str, Checked], refused: Mapping[str, Result]
    ) -> None:
        """Answer gated calls that are not proposed because of others, and `refused` ones with why."""
        work.results |= {key: Result(call=key, text=_BLOCKED, failed=True) for key in gated}
        work.results |= refused
        work.open |= gated.keys() - refused.keys()

    async def _asked(
        self, work: Evidence, gated: Mapping[str, Checked], explained: AgentText, posted: str
    ) -> str | None:
        """Open the request, or answer each call with why there is none."""
        before = dict(work.results)
        work.results |= {key: Result(call=key, text=_WAITS) for key in gated}
        entries = (*self.progress.entries, *work.entries(_LAST, self.progress.room))
        try:
            return await self.propose(tuple(gated.values()), explained, posted, entries)
        except BaseException as error:
            work.results = before
            if not isinstance(error, SaysoError) or isinstance(error, LeaseLost):
                raise
            work.results |= {key: refusal(key, error, self.redactor) for key in gated}
            work.open |= gated.keys() if isinstance(error, Unavailable) else set()
            self.progress.refusals += not isinstance(error, Unavailable)
            return None

    async def _violation(self, work: Evidence, about: AgentText, posted: str) -> Violation | None:
        """Return what stops a proposal, or what is posted beside its card."""
        calls = tuple(work.of(Effect.WRITE).values())
        violation = await self.guarding.check(Proposed(calls=calls, about=about))
        if violation or not posted:
            return violation
        results = (*results_of(self.progress.entries), *work.results.values())
        return await self.guarding.check(Output(text=posted, results=results))

    def _remember(self, work: Evidence) -> None:
        """Remember which calls were answered, so that they are not made again."""
        again = work.open | self.gateway.again
        still_open = {one.mark for one in work.made if one.call.id in again}
        repeated = {one.mark for one in work.made if one.repeats}
        self.progress.corrected |= repeated - still_open
        self.progress.seen |= {one.mark for one in work.made} - still_open

    def _keep(self, work: Evidence, otherwise: str) -> None:
        self.progress.append(*work.entries(otherwise, self.progress.room))
