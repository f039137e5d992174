"""Runs the steps of runbooks that call a Python function."""

import hashlib
import inspect
from dataclasses import dataclass

from adapters.python_steps import child
from adapters.python_steps.modules import Modules
from adapters.sandbox.programs import Program, Programs
from core.canonical import encode
from core.errors import Unavailable
from core.plans import PythonStep
from core.ports import Ended, Ending, Hear

_ISOLATED = ("-I", "-B", "-u", "-X", "utf8", "-c")
"""Nothing of the environment or the folder decides what is imported; no cache is written beside it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionRunner:
    """Calls each function in an interpreter of its own, in the box that its programs run in."""

    programs: Programs
    modules: Modules

    def obstacle(self, step: PythonStep) -> str | None:
        """See the port."""
        fault = self.modules.fault(step.function, step.arguments.keys())
        return fault or self._unseen(step) or self.programs.obstacle(self._program(step))

    async def run(self, step: PythonStep, *, step_id: str, hear: Hear | None = None) -> Ended:
        """See the port; code that is no longer what was approved is not called."""
        if sentence := self.obstacle(step) or self._changed(step):
            return Ended(ending=Ending.NOT_STARTED, exit_code=None, output=sentence)
        return await self.programs.run(self._program(step), step_id=step_id, hear=hear)

    def _unseen(self, step: PythonStep) -> str | None:
        program, box = self._program(step), self.programs.box
        if box.obstacle() or box.program(program.argv[0], program.bounds):
            return None
        return (
            "Sayso's Python cannot be started in the sandbox: it is not there, or what no step may "
            "see lies in its folder. An operator has to move one of them."
        )

    def _changed(self, step: PythonStep) -> str | None:
        """Say that the code is another; a read is bound to none, since nobody approved it."""
        if step.source is None:
            return None
        try:
            content = self.modules.content(step.function) or b""
        except Unavailable as error:
            return error.shown
        if hashlib.sha256(content).hexdigest() == step.source:
            return None
        return f"The code of {step.function} is not what was approved, so it was not called."

    def _program(self, step: PythonStep) -> Program:
        interpreter = self.modules.interpreter
        file = self.modules.file(step.function)
        return Program(
            argv=(
                str(interpreter.executable),
                *_ISOLATED,
                _CHILD,
                step.function,
                str(file),
            ),
            timeout_ms=step.timeout_ms,
            memory_bytes=step.memory_bytes,
            secrets=step.secrets,
            network=step.network,
            output_bytes=step.output_bytes,
            readable=interpreter.prefixes,
            given=encode(dict(step.arguments)).encode(),
        )


_CHILD = inspect.getsource(child)
