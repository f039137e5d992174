"""One turn on its way: what each move leads to, and where it is cut."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from core.admission import (
    Admission,
    Rules,
    admissions,
    agent_text,
    question,
    question_text,
    refusal,
)
from core.asking import Asking
from core.calls import said, spoken, step
from core.errors import SaysoError, Unavailable
from core.evidence import Evidence
from core.fitting import SHORT_BYTES, cut, fitted_words
from core.jobs import LeaseLost
from core.limits import Limits, prompt_bytes
from core.outcomes import LIMITS, STOPS, Outcome, Reason, forced, incomplete
from core.progress import Progress
from core.reading import Reading
from core.redaction import Redactor
from core.tools import Checked, Effect
from core.transcript import (
    AgentText,
    Broken,
    Entry,
    Move,
    Noted,
    Pause,
    Result,
    Say,
    Use,
)

Propose: TypeAlias = Callable[
    [Sequence[Checked], AgentText, str, tuple[Entry, ...]], Awaitable[str]
]
"""Freezes gated calls as one plan and returns its request's id; raises `Refused` with the reason.

The text is what the reads of the same step found; the entries are what the turn appends to the
transcript if this is how it ends. Where it returns, the turn has ended.
"""

_WAITS = "The plan waits for approval, not run."
_BLOCKED = "Not proposed: another call of this step has to be corrected first."
_LAST = "Not run: this was the last step of the turn."
_LATE = "Not run, or not to its end: the time of the turn was over."
_STOPPED = "Not run to its end: it was stopped."
_ASKED = "The question was put to the person. The next message answers it."
_NOT_ASKED = "Not run: a question ends the turn. Make this call again if it is needed then."
_NOT_RUN = {
    Reason.MAX_TOOL_CALLS: f"Not run: {LIMITS[Reason.MAX_TOOL_CALLS]}.",
    Reason.REPEATED_CALL: "Not run: a call of this step was made before and had been corrected.",
}
_SUGGESTIONS = 8
_log = logging.getLogger("sayso.turn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """One turn: it asks, looks and proposes until something ends it."""

    limits: Limits
    redactor: Redactor
    rules: Rules
    asking: Asking
    reading: Reading
    progress: Progress
    deadline: float
    """When a model call or a tool is cancelled, on the loop's clock."""
    end: float
    """When a conclusion is."""

    async def run(self, propose: Propose) -> Outcome:
        """Return how the turn ends, for a fault that nobody foresaw too."""
        try:
            return await self._run(propose)
        except LeaseLost:
            raise  # nothing that this process does counts any more
        except Exception as error:  # noqa: BLE001 - a message of any shape ends its turn by name
            _log.error("turn %s: %s", self.asking.turn, type(error).__name__)
            return self._forced(Reason.ERROR)

    async def _run(self, propose: Propose) -> Outcome:
        for number in range(1, self.limits.turns + 1):
            move = await self._next()
            match move:
                case Reason():
                    return await self._cut(move)
                case Say() | Broken():
                    return self._over(move)
                case Pause():
                    self._paused(move)
                case Use():
                    ended = await self._use(move, propose, last=number == self.limits.turns)
                    if ended:
                        return ended
                case _:
                    assert_never(move)
        return await self._cut(Reason.MAX_TURNS)

    async def _next(self) -> Move | Reason:
        """Return the next move, or the reason for which the model is not asked or did not answer."""
        if self.rules.generative and self.progress.bytes > self.limits.prompt_bytes:
            self.progress.unheard()
            return Reason.CONTEXT_EXCEEDED
        if not self._affords_a_move():
            return Reason.MAX_TOKENS
        move = await self.asking.move(self.progress.give(), deadline=self.deadline)
        if not isinstance(move, Reason):
            self.progress.use(move.wire)
        return move

    def _affords_a_move(self) -> bool:
        limits = self.limits
        return self.progress.affords(limits.move_tokens if self.rules.generative else limits.tokens)

    @property
    def _room(self) -> int:
        """Return the bytes that what is kept of a step or an answer may have."""
        return max(self.limits.kept_bytes - self.progress.bytes, self.limits.least_bytes)

    def _over(self, move: Say | Broken) -> Outcome:
        if isinstance(move, Broken):
            return self._forced(STOPS[move.stop])
        if self.rules.generative and not move.text.strip():
            return self._forced(Reason.ERROR)
        suggestions = tuple(
            cut(said(text, self.redactor), SHORT_BYTES) for text in move.suggestions[:_SUGGESTIONS]
        )
        text = self._say(move)
        return replace(self._outcome(Reason.ANSWERED, text), suggestions=suggestions)

    def _say(self, move: Say) -> str:
        """Append what a model says, and return it as it is posted."""
        words = spoken(move.text, move.wire, self.redactor)
        self.progress.append(fitted_words(words, self._room))
        return words.text

    def _paused(self, move: Pause) -> None:
        sent = fitted_words(spoken("", move.wire, self.redactor), self._room)
        if sent.content:
            self.progress.append(sent)

    async def _use(self, move: Use, propose: Propose, *, last: bool) -> Outcome | None:
        """Do what a step asks for; return how that ends the turn, if it does."""
        if not move.calls:
            return self._forced(Reason.ERROR)
        wanted = step(move, self.progress.taken, self.limits.argument_bytes, self.redactor)
        asks = question(wanted) if self.rules.generative else None
        work = Evidence(step=wanted, made=(), redactor=self.redactor)
        if asks:
            work.results[asks.id] = Result(call=asks.id, text=_ASKED)
            self._keep(work, _NOT_ASKED)
            return self._outcome(Reason.ASKED, said(question_text(asks), self.redactor))
        work.made = admissions(wanted, self.rules, self.progress.seen)
        reason = self._too_much(work.made)
        if reason:
            self._keep(work, _NOT_RUN[reason])
            return await self._cut(reason)
        looks = not last and self._affords_a_move()
        return await self._do(work, move.about, propose, looks=looks)

    def _keep(self, work: Evidence, otherwise: str) -> None:
        self.progress.append(*work.entries(otherwise, self._room))

    def _too_much(self, made: Sequence[Admission]) -> Reason | None:
        if any(one.repeats and one.mark in self.progress.corrected for one in made):
            return Reason.REPEATED_CALL
        self.progress.calls += sum(not one.repeats for one in made)
        return Reason.MAX_TOOL_CALLS if self.progress.calls > self.limits.tool_calls else None

    async def _do(
        self, work: Evidence, about: AgentText, propose: Propose, *, looks: bool
    ) -> Outcome | None:
        """Look, then propose; what ran is kept, whatever cuts this."""
        work.results |= {one.call.id: one.refused for one in work.made if one.refused}
        reads = work.of(Effect.READ) if looks else {}
        try:
            late = await self._look(work, reads)
            found = work.found(reads)
            request = None if late else await self._proposed(work, about, found, propose)
        except BaseException:
            self._keep(work, _STOPPED)
            raise
        self._keep(work, _LATE if late else _LAST)
        self._remember(work)
        return await self._cut(Reason.MAX_SECONDS) if late else self._handed(request, found)

    def _handed(self, request: str | None, found: str) -> Outcome | None:
        """Return the end of a turn that opened a request; None where it did not."""
        if request is None:
            return None
        return replace(self._outcome(Reason.PROPOSED, found), request=request)

    async def _look(self, work: Evidence, reads: dict[str, Checked]) -> bool:
        """Run reads; return whether the deadline cut any."""
        try:
            async with asyncio.timeout_at(self.deadline):
                work.open |= await self.reading.look(reads, work.results)
        except TimeoutError:
            return True
        return False

    async def _proposed(
        self, work: Evidence, about: AgentText, found: str, propose: Propose
    ) -> str | None:
        """Propose all gated calls of the step as one plan, or answer each of them with why not.

        Outside the deadline: a request that was stored must also be reported.
        """
        gated = work.of(Effect.WRITE)
        if not gated:
            return None
        if any(one.refused and one.refused.failed for one in work.made):
            work.results |= {key: Result(call=key, text=_BLOCKED, failed=True) for key in gated}
            work.open |= gated.keys()
            return None
        before = dict(work.results)
        work.results |= {key: Result(call=key, text=_WAITS) for key in gated}
        entries = (*self.progress.entries, *work.entries(_LAST, self._room))
        explained = agent_text(work.step, gated.keys(), about, self.redactor)
        try:
            return await propose(tuple(gated.values()), explained, found, entries)
        except BaseException as error:
            work.results = before
            if not isinstance(error, SaysoError) or isinstance(error, LeaseLost):
                raise
            work.results |= {key: refusal(key, error) for key in gated}
            work.open |= gated.keys() if isinstance(error, Unavailable) else set()
            return None

    def _remember(self, work: Evidence) -> None:
        """Remember which calls were answered, so that they are not made again."""
        still_open = {one.mark for one in work.made if one.call.id in work.open}
        repeated = {one.mark for one in work.made if one.repeats}
        self.progress.corrected |= repeated - still_open
        self.progress.seen |= {one.mark for one in work.made} - still_open

    async def _cut(self, reason: Reason) -> Outcome:
        """End the turn for a reason that nobody wanted, with closing words where a limit allows them."""
        self.progress.settle()
        text = await self._concluded(reason) if reason in LIMITS else ""
        return self._outcome(reason, incomplete(reason, text)) if text else self._forced(reason)

    async def _concluded(self, reason: Reason) -> str:
        """Have the model say what it found; empty where it may not, cannot or does not."""
        note = Noted(
            text=f"The turn ends here: {LIMITS[reason]}. No tool can be called any more. Say now in "
            "words what you found and what is left to do."
        )
        if not self._may_conclude(note):
            return ""
        self.progress.append(note)
        by = asyncio.get_running_loop().time() + self.limits.conclusion_seconds
        move = await self.asking.conclusion(self.progress.give(), deadline=min(self.end, by))
        if move is None:
            return ""
        self.progress.use(move.wire)
        return self._say(move) if isinstance(move, Say) and move.text.strip() else ""

    def _may_conclude(self, note: Noted) -> bool:
        size = self.progress.bytes + prompt_bytes((note,))
        return (
            self.rules.generative
            and size <= self.limits.prompt_bytes
            and self.progress.affords(self.limits.tokens)
            and asyncio.get_running_loop().time() < self.end
        )

    def _forced(self, reason: Reason) -> Outcome:
        self.progress.settle()
        return self._outcome(reason, forced(reason))

    def _outcome(self, reason: Reason, text: str) -> Outcome:
        return Outcome(reason=reason, text=text, entries=self.progress.entries)
