"""Running what was approved: exactly the stored steps, once, each with its intent written before it."""

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, TypeVar

from approvals.keeping import Keeping
from approvals.models import Run, Spent, StepEnd, StepState
from approvals.run_ends import lets_on
from approvals.store import RunStore
from core import tries
from core.errors import OutcomeUnknown, Unavailable
from core.ids import step_id
from core.jobs import Hold, LeaseLost
from core.plans import Step
from core.ports import Ended, Ending, Hear, Runner, Tail, ending_in_words
from core.tries import Tries

T = TypeVar("T")
_STOPPED = "stopped before it began"
_UNTRIED = "stopped before it was tried again"
_STATES = {
    Ending.NOT_STARTED: StepState.FAILED,
    Ending.ANSWERED: StepState.SUCCEEDED,
    Ending.ANSWERED_OTHERWISE: StepState.FAILED,
}
_log = logging.getLogger("sayso.run")


class Watch(Protocol):
    """Is told how a run goes on. Nothing of it takes long, or raises."""

    def moved(self) -> None:
        """Hear that a step began or ended."""
        ...

    def tries(self, number: int, most: int) -> None:
        """Hear that a step is tried which may be tried more than once."""
        ...

    def hear(self, tail: Tail) -> None:
        """Hear that the step which runs has printed more."""
        ...

    def over(self) -> None:
        """Hear that the run is about to end: whatever is shown of it from now on is not up to this."""
        ...


@dataclass(slots=True, kw_only=True)
class _Heard:
    """Passes on what a step prints, and keeps how to read it: a cut step leaves nothing else."""

    hear: Hear
    tail: Tail = tuple[str, ...]

    def __call__(self, tail: Tail) -> None:
        self.tail = tail
        self.hear(tail)


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """Runs spent requests."""

    store: RunStore
    runner: Runner
    keeping: Keeping
    patience: float = 30.0
    """For how many seconds a failing database is tried again, once something has happened."""

    async def execute(self, spent: Spent, hold: Hold, watch: Watch) -> Run:
        """Run the steps in order until one ends the run or it is told to stop; return its end.

        A step that `stop` cuts is unknown; between two steps, the run is cancelled. Raises
        `OutcomeUnknown` where a step ended and nothing could be written down about it, and
        `LeaseLost` where this process may no longer act.
        """
        run = ours = spent.run  # only this copy is of our claim: a later one may be somebody else's
        steps = [step for call in spent.request.plan.calls for step in call.steps]
        for index, step in enumerate(steps):
            hold.check()
            if hold.is_stopping or not await self._written(
                partial(self.store.begin_step, ours, index)
            ):
                watch.over()
                return await self._written(partial(self.store.cancel, ours, why=_STOPPED))
            watch.moved()
            end, ended = await self._done(hold, watch, step, step_id(run.id, index))
            end = replace(end, whole=await self.keeping.whole(run, index, ended))
            goes_on = lets_on(end.state, step.on_failure)
            if not goes_on or index == len(steps) - 1:
                watch.over()
            run = await self._written(partial(self.store.end_step, ours, index, end))
            watch.moved()
            if not goes_on:
                break
        return run

    async def _done(
        self, hold: Hold, watch: Watch, step: Step, name: str
    ) -> tuple[StepEnd, Ended | None]:
        """Do a step, again where it failed and that is harmless; what may have happened never is.

        Return its end, and that of the last try.
        """
        so_far = tries.of_step(step)
        while True:
            if so_far.most > 1:
                watch.tries(so_far.number, so_far.most)
            heard = _Heard(hear=watch.hear)
            ended = await self._until(hold, step, name, heard)
            end = _judged(ended, heard.tail)
            if end.state is not StepState.FAILED or so_far.are_over or not (ended and step.retry):
                return _told(so_far, end), ended
            if await _stops_within(hold, step.retry.wait_ms / 1000):
                return _told(so_far, replace(end, note=_UNTRIED)), ended
            hold.check()
            so_far.again(ended)

    async def _until(self, hold: Hold, step: Step, name: str, hear: Hear) -> Ended | None:
        """Run a step to its end; kill it when told to stop and return None for one that was cut."""
        running = asyncio.ensure_future(self.runner.run(step, step_id=name, hear=hear))
        stopping = asyncio.ensure_future(hold.stopped())
        try:
            await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
            running.cancel()  # does nothing to one that is done
            await asyncio.wait({running})
        if running.cancelled():
            return None
        failure = running.exception()
        if failure is not None:
            _log.error("step %s: its runner failed", name, exc_info=failure)
            return None
        return running.result()

    async def _written(self, write: Callable[[], Awaitable[T]]) -> T:
        """Write down a run's next move, trying again while the database fails."""
        now = asyncio.get_running_loop().time
        deadline = now() + self.patience
        while True:
            try:
                return await write()
            except LeaseLost:
                raise
            except Unavailable as error:
                if now() > deadline:
                    raise OutcomeUnknown(
                        "The run began, but how it goes on could not be written down. Look what "
                        "happened, and at `sayso runs`, before you ask again.",
                        error=error.detail,
                    ) from error
                await asyncio.sleep(0.2)


async def _stops_within(hold: Hold, seconds: float) -> bool:
    """Wait so long, and no longer than until told to stop; return whether that is so."""
    stopping = asyncio.ensure_future(hold.stopped())
    try:
        await asyncio.wait({stopping}, timeout=seconds)
        return hold.is_stopping
    finally:
        stopping.cancel()


def _told(so_far: Tries, end: StepEnd) -> StepEnd:
    """Return the end of the last try with what came before it."""
    note = ": ".join(filter(None, [so_far.note, end.note]))
    return replace(end, output=so_far.output(end.output), note=note)


def _judged(ended: Ended | None, printed: Tail) -> StepEnd:
    """Say what a step's end means: all but what is provably over, or did not begin, is unknown."""
    if ended is None:
        # The last whole lines: for whoever has to find out whether it happened.
        output = "\n".join(printed())
        return StepEnd(state=StepState.UNKNOWN, output=output, note="it was cut while it ran")
    if ended.exit_code == -signal.SIGKILL:
        # No program kills itself so: somebody cut it, at a moment that nobody knows.
        return StepEnd(
            state=StepState.UNKNOWN, output=ended.output, note="it was killed from outside"
        )
    if ended.ending is Ending.EXITED:
        state = StepState.SUCCEEDED if ended.succeeded else StepState.FAILED
        return StepEnd(state=state, exit_code=ended.exit_code, output=ended.output)
    state = _STATES.get(ended.ending, StepState.UNKNOWN)
    return StepEnd(state=state, output=ended.output, note=ending_in_words(ended))
