"""Other people's code at its worst: it never comes back, or raises what nobody expects."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn, TypeAlias

from tests.fakes.runner import for_ever

Fault: TypeAlias = Callable[..., Any]
"""What it returns is awaited."""


async def hangs(*_: object) -> NoReturn:
    """Wait for ever, and end where it is cancelled."""
    await for_ever()
    raise AssertionError


async def stays(*_: object) -> Any:  # noqa: ANN401 - as a check, a look or a state
    """Go on for two seconds where it is cancelled, then find nothing wrong."""
    with suppress(asyncio.CancelledError):
        await for_ever()
    await asyncio.sleep(2)
    return None


def raises(error: BaseException) -> Fault:
    """Return what raises this."""

    async def fails(*_: object) -> NoReturn:
        raise error

    return fails


def at_once(error: BaseException) -> Fault:
    """Return what raises this before there is anything to await."""

    def fails(*_: object) -> NoReturn:
        raise error

    return fails


FAULTS: tuple[BaseException, ...] = (
    ValueError("4711"),
    TimeoutError("4711"),
    BaseExceptionGroup("4711", [KeyboardInterrupt()]),
    GeneratorExit("4711"),
    SystemExit("4711"),
    KeyboardInterrupt("4711"),
    asyncio.CancelledError("4711"),
)
"""What is none of Sayso's own errors."""
