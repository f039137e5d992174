"""What stands between a call that a model made and its running, with a happening for every stage.

In this order: known, allowed here, its arguments, authority, rate, and then it runs or is proposed.
What is missing and what is forbidden read the same (C25).
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

from core.admission import Admission, Rules, admissions, refusal
from core.calls import Step
from core.display import one_line
from core.errors import Refused, SaysoError, Unavailable
from core.redaction import Redactor
from core.tools import Checked
from core.trail import Happening, Stage, Staged, Trail
from core.transcript import Result

Check: TypeAlias = Callable[[Checked], Awaitable[object]]
"""Returns None where a call may be made, else why not; whatever else comes back refuses too (C20)."""


async def unchecked(_: Checked) -> None:
    """Refuse nothing."""


_FAILED = "It could not be checked whether this may be done, so it was not. Tell an operator."


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What whoever asked may do, and how often."""

    authorize: Check = unchecked
    """Asked anew for each call: authority may have gone since the turn began."""
    count: Check = unchecked
    """Counts a call at the moment it is dispatched; says why where it was made too often."""


@dataclass(slots=True, kw_only=True)
class Gateway:
    """Leads the calls of one turn through the stages."""

    rules: Rules
    access: Access
    trail: Trail
    redactor: Redactor = field(default_factory=partial(Redactor.of, ()))
    """For the record: why a call was refused may name an argument as the model did."""
    _happened: list[Happening] = field(default_factory=list[Happening])
    refused: dict[str, str] = field(default_factory=dict[str, str])
    """Why calls were not authorised or came too often, by tool, for whoever asked."""
    again: set[str] = field(default_factory=set[str])
    """The calls of which nothing came but that it may work later: they may be made again as they are."""

    async def admit(self, step: Step, seen: AbstractSet[str]) -> tuple[Admission, ...]:
        """Lead the calls of a step as far as authority; `seen` marks those that were made before."""
        made = [await self._authorized(one) for one in admissions(step, self.rules, seen)]
        return tuple(made)

    async def dispatch(self, calls: Sequence[tuple[str, Checked]]) -> dict[str, Result]:
        """Count calls that are about to run or to be proposed; return why some may not.

        Whatever happened so far is kept before this returns.
        """
        refused = dict[str, Result]()
        for key, checked in calls:
            objection = await self._objection(self.access.count, key, checked, Stage.RATE)
            if objection:
                refused[key] = objection
            else:
                self._staged(key, checked.tool.name, Stage.RUN)
        await self.tell()
        return refused

    def told(self, text: str) -> str:
        """Return what is posted, with what was refused: whoever asked learns the reason too."""
        if not self.rules.generative:
            return text  # which is the result of the call already
        lines = (f"(not run: {tool}: {why})" for tool, why in self.refused.items())
        return "\n".join(filter(None, (text, *lines)))

    async def tell(self) -> None:
        """Keep what happened and was not kept yet."""
        happened, self._happened = self._happened, []
        if happened:
            await self.trail(happened)

    async def _authorized(self, one: Admission) -> Admission:
        for stage in _passed(one.stage):
            self._staged(one.call.id, one.call.tool, stage)
        given = one.outcome
        why = given.text if isinstance(given, Result) else ""
        self._staged(one.call.id, one.call.tool, one.stage, why)
        if isinstance(given, Result):
            return one
        check = self.access.authorize
        objection = await self._objection(check, one.call.id, given, Stage.AUTHORIZED)
        return replace(one, outcome=objection) if objection else one

    async def _objection(
        self, check: Check, call: str, checked: Checked, stage: Stage
    ) -> Result | None:
        """Return why a check does not let a call through; one that fails does not either."""
        tool = checked.tool.name
        error = await objection(check, checked)
        self._staged(call, tool, stage, error.shown if error else "")
        if error is None:
            return None
        self.refused[tool] = one_line(error.shown)
        if stage is Stage.RATE or isinstance(error, Unavailable):
            self.again.add(call)
        return refusal(call, error)

    def _staged(self, call: str, tool: str, stage: Stage, why: str = "") -> None:
        kept = self.redactor.text(why)
        self._happened.append(Staged(call=call, tool=tool, stage=stage, why=kept))


async def objection(check: Check, checked: Checked) -> SaysoError | None:
    """Return why a check does not let a call through; None alone lets it (C20)."""
    try:
        why = await check(checked)
    except SaysoError as error:
        return error
    if why is None:
        return None
    return Refused(why if isinstance(why, str) and why.strip() else _FAILED)


def _passed(stage: Stage) -> Iterable[Stage]:
    """Return the stages before one."""
    stages = list(Stage)
    return stages[: stages.index(stage)]
