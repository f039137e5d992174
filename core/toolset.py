"""A toolset: what the agent can do besides running runbooks, offered on up to four channels."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, ClassVar, TypeAlias, cast

from pydantic import BaseModel, ConfigDict, field_validator

from core.errors import Invalid, SaysoError
from core.tools import Caller, Tool
from core.waiting import AT_ONCE

State: TypeAlias = Callable[[Caller], Awaitable[str]]
"""Returns what is so now, whole, a line for each thing; what a model is sent is what changed.

Each line says all about its thing, since their order means nothing.
"""


class Channel(StrEnum):
    """How a toolset reaches a model or a person."""

    TOOL = "tool"
    """A model may call it."""
    PROMPT = "prompt"
    """It stands in the instructions."""
    CONTEXT = "context"
    """What is so now is told when it changed."""
    COMMAND = "command"
    """A person may type it."""


def _serving(schema: dict[str, Any], model: "type[Exposure]") -> None:
    """Let a JSON schema name those channels alone that are served."""
    schema["properties"]["expose"]["anyOf"][0]["items"] = {"enum": [*model.serves]}


class Exposure(BaseModel):
    """The configuration of a toolset: frozen, without unknown names, and with its channels.

    A configuration of its own names the toolset and the channels that it serves.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_extra=_serving)

    toolset: ClassVar[str]
    serves: ClassVar[tuple[Channel, ...]]

    expose: tuple[Channel, ...] | None = None
    """Everything that it serves, unless some are named; an empty list offers nothing."""

    @field_validator("expose")
    @classmethod
    def _are_served(cls, expose: tuple[Channel, ...] | None) -> tuple[Channel, ...] | None:
        for channel in expose or ():
            if channel not in cls.serves:
                raise ValueError(
                    f"the toolset {cls.toolset} does not serve the channel {channel}; it serves "
                    f"{', '.join(cls.serves)}"
                )
        return expose

    @property
    def channels(self) -> frozenset[Channel]:
        """Return the channels on which it is to be offered."""
        return frozenset(self.serves if self.expose is None else self.expose)


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """What a model is told about a toolset; about one of its tools, only as long as it has that tool."""

    text: str
    about: str | None = None
    """The tool's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolset:
    """What one toolset offers. Each part is for one channel; an empty part offers nothing there."""

    name: str
    tools: tuple[Tool, ...] = ()
    """Channel `tool`: a model may call these."""
    instructions: tuple[Instruction, ...] = ()
    """Channel `prompt`: they stand before every conversation."""
    state: State | None = None
    """Channel `context`."""
    commands: tuple[Tool, ...] = ()
    """Channel `command`: a person may type these. One that is a tool as well has the same name."""
    faults: tuple[str, ...] = ()
    """What was left out of it because something is wrong there, a line each."""
    requires: tuple[str, ...] = ()
    """Names of toolsets without which this one is of no use."""

    def exposed(self, exposure: Exposure) -> "Toolset":
        """Return only what is to be offered."""
        on = exposure.channels
        return replace(
            self,
            tools=self.tools if Channel.TOOL in on else (),
            instructions=self.instructions if Channel.PROMPT in on else (),
            state=self.state if Channel.CONTEXT in on else None,
            commands=self.commands if Channel.COMMAND in on else (),
        )

    def on(self, channel: Channel) -> tuple[Tool, ...]:
        """Return the tools that are offered on a channel."""
        return {Channel.TOOL: self.tools, Channel.COMMAND: self.commands}.get(channel, ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Maker:
    """How a toolset comes out of its configuration; what the entry points `sayso.toolsets` name."""

    config: type[Exposure]
    make: Callable[[Any], Toolset]
    """Takes a `config` that was checked. Raises `Invalid` where no toolset can be made of it."""

    def made(self, name: str, config: Exposure) -> Toolset:
        """Return the toolset of that name with what is exposed; raise `Invalid` for any other."""
        try:
            return self._made(name, config)
        except SaysoError:
            raise
        except AT_ONCE as error:  # a package may fail in any way
            raise Invalid(
                f"The toolset {name} cannot be made ({type(error).__name__}). Correct what it needs, or "
                "remove it."
            ) from error

    def _made(self, name: str, config: Exposure) -> Toolset:
        found = cast("object", self.make(config))
        if not isinstance(found, Toolset):
            raise Invalid(f"What the package makes as {name} is no toolset. Remove it.")
        if found.name != name:
            raise Invalid(f"The toolset {name} calls itself something else. Correct its name.")
        if any(tool.look is None for tool in (*found.tools, *found.commands)):
            raise Invalid(
                f"The toolset {name} has a tool that does not answer by itself. Only a runbook may "
                "change something; make it one."
            )
        return found.exposed(config)


def ordered(made: Iterable[Toolset]) -> tuple[Toolset, ...]:
    """Return toolsets behind those that they need; raise `Invalid` for one that is missing or a circle.

    The details of the error name the `toolset` that is to be corrected.
    """
    left = {toolset.name: toolset for toolset in made}
    _must_be_there(left)
    found = dict[str, Toolset]()
    while left:
        ready = [one for one in left.values() if found.keys() >= set(one.requires)]
        if not ready:
            circle = _circle(left)
            raise Invalid(
                f"These toolsets need one another in a circle: {', '.join(circle)}. Remove one of "
                "them.",
                toolset=circle[0],
            )
        found |= {one.name: left.pop(one.name) for one in ready}
    return tuple(found.values())


def _circle(left: Mapping[str, Toolset]) -> list[str]:
    """Return the names of a circle, of which there is one where each of these needs another."""
    path = [min(left)]
    while True:
        after = next(name for name in left[path[-1]].requires if name in left)
        if after in path:
            return path[path.index(after) :]
        path.append(after)


def _must_be_there(made: Mapping[str, Toolset]) -> None:
    for toolset in made.values():
        for name in toolset.requires:
            if name not in made:
                raise Invalid(
                    f"The toolset {toolset.name} needs the toolset {name}. Add `{name}` to "
                    f"`toolsets`, or remove {toolset.name}.",
                    toolset=toolset.name,
                )
