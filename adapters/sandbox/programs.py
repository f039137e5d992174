"""Runs one program to its end: in a box, with an exact environment, its output kept and masked."""

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from adapters.sandbox.boxes import Bounds, Box, environment
from adapters.sandbox.commands import started, to_its_end
from adapters.sandbox.output import Masking, Output
from adapters.sandbox.whole import all_of
from core import display
from core.errors import SaysoError
from core.ports import Ended, Ending, Hear, Secrets
from core.redaction import Redactor
from core.sizes import OUTPUT

_KILLED = 128 + signal.SIGKILL
"""What a sandbox exits with where what it keeps was killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What is to be started, and within what bounds."""

    argv: tuple[str, ...]
    timeout_ms: int
    memory_bytes: int
    secrets: tuple[str, ...]
    """Names only."""
    network: bool = False
    output_bytes: int = OUTPUT
    readable: tuple[Path, ...] = ()
    """See `Bounds`."""
    given: bytes = b""
    """What it can read from its standard input."""

    @property
    def seconds(self) -> float:
        """Return for how long it may run."""
        return self.timeout_ms / 1000

    @property
    def bounds(self) -> Bounds:
        """Return what it may take and reach."""
        return Bounds(
            memory_bytes=self.memory_bytes,
            seconds=self.seconds,
            network=self.network,
            readable=self.readable,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Programs:
    """Runs programs; nothing that one of them starts outlives it, as far as its box can tell."""

    box: Box
    secrets: Secrets
    """What programs may name."""
    redactor: Redactor

    def obstacle(self, program: Program) -> str | None:
        """Say what would keep it from starting, in a sentence; None where nothing would."""
        sentence = next(self._obstacles(program), None)
        return sentence and self.redactor.text(sentence)

    async def run(self, program: Program, *, step_id: str, hear: Hear | None = None) -> Ended:
        """Run it to its end, as `core.ports.Runner` says."""
        if sentence := self.obstacle(program):
            return _not_started(sentence)
        try:
            values = await self.secrets.values(program.secrets)
        except SaysoError as error:
            return _not_started(error.shown)
        masking = Masking(redactor=self.redactor)
        output = Output(
            spare=masking.spare(),
            most=program.output_bytes,
            more=lambda: hear(tail) if hear else None,
        )
        tail = partial(masking.tail, output)
        process = partial(self._process, program, environment(self.box, step_id, values))
        try:
            command = await started(process, step_id, output, kept=self.box.keeps)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", "something in it cannot be passed on")
            return _not_started(f"The command could not be started: {why}.")
        try:
            ending = await command.ending(program.seconds)
        finally:
            await to_its_end(command.end())
        return Ended(
            ending=ending,
            exit_code=self._code(command.process.returncode) if ending is Ending.EXITED else None,
            output=masking.without_stump(output.shown(masking.clean)),
            whole=all_of(output, masking),
        )

    def _code(self, code: int) -> int:
        """Return how a program exited; one that was killed from outside must not pass for one that failed."""
        # A signal of whatever kind that ends the sandbox itself kills what it keeps.
        return -signal.SIGKILL if self.box.keeps and (code == _KILLED or code < 0) else code

    def _obstacles(self, program: Program) -> Iterator[str]:
        if not program.argv or not all(map(_passable, program.argv)):
            yield "The command holds nothing, or something that no program can be given."
        if not self.box.folder.is_dir():
            yield "The working folder is missing."
        if sentence := self.box.obstacle():
            yield sentence
        name = program.argv[0]
        if not self.box.program(name, program.bounds):
            yield f"There is no program {display.one_line(name, 80)} that may be started."
        yield from filter(None, map(self.secrets.fault, program.secrets))

    def _process(
        self, program: Program, variables: Mapping[str, str], output: int
    ) -> subprocess.Popen[bytes]:
        with _input(program.given) as given:
            return subprocess.Popen(  # noqa: S603  # running approved arguments is what this is for
                self.box.wrapped(program.argv, program.bounds),
                cwd=self.box.folder,
                env=variables,
                stdin=given,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )


def _input(given: bytes) -> IO[bytes]:
    """Return a file that holds this, of which nobody has read anything yet."""
    if not given:
        return Path(os.devnull).open("rb")
    # A file and no pipe: nobody has to write while the program reads, or does not.
    file = TemporaryFile()  # noqa: SIM115  # whoever asked for it closes it
    file.write(given)
    file.seek(0)
    return file


def _passable(text: str) -> bool:
    """Tell whether a program can be given this, exactly as it is."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


def _not_started(sentence: str) -> Ended:
    return Ended(ending=Ending.NOT_STARTED, exit_code=None, output=sentence)
