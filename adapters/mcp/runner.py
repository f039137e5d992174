"""Runs the steps that are calls of tools of MCP servers: one process for each, and one call at most."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from adapters.mcp.children import Child, Nursery
from adapters.sandbox.boxes import Bounds
from adapters.sandbox.output import Masking, Output
from adapters.sandbox.whole import whole
from core import display
from core.errors import SaysoError
from core.plans import ToolStep
from core.ports import Ended, Ending, Hear, Secrets

_GONE = 2.0
"""Seconds in which the SDK lets go of what was cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRunner:
    """Calls tools; of a server that says something else than when it was accepted it calls nothing."""

    nursery: Nursery
    secrets: Secrets
    drifted: set[str]
    """The servers of which that is known."""

    def obstacle(self, step: ToolStep) -> str | None:
        """See the port."""
        sentence = next(self._obstacles(step), None)
        return sentence and self.nursery.redactor.text(sentence)

    async def run(self, step: ToolStep, *, step_id: str, hear: Hear | None = None) -> Ended:
        """See the port. Cancelling this kills the server."""
        del hear
        if sentence := self.obstacle(step):
            return _not_started(sentence)
        try:
            values = await self.secrets.values(step.secrets)
        except SaysoError as error:
            return _not_started(error.shown)
        try:
            async with self.nursery.child(step.argv, _bounds(step), values, step_id) as child:
                return self._shown(await self._called(child, step))
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", "something in it cannot be passed on")
            return _not_started(f"The server {step.server} could not be started: {why}.")

    def _obstacles(self, step: ToolStep) -> Iterator[str]:
        box, server = self.nursery.box, display.one_line(step.server, 80)
        if not step.argv:
            yield (
                f"There is no tool {display.one_line(step.tool, 80)} of the MCP server {server} that "
                "was accepted. An operator has to look at `mcp.servers` in sayso.yml."
            )
            return
        if step.server in self.drifted:
            yield (
                f"The MCP server {server} says something else of its tools than when they were "
                f"accepted. An operator has to look with `sayso mcp probe {server}`."
            )
        if not box.folder.is_dir():
            yield "The working folder is missing."
        if sentence := box.obstacle():
            yield sentence
        if not box.program(step.argv[0], _bounds(step)):
            yield f"There is no program {display.one_line(step.argv[0], 80)} that may be started."
        yield from filter(None, map(self.secrets.fault, step.secrets))

    async def _called(self, child: Child, step: ToolStep) -> Ended:
        """Make the call in a task of its own: what ends it inside is no cancelling of ours."""
        from adapters.mcp import calls, servers  # noqa: PLC0415 - heavy, and used nowhere else

        call = calls.CallOfTool(step=step)
        asking = servers.client(child.lines, child.answers)
        task = asyncio.create_task(call.made(asking))
        try:
            await asyncio.wait({task}, timeout=step.timeout_ms / 1000)
        finally:
            late = not task.done()
            task.cancel()  # does nothing to one that is done
            await asyncio.wait({task}, timeout=_GONE)
        if call.drifted:
            self.drifted.add(step.server)
        if late:
            return call.ended or _late(step, sent=call.sent)
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        return call.failed(error) if error else task.result()

    def _shown(self, ended: Ended) -> Ended:
        """Return an end with a text that is fit for people: masked, and cut where it is long."""
        masking = Masking(redactor=self.nursery.redactor)
        text = Output(spare=masking.spare(), more=lambda: None)
        text.take(display.sound(ended.output).encode())
        return replace(
            ended,
            output=masking.without_stump(text.shown(masking.clean)),
            whole=partial(whole, text.everything, masking) if text.is_cut else None,
        )


def _late(step: ToolStep, *, sent: bool) -> Ended:
    if sent:
        return Ended(ending=Ending.TIMED_OUT, exit_code=None, output="")
    return _not_started(f"The MCP server {step.server} took too long to begin.")


def _not_started(sentence: str) -> Ended:
    return Ended(
        ending=Ending.NOT_STARTED, exit_code=None, output=sentence, note="nothing was sent"
    )


def _bounds(step: ToolStep) -> Bounds:
    return Bounds(
        memory_bytes=step.memory_bytes, seconds=step.timeout_ms / 1000, network=step.network
    )
