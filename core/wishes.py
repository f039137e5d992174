"""What a message that came in wants of Sayso."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from core.display import one_line


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """A message to be answered."""

    kind: Literal["words"] = "words"
    text: str

    @property
    def shown(self) -> str:
        """Return what stands in the conversation."""
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Masked:
    """A message that seemed to hold a secret: kept without it, and not acted on."""

    kind: Literal["masked"] = "masked"
    text: str

    @property
    def shown(self) -> str:
        """Return what stands in the conversation."""
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """An exported plan, proposed only as long as it still comes down to the same hash."""

    kind: Literal["exported"] = "exported"
    plan: str
    """Canonical text."""
    name: str

    @property
    def shown(self) -> str:
        """Return what stands in the conversation."""
        return f"(an exported plan, {self.name})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """What an ended request showed, asked for once more."""

    kind: Literal["again"] = "again"
    request: str

    @property
    def shown(self) -> str:
        """Return what stands in the conversation."""
        return f"(again: request {self.request})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """What a run did, to be undone."""

    kind: Literal["undone"] = "undone"
    run: str

    @property
    def shown(self) -> str:
        """Return what stands in the conversation."""
        return f"(undo: run {self.run})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Relayed:
    """One call that somebody's agent elsewhere makes in their name."""

    kind: Literal["relayed"] = "relayed"
    tool: str
    arguments: str
    """Canonical JSON, with what explains the call among them."""

    @property
    def shown(self) -> str:
        """Return what stands in the conversation."""
        return f"(over MCP: {one_line(self.tool, 128)} {self.arguments})"


Wish: TypeAlias = Words | Masked | Exported | Again | Undone | Relayed
