"""Runs the steps of runbooks: without a sandbox, by explicit setting only.

A command gets its arguments as they are, an exact environment and its own session; nothing that it
starts outlives it, as far as a process can tell without a namespace of its own.
"""

import asyncio
import math
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from adapters import processes
from core import display
from core.plans import RunStep
from core.ports import Ended, Ending, Hear
from core.redaction import MASK, SHORTEST, Redactor

PATH = "/usr/bin:/bin"
"""Where programs are found by their names alone."""
_KEPT = 16 * 1024  # bytes of output that are shown from either end
_MARK = 32
"""Bytes at either end that make room for the words which say how much was left out."""
_CAP = 8 * 1024 * 1024
_SPARE = 4096
"""Kept beyond what is shown, because a secret that was cut in two there is not recognised."""
_GRACE = 1.0
_DRAIN = 0.5
_GONE = 2.0
_TICK = 0.01


@dataclass(slots=True, kw_only=True)
class _Output:
    """What a command prints: its head and tail, and how much there was."""

    spare: int
    more: Callable[[], None]
    """Is called whenever there is more of it."""
    total: int = 0
    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)

    async def listen(self, reader: asyncio.StreamReader, pipe: asyncio.ReadTransport) -> None:
        """Take what comes until everybody has closed the pipe, or it was too much."""
        keep = _KEPT + self.spare
        try:
            while self.total <= _CAP and (data := await reader.read(65536)):
                self.total += len(data)
                self.head += data[: keep - len(self.head)]
                self.tail += data
                del self.tail[:-keep]
                self.more()
        finally:
            pipe.close()

    def shown(self, clean: Callable[[bytearray], str]) -> str:
        """Return what people may see; a secret that was cut in two is never in it."""
        if self.total <= 2 * _KEPT:
            return clean(self.head[: self.total - len(self.tail)] + self.tail)
        # Masking comes first. What it missed because of the cut ends within the spare characters.
        head = clean(self.head)[: -self.spare - _MARK]
        tail = clean(self.tail)[self.spare + _MARK :]
        return f"{head}\n[{self.total - 2 * (_KEPT - _MARK)} bytes left out]\n{tail}"

    def whole_lines(self, clean: Callable[[bytearray], str]) -> str:
        """Return the last lines so far that people may see: a secret within a line is whole there."""
        text = clean(self.tail[: self.tail.rfind(b"\n") + 1])
        # As in `shown`; and what a line lost in front is no line any more.
        return text[self.spare :].partition("\n")[2] if self.total > len(self.tail) else text


