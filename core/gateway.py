"""What stands between a call that a model made and its running, with a happening for every stage.

In this order: known, allowed here, its arguments, authority, rate, and then it runs or is proposed.
What is missing and what is forbidden read the same (C25).
"""

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from core.admission import Admission, Rules, admissions, refusal
from core.calls import UNNAMED, Step
from core.canonical import encode
from core.display import one_line
from core.errors import Refused, SaysoError, Unavailable
from core.fitting import REFUSED_BYTES, cut
from core.redaction import Redactor
from core.tools import QUESTION, Checked
from core.trail import Happening, Stage, Staged, Trail
from core.transcript import Result, ToolCall
from core.waiting import now, within

CHECK_SECONDS = 5.0
"""In which a check has to say whether a call may be made: a tool's own may ask anybody."""
Check: TypeAlias = Callable[[Checked], Awaitable[object]]
"""Returns None where a call may be made, else why not; whatever else comes back refuses too (C20)."""


Count: TypeAlias = Callable[[Sequence[Checked]], Awaitable[object]]
"""Returns None where all calls were counted, else `TooOften`; whatever else comes back refuses all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TooOften:
    """Some calls came too often, so none of those that came at once was counted."""

    why: Mapping[int, str]
    """By the place of the call among them."""


_FAILED = "It could not be checked whether this may be done, so it was not. Tell an operator."
_SLOW = (
    "Whether this may be done was not found out in time, so it was not done. Ask again in a while; "
    "tell an operator where that does not help."
)
_log = logging.getLogger("sayso.turn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What whoever asked may do, and how often."""

    authorize: Check
    """Asked anew for each call: authority may have gone since the turn began."""
    count: Count
    """Counts calls at the moment they are dispatched, all or none; says which came too often."""


@dataclass(slots=True, kw_only=True)
class Gateway:
    """Leads the calls of one turn through the stages."""

    rules: Rules
    access: Access
    trail: Trail
    redactor: Redactor
    """Why a call was refused may be anybody's words."""
    _happened: list[Happening] = field(default_factory=list[Happening])
    _refused: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    """Why calls were not authorised or came too often, by tool and arguments, for whoever asked."""
    again: set[str] = field(default_factory=set[str])
    """The calls of which nothing came but that it may work later: they may be made again as they are."""

    async def admit(self, step: Step, seen: AbstractSet[str]) -> tuple[Admission, ...]:
        """Lead the calls of a step as far as authority; `seen` marks those that were made before."""
        made = [await self._authorized(one) for one in admissions(step, self.rules, seen)]
        return tuple(made)

    def unmade(self, calls: Sequence[ToolCall], why: str, *, most: int) -> None:
        """Put on record that calls went through no stage; of more than `most`, how many they are."""
        if len(calls) > most:
            self._staged("", "", Stage.KNOWN, f"Calls: {len(calls)}. {why}")
            return
        for call in calls:
            self._staged(call.id, call.tool, Stage.KNOWN, why)

    async def dispatch(self, calls: Sequence[tuple[str, Checked]]) -> dict[str, Result]:
        """Count calls that are about to run, each for itself; return why some may not.

        Whatever happened so far is kept before this returns.
        """
        errors = await too_often(self.access.count, [checked for _, checked in calls])
        if errors and len(calls) > 1:
            alone = [await too_often(self.access.count, [checked]) for _, checked in calls]
            errors = {at: found[0] for at, found in enumerate(alone) if found}
        return await self._counted(calls, errors, runs=range(len(calls)))

    async def dispatch_together(self, calls: Sequence[tuple[str, Checked]]) -> dict[str, Result]:
        """Count calls that are about to be proposed as one plan: all, or none and say why.

        Whatever happened so far is kept before this returns.
        """
        errors = await too_often(self.access.count, [checked for _, checked in calls])
        return await self._counted(calls, errors, runs=() if errors else range(len(calls)))

    async def _counted(
        self,
        calls: Sequence[tuple[str, Checked]],
        errors: Mapping[int, SaysoError],
        runs: Sequence[int],
    ) -> dict[str, Result]:
        refused = dict[str, Result]()
        for at, (key, checked) in enumerate(calls):
            objection = self._stage(key, checked, Stage.RATE, errors.get(at))
            if objection:
                refused[key] = objection
            elif at in runs:
                self._staged(key, checked.tool.name, Stage.RUN)
                self._refused.pop(_same(checked), None)
        await self.tell()
        return refused

    def refusals(self, but: Iterable[Checked] = ()) -> str:
        """Return what was refused and never ran, a line each: whoever asked learns the reason.

        `but` are calls that are about to be made again.
        """
        if not self.rules.generative:
            return ""  # it is the result of the call, which is posted already
        again = {_same(checked) for checked in but}
        last = {call[0]: why for call, why in self._refused.items() if call not in again}
        return "\n".join(f"(not run: {tool}: {why})" for tool, why in last.items())

    async def tell(self) -> None:
        """Keep what happened and was not kept yet."""
        happened, self._happened = self._happened, []
        if happened:
            await self.trail(happened)

    async def _authorized(self, one: Admission) -> Admission:
        name = one.call.tool if one.call.tool in {*self.rules.known.names, QUESTION} else UNNAMED
        for stage in _passed(one.stage):
            self._staged(one.call.id, name, stage)
        given = one.outcome
        self._staged(one.call.id, name, one.stage, one.why)
        if isinstance(given, Result):
            return one
        check = self.access.authorize
        objection = await self._objection(check, one.call.id, given, Stage.AUTHORIZED)
        return replace(one, outcome=objection) if objection else one

    async def _objection(
        self, check: Check, call: str, checked: Checked, stage: Stage
    ) -> Result | None:
        """Return why a check does not let a call through; one that fails does not either."""
        return self._stage(call, checked, stage, await objection(check, checked))

    def _stage(
        self, call: str, checked: Checked, stage: Stage, error: SaysoError | None
    ) -> Result | None:
        """Put on record how a call came through a stage; return what answers it where it did not."""
        self._staged(call, checked.tool.name, stage, error.logged if error else "")
        if error is None:
            return None
        self._refused[_same(checked)] = one_line(self.redactor.text(error.shown))
        if stage is Stage.RATE or isinstance(error, Unavailable):
            self.again.add(call)
        return refusal(call, error, self.redactor)

    def _staged(self, call: str, tool: str, stage: Stage, why: str = "") -> None:
        kept = cut(self.redactor.head(why, REFUSED_BYTES)[0], REFUSED_BYTES)
        self._happened.append(Staged(call=call, tool=tool, stage=stage, why=kept))


