"""Tools: what the agent may call, and which of them need a person's consent."""

import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Any, TypeAlias

from pydantic import BaseModel, ValidationError

from core import wording
from core.canonical import Json, JsonObject, encode, sha256
from core.channels import fits
from core.display import hidden, one_line
from core.errors import Incorrect, Invalid, Refused
from core.events import Place
from core.jobs import Claim
from core.plans import Step
from core.undo import Undo
from core.waiting import AT_ONCE

RESERVED = ("rationale", "limitations", "alternatives")
"""Arguments that carry the agent's text. They are added for the model, shown, and never hashed."""

MISSING = "There is no such tool here. Use one of those that are listed."
"""What is missing and what is forbidden read the same: no oracle (C25)."""

QUESTION = "ask_user"
"""What a model calls to ask a person. It is no tool: a question is how a turn ends."""

ABSORB = "absorb"
"""What a model calls to take messages that arrived meanwhile into its turn."""

TASK = "task"
"""What a model calls to say what its task is."""

OWN = frozenset({QUESTION, ABSORB, TASK})
"""Names of what belongs to a turn itself; no other tool has one of them."""
_log = logging.getLogger("sayso.turn")


_SOME = "an argument"
"""Stands for the name of an argument that is not to be repeated."""


def of_runbook(name: str) -> str:
    """Return the resource under which the policy knows a runbook."""
    return f"runbook:{name}"


class Effect(StrEnum):
    """What a call leaves behind. Whatever is not declared `read` is a write."""

    READ = "read"
    WRITE = "write"


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What one call comes down to: pure data, before anything outside was looked at."""

    steps: tuple[Step, ...]
    verify: Step | None = None
    lock: str | None = None
    """What the call has to itself while it runs; calls with the same text wait for one another."""
    fingerprints: tuple[str, ...] = ()
    """Files, relative to the working folder, that the call acts on."""
    preview: Step | None = None
    preview_binds: bool = False

    @property
    def network(self) -> bool:
        """Whether any of it needs the network."""
        every = (*self.steps, self.verify, self.preview)
        return any(step.network for step in every if step)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Arguments that the tool accepted: complete, typed, canonical."""

    tool: "Tool"
    arguments: JsonObject
    filled: tuple[str, ...]
    """Names of the arguments that nobody gave: a default filled them in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """For whom a tool of Sayso's own looks something up: known by software, never an argument (C23)."""

    tenant: str
    principal: str
    conversation: str
    turn: str
    call: str
    """The id of the call, which with the turn is stable and unique (C48)."""
    claim: Claim
    """What is written for this call is written only while this claim to the turn's job holds."""


Look: TypeAlias = Callable[[JsonObject, Caller], Awaitable[str]]
"""Answers a call inside this process; raises `Refused` and its kind as a runbook's read would."""

