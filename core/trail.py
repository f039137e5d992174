"""What happens in a turn, kept as it happens, so that a crash leaves all of it readable.

Names, ids, sizes and digests: no happening repeats what somebody said or what a call was given, not even
the name of a tool or an argument that there is not. Only why something was refused is words, of whoever
refused it: software, a guardrail or a tool's own say. They hold no secret.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from core.canonical import JsonObject


class Stage(StrEnum):
    """What a call goes through, in this order."""

    KNOWN = "known"
    ALLOWED = "allowed"
    """By the profile and the conversation."""
    SCHEMA = "schema"
    AUTHORIZED = "authorized"
    """By the policy, for whoever asked."""
    RATE = "rate"
    RUN = "run"
    """It runs, or is proposed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """A call came to a stage, and passed it unless `why` says why not."""

    call: str
    """Empty for all calls of a step that are too many to be told one by one."""
    tool: str
    stage: Stage
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A model answered, or did not: the record of one call of it (C88)."""

    request: str
    """The provider's name for the call."""
    stop: str
    """What kind of move it made, or why there is none."""
    input_tokens: int
    output_tokens: int
    milliseconds: int
    prompt: str
    """SHA-256 of what stood before the conversation."""
    entries: int
    """How many entries of the conversation it was given."""
    options: JsonObject
    """What was really sent besides, and versions, as the model's adapter tells it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """A read ended."""

    call: str
    tool: str
    failed: bool
    milliseconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarded:
    """A guardrail stopped the turn."""

    stage: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The turn ended."""

    reason: str


Happening: TypeAlias = Staged | Moved | Looked | Guarded | Finished
Trail: TypeAlias = Callable[[Sequence[Happening]], Awaitable[None]]
"""Keeps what happened in one turn, in order, before it returns."""