async def objection(check: Check, checked: Checked) -> SaysoError | None:
    """Return why a check does not let a call through; None alone lets it (C20)."""
    why = await _found(lambda: check(checked), checked.tool.name)
    if why is None or isinstance(why, SaysoError):
        return why
    return Refused(why if isinstance(why, str) and why.strip() else _FAILED)


async def too_often(count: Count, calls: Sequence[Checked]) -> Mapping[int, SaysoError]:
    """Count calls that stand or fall together; return why some came too often, by their place.

    Where anything is returned, none was let through; None alone lets them (C20).
    """
    if not calls:
        return {}
    found = await _found(lambda: count(calls), ", ".join(checked.tool.name for checked in calls))
    if found is None:
        return {}
    if isinstance(found, SaysoError):
        return dict.fromkeys(range(len(calls)), found)
    why = found.why if isinstance(found, TooOften) else dict[int, str]()
    named = {at: Refused(why[at]) for at in range(len(calls)) if at in why}
    return named or dict.fromkeys(range(len(calls)), Refused(_FAILED))


async def _found(check: Callable[[], Awaitable[object]], tools: str) -> object:
    """Return what a check says in its time, or the error for which it says nothing."""
    try:
        return await within(check, now() + CHECK_SECONDS)
    except SaysoError as error:
        return error
    except Exception as error:  # noqa: BLE001 - what cannot be checked is refused, not the whole turn
        _log.error("whether %s may be called was not checked: %s", tools, type(error).__name__)
        return Unavailable(_SLOW) if isinstance(error, TimeoutError) else Refused(_FAILED)


def _same(checked: Checked) -> tuple[str, str]:
    """Return what a call shares with one that only repeats it."""
    return checked.tool.name, encode(checked.arguments)


def _passed(stage: Stage) -> Iterable[Stage]:
    """Return the stages before one."""
    stages = list(Stage)
    return stages[: stages.index(stage)]
