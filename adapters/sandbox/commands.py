"""A command that was started: who listens to it, and how it and all that it started come to an end."""

import asyncio
import math
import os
import signal
import subprocess
from collections.abc import Callable, Coroutine
from dataclasses import dataclass

from adapters import processes
from adapters.sandbox.output import CAP, Output
from core.ports import Ending

_GRACE = 1.0
_DRAIN = 0.5
_GONE = 2.0
_TICK = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command that was started, and what listens to it."""

    process: subprocess.Popen[bytes]
    step_id: str
    output: Output
    listening: asyncio.Task[None]
    kept: bool
    """Whether the process is a sandbox that keeps the command: where it ends, everything in it does."""

    async def ending(self, seconds: float) -> Ending:
        """Wait until it exits by itself or has to be stopped, and say which."""
        await _until(self._over, seconds)
        if not self._over():
            return Ending.TIMED_OUT
        await self._silence()
        return Ending.TOO_MUCH_OUTPUT if self.output.total > CAP else Ending.EXITED

    async def end(self) -> None:
        """Leave nothing of it running: ask it to stop, then kill it and all that it started."""
        try:
            if not self._exited():
                self._ask()
                await _until(self._exited, _GRACE)
        finally:
            # Also where the loop ends while we still wait: nobody else cancels this.
            processes.signal_group(self.process.pid, signal.SIGKILL)
            await _until(self._exited, math.inf)
            await _until(lambda: not processes.kill_step(self.step_id), _GONE)
            await self._silence()
            self.listening.cancel()
            await asyncio.wait({self.listening})

    def _ask(self) -> None:
        if self.kept:
            # Asking the sandbox itself would end it at once, and the command would never know why.
            processes.ask_step(self.step_id, keeper=self.process.pid)
        else:
            processes.signal_group(self.process.pid, signal.SIGTERM)

    def _exited(self) -> bool:
        return self.process.poll() is not None

    def _over(self) -> bool:
        return self._exited() or self.output.total > CAP

    async def _silence(self) -> None:
        """Wait a little for the end of the output, which somebody left behind may hold open."""
        await asyncio.wait({self.listening}, timeout=_DRAIN)


async def started(
    process: Callable[[int], subprocess.Popen[bytes]], step_id: str, output: Output, *, kept: bool
) -> Command:
    """Start a command that prints into the pipe it is given; where this raises, nothing was started."""
    reader = asyncio.StreamReader()
    ours, theirs = os.pipe()
    try:
        # Our own pipe, and open before the command is: Process.wait() of Python 3.11 and 3.12
        # waits for everybody who holds asyncio's own.
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(ours, "rb", buffering=0)
        )
        begun = process(theirs)
    finally:
        # Where no command holds it either, this ends our side as well.
        os.close(theirs)
    listening = asyncio.create_task(output.listen(reader, transport))
    return Command(process=begun, step_id=step_id, output=output, listening=listening, kept=kept)


async def to_its_end(work: Coroutine[None, None, None]) -> None:
    """Wait for this however often we are cancelled meanwhile, and only then let that out."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled:
        raise cancelled
    task.result()


async def _until(over: Callable[[], bool], seconds: float) -> None:
    """Wait until this is so, or for so long."""
    # Looking now and then needs no thread, no descriptor and no watcher of children, so nothing can
    # fail between the start of a command and our knowing how to end it.
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while not over() and loop.time() < deadline:  # noqa: ASYNC110  # on purpose
        await asyncio.sleep(_TICK)
