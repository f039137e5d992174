"""One turn on its way: what each move leads to, and where it is cut."""

import asyncio
import logging
from dataclasses import dataclass, replace
from typing import assert_never

from core.asking import Asking
from core.calls import said, spoken
from core.fitting import SHORT_BYTES, cut, fitted_words
from core.jobs import LeaseLost
from core.limits import Limits, prompt_bytes
from core.mailbox import Mail
from core.outcomes import LIMITS, STOPS, Outcome, Reason, forced, incomplete
from core.progress import Progress
from core.redaction import Redactor
from core.stepping import Stepping
from core.transcript import (
    Broken,
    Move,
    Noted,
    Pause,
    Say,
    Use,
)

_SUGGESTIONS = 8
_log = logging.getLogger("sayso.turn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """One turn: it asks, looks and proposes until something ends it."""

    limits: Limits
    redactor: Redactor
    generative: bool
    """Whether the model writes texts of its own."""
    asking: Asking
    stepping: Stepping
    progress: Progress
    mail: Mail
    """What arrived meanwhile, told beside the results of a step after which the turn goes on."""
    deadline: float
    """When a model call is cancelled, on the loop's clock."""
    end: float
    """When a conclusion is."""

    async def run(self) -> Outcome:
        """Return how the turn ends, for a fault that nobody foresaw too."""
        try:
            return await self._run()
        except LeaseLost:
            raise  # nothing that this process does counts any more
        except Exception as error:  # noqa: BLE001 - a message of any shape ends its turn by name
            _log.error("turn %s: %s", self.asking.turn, type(error).__name__)
            return self._forced(Reason.ERROR)

    async def _run(self) -> Outcome:
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
                    ended = await self._step(move, is_last=number == self.limits.turns)
                    if ended:
                        return ended if isinstance(ended, Outcome) else await self._cut(ended)
                case _:
                    assert_never(move)
        return await self._cut(Reason.MAX_TURNS)

    async def _step(self, move: Use, *, is_last: bool) -> Outcome | Reason | None:
        """Take a step; where the turn goes on, tell the model what arrived meanwhile."""
        looks = not is_last and self._affords_a_move()
        ended = await self.stepping.take(move, looks=looks)
        if looks and not ended:
            room = self.limits.kept_bytes - self.progress.bytes
            self.progress.append(*await self.mail(room))
        return ended

    async def _next(self) -> Move | Reason:
        """Return the next move, or the reason for which the model is not asked or did not answer."""
        if self.generative and self.progress.bytes > self.limits.prompt_bytes:
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
        return self.progress.affords(limits.move_tokens if self.generative else limits.tokens)

    @property
    def _room(self) -> int:
        return self.limits.room(self.progress.bytes)

    def _over(self, move: Say | Broken) -> Outcome:
        if isinstance(move, Broken):
            return self._forced(STOPS[move.stop])
        if self.generative and not move.text.strip():
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
            self.generative
            and size <= self.limits.prompt_bytes
            and self.progress.affords(self.limits.tokens)
            and asyncio.get_running_loop().time() < self.end
        )

    def _forced(self, reason: Reason) -> Outcome:
        self.progress.settle()
        return self._outcome(reason, forced(reason))

    def _outcome(self, reason: Reason, text: str) -> Outcome:
        return Outcome(reason=reason, text=text, entries=self.progress.entries)
