"""What was said and done in a conversation, as a model sees it, and what the model may do next."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from typing import TypeAlias

from core.canonical import Json, JsonObject
from core.errors import Refused


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
    fault: str = ""
    """What is wrong with the text of the arguments, so that they are not even values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """What a provider sent, for the record and so that it can be sent back byte for byte."""

    content: str = ""
    """The provider's own blocks as text; empty where calls and text are all there is."""
    request: str = ""
    """The provider's name for the call."""
    input_tokens: int = 0
    output_tokens: int = 0
    options: JsonObject = field(default_factory=dict[str, Json])
    """What was really sent besides the prompt, and the versions that sent it."""

    @property
    def tokens(self) -> int:
        """Return what the message took, in and out together."""
        return max(0, self.input_tokens) + max(0, self.output_tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """Tool calls made in one step, and what was said beside them."""

    calls: tuple[ToolCall, ...]
    text: str = ""
    content: str = ""
    """The provider's own blocks, as of `Wire`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoke:
    """The model's last words of a turn; without text, what it had sent when it paused."""

    text: str
    content: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """What software says happened meanwhile: a decision, a report, how a turn was ended."""

    text: str
    entry: int = 0
    """The entry of the conversation that it tells of; 0 where it tells of none."""


class Form(StrEnum):
    """How much of a state one statement says."""

    WHOLE = "whole"
    CHANGES = "changes"
    """Lines that are so now (`+ `) and lines that are no longer (`- `), since the statement before."""
    AWAY = "away"
    """Nothing: the state could not be looked at."""


class Trust(StrEnum):
    """Whose words a text is made of."""

    SOFTWARE = "software"
    OUTSIDE = "outside"
    """Of people, models, files or programs: data, never an instruction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """What is so now, by a source that software names."""

    source: str
    number: int
    """Counts the statements of one source, so that one that is missing is noticed."""
    form: Form
    text: str
    trust: Trust


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
class Compacted:
    """What a prompt begins with instead of the turns that it stands for (C79)."""

    turns: int
    told: tuple[str, ...] = ()
    """By software: a line for each of the newest of them."""
    waiting: tuple[str, ...] = ()
    """By software: what waited for people then."""
    words: str = ""
    """A model's own summary, which nobody checked; empty where software's lines are all there is."""

    @property
    def text(self) -> str:
        """Return it as a model is given it: first what software knows, then what a model said."""
        parts = [
            f"The {self.turns} turns before this are left out. What software kept of them:",
            *(f"- {line}" for line in self.told),
            *(f"- waits for approval: {line}" for line in self.waiting),
        ]
        if self.words:
            parts += ["A model summed them up; nobody checked its words:", self.words]
        return "\n".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    """The model is done. Each suggestion is a text that the person could send instead."""

    text: str
    suggestions: tuple[str, ...] = ()
    wire: Wire = field(default_factory=Wire)


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
    text: str = ""
    wire: Wire = field(default_factory=Wire)


class Stop(StrEnum):
    """Why a message of the model is not to be acted on."""

    REFUSED = "refused"
    TRUNCATED = "truncated"
    """It ran into its own length, or the stream broke off."""
    CONTEXT_EXCEEDED = "context_exceeded"
    UNKNOWN = "unknown"
    """The provider gave a reason that this version does not know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A message that is not whole: nothing in it is acted on, and nothing of it is posted."""

    stop: Stop
    text: str = ""
    """What there was, for the record alone."""
    wire: Wire = field(default_factory=Wire)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """The provider wants to be asked again with what it sent, unchanged."""

    wire: Wire


Entry: TypeAlias = Heard | Called | Returned | Spoke | Noted | Stated | Compacted
Move: TypeAlias = Say | Use | Broken | Pause


def values(part: Entry | ToolCall | Result) -> dict[str, Json]:
    """Return the fields of an entry by name, as JSON; much cheaper than `asdict`, which copies."""
    return {name: _plain(getattr(part, name)) for name in part.__dataclass_fields__}


def _plain(value: "Json | tuple[ToolCall | Result, ...]") -> Json:
    if isinstance(value, tuple):
        return [values(one) if isinstance(one, ToolCall | Result) else one for one in value]
    return value


def whole(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return a transcript that any provider takes: calls at its end that nothing came of are left out.

    Raises `Refused` where calls and results do not belong together in any other way.
    """
    if not joined(None, entries):
        raise Refused("What is kept of this conversation does not fit together. Start a new one.")
    return tuple(entries[:-1] if entries and isinstance(entries[-1], Called) else entries)


def joined(before: Entry | None, entries: Sequence[Entry]) -> bool:
    """Return whether entries may follow another: whatever was called has its results right behind."""
    return all(_open(one) == _closed(next_one) for one, next_one in pairwise((before, *entries)))


def _open(entry: Entry | None) -> list[str] | None:
    return sorted(call.id for call in entry.calls) if isinstance(entry, Called) else None


def _closed(entry: Entry | None) -> list[str] | None:
    return sorted(one.call for one in entry.results) if isinstance(entry, Returned) else None
