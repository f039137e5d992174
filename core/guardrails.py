"""Guardrails: checks at four points of a turn, any of which may end it with a reason for people.

A check lets something pass by returning None and in no other way. One that says anything else, fails
or takes too long stops the turn: what could not be checked counts as forbidden.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from inspect import isawaitable
from typing import TypeAlias, TypeVar, assert_never

from core.display import one_line
from core.fitting import SHORT_BYTES
from core.outcomes import Reason, guarded
from core.redaction import Redactor
from core.tools import Checked
from core.trail import Guarded, Trail
from core.transcript import AgentText, Entry, Noted, Result, Returned
from core.waiting import now, within

_PREFIX = "guardrail:"
_UNCHECKED = "this could not be checked against one of the guardrails"
_UNSAID = "one of the guardrails stopped this and gave no reason"
_KEPT_BACK = {
    Reason.GUARDRAIL_INPUT: "A person's message",
    Reason.GUARDRAIL_OUTPUT: "An answer, which nobody saw,",
}
_log = logging.getLogger("sayso.turn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """A message, before anything is done with it, and who spoke."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """All that a model is about to be given besides its instructions."""

    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """The calls of one plan, before anybody is asked about it, and what the agent says of them."""

    calls: tuple[Checked, ...]
    about: AgentText


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """A text as it is about to be posted, and what came of all calls of the turn."""

    text: str
    results: tuple[Result, ...]


Payload: TypeAlias = Input | Context | Proposed | Output
_P = TypeVar("_P")
Guard: TypeAlias = Callable[[_P], "str | Awaitable[str | None] | None"]
"""Returns None to let something pass, else why not: words for people, without what they are about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guards:
    """The checks of each stage, in the order in which they are asked; the first that says no counts."""

    input: tuple[Guard[Input], ...] = ()
    context: tuple[Guard[Context], ...] = ()
    tool: tuple[Guard[Proposed], ...] = ()
    output: tuple[Guard[Output], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """What a guardrail stopped, and why: one visible line without a full stop."""

    reason: Reason
    why: str

    @property
    def stage(self) -> str:
        """Return the stage's name."""
        return self.reason.removeprefix(_PREFIX)

    @property
    def text(self) -> str:
        """Return what is posted in place of whatever was stopped."""
        return guarded(self.reason, self.why)

    @property
    def note(self) -> Noted:
        """Return what the transcript holds in place of a message or an answer."""
        return Noted(text=f"{_KEPT_BACK[self.reason]} was kept back by a guardrail: {self.why}.")


UNCHECKED = Noted(text="A person's message is left out: the turn ended before it was checked.")
"""Stands for a message while it is checked, so that whatever cuts the turn leaves nothing unchecked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarding:
    """Asks the guards on behalf of one turn."""

    guards: Guards
    redactor: Redactor
    trail: Trail
    turn: str
    """Names it in the log."""
    seconds: float = field(default=10.0)
    """That the checks of one stage may take together."""

    async def check(self, payload: Payload) -> Violation | None:
        """Return what stops the turn here, kept in its trail already; None where nothing does."""
        violation = await self.screen(payload)
        if violation:
            await self.trail((Guarded(stage=violation.stage, why=violation.why),))
        return violation

    async def screen(self, payload: Payload) -> Violation | None:
        """Return what would stop something that is not of this turn, so its trail says nothing of it."""
        reason, checks = self._of(payload)
        found = await self._asked(reason, checks) if checks else None
        return None if found is None else Violation(reason=reason, why=self._sentence(found))

    def _of(self, payload: Payload) -> tuple[Reason, Sequence[Callable[[], object]]]:
        guards = self.guards
        match payload:
            case Input():
                return Reason.GUARDRAIL_INPUT, [partial(one, payload) for one in guards.input]
            case Context():
                return Reason.GUARDRAIL_CONTEXT, [partial(one, payload) for one in guards.context]
            case Proposed():
                return Reason.GUARDRAIL_TOOL, [partial(one, payload) for one in guards.tool]
            case Output():
                return Reason.GUARDRAIL_OUTPUT, [partial(one, payload) for one in guards.output]
            case _:
                assert_never(payload)

    async def _asked(self, reason: Reason, checks: Sequence[Callable[[], object]]) -> object:
        """Return what the checks say, or that there was no knowing."""
        try:
            return await within(lambda: _first(checks), now() + self.seconds)
        except Exception as error:  # noqa: BLE001 - a guard that fails has to stop what it guards
            # By its type alone: its text may hold what it was about.
            _log.error("turn %s: %s failed: %s", self.turn, reason, type(error).__name__)
            return _UNCHECKED

    def _sentence(self, found: object) -> str:
        words = (
            one_line(self.redactor.head(found, SHORT_BYTES)[0]) if isinstance(found, str) else ""
        )
        return words.rstrip(".") or _UNSAID


async def _first(checks: Sequence[Callable[[], object]]) -> object:
    """Return the first thing that is not None; None where all let it pass."""
    for check in checks:
        found = check()
        found = await found if isawaitable(found) else found
        if found is not None:
            return found
    return None


def results_of(entries: Sequence[Entry]) -> tuple[Result, ...]:
    """Return what came of the calls of these entries, in order."""
    returned = (entry.results for entry in entries if isinstance(entry, Returned))
    return tuple(result for results in returned for result in results)