Allow: TypeAlias = Callable[[JsonObject, Caller], Awaitable[object]]
"""Returns None where a call may be made, else the reason for people; anything else refuses too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One capability: the shape of its arguments, what it leaves behind and what it comes down to."""

    name: str
    summary: str
    effect: Effect = Effect.WRITE
    risk: str = "medium"
    definition: str
    """SHA-256 of whatever defines this tool."""
    parameters: type[BaseModel]
    """Nothing else is accepted; a field's alias, where it has one, is the argument's name."""
    defaults: Mapping[str, Json]
    phrases: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    """The only places where it is there; with none in it, it is everywhere."""
    undo: Undo | None = None
    """What undoes it, where something does."""
    expand: Callable[[JsonObject], Work] = lambda _: Work(steps=())
    look: Look | None = None
    """What answers a call of a tool that is no runbook. It changes nothing outside of Sayso."""
    authorize: Allow | None = None
    """The tool's own say about who may call it with what, after the policy's."""
    posts: str | None = None
    """The argument that is posted later, if one is: what may not be answered may not be in it."""

    def __post_init__(self) -> None:
        if self.look and self.effect is not Effect.READ:
            raise Invalid(f"{self.name}: a tool that answers by itself can only be a read.")

    @property
    def resource(self) -> str:
        """Return the name under which the policy knows this tool."""
        return f"tool:{self.name}" if self.look else of_runbook(self.name)

    def is_in(self, place: Place) -> bool:
        """Whether it is there at all, in a place."""
        return not self.channels or any(fits(channel, place) for channel in self.channels)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the parameters' names in the order in which they were declared."""
        return tuple(field.alias or name for name, field in self.parameters.model_fields.items())

    def check(self, arguments: JsonObject, session: Mapping[str, Json]) -> Checked:
        """Fill in what was left out and validate; raise `Incorrect` without repeating any value."""
        offered = {**self.defaults, **{n: v for n, v in session.items() if n in self.names}}
        filled = tuple(name for name in self.names if name in offered and name not in arguments)
        try:
            valid = self._valid({**{n: offered[n] for n in filled}, **arguments})
        except Refused:
            raise
        except AT_ONCE as error:  # a package's own checks may fail in any way
            _log.error("the arguments of %s: %s", self.name, type(error).__name__)
            raise Refused(
                f"{self.name}: its arguments could not be checked, so it was not called. Tell an operator."
            ) from error
        return Checked(tool=self, arguments=valid, filled=filled)

    def _valid(self, arguments: Mapping[str, Json]) -> dict[str, Json]:
        try:
            model = self.parameters.model_validate(arguments)
        except ValidationError as error:
            wrong = wording.first(error)
            where = ".".join(str(part) for part in wrong.where) or "arguments"
            named = one_line(where, 60) if not hidden(where) else _SOME
            own = where if where in (*self.names, "arguments") else _SOME
            raise Incorrect(
                f"{self.name}: {_expectation(wrong, named)}",
                logged=f"{self.name}: {_expectation(wrong, own)}",
                argument=where,
            ) from error
        valid: dict[str, Json] = model.model_dump(mode="json", by_alias=True, exclude_unset=True)
        try:
            encode(valid)
        except Refused as error:
            raise Incorrect(
                f"{self.name}: {error.shown} Call it again with that corrected."
            ) from error
        return valid

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the arguments, the same bytes after every restart."""
        return self.parameters.model_json_schema(by_alias=True)


def answering(name: str, summary: str, parameters: type[BaseModel], look: Look) -> Tool:
    """Return a tool of Sayso's own: a read that answers inside this process."""
    return Tool(
        name=name,
        summary=summary,
        effect=Effect.READ,
        risk="low",
        definition=sha256(f"Sayso's own tool {name}"),
        parameters=parameters,
        defaults={},
        look=look,
    )


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The tools of one conversation, in a stable order."""

    tools: tuple[Tool, ...]

    @classmethod
    def of(cls, tools: Iterable[Tool]) -> "Toolbox":
        """Sort by name; refuse names that are taken at start, not in the middle of a run."""
        found = tuple(sorted(tools, key=lambda tool: tool.name))
        for one, other in pairwise(found):
            if one.name == other.name:
                raise Invalid(f"Two runbooks are called {one.name}. Rename one of them.")
        taken = next((tool.name for tool in found if tool.name in OWN), None)
        if taken:
            raise Invalid(f"No tool can be called {taken}. Rename it.")
        return cls(found)

    def beside(self, *own: Tool) -> "Toolbox":
        """Return these and tools that belong to the turn itself."""
        return Toolbox(tuple(sorted((*self.tools, *own), key=lambda tool: tool.name)))

    def offered(self, may: Callable[[Tool], bool]) -> "Toolbox":
        """Return only what somebody may use: what is forbidden is then simply not there."""
        return Toolbox(tuple(tool for tool in self.tools if may(tool)))

    @property
    def names(self) -> frozenset[str]:
        """Return what they are called."""
        return frozenset(tool.name for tool in self.tools)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.tools)

    def __getitem__(self, name: str) -> Tool:
        for tool in self.tools:
            if tool.name == name:
                return tool
        raise Incorrect(MISSING)


def _expectation(wrong: wording.Wrong, name: str) -> str:
    problem = wrong.problem
    if wrong.kind == "missing":
        problem = "it is required and has no default"
    if wrong.kind == "extra_forbidden":
        problem = "there is no such argument"
    return f"`{name}`: {problem}. Call it again with that corrected."
