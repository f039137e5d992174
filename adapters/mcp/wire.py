"""The two ends of this process that an MCP host holds: standard input and output."""

import asyncio
import os
import stat
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from adapters.mcp.lines import Answers, Lines, heard_from, told_to
from core.errors import Refused

_NO_HOST = (
    "There is no MCP host at the other end. Have one start this: its command is `sayso`, with the "
    "arguments `mcp serve`."
)


@asynccontextmanager
async def standard(stop: asyncio.Event) -> AsyncGenerator[tuple[Lines, Answers]]:
    """Give both ends; after `stop` nothing more is heard.

    Whatever else is printed meanwhile, or later, goes to standard error.
    """
    if not all(map(_is_pipe, (0, 1))):
        raise Refused(_NO_HOST)
    given, told = os.dup(0), os.dup(1)
    _divert()
    lines, answers = await heard_from(given), await told_to(told)
    ending = asyncio.create_task(_ended(stop, lines))
    try:
        yield lines, answers
    finally:
        ending.cancel()
        lines.close()
        answers.close()


async def _ended(stop: asyncio.Event, lines: Lines) -> None:
    await stop.wait()
    lines.close()


def _is_pipe(end: int) -> bool:
    mode = os.fstat(end).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _divert() -> None:
    sys.stdout.flush()
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    os.dup2(2, 1)
