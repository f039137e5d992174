"""Starts an MCP server in a box, and ends it with all that it started."""

import os
import subprocess
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from adapters.mcp.lines import Answers, Lines, heard_from, told_to
from adapters.sandbox.boxes import Bounds, Box, environment
from adapters.sandbox.commands import Command, started, to_its_end
from adapters.sandbox.output import Masking, Output
from core.redaction import Redactor

_Start: TypeAlias = Callable[[tuple[int, int], int], "subprocess.Popen[bytes]"]
"""Starts it with its standard input and output, and with where its complaints go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """A server that runs."""

    command: Command
    lines: Lines
    answers: Answers
    printed: Output
    masking: Masking

    def complaints(self) -> str:
        """Return what it printed on standard error, as people may see it."""
        return self.masking.without_stump(self.printed.shown(self.masking.clean)).rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Nursery:
    """Where servers run."""

    box: Box
    redactor: Redactor

    @asynccontextmanager
    async def child(
        self, argv: Sequence[str], bounds: Bounds, secrets: Mapping[str, str], step_id: str
    ) -> AsyncGenerator[Child]:
        """Give a server that was started; raise `OSError` or `ValueError` where it could not be."""
        masking = Masking(redactor=self.redactor)
        printed = Output(spare=masking.spare(), more=lambda: None)
        process = partial(
            self._process, self.box.wrapped(argv, bounds), environment(self.box, step_id, secrets)
        )
        command, (hear, tell) = await self._started(process, step_id, printed)
        lines, answers = await heard_from(hear), await told_to(tell)
        try:
            yield Child(
                command=command, lines=lines, answers=answers, printed=printed, masking=masking
            )
        finally:
            answers.close()
            lines.close()
            await to_its_end(command.end())

    async def _started(
        self, process: _Start, step_id: str, printed: Output
    ) -> tuple[Command, tuple[int, int]]:
        """Return a server that was started, and our ends of its pipes."""
        theirs, tell = os.pipe()
        hear, ours = os.pipe()
        try:
            start = partial(process, (theirs, ours))
            command = await started(start, step_id, printed, kept=self.box.keeps)
        except BaseException:
            os.close(tell)
            os.close(hear)
            raise
        finally:
            os.close(theirs)
            os.close(ours)
        return command, (hear, tell)

    def _process(
        self,
        words: list[bytes],
        variables: Mapping[str, str],
        ends: tuple[int, int],
        printed: int,
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603  # what was accepted is what runs
            words,
            cwd=self.box.folder,
            env=variables,
            stdin=ends[0],
            stdout=ends[1],
            stderr=printed,
            start_new_session=True,
        )
