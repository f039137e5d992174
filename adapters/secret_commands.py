"""A secret that a command prints, such as a vault's: run anew whenever the secret is needed."""

import asyncio
import os
import secrets
import shutil
import signal
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from adapters import processes
from core.errors import Unavailable
from core.exact_values import LONGEST

PATH = "/usr/bin:/bin"
"""Where programs are found by their names alone."""
_MEMORY = 4 * 1024**3
"""Bytes of address space: a program that collects garbage reserves much and uses little."""
_MOST = 8 * LONGEST
"""Bytes that are read: more than the longest secret has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretCommand:
    """What prints one secret. It may do all that this process may: it has to prove who we are."""

    argv: tuple[str, ...]
    folder: Path
    """Where it runs."""
    timeout: timedelta
    environment: Mapping[str, str]
    """What it gets of our own environment."""

    @property
    def is_there(self) -> bool:
        """Return whether there is such a program."""
        name = self.argv[0]
        return bool(shutil.which(self.folder / name if "/" in name else name, path=PATH))

    async def read(self) -> str:
        """Return what it prints, without white space around it.

        Raises `Unavailable` with a sentence that follows the name of the secret; what it printed,
        also to its standard error, is nowhere in it, nor anywhere else.
        """
        try:
            async with asyncio.timeout(self.timeout.total_seconds()):
                code, printed = await self._ended()
        except TimeoutError as error:
            raise Unavailable("Its command ran longer than its time limit.") from error
        except (OSError, ValueError) as error:
            raise Unavailable("Its command could not be started.", error=repr(error)) from error
        if code:
            raise Unavailable(f"Its command ended with exit code {code}.")
        try:
            return printed.decode().strip()
        except UnicodeDecodeError:
            # Not as the cause: it holds the bytes.
            raise Unavailable("What its command printed is not text.") from None

    async def _ended(self) -> tuple[int, bytes]:
        """Return the exit code and what it printed."""
        reader, printed = asyncio.StreamReader(), b""
        async with _pipe(reader) as theirs, self._process(theirs) as process:
            while more := await reader.read(_MOST):
                printed += more
                if len(printed) > _MOST:
                    raise Unavailable("Its command printed more than a secret may have.")
            return await process.wait(), printed

    @asynccontextmanager
    async def _process(self, output: int) -> AsyncGenerator[Process]:
        """Have it run, and leave nothing of it; the descriptor is closed on our side."""
        mark = f"secret_{secrets.token_hex(8)}"
        try:
            process = await self._started(mark, output)
        finally:
            os.close(output)
        try:
            yield process
        finally:
            processes.signal_group(process.pid, signal.SIGKILL)
            processes.kill_step(mark)
            await process.wait()

    async def _started(self, mark: str, output: int) -> Process:
        return await asyncio.create_subprocess_exec(
            *processes.wrapper({"as": _MEMORY, "core": 0}),
            *self.argv,
            cwd=self.folder,
            # These come last: what is passed on must not choose which program runs.
            env={**self.environment, "PATH": PATH, "LANG": "C.UTF-8", processes.STEP: mark},
            stdin=DEVNULL,
            stdout=output,
            stderr=DEVNULL,
            start_new_session=True,
        )


@asynccontextmanager
async def _pipe(reader: asyncio.StreamReader) -> AsyncGenerator[int]:
    """Have whatever is written to this descriptor be read; whoever gets it closes it."""
    ours, theirs = os.pipe()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(ours, "rb", buffering=0)
    )
    try:
        yield theirs
    finally:
        transport.close()
