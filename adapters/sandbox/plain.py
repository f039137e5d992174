"""Runs the steps of runbooks: without a sandbox, by explicit setting only.

A command gets its arguments as they are, an exact environment and its own session; nothing that it
starts outlives it, as far as a process can tell without a namespace of its own.
"""

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from adapters import processes
from adapters.sandbox.commands import started, to_its_end
from adapters.sandbox.output import Masking, Output
from adapters.sandbox.whole import whole
from core import display
from core.errors import SaysoError
from core.plans import RunStep
from core.ports import Ended, Ending, Hear, Secrets
from core.redaction import Redactor

PATH = "/usr/bin:/bin"
"""Where programs are found by their names alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainRunner:
    """Runs a step with all that this process may do: any file, any host."""

    backend = "none"

    folder: Path
    secrets: Secrets
    """What steps may name."""
    redactor: Redactor

    @property
    def _masking(self) -> Masking:
        return Masking(redactor=self.redactor)

    def obstacle(self, step: RunStep) -> str | None:
        """Say what would keep this step from starting, in a sentence; None where nothing would."""
        sentence = next(self._obstacles(step), None)
        return sentence and self.redactor.text(sentence)

    async def run(self, step: RunStep, *, step_id: str, hear: Hear | None = None) -> Ended:
        """See the port."""
        if sentence := self.obstacle(step):
            return _not_started(sentence)
        try:
            values = await self.secrets.values(step.secrets)
        except SaysoError as error:
            return _not_started(error.shown)
        masking = self._masking
        output = Output(spare=masking.spare(), more=lambda: hear(tail) if hear else None)
        tail = partial(masking.tail, output)
        process = partial(self._process, step, self._environment(values, step_id))
        try:
            command = await started(process, step_id, output)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", "something in it cannot be passed on")
            return _not_started(f"The command could not be started: {why}.")
        try:
            ending = await command.ending(step.timeout_ms / 1000)
        finally:
            await to_its_end(command.end())
        return Ended(
            ending=ending,
            exit_code=command.process.returncode if ending is Ending.EXITED else None,
            output=masking.without_stump(output.shown(masking.clean)),
            whole=partial(whole, output.everything, masking) if output.is_cut else None,
        )

    def _obstacles(self, step: RunStep) -> Iterator[str]:
        if not step.argv or not all(map(_passable, step.argv)):
            yield "The command holds nothing, or something that no program can be given."
        if not self.folder.is_dir():
            yield "The working folder is missing."
        name = step.argv[0]
        if not program(name, self.folder):
            yield f"There is no program {display.one_line(name, 80)} that may be started."
        yield from filter(None, map(self.secrets.fault, step.secrets))

    def _process(
        self, step: RunStep, environment: Mapping[str, str], output: int
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603  # running approved arguments is what this is for
            [*processes.wrapper(step.memory_bytes), *(word.encode() for word in step.argv)],
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )

    def _environment(self, named: Mapping[str, str], step_id: str) -> dict[str, str]:
        # These come last: a secret called PATH must not choose which program runs.
        ours = {"PATH": PATH, "LANG": "C.UTF-8", "HOME": str(self.folder), processes.STEP: step_id}
        return {**named, **ours}


def program(name: str, folder: Path) -> str | None:
    """Return the file that a command in this folder starts by this name; None where there is none."""
    # One with a slash is looked up in the folder, because the command starts there.
    return shutil.which(folder / name if "/" in name else name, path=PATH)


def _passable(text: str) -> bool:
    """Tell whether a program can be given this, exactly as it is."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


def _not_started(sentence: str) -> Ended:
    return Ended(ending=Ending.NOT_STARTED, exit_code=None, output=sentence)
