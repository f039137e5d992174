"""What was said and done in a turn, as a model sees it, and what the model may do next."""

from dataclasses import dataclass, field
from typing import TypeAlias

from core.canonical import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """Somebody's words. Whoever spoke is named by software, never by the text."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool and the arguments that the model wants to give it."""

    id: str
    tool: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """Tool calls made in one step."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came of one call. An error is evidence for the model, never a crash."""

    call: str
    text: str
    failed: bool = False
    correctable: bool = False
    """Whether the same call with other arguments could work; the text then says which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """One result for each call of the step before."""

    results: tuple[Result, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    """The model is done. Each suggestion is a text that the person could send instead."""

    text: str
    suggestions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentText:
    """What a model says about the calls it wants to make: shown as unchecked, never hashed."""

    rationale: str = ""
    limitations: str = ""
    alternatives: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """The model wants to use tools: reads run at once, everything else becomes one plan."""

    calls: tuple[ToolCall, ...]
    about: AgentText = field(default_factory=AgentText)


Entry: TypeAlias = Heard | Called | Returned
Move: TypeAlias = Say | Use