@dataclass(frozen=True, slots=True, kw_only=True)
class _Command:
    """A command that was started, and what listens to it."""

    process: subprocess.Popen[bytes]
    step_id: str
    output: _Output
    listening: asyncio.Task[None]

    async def ending(self, seconds: float) -> Ending:
        """Wait until it exits by itself or has to be stopped, and say which."""
        await _until(self._over, seconds)
        if not self._over():
            return Ending.TIMED_OUT
        await self._silence()
        return Ending.TOO_MUCH_OUTPUT if self.output.total > _CAP else Ending.EXITED

    async def end(self) -> None:
        """Leave nothing of it running: ask it to stop, then kill it and all that it started."""
        try:
            if not self._exited():
                processes.signal_group(self.process.pid, signal.SIGTERM)
                await _until(self._exited, _GRACE)
        finally:
            # Also where the loop ends while we still wait: nobody else cancels this.
            processes.signal_group(self.process.pid, signal.SIGKILL)
            await _until(self._exited, math.inf)
            await _until(lambda: not processes.kill_step(self.step_id), _GONE)
            await self._silence()
            self.listening.cancel()
            await asyncio.wait({self.listening})

    def _exited(self) -> bool:
        return self.process.poll() is not None

    def _over(self) -> bool:
        return self._exited() or self.output.total > _CAP

    async def _silence(self) -> None:
        """Wait a little for the end of the output, which somebody left behind may hold open."""
        await asyncio.wait({self.listening}, timeout=_DRAIN)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainRunner:
    """Runs a step with all that this process may do: any file, any host."""

    backend = "none"

    folder: Path
    secrets: Mapping[str, str]
    """What steps may name, each with its value."""
    redactor: Redactor

    def obstacle(self, step: RunStep) -> str | None:
        """Say what would keep this step from starting, in a sentence; None where nothing would."""
        sentence = next(self._obstacles(step), None)
        return sentence and self.redactor.text(sentence)

    async def run(self, step: RunStep, *, step_id: str, hear: Hear | None = None) -> Ended:
        """See the port."""
        if sentence := self.obstacle(step):
            return _not_started(sentence)
        try:
            command = await self._start(step, step_id, hear)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", "something in it cannot be passed on")
            return _not_started(f"The command could not be started: {why}.")
        try:
            ending = await command.ending(step.timeout_ms / 1000)
        finally:
            await _to_its_end(command.end())
        return Ended(
            ending=ending,
            exit_code=command.process.returncode if ending is Ending.EXITED else None,
            output=self._without_stump(command.output.shown(self._clean)),
        )

    def _obstacles(self, step: RunStep) -> Iterator[str]:
        if not step.argv or not all(map(_passable, step.argv)):
            yield "The command holds nothing, or something that no program can be given."
        if not self.folder.is_dir():
            yield "The working folder is missing."
        name = step.argv[0]
        if not program(name, self.folder):
            yield f"There is no program {display.one_line(name, 80)} that may be started."
        for name in step.secrets:
            if not (self.secrets.get(name) and _passable(self.secrets[name])):
                yield f"The secret {display.one_line(name, 80)} has no value that can be passed on."

    async def _start(self, step: RunStep, step_id: str, hear: Hear | None) -> _Command:
        """Start the command; where this raises or is cancelled, nothing was started."""
        reader = asyncio.StreamReader()
        ours, theirs = os.pipe()
        try:
            # Our own pipe, and open before the command is: Process.wait() of Python 3.11 and 3.12
            # waits for everybody who holds asyncio's own.
            transport, _ = await asyncio.get_running_loop().connect_read_pipe(
                lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(ours, "rb", buffering=0)
            )
            process = self._process(step, step_id, theirs)
        finally:
            # Where no command holds it either, this ends our side as well.
            os.close(theirs)
        output = _Output(spare=self._spare(), more=lambda: hear(tail) if hear else None)
        tail = partial(self._tail, output)
        listening = asyncio.create_task(output.listen(reader, transport))
        return _Command(process=process, step_id=step_id, output=output, listening=listening)

    def _process(self, step: RunStep, step_id: str, output: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603  # running approved arguments is what this is for
            [*processes.wrapper(step.memory_bytes), *(word.encode() for word in step.argv)],
            cwd=self.folder,
            env=self._environment(step, step_id),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )

    def _environment(self, step: RunStep, step_id: str) -> dict[str, str]:
        named = {name: self.secrets[name] for name in step.secrets}
        # These come last: a secret called PATH must not choose which program runs.
        ours = {"PATH": PATH, "LANG": "C.UTF-8", "HOME": str(self.folder), processes.STEP: step_id}
        return named | ours

    def _clean(self, output: bytearray) -> str:
        # Twice: making control characters visible changes a secret that holds some, and it turns
        # the line ends of a terminal into those that a secret of several lines has.
        text = self.redactor.text(output.decode("utf-8", "replace"))
        return self.redactor.text(display.output(text))

    def _tail(self, output: _Output) -> tuple[str, ...]:
        """Return whole lines, without those at the end that begin a secret of several lines."""
        text = output.whole_lines(self._clean)
        begun = (
            length
            for secret in self.secrets.values()
            for form in (secret, display.output(secret))
            for length in range(1, len(form))
            if form[length - 1] == "\n" and text.endswith(form[:length])
        )
        end = len(text) - max(begun, default=0)
        return tuple(text[: text.rfind("\n", 0, end) + 1].splitlines())

    def _without_stump(self, text: str) -> str:
        """Mask the beginning of a secret at the very end: killing a command may cut what it prints."""
        stumps = (
            length
            for secret in self.secrets.values()
            for length in range(SHORTEST, len(secret))
            if text.endswith(secret[:length])
        )
        longest = max(stumps, default=0)
        return f"{text[:-longest]}{MASK}" if longest else text

    def _spare(self) -> int:
        # A byte of a secret takes up to six characters (\u001b) by the time that it is shown.
        longest = max((len(value.encode()) for value in self.secrets.values()), default=0)
        return max(_SPARE, 6 * longest)


def program(name: str, folder: Path) -> str | None:
    """Return the file that a command in this folder starts by this name; None where there is none."""
    # One with a slash is looked up in the folder, because the command starts there.
    return shutil.which(folder / name if "/" in name else name, path=PATH)


async def _to_its_end(work: Coroutine[None, None, None]) -> None:
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


def _passable(text: str) -> bool:
    """Tell whether a program can be given this, exactly as it is."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


def _not_started(sentence: str) -> Ended:
    return Ended(ending=Ending.NOT_STARTED, exit_code=None, output=sentence)


async def _until(over: Callable[[], bool], seconds: float) -> None:
    """Wait until this is so, or for so long."""
    # Looking now and then needs no thread, no descriptor and no watcher of children, so nothing can
    # fail between the start of a command and our knowing how to end it.
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while not over() and loop.time() < deadline:  # noqa: ASYNC110  # on purpose
        await asyncio.sleep(_TICK)
