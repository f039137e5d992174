"""Runs one program to its end: in a box, with an exact environment, its output kept and masked."""

import os
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
from core import display
from core.ports import Ended, Ending, Hear
from core.redaction import Redactor


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What is to be started, and within what bounds."""

    argv: tuple[str, ...]
    timeout_ms: int
    memory_bytes: int
    secrets: tuple[str, ...]
    """Names only."""
    network: bool = False
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
    secrets: Mapping[str, str]
    """What programs may name, each with its value."""
    redactor: Redactor

    def obstacle(self, program: Program) -> str | None:
        """Say what would keep it from starting, in a sentence; None where nothing would."""
        sentence = next(self._obstacles(program), None)
        return sentence and self.redactor.text(sentence)

    async def run(self, program: Program, *, step_id: str, hear: Hear | None = None) -> Ended:
        """Run it to its end, as `core.ports.Runner` says."""
        if sentence := self.obstacle(program):
            return _not_started(sentence)
        masking = Masking(secrets=self.secrets, redactor=self.redactor)
        output = Output(spare=masking.spare(), more=lambda: hear(tail) if hear else None)
        tail = partial(masking.tail, output)
        try:
            command = await started(
                partial(self._process, program, step_id), step_id, output, kept=self.box.keeps
            )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", "something in it cannot be passed on")
            return _not_started(f"The command could not be started: {why}.")
        try:
            ending = await command.ending(program.seconds)
        finally:
            await to_its_end(command.end())
        return Ended(
            ending=ending,
            exit_code=command.process.returncode if ending is Ending.EXITED else None,
            output=masking.without_stump(output.shown(masking.clean)),
        )

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
        for name in program.secrets:
            if not (self.secrets.get(name) and _passable(self.secrets[name])):
                yield f"The secret {display.one_line(name, 80)} has no value that can be passed on."

    def _process(self, program: Program, step_id: str, output: int) -> subprocess.Popen[bytes]:
        named = {name: self.secrets[name] for name in program.secrets}
        with _input(program.given) as given:
            return subprocess.Popen(  # noqa: S603  # running approved arguments is what this is for
                self.box.wrapped(program.argv, program.bounds),
                cwd=self.box.folder,
                env=environment(self.box, step_id, named),
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
