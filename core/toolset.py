"""A toolset: what the agent can do besides running runbooks, offered on up to four channels."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from core.tools import Caller, Tool

State: TypeAlias = Callable[[Caller], Awaitable[str]]
"""Returns what is so now, whole, a line for each thing; what a model is sent is what changed.

Each line says all about its thing, since their order means nothing.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolset:
    """What one toolset offers. Each part is for one channel; an empty part offers nothing there."""

    name: str
    tools: tuple[Tool, ...] = ()
    """Channel `tool`: a model may call these."""
    prompt: str = ""
    """Channel `prompt`: stands in the instructions, the same for every conversation."""
    state: State | None = None
    """Channel `context`."""
    commands: tuple[Tool, ...] = ()
    """Channel `command`: a person may type these."""
