"""One turn on its way: what each move leads to, and where it is cut."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from core.asking import Asking
from core.calls import said, spoken
from core.display import one_line
from core.errors import Unavailable
from core.fitting import SHORT_BYTES, cut, fitted_words
from core.guardrails import UNCHECKED, Context, Guarding, Input, Output, Violation, results_of
from core.jobs import LeaseLost
from core.limits import Limits, prompt_bytes
from core.mailbox import Mail
from core.outcomes import LIMITS, STOPS, Outcome, Reason, forced, incomplete
from core.progress import Progress
from core.redaction import Redactor
from core.stepping import Stepping
from core.transcript import (
    Broken,
    Entry,
    Heard,
    Move,
    Noted,
    Pause,
    Say,
    Use,
)

Brief: TypeAlias = Callable[[], Awaitable[tuple[Entry, ...]]]
"""Takes in the message of a turn and returns what is told before it; asked once it may be read."""
_SUGGESTIONS = 8
_log = logging.getLogger("sayso.turn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """One turn: it asks, looks and proposes until something ends it."""

    heard: Heard
    brief: Brief
    limits: Limits
    redactor: Redactor
    generative: bool
    """Whether the model writes texts of its own."""
    asking: Asking
    guarding: Guarding
    stepping: Stepping
    progress: Progress
    mail: Mail
    """What arrived meanwhile, told beside the results of a step after which the turn goes on."""
    deadline: float
    """When a model call is cancelled, on the loop's clock."""
    end: float
    """When a conclusion is."""

    async def run(self) -> Outcome:
        """Return how the turn ends, with what was refused on the way."""
        outcome = await self._ended()
        refusals = "" if outcome.request else self.stepping.gateway.refusals()
        return await self._told(outcome, refusals) if refusals else outcome

    async def _ended(self) -> Outcome:
        """Return how the turn ends, for a fault that nobody foresaw too."""
        try:
            violation = await self._listened()
            return await (self._cut(violation) if violation else self._run())
        except LeaseLost:
            raise  # nothing that this process does counts any more
        except Unavailable as error:
            self.progress.settle()
            return self.progress.outcome(Reason.ERROR, said(error.shown, self.redactor))
        except Exception as error:  # noqa: BLE001 - a message of any shape ends its turn by name
            _log.error("turn %s: %s", self.asking.turn, type(error).__name__)
            return self._forced(Reason.ERROR)

    async def _told(self, outcome: Outcome, refusals: str) -> Outcome:
        """Add what was refused, for whoever asked; where a guardrail stops that, nothing is posted."""
        results = results_of(self.progress.entries)
        violation = await self.guarding.check(Output(text=refusals, results=results))
        if violation:
            self.progress.unsay(violation.note)
            return self.progress.outcome(violation.reason, violation.text)
        return replace(outcome, text="\n".join((outcome.text, refusals)))

    async def _run(self) -> Outcome:
        for number in range(1, self.limits.turns + 1):
            move = await self._next()
            match move:
                case Reason() | Violation():
                    return await self._cut(move)
                case Say() | Broken():
                    return await self._over(move)
                case Pause():
                    self._paused(move)
                case Use():
                    ended = await self._step(move, is_last=number == self.limits.turns)
                    if ended:
                        return ended if isinstance(ended, Outcome) else await self._cut(ended)
                case _:
                    assert_never(move)
        return await self._cut(Reason.MAX_TURNS)

    async def _listened(self) -> Violation | None:
        """Begin with the message and the briefing for it, or with a note where it may not be answered.

        Nothing at all is made of a message before it was checked.
        """
        self.progress.hear(UNCHECKED)
        heard = Input(speaker=self.heard.speaker, text=self.heard.text)
        violation = await self.guarding.check(heard)
        self.progress.hear(violation.note if violation else self.heard)
        if not violation:
            self.progress.hear(*await self.brief(), self.heard)
        return violation

    async def _step(self, move: Use, *, is_last: bool) -> Outcome | Reason | Violation | None:
        """Take a step; where the turn goes on, tell the model what arrived meanwhile."""
        looks = not is_last and self._affords_a_move()
        ended = await self.stepping.take(move, looks=looks)
        if looks and not ended:
            room = self.limits.kept_bytes - self.progress.bytes
            self.progress.append(*await self.mail(room, self.guarding.screen, self.deadline))
        return ended

    async def _next(self) -> Move | Reason | Violation:
        """Return the next move, or the reason for which the model is not asked or did not answer."""
        if self.generative and self.progress.bytes > self.limits.prompt_bytes:
            self.progress.unheard()
            return Reason.CONTEXT_EXCEEDED
        if not self._affords_a_move():
            return Reason.MAX_TOKENS
        violation = await self._unfit()
        if violation:
            return violation
        move = await self.asking.move(self.progress.give(), deadline=self.deadline)
        if not isinstance(move, Reason):
            self.progress.use(move.wire)
        return move

    async def _unfit(self) -> Violation | None:
        """Return why a model may not be given what it would be; one that writes nothing is given nothing."""
        context = Context(entries=self.progress.prompt)
        return await self.guarding.check(context) if self.generative else None

    def _affords_a_move(self) -> bool:
        limits = self.limits
        return self.progress.affords(limits.move_tokens if self.generative else limits.tokens)

    async def _over(self, move: Say | Broken) -> Outcome:
        if isinstance(move, Broken):
            return self._forced(STOPS[move.stop])
        if self.generative and not move.text.strip():
            return self._forced(Reason.ERROR)
        suggestions = tuple(map(self._suggested, move.suggestions[:_SUGGESTIONS]))
        text = await self._say(move, suggestions)
        if isinstance(text, Violation):
            return await self._cut(text)
        return replace(self.progress.outcome(Reason.ANSWERED, text), suggestions=suggestions)

    def _suggested(self, text: str) -> str:
        """Return what could be sent instead; of a model that writes it is one line, all of it visible."""
        kept = said(text, self.redactor)
        return one_line(kept, SHORT_BYTES // 4) if self.generative else cut(kept, SHORT_BYTES)

    async def _say(self, move: Say, suggestions: tuple[str, ...] = ()) -> str | Violation:
        """Append what a model says, and return it as it is posted, or why it is not."""
        words = spoken(move.text, move.wire, self.redactor)
        posted = "\n".join((words.text, *suggestions))
        results = results_of(self.progress.entries)
        violation = await self.guarding.check(Output(text=posted, results=results))
        if violation:
            self.progress.append(violation.note)
            return violation
        self.progress.say(fitted_words(words, self.progress.room))
        return words.text

    def _paused(self, move: Pause) -> None:
        sent = fitted_words(spoken("", move.wire, self.redactor), self.progress.room)
        if sent.content:
            self.progress.append(sent)

    async def _cut(self, why: Reason | Violation) -> Outcome:
        """End the turn for a reason that nobody wanted, with closing words where a limit allows them."""
        self.progress.settle()
        if isinstance(why, Violation):
            return self.progress.outcome(why.reason, why.text)
        text = await self._concluded(why) if why in LIMITS else ""
        if isinstance(text, Violation):
            return await self._cut(text)
        return self.progress.outcome(why, incomplete(why, text)) if text else self._forced(why)

    async def _concluded(self, reason: Reason) -> str | Violation:
        """Have the model say what it found; empty where it may not, cannot or does not."""
        note = Noted(
            text=f"The turn ends here: {LIMITS[reason]}. No tool can be called any more. Say now in "
            "words what you found and what is left to do."
        )
        if not self._may_conclude(note):
            return ""
        violation = await self._unfit()
        if violation:
            return violation
        self.progress.append(note)
        by = asyncio.get_running_loop().time() + self.limits.conclusion_seconds
        move = await self.asking.conclusion(self.progress.give(), deadline=min(self.end, by))
        if move is None:
            return ""
        self.progress.use(move.wire)
        return await self._say(move) if isinstance(move, Say) and move.text.strip() else ""

    def _may_conclude(self, note: Noted) -> bool:
        size = self.progress.bytes + prompt_bytes((note,))
        return (
            self.generative
            and size <= self.limits.prompt_bytes
            and self.progress.affords(self.limits.tokens)
            and asyncio.get_running_loop().time() < self.end
        )

    def _forced(self, reason: Reason) -> Outcome:
        self.progress.settle()
        return self.progress.outcome(reason, forced(reason))
