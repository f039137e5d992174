"""Runs reads. What goes wrong with one is its result, and evidence for whoever asked for it."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from core import tries
from core.admission import refusal
from core.display import sound
from core.errors import Incorrect, SaysoError, Unavailable
from core.jobs import LeaseLost
from core.plans import Step
from core.ports import Runner, ending_in_words
from core.redaction import Redactor
from core.tools import Caller, Checked
from core.trail import Looked, Trail
from core.transcript import Result
from core.waiting import now, within

_log = logging.getLogger("sayso.turn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Runs the reads of one turn."""

    runner: Runner
    turn: str
    caller: Caller
    """Who asks, for tools of Sayso's own; each call gets its own id."""
    most: int
    """Bytes that a result may have."""
    trail: Trail
    redactor: Redactor
    """Why a tool refuses may be anybody's words."""

    async def look(self, calls: Mapping[str, Checked], found: dict[str, Result]) -> set[str]:
        """Run calls at once, and put what came of each into `found` as soon as it is there.

        Cancelling this cancels what still runs, and so does a lost lease, which is raised. Returns the
        calls that may work when made again.
        """
        again = set[str]()

        async def one(key: str, checked: Checked) -> None:
            began = now()
            try:
                found[key] = self._bounded(checked, await self._read(key, checked))
            except LeaseLost:
                raise
            except SaysoError as error:
                found[key] = refusal(key, error, self.redactor)
                if isinstance(error, Unavailable):
                    again.add(key)
            except Exception as error:  # noqa: BLE001 - a tool's failure is evidence, never a crash
                _log.error("turn %s: %s: %s", self.turn, checked.tool.name, type(error).__name__)
                text = f"{checked.tool.name} failed. Calling it again does not help."
                found[key] = Result(call=key, text=text, failed=True)
            looked = Looked(
                call=key,
                tool=checked.tool.name,
                failed=found[key].failed,
                milliseconds=round((now() - began) * 1000),
            )
            await self.trail((looked,))

        try:
            async with asyncio.TaskGroup() as group:
                for key, checked in calls.items():
                    group.create_task(one(key, checked))
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from several
        return again

    def _bounded(self, checked: Checked, result: Result) -> Result:
        """Return a result as every provider and store takes it; raise `Incorrect` if it is too large."""
        text = sound(result.text)
        if len(text.encode()) <= self.most:
            return replace(result, text=text)
        raise Incorrect(
            f"{checked.tool.name}: what it found is larger than {self.most} bytes and was dropped. "
            "Ask for less."
        )

    async def _read(self, key: str, checked: Checked) -> Result:
        """Run a read to its end or to its first failing step."""
        if checked.tool.look:
            caller = replace(self.caller, call=key)
            text = await within(partial(checked.tool.look, checked.arguments, caller))
            return Result(call=key, text=text)
        shown, failures = list[str](), list[str]()
        for step in checked.tool.expand(checked.arguments).steps:
            obstacle = self.runner.obstacle(step)
            if obstacle:
                return Result(call=key, text=f"{checked.tool.name}: {obstacle}", failed=True)
            output, failure = await self._done(step, f"{self.turn}.{key}")
            shown.append(output.rstrip("\n"))
            failures += [f"{checked.tool.name} failed: {failure}."] if failure else []
            if failure and step.on_failure == "stop":
                break
        text = "\n".join([*failures, *filter(None, shown)])
        text = text or f"{checked.tool.name}: done, it printed nothing."
        return Result(call=key, text=text, failed=bool(failures))

    async def _done(self, step: Step, name: str) -> tuple[str, str]:
        """Do a step of a read, again where it failed and may be; return its output, and how it failed."""
        so_far = tries.of_step(step)
        while True:
            ended = await self.runner.run(step, step_id=name)
            failure = "" if ended.succeeded else ending_in_words(ended)
            if not failure or so_far.are_over or step.retry is None:
                return so_far.output(ended.output), failure
            so_far.again(ended)
            await asyncio.sleep(step.retry.wait_ms / 1000)
